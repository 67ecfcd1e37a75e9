"""Units of measure and currencies: how they are written, and how many of a base unit they are.

Factors are those of the International Yard and Pound Agreement (1959), the SI Brochure (9th edition) and
IEC 80000-13 for data sizes. A spelling with several meanings (a gallon, a ton, a pound) has several readings.
"""

import re
from collections.abc import Iterator, Mapping
from decimal import Context, Decimal
from functools import cache
from typing import NamedTuple

from vera.text.late_regex import late_regex

ARITHMETIC = Context(prec=40)
"""Whatever context the caller's thread has set, the same values come out."""


class Unit(NamedTuple):
    """`dimension` names what is measured; a value in base units is `value * factor + offset`."""

    dimension: str
    factor: Decimal
    offset: Decimal = Decimal(0)


_WORDS = """
length 0.000001 micron microns micrometre micrometres micrometer micrometers
length 0.001 millimetre millimetres millimeter millimeters
length 0.01 centimetre centimetres centimeter centimeters
length 1 metre metres meter meters
length 1000 kilometre kilometres kilometer kilometers
length 0.0254 inch inches
length 0.3048 foot feet
length 0.9144 yard yards
length 1609.344 mile miles
length 1852 nautical_mile nautical_miles
length 1.8288 fathom fathoms
length 9460730472580800 light_year light_years
area 1 square_metre square_metres square_meter square_meters sq_m
area 1000000 square_kilometre square_kilometres square_kilometer square_kilometers sq_km
area 0.00064516 square_inch square_inches sq_in
area 0.09290304 square_foot square_feet sq_ft
area 2589988.110336 square_mile square_miles sq_mi
area 10000 hectare hectares
area 4046.8564224 acre acres
volume 0.001 litre litres liter liters
volume 0.000001 millilitre millilitres milliliter milliliters
volume 1 cubic_metre cubic_metres cubic_meter cubic_meters
volume 0.028316846592 cubic_foot cubic_feet
volume 0.003785411784 gallon gallons
volume 0.00454609 gallon gallons
volume 0.000473176473 pint pints
volume 0.00056826125 pint pints
volume 0.158987294928 barrel barrels
mass 0.001 gram grams gramme grammes
mass 0.000001 milligram milligrams
mass 1 kilogram kilograms kilogramme kilogrammes kilo kilos
mass 1000 tonne tonnes metric_ton metric_tons ton tons
mass 907.18474 ton tons short_ton short_tons
mass 1016.0469088 ton tons long_ton long_tons
mass 0.45359237 pound pounds
mass 0.028349523125 ounce ounces
speed 0.277777777777777777777777777777 kilometres_per_hour kilometers_per_hour
speed 0.44704 miles_per_hour
speed 1 metres_per_second meters_per_second
speed 0.514444444444444444444444444444 knot knots
time 1 second seconds
time 60 minute minutes
time 3600 hour hours
time 86400 day days
time 604800 week weeks
time 1209600 fortnight fortnights
time 2629800 month months
time 31557600 year years
time 315576000 decade decades
time 3155760000 century centuries
time 0.001 millisecond milliseconds
time 1 sekunde sekunden seconde secondes segundo segundos
time 60 minuten minuto minutos
time 3600 stunde stunden heure heures hora horas
time 86400 tag tage tagen jour jours día días
time 604800 woche wochen semaine semaines semana semanas
time 2629800 monat monate monaten mois meses
time 31557600 jahr jahre jahren ans année années año años
percent 1 prozent pour_cent por_ciento por_cento per_cento
length 0.001 millimètre millimètres milímetro milímetros
length 0.01 zentimeter centimètre centimètres centímetro centímetros
length 1 metern mètre mètres metros metri
length 1000 kilometern kilomètre kilomètres kilómetro kilómetros quilómetros chilometri
area 1 quadratmeter quadratmetern mètre_carré mètres_carrés metros_cuadrados metri_quadrati
area 1000000 quadratkilometer kilomètres_carrés kilómetros_cuadrados chilometri_quadrati
area 10000 hektar hectárea hectáreas ettari
volume 0.001 litern litro litros litri
volume 1 kubikmeter kubikmetern mètres_cubes metros_cúbicos
mass 0.001 gramm gramo gramos grammi
mass 0.000001 milligramm milligramme milligrammes miligramos
mass 1 kilogramm kilogramos chilogrammi
mass 1000 tonnen tonelada toneladas tonnellate
speed 0.277777777777777777777777777777 kilometer_pro_stunde stundenkilometer kilomètres_par_heure
speed 0.514444444444444444444444444444 knoten nœuds
force 1 newton newtons
force 1000 kilonewton kilonewtons
force 1000000 meganewton meganewtons
pressure 1 pascal pascals
pressure 1000 kilopascal kilopascals
pressure 1000000 megapascal megapascals
data 1 byte bytes
data 1000 kilobyte kilobytes
data 1000000 megabyte megabytes
data 1000000000 gigabyte gigabytes
data 1000000000000 terabyte terabytes
power 1 watt watts
power 1000 kilowatt kilowatts
power 1000000 megawatt megawatts
power 1000000000 gigawatt gigawatts
power 745.699871582270 horsepower
energy 3600000 kilowatt_hour kilowatt_hours
energy 3600000000 megawatt_hour megawatt_hours
energy 1 joule joules
frequency 1 hertz
frequency 1000 kilohertz
frequency 1000000 megahertz
frequency 1000000000 gigahertz
percent 1 percent per_cent
point 1 percentage_point percentage_points
dollar 1 dollar dollars us_dollars dólar dólares dollaro dollari
dollar 0.01 cent cents
euro 0.01 cent cents
euro 1 euro euros
pound 1 pound pounds pounds_sterling
pound 0.01 pence
yen 1 yen
yuan 1 yuan renminbi
rupee 1 rupee rupees
rouble 1 rouble roubles ruble rubles
franc 1 franc francs
krona 1 krona kronor krone kroner
peso 1 peso pesos
length 0.001 毫米
length 0.01 厘米
length 1 米
length 1000 公里 千米
area 1 平方米
area 1000000 平方公里 平方千米
area 10000 公顷
volume 0.000001 毫升
volume 0.001 升
volume 1 立方米
mass 0.000001 毫克
mass 0.001 克
mass 0.5 斤
mass 1 公斤 千克
mass 1000 吨
time 1 秒 秒钟
time 60 分钟
time 3600 小时
time 86400 天
time 604800 星期
time 2629800 个月
time 31557600 年
dollar 1 美元
euro 1 欧元
pound 1 英镑
yen 1 日元
yuan 1 元 圆 人民币
"""
"""Dimension, factor, spellings in lower case; `_` stands for the space or hyphen between two words."""

_SYMBOLS = """
length 0.000000001 nm
length 0.000001 µm μm
length 0.001 mm
length 0.01 cm
length 1 m
length 1000 km
length 0.0254 in ″
length 0.3048 ft ′
length 0.9144 yd
length 1609.344 mi
area 1 m² m2
area 1000000 km² km2
area 10000 ha
area 0.09290304 ft²
volume 0.001 l L
volume 0.000001 ml mL cc
volume 1 m³ m3
mass 0.000001 mg
mass 0.001 g
mass 1 kg
mass 1000 t
mass 0.45359237 lb lbs
mass 0.028349523125 oz
speed 0.277777777777777777777777777777 km/h kph kmh
speed 0.44704 mph
speed 1 m/s
density 1 kg/m³ kg/m3
density 1000 g/cm³ g/cm3 kg/l kg/L g/ml g/mL
force 1 N
force 1000 kN
force 1000000 MN
pressure 1 Pa
pressure 100 hPa mbar
pressure 1000 kPa
pressure 1000000 MPa
pressure 100000 bar
pressure 6894.757293168 psi
time 0.001 ms msec
time 1 s sec secs
time 60 min mins
time 3600 h hr hrs
time 86400 d
time 31557600 yr yrs
data 1000 kB KB
data 1024 KiB kB KB
data 1000000 MB
data 1048576 MiB MB
data 1000000000 GB
data 1073741824 GiB GB
data 1000000000000 TB
data 1099511627776 TiB TB
power 1 W
power 1000 kW
power 1000000 MW
power 1000000000 GW
power 745.699871582270 hp
energy 3600000 kWh
energy 3600000000 MWh
energy 3600000000000 GWh
frequency 1 Hz
frequency 1000 kHz
frequency 1000000 MHz
frequency 1000000000 GHz
percent 1 % ％ pct
percent 0.1 ‰
dollar 1 $ US$ A$ C$ CA$ AU$ NZ$ HK$ S$ R$ USD AUD CAD NZD HKD SGD
euro 1 € EUR
pound 1 £ GBP
yen 1 ¥ JPY
yuan 1 ¥ CNY RMB
rupee 1 ₹ INR Rs
rouble 1 ₽ RUB
won 1 ₩ KRW
franc 1 CHF
krona 1 SEK NOK DKK
lira 1 ₺ TRY
shekel 1 ₪ ILS
naira 1 ₦ NGN
baht 1 ฿ THB
dong 1 ₫ VND
"""

HAN_UNIT = late_regex(
    "(?:平方公里|平方千米|平方米|立方米|毫米|厘米|公里|千米|公顷|毫升|毫克|公斤|千克|秒钟|分钟|小时|星期|个月"
    "|美元|欧元|英镑|日元|人民币|米(?![饭粉])|升(?![级高])|克|斤|吨|秒|天|年(?![级代度初底末])|元(?![素旦])|圆)"
)
"""A unit in Chinese, which stands directly behind its number."""

_CURRENCIES = "dollar euro pound yen yuan rupee rouble won franc krona peso lira shekel naira baht dong"

_WORD = re.compile(r"[^\W\d_]{3,14}")
_SIGN = re.compile(
    r"(?:(?<=[(\[/,])|\b[iea][nm]\s)(?P<sign>[^\W\d_]{1,4}[²³23]?(?:/[a-z]{1,2})?|[%‰€£¥₹$])(?=[)\],]|\s|\Z)"
)
"""A sign of a unit where a head of a table has it: (kg), in km."""

_FIVE_NINTHS = ARITHMETIC.divide(Decimal(5), Decimal(9))
_TEMPERATURES = {
    "C": Unit("temperature", Decimal(1), Decimal("273.15")),
    "F": Unit("temperature", _FIVE_NINTHS, ARITHMETIC.multiply(Decimal("459.67"), _FIVE_NINTHS)),
    "K": Unit("temperature", Decimal(1)),
}


@cache
def unit_words() -> Mapping[str, tuple[Unit, ...]]:
    """The readings of units that are spelled out, by lower-case name with single spaces."""
    return {
        **_read(_WORDS),
        "degrees celsius": (_TEMPERATURES["C"],),
        "degrees fahrenheit": (_TEMPERATURES["F"],),
    }


@cache
def unit_symbols() -> Mapping[str, tuple[Unit, ...]]:
    """The readings of symbols and codes, by symbol; case matters."""
    degrees = {f"°{letter}": (unit,) for letter, unit in _TEMPERATURES.items()}
    return {**_read(_SYMBOLS), **degrees, "ºC": degrees["°C"], "ºF": degrees["°F"]}


def is_money(unit: Unit) -> bool:
    """Whether this is a currency."""
    return unit.dimension in _CURRENCIES.split()


def units_in(text: str) -> Iterator[Unit]:
    """The units that a text names without a number: "Height (m)", "weight in kilograms"."""
    for word in _WORD.findall(text):
        yield from unit_words().get(word.lower(), ())
    for found in _SIGN.finditer(text):
        yield from unit_symbols().get(found["sign"], ())


def _read(table: str) -> dict[str, tuple[Unit, ...]]:
    units: dict[str, tuple[Unit, ...]] = {}
    for line in table.strip().splitlines():
        dimension, factor, *spellings = line.split()
        for spelling in spellings:
            name = spelling.replace("_", " ")
            units[name] = (*units.get(name, ()), Unit(dimension, Decimal(factor)))
    return units
