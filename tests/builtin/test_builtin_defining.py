"""Which sentences the extractive model takes for a definition, and for what a thing does."""

import pytest

from vera.builtin.answer_type import OF_THE_KIND
from vera.builtin.conversation import Excerpt
from vera.builtin.defining import is_done_by_it
from vera.builtin.documents import Match
from vera.builtin.expressions import strength
from vera.builtin.question import Kind, analyse
from vera.builtin.scoring import windows
from vera.builtin.term_weights import weigh


def is_sure(question: str, text: str) -> bool:
    lines = dict(enumerate(text.split("\n"), 1))
    seen = Excerpt("manual.txt", len(lines), lines, 1, len(lines), "ev_0001")
    asked = analyse(question)
    return windows(asked, weigh(asked, [seen]), seen, Match())[0].sure


@pytest.mark.parametrize(
    ("question", "defining"),
    [
        ("What is name resolution?", "Name resolution is the translation of names to addresses."),
        ("What is name resolution?", "In a network, the name resolution is a service."),
        (
            "What is name resolution?",
            "By name resolution one means much, but name resolution means look-ups.",
        ),
        ("What is type affinity?", "Type affinity: the type that a column prefers."),
        ("What is type affinity?", "“Type affinity” denotes the type that a column prefers."),
        ("Was ist ein Lesezeichen?", "Ein Lesezeichen ist ein Verweis auf eine Stelle."),
        ("Qu'est-ce qu'un signet ?", "Un signet est un renvoi à une page."),
    ],
)
def test_a_definition_says_what_the_whole_term_is(question: str, defining: str) -> None:
    asked = analyse(question)
    assert asked.kind is Kind.DEFINITION
    assert strength(asked, defining) >= OF_THE_KIND


@pytest.mark.parametrize(
    ("question", "other"),
    [
        ("What is name resolution?", "Reverse name resolution is the translation of addresses to names."),
        ("What is name resolution?", "Reverse name resolution (that is, address to name) needs a domain."),
        ("What is name resolution?", "Name resolution (that is, name to address) needs a server."),
        ("What is name resolution?", "A name resolution service is a program."),
        ("What is name resolution?", "The port for name resolution is the standard one."),
        ("What is name resolution?", "Name resolution is slow."),
        ("What is type affinity?", "type affinity - datatype3.html"),
        ("What is type affinity?", "Type affinity – see data types"),
        ("What is type affinity?", "Type affinity: datatype3.html"),
        ("What is type affinity?", "Type affinity:"),
        ("What is type affinity?", "Column type affinity: the type that a column prefers."),
        ("What is type affinity?", "The type affinity: see there."),
        ("Was ist ein Lesezeichen?", "Ein Lesezeichen ist nötig."),
        ("Qu'est-ce qu'un signet ?", "Un signet est utile."),
    ],
)
def test_a_longer_name_a_bracket_a_dash_and_a_remark_define_nothing(question: str, other: str) -> None:
    assert strength(analyse(question), other) < OF_THE_KIND


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("What are the permissions on /var/games?", Kind.ANY),
        ("What is a game?", Kind.DEFINITION),
        ("Was ist die Voreinstellung von umask?", Kind.ANY),
        ("Que permet le journal ?", Kind.ANY),
    ],
)
def test_what_a_thing_has_is_no_definition(question: str, kind: Kind) -> None:
    assert analyse(question).kind is kind


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What does the VACUUM command do?", "VACUUM rebuilds the file."),
        ("What does the VACUUM command do?", "The VACUUM command rebuilds the file."),
        ("What does VACUUM do to the database?", "The command VACUUM rebuilds the database."),
        ("What does the noise filter remember?", "The noise filter remembers the least delay."),
        ("Was bewirkt die Option nosuid?", "Die Option nosuid lässt alle Rechte weg."),
        ("Que fait la commande autoclean ?", "La commande autoclean supprime les paquets."),
    ],
)
def test_what_a_thing_does_is_said_with_it_as_the_subject(question: str, text: str) -> None:
    assert is_done_by_it(analyse(question), text, "")


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What does the VACUUM command do?", "VACUUM INTO writes a copy."),
        ("What does the VACUUM command do?", "The VACUUM command with an INTO clause writes a copy."),
        ("What does the VACUUM command do?", "The INTO clause of VACUUM writes a copy."),
        ("What does the VACUUM command do?", "The database is rebuilt without VACUUM."),
        ("What does the noise filter remember?", "The filter remembers the noise."),
        ("What does the noise filter remember?", "The clock remembers the noise filter."),
        ("Was bewirkt die Option nosuid?", "Die Option nodev bewirkt nichts gegen nosuid."),
        ("Que fait la commande autoclean ?", "La commande clean, comme autoclean, supprime les paquets."),
    ],
)
def test_what_another_thing_does_is_not_what_was_asked(question: str, text: str) -> None:
    assert not is_done_by_it(analyse(question), text, "")


def test_the_label_of_an_entry_may_be_the_subject() -> None:
    asked = analyse("What does the -x option do?")
    assert is_done_by_it(asked, "skips files", "-x")
    assert not is_done_by_it(asked, "skips files", "-y")


def test_a_question_of_another_form_asks_for_no_subject() -> None:
    assert is_done_by_it(analyse("What happens to the file?"), "It is closed.", "")
    assert is_done_by_it(analyse("What does NCAS stand for?"), "The centre of science (NCAS) is new.", "")


def test_what_does_it_do_is_answered_by_the_command_and_not_by_its_variant() -> None:
    question = "What does the VACUUM command do to the database?"
    variant = "If INTO is given, VACUUM leaves the database and the command writes Copy 2 of it."
    assert not is_sure(question, f"# VACUUM\n\n{variant}")
    assert is_sure(question, "The VACUUM command rebuilds the database for Release 2.")


def test_what_is_it_is_answered_by_its_definition_and_not_by_an_index() -> None:
    question = "What is type affinity?"
    assert not is_sure(question, "type affinity - datatype3.html")
    assert is_sure(question, "The type affinity is the recommended type of a column.")


@pytest.mark.parametrize(
    ("question", "defining"),
    [
        ("What is DHCP?", "DHCP (for Dynamic Host Configuration Protocol) is a protocol for addresses."),
        ("What is DHCP?", "DHCP, also called the address service, is a protocol."),
        ("Was ist DHCP?", "DHCP (für Dynamic Host Configuration Protocol) ist ein Protokoll."),
        ("Was bedeutet Lesezeichen?", "Ein Lesezeichen ist ein Verweis auf eine Stelle."),
        ("What are cookies?", "Cookies are small text files."),
        ("What are cookies?", "Cookies (also web cookies) are small text files."),
        ("Was sind Kekse?", "Kekse sind kleine Textdateien."),
        ("What is name resolution?", "Turning a name into an address is generically called name resolution."),
        ("Was ist ein Spiegel?", "Einen Rechner, der Pakete verteilt, nennt man einen Spiegel."),
        ("Qu'est-ce qu'un miroir ?", "Un serveur qui copie les paquets est appelé un miroir."),
    ],
)
def test_a_bracket_another_name_and_a_plural_define_and_so_does_being_called_so(
    question: str, defining: str
) -> None:
    asked = analyse(question)
    assert asked.kind is Kind.DEFINITION
    assert strength(asked, defining) >= OF_THE_KIND
    assert is_sure(question, defining)


@pytest.mark.parametrize(
    ("question", "other"),
    [
        ("What is DHCP?", "DHCP (for Dynamic Host Configuration Protocol) is not a protocol for names."),
        ("What is DHCP?", "DHCP, also called the address service, is not a protocol."),
        ("What is DHCP?", "BOOTP (unlike DHCP) is a protocol for addresses."),
        ("What is DHCP?", "With DHCP, also called the address service, is a server needed."),
        ("What is DHCP?", "The DHCP server, also called the address service, is a program."),
        ("What is DHCP?", "DHCP needs a server (BOOTP is a protocol)."),
        ("What is the DHCP lease?", "DHCP (for Dynamic Host Configuration Protocol) is a protocol."),
        ("What are cookies?", "Cookies are slow."),
        ("What are cookies?", "Cookies are not small text files."),
        ("What are cookies?", "Cookies are always blocked."),
        ("What are cookies?", "Cookies are in small text files."),
        ("What are cookies?", "Cookies are no files."),
        ("What are cookies?", "Session cookies are small text files."),
        ("Was sind Kekse?", "Kekse sind keine Textdateien."),
        ("Was sind Kekse?", "Kekse sind in der Datei."),
        ("Was sind Kekse?", "Kekse sind klein."),
        ("What is name resolution?", "Turning a name into an address is not called name resolution."),
        ("What is name resolution?", "This is called name resolution."),
        ("What is name resolution?", "Turning a name into an address is called name resolution service."),
        ("What is name resolution?", "The server, which is called name resolution, is slow."),
        ("What is name resolution?", "Turning an address into a name is called reverse name resolution."),
    ],
)
def test_a_denial_and_another_thing_define_nothing(question: str, other: str) -> None:
    assert strength(analyse(question), other) < OF_THE_KIND
    assert not is_sure(question, other)


@pytest.mark.parametrize(
    "heading", ["Myths", "Repealed", "2. Common misconceptions", "Mythen", "Idées reçues"]
)
def test_a_definition_under_a_heading_that_rejects_it_is_not_sure(heading: str) -> None:
    text = "# Manual\n\n## {}\n\nType affinity is a kind of index."
    assert is_sure("What is type affinity?", text.format("Types"))
    assert not is_sure("What is type affinity?", text.format(heading))


def test_a_question_about_what_is_rejected_is_answered_under_such_a_heading() -> None:
    text = "# Myths\n\nThe oldest of the myths was told in 1790."
    assert is_sure("In what year was the oldest of the myths told?", text)


@pytest.mark.parametrize(
    "said",
    [
        "Tokens are always hours late in this system.",
        "Tokens are expensive things to lose.",
        "Tokens are just words.",
    ],
)
def test_what_is_only_said_of_things_is_no_definition(said: str) -> None:
    assert not is_sure("What are tokens?", said)
    assert is_sure("What are tokens?", "Tokens are small text files that a server keeps.")
