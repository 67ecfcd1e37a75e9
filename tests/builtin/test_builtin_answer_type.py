"""When the extractive model is sure that lines answer, and when it only shows the nearest."""

import pytest

from vera.builtin.answer import answer_text
from vera.builtin.conversation import Excerpt
from vera.builtin.documents import Match
from vera.builtin.question import analyse
from vera.builtin.scoring import Window, windows
from vera.builtin.term_weights import weigh

LEASE = """# Quay Road 27: lease

The monthly rent is 950 euros. Notice must be given three months ahead.
Nothing was agreed yet on the deposit. The caretaker is Ada Holm.

In 2021 the tenant used 40,000 litres of water.

| Passengers 2021 | 812 |
"""


def best(question: str, text: str = LEASE, path: str = "27.md") -> Window:
    lines = dict(enumerate(text.split("\n"), 1))
    seen = Excerpt(path, len(lines), lines, 1, len(lines), "ev_0001")
    asked = analyse(question)
    return windows(asked, weigh(asked, [seen]), seen, Match())[0]


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("What is the monthly rent of Quay Road 27?", "950 euros"),
        ("How much is the rent for Quay Road 27?", "950 euros"),
        ("Who is the caretaker of Quay Road 27?", "Ada Holm"),
        ("How many litres of water did the tenant of Quay Road 27 use in 2021?", "40,000"),
        ("How many passengers did Quay Road 27 carry in 2021?", "812"),
    ],
)
def test_what_a_sentence_says_of_the_named_thing_is_an_answer(question: str, value: str) -> None:
    assert best(question).sure
    assert value in best(question).text


@pytest.mark.parametrize(
    "question",
    [
        "What is the monthly rent of Quay Road 72?",
        "What is the monthly rent of Quay Road?",
        "What is the deposit of Quay Road 27?",
        "Who is the landlord of Quay Road 27?",
        "How many litres of water did the tenant of Quay Road 27 use in 2020?",
        "How many passengers died at Quay Road 27 in 2021?",
        "When did the lease of Quay Road 27 begin?",
    ],
)
def test_another_name_number_matter_or_kind_is_none(question: str) -> None:
    assert not best(question).sure


def test_the_name_of_a_file_names_what_it_is_about() -> None:
    text = "The written offer is valid for three years."
    assert best("For how long is the written offer valid under the GPL version 3?", text, "GPL-3.txt").sure
    assert not best(
        "For how long is the written offer valid under the GPL version 3?", text, "GPL-2.txt"
    ).sure
    long = "For how long is the written offer valid under the General Public License 3.0?"
    assert best(long, text, "GPL-3.txt").sure


def test_a_name_that_goes_on_is_another_name() -> None:
    question = "Who is the director of Norton Cables?"
    assert best(question, "The director of Norton Cables is Ada Holm.").sure
    assert not best(question, "The director of Norton Cables B is Ada Holm.").sure


def test_a_pronoun_stands_for_the_name_in_the_sentence_before() -> None:
    text = "The Albion Star lies in Morvern.{} weighs 300 tonnes."
    question = "How much does the Albion Star weigh?"
    assert best(question, text.format(" It")).sure
    assert not best(question, text.format(" The Kestrel")).sure


def test_the_head_of_a_table_says_what_its_columns_are() -> None:
    table = "name,platforms\nCastle Rise,9\nFallow Hill,6"
    window = best("How many platforms does Fallow Hill have?", table, "stations.csv")
    assert "Fallow Hill,6" in window.text


def test_a_file_whose_name_goes_on_or_has_half_of_the_name_is_of_another_thing() -> None:
    said = "The director is Ada Holm. The next meeting is on 6 March 2022."
    question = "Who is the director of Norton Cables?"
    assert best(question, said, "norton-cables.txt").sure
    assert not best(question, said, "norton-cables-b.txt").sure
    assert not best("When is the next meeting on Project March?", said, "project-herron.txt").sure


def test_a_title_answers_nothing() -> None:
    title = "# Register of Ships: Isla Verde\n\nThe Isla Verde is 20 metres long."
    assert not best("In which town is the Isla Verde registered?", title).sure


@pytest.mark.parametrize(
    "said",
    [
        "The head office of Norton Cables has not been disclosed.",
        "The head office of Norton Cables is to be decided by Ada Holm in Ostley.",
        "Nothing was agreed in Ostley on the head office of Norton Cables.",
    ],
)
def test_what_is_said_to_be_open_is_no_answer(said: str) -> None:
    assert not best("In which town does Norton Cables have its head office?", said).sure


def test_a_place_a_month_or_a_currency_is_nobody() -> None:
    question = "Who is the head of Norton Cables?"
    assert best(question, "The head of Norton Cables is Ada Holm.").sure
    assert not best(question, "Norton Cables has its head office in Ostley.").sure
    assert not best(question, "The head of Norton Cables earns EUR 900 since March.").sure


@pytest.mark.parametrize(
    ("question", "said", "sure"),
    [
        (
            "How many letters did Norton Cables receive?",
            "The number of letters of Norton Cables is 12.",
            True,
        ),
        ("How many people attend Norton Hall?", "Norton Hall has 12 people.", True),
        ("How many letters did Norton Cables burn?", "The number of letters of Norton Cables is 12.", False),
        ("How much did Norton Cables earn?", "Norton Cables\n\nTotal: 12 euros", False),
        ("How high is the toll on Norton Bridge?", "The toll on Norton Bridge is 12 euros.", True),
        ("For how long is the Norton 12 guaranteed?", "The warranty for the Norton 12 is two months.", True),
    ],
)
def test_what_is_only_counted_or_given_a_value_leaves_out_what_goes_without_saying(
    question: str, said: str, sure: bool
) -> None:
    assert best(question, said).sure is sure


def test_unsure_lines_are_shown_and_nothing_is_claimed_by_them() -> None:
    window = best("What is the deposit of Quay Road 27?")
    shown = answer_text([window], ["deposit"])
    assert shown.startswith("No lines were found that surely answer this question;")
    assert "27.md" not in shown
    assert f"[ev_0001:{window.first}-{window.last}]" in shown


def test_of_what_is_asked_openly_a_sentence_that_gives_just_that_is_the_answer() -> None:
    assert best("What colour is the sky?", "The colour of the sky is blue.").sure
    assert not best("What colour is the sky?", "The colour of the sea is green.").sure
    assert not best("What colour is the sky?", "The sky is wide.").sure


MANUAL = """# The archive server

The archive server keeps a backup for 30 days. Older stashes are named stash@{2.hours.ago} by the archive.
The archive server was written by Ada Holm. The archive server is maintained on Linux by us. It was added to
the toolbox if the tools exist. A discount is given for up to 100 users of the archive server.
The number of branches of the archive server is checked at once.
"""


@pytest.mark.parametrize(
    ("question", "sure"),
    [
        ("How many days does the archive server keep a backup?", True),
        ("How many weeks does the archive server keep a backup?", False),
        ("How many hours does the archive server keep a stash?", False),
        ("How many days does the archive server keep a transcript?", False),
        ("How many branches does the archive server check?", False),
        ("Who wrote the archive server?", True),
        ("Who maintains the archive server?", False),
        ("In which year was the archive server added to the toolbox?", False),
        ("For how many users of the archive server is a discount given?", True),
        ("Is a discount given for over 100 users of the archive server?", False),
    ],
)
def test_an_answer_has_the_unit_the_rarest_term_and_the_kind_that_were_asked(
    question: str, sure: bool
) -> None:
    assert best(question, MANUAL, "manual.md").sure is sure


@pytest.mark.parametrize(
    ("question", "text", "sure"),
    [
        (
            "Innerhalb von wie vielen Tagen kann der Betreuer widersprechen?",
            "Der Betreuer kann innerhalb von 21 Tagen widersprechen.",
            True,
        ),
        (
            "Innerhalb von wie vielen Wochen kann der Betreuer widersprechen?",
            "Der Betreuer kann innerhalb von 21 Tagen widersprechen.",
            False,
        ),
        (
            "Wer leitet das Archiv?",
            "Das Archiv wird von Ada Holm geleitet, und es leitet Anfragen weiter.",
            True,
        ),
        ("Wer leitet das Archiv?", "Das Archiv leitet alle Anfragen an den Server weiter.", False),
        ("En quelle année le projet a-t-il été créé ?", "Le projet a été créé par Ada Holm en 1993.", True),
        ("En quelle année Ada Holm est-elle née ?", "Le projet a été créé par Ada Holm en 1993.", False),
        ("Combien de logiciels contient l'archive ?", "L'archive contient plus de 59100 logiciels.", True),
        ("Combien de membres contient l'archive ?", "L'archive contient plus de 59100 logiciels.", False),
    ],
)
def test_questions_in_german_and_french_have_kinds_and_units(question: str, text: str, sure: bool) -> None:
    assert best(question, text, "manual.md").sure is sure


SETTINGS = """Settings of the pump

flow_limit	Use: main	Type: integer	Default: 40
pause_after	Use: main	Type: time	Default: 10w
noise_share	Use: main	Type: percent	Default: 15

flow_pause (integer)
Sets how long the pump pauses, unlike pause_after and flow_limit. The default is 7 minutes, which is twice \
the usual pause_after of a smaller machine.
"""


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("What is the default of flow_limit?", "40"),
        ("What is the default number of strokes (flow_limit)?", "40"),
        ("How long does the pump pause by default (pause_after)?", "10w"),
        ("What is the default noise share in percent (noise_share)?", "15"),
    ],
)
def test_a_row_with_the_setting_that_is_asked_for_gives_its_default(question: str, value: str) -> None:
    found = best(question, SETTINGS, "settings.txt")
    assert found.sure and value in found.text


@pytest.mark.parametrize(
    "question",
    [
        "What is the default of flow_limits?",
        "What is the default of flow_limit_max?",
        "What is the maximum of flow_limit?",
        "How many seconds is the default of flow_limit?",
        "How long is the default of flow_limit?",
    ],
)
def test_another_setting_noun_or_unit_is_not_answered_by_it(question: str) -> None:
    assert not best(question, SETTINGS, "settings.txt").sure


def test_a_value_under_the_term_of_another_setting_is_that_ones() -> None:
    other = SETTINGS.replace("pause_after	Use: main	Type: time	Default: 10w\n", "")
    assert not best("How long is the default of pause_after?", other, "settings.txt").sure
    assert best("How long is the default of flow_pause?", other, "settings.txt").sure


MANY = "\n\n".join(
    [
        "The archive is described here.",
        *(f"The archive has a {word} for each letter." for word in ("shelf", "room", "lamp", "desk", "cart")),
        "Names must be at least two characters long, and every cart is checked 12 times a day.",
        "Boxes must (by rule) be stored for 30 days.",
    ]
)


@pytest.mark.parametrize(
    ("question", "sure"),
    [
        ("At least how many characters long must names in the archive be?", True),
        ("How many characters long may names in the archive be at the most?", False),
        ("How many characters long must names in the museum be?", False),
        ("For how many days must boxes in the archive be stored?", True),
        ("For how many days must boxes in the archive not be stored?", False),
    ],
)
def test_a_sentence_need_not_say_what_the_whole_text_is_about(question: str, sure: bool) -> None:
    assert best(question, MANY, "manual.txt").sure is sure


@pytest.mark.parametrize(
    "line",
    [
        "The monthly rent is 950 euros (repealed 2019).",
        "The monthly rent is 950 euros (this rule was repealed).",
        "The monthly rent is 950 euros, which was abolished in 2019.",
        "The monthly rent is 950 euros; repealed in 2019.",
        "The monthly rent is (not) 950 euros.",
        "[ ] The monthly rent is 950 euros.",
        "☐ The monthly rent is 950 euros.",
        "~~The monthly rent is 950 euros.~~",
    ],
)
def test_what_is_taken_back_or_not_ticked_is_no_answer(line: str) -> None:
    asked = "How much is the monthly rent?"
    assert not best(asked, line).sure
    assert best(asked, "The monthly rent is 950 euros (in Ostley, not in Morvern), which was agreed.").sure


@pytest.mark.parametrize(
    ("question", "text", "sure"),
    [
        ("Von wem wurde das Projekt gegründet?", "Das Projekt wurde von Ada Holm gegründet.", True),
        ("Von wem wurde das Projekt beendet?", "Das Projekt wurde von Ada Holm gegründet.", False),
        ("Wie oft wird der Server geprüft?", "Den Server prüfen wir zweimal täglich.", True),
        ("Wie oft wird der Server geprüft?", "Den Server loben wir zweimal täglich.", False),
        (
            "Combien de fois par jour la liste est-elle effacée ?",
            "La liste est effacée deux fois par jour.",
            True,
        ),
        (
            "Combien de fois par jour la liste est-elle lue ?",
            "La liste est effacée deux fois par jour.",
            False,
        ),
    ],
)
def test_words_of_asking_and_inflections_in_german_and_french(question: str, text: str, sure: bool) -> None:
    assert best(question, text, "manual.md").sure is sure


PROGRAM = """# Norton Licence

The "Program" is the archive. You may copy the program, and works based on the Program, under the terms of
the Licence. The licence holds for every copy and/or work. A work is published in Section 4.
"""


@pytest.mark.parametrize(
    ("question", "said", "sure"),
    [
        ("Where was the archive written?", "The archive was written in Ostley.", True),
        ("Where was the archive written?", "The archive was written in the Netherlands.", True),
        ("Where was the archive written?", "The archive was written at the Grand Hotel.", True),
        ("Where was the archive written?", "The archive is written as a work on the Program.", False),
        ("Where was the archive written?", "The archive is written under the Statute of Ostley.", False),
        ("Where was the archive written?", "If the archive is written, write to the Norton Society.", False),
        ("Where was the archive moved?", "The archive was moved to the Netherlands.", True),
        ("Where was the archive written?", "The archive was written of and/or for us.", False),
        ("Where was the archive written?", "The archive was written: see manual.txt, Vim.", False),
        ("Where is the archive stored?", "The archive is stored in /var/lib/archive.", True),
        ("Where is the archive stored?", "The archive is stored as is, see manual.txt.", False),
        ("Where was the archive published?", "The archive was published as in Section 4.", False),
        ("Where is the archive described?", "The archive is described in Section 4.", True),
        ("Wo liegt das Archiv?", "Das Archiv liegt bei Ostley.", True),
        ("Où se trouve l'archive ?", "L'archive se trouve à Ostley.", True),
    ],
)
def test_a_place_is_no_term_of_the_text_no_part_of_it_and_not_the_file(
    question: str, said: str, sure: bool
) -> None:
    assert best(question, f"{PROGRAM}\n{said}", "manual.txt").sure is sure


@pytest.mark.parametrize(
    ("question", "said", "sure"),
    [
        ("Who is the author of the archive?", "The author of the archive is Ada Holm.", True),
        ("Who is the author of the archive?", "Author of the archive: ADA HOLM", True),
        ("Who is the author of the archive?", "Author of the archive: ABSOLUTELY NO WARRANTY", False),
        ("Who is the author of the archive?", "Ada Holm is not the author of the archive.", False),
        ("Who is not the author of the archive?", "Ada Holm is not the author of the archive.", True),
        ("Who is the author of the archive?", "Ada Holm, not Bo Lund, is the author of the archive.", True),
        ("Who wrote the archive?", "The archive was written by Ada Holm without help.", True),
        ("Who gives help with the archive?", "Ada Holm gives the archive without help.", False),
        ("Who may open the archive?", "No one other than Ada Holm may open the archive.", True),
        ("Where does the archive lie?", "The archive does not lie in Ostley.", False),
        ("Where does the archive lie?", "The archive lies in Ostley (not in Morvern).", True),
    ],
)
def test_a_shout_and_a_denial_name_nobody(question: str, said: str, sure: bool) -> None:
    assert best(question, said, "manual.txt").sure is sure


def test_who_is_asked_for_is_named_in_the_clause_that_speaks_of_it() -> None:
    question = "Who is the author of the archive?"
    assert not best(question, "Ada Holm uses the archive; some authors know it.", "manual.txt").sure
    assert best(question, "The archive is new; its author is Ada Holm.", "manual.txt").sure


@pytest.mark.parametrize(
    ("question", "said", "other"),
    [
        (
            "How many messages can the hold queue accommodate?",
            "The hold queue accommodates at most 200 messages.",
            "# The hold queue\n\nThe active queue accommodates at most 200 messages.",
        ),
        (
            "What is backscatter mail?",
            "Backscatter mail is an answer to forged mail.",
            "# Blocking backscatter mail\n\nSuch mail is a nuisance, and it is easy to stop.",
        ),
        (
            "Who checks the spare boxes of the museum?",
            "The spare boxes of the museum are checked by Ada Holm.",
            "# Spare boxes of the museum\n\nThe lamps are checked by Ada Holm.",
        ),
        (
            "Are dogs allowed in the cellar?",
            "No dogs are allowed in the cellar.",
            "# In the cellar\n\nDogs must be on a lead, and no smoking is allowed.",
        ),
        (
            "What is the default logging level?",
            "The default logging level is 30.",
            "One way of logging less is the default option.",
        ),
    ],
)
def test_the_sentence_itself_has_what_is_asked_not_its_heading_or_its_neighbours(
    question: str, said: str, other: str
) -> None:
    assert best(question, said, "manual.txt").sure
    assert not best(question, other, "manual.txt").sure


def test_lines_of_a_program_that_read_as_one_long_sentence_answer_nothing() -> None:
    line = "the wait of the default pump is 30 seconds"
    assert best("How long is the wait of the default pump?", f"{line}.", "manual.txt").sure
    program = f"{line} " + "log(pump) restart(pump) " * 30
    assert not best("How long is the wait of the default pump?", program, "manual.txt").sure


@pytest.mark.parametrize(
    ("question", "said", "sure"),
    [
        ("How much did the roof cost?", "The roof was expected to cost 900 euros.", False),
        ("How much was the roof expected to cost?", "The roof was expected to cost 900 euros.", True),
        ("How much does a locker cost?", "For example, a locker that costs 9 euros is refunded.", False),
        ("When does the ferry to Aldra depart?", "The ferry to Aldra departs at 7:15.", True),
        ("How many milligrams of Fenol do adults take?", "Adults take 500 mg of Fenol.", True),
        ("Wer prüft den Kassenwart?", "Der Kassenwart kann die Prüfung verlangen.", False),
        ("¿Quién inauguró la biblioteca?", "La biblioteca fue inaugurada por Ada Holm en 1987.", True),
        ("Chi è il sindaco di Ostley?", "Il sindaco di Ostley fu avvisato il giorno dopo.", False),
        ("In che mese si potano le viti?", "Le viti si potano a febbraio.", True),
        ("湖边图书馆有多少个座位？", "湖边图书馆有80个座位。", True),
        ("湖边图书馆有多少个座位？", "湖边图书馆没有80个座位。", False),
        ("湖边图书馆有多少个座位？", "湖边茶馆有80个座位。", False),
    ],
)
def test_what_is_meant_for_example_or_said_of_the_asked_one_alone(
    question: str, said: str, sure: bool
) -> None:
    assert best(question, said, "notes.txt").sure is sure
