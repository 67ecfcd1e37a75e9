"""A page whose text its scripts would bring is told from one that is merely short."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vera.evidence.low_signal import low_signal
from vera.extraction.canonical.registry import extract
from vera.extraction.source import Unreadable

BUNDLE = '<script src="/static/main.8f3a.js" defer></script>'
INLINE = f"<script>{'window.x = 1; ' * 200}</script>"
LONG = "<p>" + "The board approved the annual report and the accounts of the year. " * 20 + "</p>"


def reason(page: str, media_type: str = "text/html", status: int | None = 200) -> str:
    body = page.encode()
    try:
        text = extract(body, "page.html").text
    except Unreadable:
        text = b""
    return low_signal(body, media_type, text, http_status=status)


SHELLS = {
    "react": f'<!doctype html><html><body><div id="root"></div>{BUNDLE}</body></html>',
    "react with a notice": "<html><body><noscript>You need to enable JavaScript to run this app.</noscript>"
    f'<div id="root"></div>{BUNDLE}</body></html>',
    "vue": f"<html><title>App</title><body><div id=app></div>{BUNDLE}</body></html>",
    "next": f'<html><body><div id="__next" data-x="1"><!-- --></div>{BUNDLE}</body></html>',
    "angular": f"<html><body><app-root></app-root>{BUNDLE}</body></html>",
    "a root that waits": f'<html><body><div id="root"><div class="spin"><svg><path d="M0"/></svg></div>'
    f"<p>Loading…</p></div>{BUNDLE}</body></html>",
    "a root between header and footer": "<html><body><header>ACME Products Contact</header>"
    f'<main id="app"></main><footer>© 2026 ACME</footer>{BUNDLE}</body></html>',
    "a notice alone": f"<html><body><p>Please enable JavaScript to view this page.</p>{BUNDLE}</body></html>",
    "a notice in German": "<html><body><noscript>Bitte aktivieren Sie JavaScript.</noscript>"
    f"<p>Portal</p>{BUNDLE}</body></html>",
    "a notice in markup": "<html><body><noscript><p>This site <b>requires</b> JavaScript.</p></noscript>"
    f"<p>Portal</p>{BUNDLE}</body></html>",
    "a line beside a big script": f"<html><body><p>Dashboard</p>{INLINE}</body></html>",
    "many files": f"<html><body><p>Dashboard</p>{BUNDLE * 4}</body></html>",
    "nothing at all": "<html><body><script>document.write('x')</script></body></html>",
    "a script that never ends": f"<html><body><p>Hello</p><script>{'a = 1; ' * 500}",
}


@pytest.mark.parametrize("page", SHELLS.values(), ids=SHELLS)
def test_a_page_that_waits_for_its_scripts_is_low_signal(page: str) -> None:
    assert reason(page)


COMPLETE = {
    "example.com": "<!doctype html><html><head><title>Example Domain</title><style>body{margin:0}</style>"
    "</head><body><div><h1>Example Domain</h1><p>This domain is for use in documentation examples without "
    'needing permission.</p><p><a href="https://iana.org">Learn more</a></p></div></body></html>',
    "short, with a counter of visits": "<html><body><h1>Closed</h1><p>The shop is closed until Monday.</p>"
    '<script async src="https://stats.example/a.js"></script><script>count("id-1")</script></body></html>',
    "short, in an application's root": "<html><body><div id=root><h1>Closed</h1>"
    f"<p>The shop is closed until Monday.</p></div>{BUNDLE}</body></html>",
    "long, with an empty root": f"<html><body>{LONG}<div id=app></div>{BUNDLE}</body></html>",
    "about JavaScript": "<html><body><p>JavaScript is required knowledge for this course.</p></body></html>",
    "data beside little text": '<html><body><p>Price: 12 euros.</p><script type="application/ld+json">'
    f'{{"a": "{"x" * 5000}"}}</script></body></html>',
    "styles beside little text": f"<html><body><style>{'p{} ' * 2000}</style><p>Price: 12.</p></body></html>",
    "empty": "<html><body></body></html>",
    "a commented root": f"<html><body><!-- <div id=root></div> --><p>Open.</p>{BUNDLE}</body></html>",
    "a root by another name": f"<html><body><p>A square root.</p><div id=roots></div>{BUNDLE}</body></html>",
}


@pytest.mark.parametrize("page", COMPLETE.values(), ids=COMPLETE)
def test_a_page_that_is_merely_short_is_not(page: str) -> None:
    assert reason(page) == ""


def test_an_error_page_is_what_it_is() -> None:
    assert reason(SHELLS["react"], status=404) == ""
    assert reason(SHELLS["react"], status=503) == ""


def test_what_is_no_web_page_is_never_low_signal() -> None:
    assert reason(SHELLS["react"], media_type="application/json") == ""
    assert reason(SHELLS["react"], media_type="text/plain") == ""


def test_without_a_claimed_type_the_bytes_decide() -> None:
    assert reason(SHELLS["react"], media_type="")
    assert low_signal(b"<div id=root></div><script src=x></script>", "", b"", http_status=200) == ""


def test_the_reason_names_the_sign() -> None:
    assert reason(SHELLS["react"]) == "its element #root is empty until its scripts have run"
    assert reason(SHELLS["angular"]) == "its element <app-root> is empty until its scripts have run"
    assert reason(SHELLS["a notice alone"]) == "it says that it needs JavaScript"
    assert reason(SHELLS["nothing at all"]) == "it has scripts and no visible text"
    assert reason(SHELLS["many files"]) == "it has only 9 letters of visible text beside its scripts"


@pytest.mark.parametrize(
    "said",
    ["Just a moment... Verify you are human by completing the action below.", "Are you a robot?",
     "Making sure you’re not a bot!", "Checking your browser before you enter.",
     "Please complete the security check to access the site."],
)  # fmt: skip
def test_a_test_for_robots_is_not_what_a_reader_would_see(said: str) -> None:
    page = f"<html><body><p>{said}</p></body></html>"
    assert reason(page) == "it wants its reader to prove to be human"
    assert reason(page, status=403) == ""


def test_a_page_about_robots_and_captchas_is_an_ordinary_one() -> None:
    for said in ("The captcha was invented in 1997.", "Verify your e-mail address.", "Robots that are human"):
        assert reason(f"<html><body><p>{said}</p></body></html>") == ""
    assert reason(f"<html><body><p>Are you a robot? asks the form.</p>{LONG}</body></html>") == ""


PIECES = st.sampled_from(
    ["<script", ">", "</script>", "<!--", "-->", "<div id=root", "<div>", "</div>", "<noscript>",
     "</noscript>", "enable ", "javascript", "verify you are ", " ", "x", "<app-root", '"', "'", "<style>",
     "é", "Loading…"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=60).map("".join), st.binary(max_size=40))
def test_whatever_a_page_is_there_is_an_answer(page: str, text: bytes) -> None:
    found = low_signal(b"<html>" + page.encode(), "text/html", text, http_status=None)
    assert isinstance(found, str)


@pytest.mark.parametrize(
    "piece",
    ["<script", "<script>", "<!--", "<noscript>", "<noscript", "<div id=root>", "<div id=root", "<div ",
     "enable ", "<app-root>", "javascript ", "a-", "<div id='", "<script type="],
)  # fmt: skip
def test_a_hostile_page_of_a_megabyte_is_answered(piece: str) -> None:
    body = (b"<html><script src=x></script>" + piece.encode() * (1 << 20))[: 1 << 20]
    assert isinstance(low_signal(body, "text/html", piece.encode() * 40, http_status=200), str)
