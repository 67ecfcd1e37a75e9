"""Theses whose truth is known: 32 sentences, and of each two true theses and two false ones.

The true ones state it in its words and in other words. Of the false ones the first alters one thing, the
second states something that is not there. All sentences were written for this; none is in the judge's exam.
"""

from typing import NamedTuple


class Fact(NamedTuple):
    source: str
    same: str
    words: str
    altered: str
    unspoken: str


FACTS = tuple(
    Fact(*each)
    for each in (
        (
            "The lease of the boathouse runs for three years from 1 March 2021.",
            "The lease of the boathouse runs for three years from 1 March 2021.",
            "From 1 March 2021 the lease of the boathouse runs for three years.",
            "The lease of the boathouse runs for seven years from 1 March 2021.",
            "The lease of the boathouse is governed by the law of Norway.",
        ),
        (
            "The tenant must pay the rent before the fifth day of each month.",
            "The tenant must pay the rent before the fifth day of each month.",
            "The rent must be paid by the tenant before the fifth day of each month.",
            "The tenant must pay the rent after the fifth day of each month.",
            "The tenant must pay a deposit of two monthly rents.",
        ),
        (
            "The landlord shall repair the roof within 30 days of a written notice.",
            "The landlord shall repair the roof within 30 days of a written notice.",
            "Within 30 days of a written notice the landlord shall repair the roof.",
            "The tenant shall repair the roof within 30 days of a written notice.",
            "The landlord shall insure the roof against storms.",
        ),
        (
            "Smoking is not permitted in the boathouse or on the pier.",
            "Smoking is not permitted in the boathouse or on the pier.",
            "In the boathouse or on the pier smoking is not permitted.",
            "Smoking is permitted in the boathouse or on the pier.",
            "Open fires are permitted on the pier.",
        ),
        (
            "Up to 12 boats may lie at the pier during the summer.",
            "Up to 12 boats may lie at the pier during the summer.",
            "During the summer up to 12 boats may lie at the pier.",
            "At least 12 boats must lie at the pier during the summer.",
            "Motor boats may lie at the pier during the winter.",
        ),
        (
            "All members of the sailing club received a key in April.",
            "All members of the sailing club received a key in April.",
            "In April all members of the sailing club received a key.",
            "Some members of the sailing club received a key in April.",
            "The members of the sailing club elected a new chair in April.",
        ),
        (
            "Marta Klein founded the sailing club in 1964.",
            "Marta Klein founded the sailing club in 1964.",
            "The sailing club was founded by Marta Klein in 1964.",
            "Marta Klein founded the sailing club in 1946.",
            "Marta Klein was the first woman to sail around the island.",
        ),
        (
            "The club bought the yawl Heron from the shipyard Osterman.",
            "The club bought the yawl Heron from the shipyard Osterman.",
            "The yawl Heron was bought by the club from the shipyard Osterman.",
            "The shipyard Osterman bought the yawl Heron from the club.",
            "The yawl Heron won the regatta of the year.",
        ),
        (
            "The mast of the Heron is 14 metres high.",
            "The mast of the Heron is 14 metres high.",
            "The Heron has a mast that is 14 metres high.",
            "The mast of the Heron is 14 feet high.",
            "The mast of the Heron is made of spruce.",
        ),
        (
            "Members may take guests on board after they have signed the log book.",
            "Members may take guests on board after they have signed the log book.",
            "After they have signed the log book, members may take guests on board.",
            "Members may take guests on board before they have signed the log book.",
            "Guests pay a fee of ten euros for each trip.",
        ),
        (
            "The harbour office in Lindau charges 18 euros for a night.",
            "The harbour office in Lindau charges 18 euros for a night.",
            "For a night the harbour office in Lindau charges 18 euros.",
            "The harbour office in Bregenz charges 18 euros for a night.",
            "The harbour office in Lindau is closed on Mondays.",
        ),
        (
            "The survey found that blue hulls and slow boats occur together.",
            "The survey found that blue hulls and slow boats occur together.",
            "That blue hulls and slow boats occur together was found by the survey.",
            "The survey found that blue hulls make boats slow.",
            "The survey was paid for by a maker of paint.",
        ),
        (
            "The treasurer may sign contracts of up to 5,000 euros alone.",
            "The treasurer may sign contracts of up to 5,000 euros alone.",
            "Contracts of up to 5,000 euros may be signed by the treasurer alone.",
            "The treasurer may sign contracts of more than 5,000 euros alone.",
            "The treasurer receives a yearly salary.",
        ),
        (
            "The annual meeting takes place on the second Sunday of November.",
            "The annual meeting takes place on the second Sunday of November.",
            "On the second Sunday of November the annual meeting takes place.",
            "The annual meeting takes place on the second Sunday of December.",
            "The annual meeting is open to the public.",
        ),
        (
            "A quorum of 40 percent of the members is required for a vote.",
            "A quorum of 40 percent of the members is required for a vote.",
            "For a vote a quorum of 40 percent of the members is required.",
            "A quorum of 60 percent of the members is required for a vote.",
            "Votes on the budget are held by secret ballot.",
        ),
        (
            "The chair may exclude a member who has not paid for two years.",
            "The chair may exclude a member who has not paid for two years.",
            "A member who has not paid for two years may be excluded by the chair.",
            "The chair must exclude a member who has not paid for two years.",
            "The chair may reduce the fee for students.",
        ),
        (
            "The workshop stores paint and varnish in a locked steel cabinet.",
            "The workshop stores paint and varnish in a locked steel cabinet.",
            "In a locked steel cabinet the workshop stores paint and varnish.",
            "The workshop stores paint and varnish in an open steel cabinet.",
            "The workshop was built by volunteers.",
        ),
        (
            "The crane lifts loads of at most 2,500 kilograms.",
            "The crane lifts loads of at most 2,500 kilograms.",
            "Loads of at most 2,500 kilograms are lifted by the crane.",
            "The crane lifts loads of at most 5,200 kilograms.",
            "The crane was inspected last spring.",
        ),
        (
            "Only trained members may operate the crane.",
            "Only trained members may operate the crane.",
            "The crane may be operated only by trained members.",
            "All members may operate the crane.",
            "The crane runs on electricity.",
        ),
        (
            "Nora Feld taught navigation at the club from 1988 to 2003.",
            "Nora Feld taught navigation at the club from 1988 to 2003.",
            "From 1988 to 2003 Nora Feld taught navigation at the club.",
            "Nora Feld studied navigation at the club from 1988 to 2003.",
            "Nora Feld wrote a book about the stars.",
        ),
        (
            "The course in navigation takes six evenings and costs 90 euros.",
            "The course in navigation takes six evenings and costs 90 euros.",
            "The course in navigation costs 90 euros and takes six evenings.",
            "The course in navigation takes six weekends and costs 90 euros.",
            "The course in navigation ends with an exam.",
        ),
        (
            "The club did not take part in the regatta of 2019.",
            "The club did not take part in the regatta of 2019.",
            "In the regatta of 2019 the club did not take part.",
            "The club took part in the regatta of 2019.",
            "The regatta of 2019 was cancelled because of fog.",
        ),
        (
            "The storm of 2007 destroyed the old pier and damaged nine boats.",
            "The storm of 2007 destroyed the old pier and damaged nine boats.",
            "The storm of 2007 damaged nine boats and destroyed the old pier.",
            "The storm of 2007 damaged the old pier and destroyed nine boats.",
            "The storm of 2007 injured two people.",
        ),
        (
            "The new pier was opened before the boathouse was rebuilt.",
            "The new pier was opened before the boathouse was rebuilt.",
            "Before the boathouse was rebuilt, the new pier was opened.",
            "The boathouse was rebuilt before the new pier was opened.",
            "The new pier cost more than the boathouse.",
        ),
        (
            "The insurance covers theft from locked boats but not from open ones.",
            "The insurance covers theft from locked boats but not from open ones.",
            "Theft from locked boats but not from open ones is covered by the insurance.",
            "The insurance covers theft from open boats but not from locked ones.",
            "The insurance covers damage by ice.",
        ),
        (
            "Claims must be reported to the insurer within 14 days.",
            "Claims must be reported to the insurer within 14 days.",
            "Within 14 days claims must be reported to the insurer.",
            "Claims must be reported to the insurer within 14 weeks.",
            "Claims are paid within a month.",
        ),
        (
            "The insurer Bastion may cancel the policy after two claims in one year.",
            "The insurer Bastion may cancel the policy after two claims in one year.",
            "After two claims in one year the insurer Bastion may cancel the policy.",
            "The insurer Bastion may not cancel the policy after two claims in one year.",
            "The insurer Bastion has its seat in Vienna.",
        ),
        (
            "The youth group meets every Wednesday from four to six.",
            "The youth group meets every Wednesday from four to six.",
            "Every Wednesday from four to six the youth group meets.",
            "The youth group meets every Tuesday from four to six.",
            "The youth group has twenty members.",
        ),
        (
            "Children under ten must wear a life jacket on the pier.",
            "Children under ten must wear a life jacket on the pier.",
            "On the pier children under ten must wear a life jacket.",
            "Children over ten must wear a life jacket on the pier.",
            "Children under ten sail free of charge.",
        ),
        (
            "Most of the fees are spent on the repair of the boats.",
            "Most of the fees are spent on the repair of the boats.",
            "On the repair of the boats most of the fees are spent.",
            "All of the fees are spent on the repair of the boats.",
            "The fees were raised by a fifth last year.",
        ),
        (
            "The archive holds 310 photographs and four films from before 1950.",
            "The archive holds 310 photographs and four films from before 1950.",
            "Four films and 310 photographs from before 1950 are held in the archive.",
            "The archive holds 310 photographs and four films from after 1950.",
            "The archive was given to the club by a bank.",
        ),
        (
            "According to the chair, the club might buy a second yawl next year.",
            "According to the chair, the club might buy a second yawl next year.",
            "Next year the club might buy a second yawl, according to the chair.",
            "The club will buy a second yawl next year.",
            "According to the chair, the yawl has a new sail.",
        ),
    )
)

TRUE = tuple((number, text) for number, fact in enumerate(FACTS) for text in (fact.same, fact.words))
FALSE = tuple((number, text) for number, fact in enumerate(FACTS) for text in (fact.altered, fact.unspoken))
"""Theses by the number of the sentence that is cited for them."""

DOCUMENT = "The sailing club\n" + "".join(f"{fact.source}\n" for fact in FACTS)
FIRST_LINE = 2
"""The line of the first sentence in the document."""
