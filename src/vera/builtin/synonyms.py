"""What says the same: rows of general English words; a subject's own words stay exact."""

_ROWS = """
buy purchase acquire
begin start commence
end finish terminate expire conclude
allow permit permission authorize may can
forbid prohibit disallow ban
require must shall need mandatory oblige
cost price fee charge
delete remove erase purge
big large
maximum max limit most exceed up
minimum min least
directory folder
option flag switch
argument parameter
modify change alter amend
transmit send
holiday vacation leave
ill sick illness sickness
salary wage pay
author write writer
doctor physician
car vehicle automobile
locate situate
kill die
quit resign
answer respond reply response
ask request
keep retain store
abort cancel stop
error fail failure
win winner victory
invent inventor
discover discovery
tall height high
deep depth
wide width
length long
fast speed
heavy weight weigh
far distance
often interval frequency every
per each every
yearly annual
profit gain earn
revenue turnover sales proceeds
sell sale sold
firm company business enterprise
make manufacture produce build construct create manufacturer maker builder
own owner proprietor landlord possess
donate give donor donation gift
chair preside chairman chairwoman
guarantee warranty
show display exhibit exhibition view
insure insurance cover
consume consumption use
employee workforce staff worker personnel work employ
complete finish done
approve grant allot
contract contractor
command commander captain
passenger traveller travel
launch release introduce
deposit security bail
area space size
town city
rent let lease hire
boss director manager
expensive price cost
late delay
job occupation profession
begin since from
birth born
teach teacher instruct instructor
found founder establish
price sell
life last
earn income earnings
expense expenditure cost spend
tax levy duty
debt owe
borrow borrower
lend lender
repay repayment refund
invest investment investor
sponsor fund finance support
design designer
compose composer
paint painter picture
translate translator translation
edit editor
publish publisher publication issue
perform performance
carry conduct perform execute undertake
meeting session assembly
chief leader
lead leader direct
lawyer attorney solicitor counsel
pupil student schoolchild
operation surgery
accident crash collision
goal aim objective target
road street
ship vessel boat
aircraft plane airplane
garbage waste rubbish
house home
flat apartment
shop store
inhabitant resident population
marry wife husband spouse
crime offence
prison jail
agreement contract treaty
rule regulation
law statute
repair fix mend
damage harm
dangerous hazardous
quick fast rapid
broad wide
join enter
arrive arrival
depart departure
dispatch send ship
receive get obtain
deliver delivery supply supplier
provide provider supply supplier
applicant application
grow growth increase rise
shrink decrease decline reduce reduction
prize award
competition contest tournament
supervise supervisor oversee
replace successor succeed
elect election vote
appoint appointment
serve service
farm agriculture
harvest crop yield
rain precipitation
snow snowfall
harbour port dock
look see view watch
luggage baggage
film movie
capacity accommodate
headquarters seat
origin source
treat treatment cure
examine examination check inspect inspection
audit auditor
renew renewal extend extension
measure size dimension
open inaugurate inauguration opening
sign signature
store storage warehouse
"""

SYNONYMS = tuple(tuple(row.split()) for row in _ROWS.strip().splitlines())
"""Each row says one thing in several ways."""
