"""Failed commands, error pages and walls are no evidence; pages about them are."""

import pytest

from support.audits import case_of, evidence_of, page_of
from vera.audit.checks.content import content
from vera.events import Evidence
from vera.evidence.finding import Finding

ARTICLE = (
    "The harbour of Skerry was widened between the wars, when the herring fleet had outgrown the old basin. "
    "Stone for the new mole came from the quarry above the village and was moved by a narrow railway. "
    "The work took six summers, and the last block was laid by the daughter of the first harbour master. "
)


def found(*sources: tuple[Evidence, bytes], answer: str = "It is so [ev_1].") -> list[Finding]:
    return list(content(case_of(answer, *sources)))


def kinds(text: str, title: str = "", source: str = "https://example.org/page") -> list[str]:
    findings = found(page_of("ev_1", text, source, title=title))
    assert all((each.severity, each.label) == ("hard", "invalid_source") for each in findings)
    return [each.detail for each in findings]


def test_a_failed_command() -> None:
    (finding,) = found(evidence_of("ev_1", "42\n", tool="shell", tier="observed", exit_code=2))
    assert (finding.code, finding.detail, finding.evidence) == ("command_failed", "2", "ev_1")
    assert found(evidence_of("ev_1", "42\n", tool="shell", tier="observed", exit_code=0)) == []


@pytest.mark.parametrize("status", [199, 301, 304, 403, 404, 429, 500, 503])
def test_a_page_that_was_not_delivered(status: int) -> None:
    (finding,) = found(page_of("ev_1", ARTICLE, http_status=status))
    assert (finding.code, finding.detail) == ("http_error", str(status))


@pytest.mark.parametrize("status", [200, 203, 206])
def test_a_page_that_was(status: int) -> None:
    assert found(page_of("ev_1", ARTICLE, http_status=status)) == []


def test_each_claim_that_cites_it_is_told() -> None:
    page = page_of("ev_1", ARTICLE, http_status=404)
    assert [each.claim for each in found(page, answer="It is so [ev_1:1]. It is thus [ev_1:1].")] == [
        "c1",
        "c2",
    ]


def test_a_text_without_a_word() -> None:
    (finding,) = found(evidence_of("ev_1", " \n"))
    assert (finding.code, finding.detail) == ("no_content", "no text")


@pytest.mark.parametrize(
    ("kind", "title", "text"),
    [
        ("an error page", "404 Not Found", "404 Not Found\nnginx/1.18.0\n"),
        (
            "an error page",
            "Page not found - Acme",
            "Home\nNews\nShop\nAbout us\nContact\nTry another page.\n",
        ),
        ("an error page", "", "Oops!\nThe page you are looking for could not be found.\nGo home\n"),
        (
            "an error page",
            "Access Denied",
            "Access Denied\nYou don't have permission to access this server.\n",
        ),
        (
            "a bot check",
            "Just a moment...",
            "Verifying you are human. This may take a few seconds.\nRay ID: 8f2\n",
        ),
        ("a bot check", "", "Our systems have detected unusual traffic from your computer network.\n"),
        ("a bot check", "Attention Required! | Cloudflare", "Please complete the security check to go on.\n"),
        (
            "a bot check",
            "Attention Required! | Cloudflare",
            "Sorry, you have been blocked\nYou are unable to access acme.example\nWhy have I been blocked?\n"
            "This website is using a security service to protect itself from online attacks. The action you "
            "just performed triggered the security solution. There are several actions that could trigger "
            "this block including submitting a certain word or phrase, a SQL command or malformed data.\n",
        ),
        ("a page that needs JavaScript", "Acme", "You need to enable JavaScript to run this app.\n"),
        ("a page that needs JavaScript", "x", "JavaScript is not available. JavaScript must be enabled.\n"),
        ("a login page", "Log in", "Sign in to continue\nEmail\nPassword\nForgot password?\n"),
        ("a login page", "", "You must be logged in to view this page.\n"),
        (
            "a consent wall",
            "",
            "Before you continue\nWe use cookies to improve our site.\nAccept all\nReject all\n",
        ),
        ("a consent wall", "", "We value your privacy\nWe and our 842 partners store cookies.\nI agree\n"),
    ],
)
def test_walls(kind: str, title: str, text: str) -> None:
    assert kinds(text, title) == [kind]


@pytest.mark.parametrize(
    ("title", "text"),
    [
        (
            "How captchas work",
            "A captcha asks a visitor to prove that they are no program. Early ones showed warped letters, "
            "later ones photographs of buses. The phrase “verify you are human” became a joke of its own. "
            "Programs now solve them faster than people do, which is why many sites judge how one moves.\n",
        ),
        (
            "404 Not Found - HTTP",
            "404 Not Found\nThe HTTP 404 response status means that the server cannot find the requested "
            "resource. Links that lead to such an answer are often called broken or dead. The "
            "status does not say "
            "whether the absence is temporary or permanent; where it is permanent, 410 is sent.\n",
        ),
        ("Skerry harbour", f"We use cookies to improve our site.\nAccept all\nReject all\n{ARTICLE}\n"),
        (
            "Skerry harbour",
            f"{ARTICLE}\nSign in to your account\nForgot password?\nPlease enable JavaScript.\n",
        ),
        ("Opening hours", "Monday to Friday 9-17\nSaturday 10-14\nSunday closed\n"),
        ("A short fact", "Water boils at 100 degrees.\n"),
        (
            "Office",
            "Cookie settings\nMonday to Friday nine to five, Saturday ten to two, Sunday closed all day.\n",
        ),
    ],
)
def test_pages_about_walls_and_pages_below_banners_are_content(title: str, text: str) -> None:
    assert kinds(text, title) == []


def test_a_long_page_is_no_wall() -> None:
    assert kinds("Please enable JavaScript. " + ARTICLE * 40, "Just a moment...") == []


@pytest.mark.parametrize(
    "address",
    [
        "https://www.google.com/search?q=acme",
        "https://www.google.co.uk/search?hl=en&q=acme",
        "https://www.bing.com/search?q=acme",
        "https://duckduckgo.com/?q=acme",
        "https://html.duckduckgo.com/html/?q=acme",
        "https://search.brave.com/search?q=acme",
        "https://search.yahoo.com/search?p=acme",
        "https://example.org/search?q=acme",
        "https://example.org/en/search/?query=acme",
        "https://blog.example.org/?s=acme",
    ],
)
def test_search_pages(address: str) -> None:
    assert kinds(ARTICLE, source=address) == ["a search page"]


@pytest.mark.parametrize(
    "address",
    [
        "https://example.org/search",
        "https://example.org/research?q=acme",
        "https://developers.google.com/search/docs?hl=en",
        "https://example.org/article?p=42",
        "https://example.org/?p=42",
        "https://en.wikipedia.org/wiki/Search?q=",
        "https://[broken/search?q=x",
    ],
)
def test_pages_that_are_no_search_pages(address: str) -> None:
    assert kinds(ARTICLE, source=address) == []


def test_files_are_not_taken_for_walls() -> None:
    assert found(evidence_of("ev_1", "404 Not Found\n")) == []


@pytest.mark.parametrize(
    "piece", ["enable ", "javascript ", "you ", "a page ", "404\n", "?", ". ", "cookies we "]
)
def test_hostile_pages_take_little_time(piece: str) -> None:
    found(page_of("ev_1", piece * (7_900 // len(piece))))
