"""Whether a fetched page is not what a reader would see: a shell whose text its own scripts would bring, or a
test for robots in its place.

Three things must come together. The body is a web page that was answered with success. It is short: fewer
than MAX_LETTERS letters or digits of visible text. And its text wants its reader to prove to be human; or
scripts are in it together with one of these signs, looked for in this order:

1. an application's root (an element with an id such as `root` or `__next`, or of a tag such as `<app-root>`)
   in which there is no text, or only a word like "Loading";
2. a notice, in `<noscript>` or in the visible text, that JavaScript is needed;
3. next to nothing visible (fewer than FEW_LETTERS letters or digits) beside much script: SCRIPT_BYTES of it
   in the page, or SCRIPT_FILES files that it loads;
4. nothing visible at all.

So a short page that is complete (`example.com`), a page that says "not found", and a long page with an empty
corner are not low-signal. Scripts that hold data (JSON) and modules to preload count for nothing.

Everything here is linear in the size of the page, of which the first MAX_BYTES are looked at.
"""

import re

from vera.text.late_regex import late_regex

MAX_BYTES = 1 << 20
MAX_LETTERS = 600
FEW_LETTERS = 200
SCRIPT_BYTES = 2000
SCRIPT_FILES = 4
MAX_ROOT_TAGS = 200
MAX_ROOTS = 20

_PAGES = ("text/html", "application/xhtml+xml")
_LOOKS_LIKE_PAGE = late_regex(r"\s{0,100}<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)
_SCRIPT = late_regex(r"<script\b([^>]{0,2000})>", re.IGNORECASE)
_SRC = late_regex(r"\bsrc\s{0,5}=", re.IGNORECASE)
_TYPE = late_regex(r"\btype\s{0,5}=\s{0,5}[\"']?\s{0,5}([a-z0-9/+.-]{0,60})", re.IGNORECASE)
_RUNS = late_regex(r"|module|(?:text|application)/(?:x-)?(?:javascript|ecmascript|babel)", re.IGNORECASE)
_UNSEEN_ENDS = {name: late_regex(rf"</{name}\b", re.IGNORECASE) for name in ("script", "style")}
_UNSEEN = late_regex(r"<!--|<(script|style)\b", re.IGNORECASE)
_NOSCRIPT = late_regex(
    r"<noscript\b[^>]{0,200}>([^<]{0,500}(?:<(?!/noscript)[^<]{0,500}){0,40})", re.IGNORECASE
)
_ROOT = late_regex(
    r"<(?P<tag>div|main|section|body|span)\b[^<>]{0,300}?\bid\s?=\s?[\"']?"
    r"(?P<id>root|app|__next|__nuxt|___gatsby|svelte|q-app|react-root|app-root|react-app|app-mount|mount|"
    r"main-app|spa-root|application)[\"'\s/>]"
    r"|<(?P<custom>(?:[a-z0-9]{1,30}-){0,2}(?:app-root|app-main|my-app|ion-app|main-app|web-app))\b",
    re.IGNORECASE,
)
_TAG = late_regex(r"<(/?)([a-z][a-z0-9-]{0,60})\b[^<>]{0,4000}>", re.IGNORECASE)
_WAITING = late_regex(
    r"(?:loading|please wait|one moment|wird geladen|bitte warten|chargement|veuillez patienter|cargando|"
    r"caricamento|carregando|laden|загрузка|加载中|読み込み中)?[\s.…]{0,20}",
    re.IGNORECASE,
)
_NEEDED = late_regex(
    r"(?:enable|activate|allow|turn(?:ing)? on|switch on|requires?|needs?|without|support(?:s|ed)? for|"
    r"aktivieren|activer|activez|habilit\w{1,8}|abilit\w{1,8}|activ\w{1,8})\W{1,3}(?:\w{1,20}\W{1,3}){0,4}java\s?script"
    r"|java\s?script\W{1,3}(?:\w{1,20}\W{1,3}){0,5}"
    r"(?:enabled?|required?|needed|disabled|turned (?:on|off)|aktivier\w{1,6}|activ\w{1,8}|habilit\w{1,8}|"
    r"necessary|run this app)",
    re.IGNORECASE,
)
_WANTS_A_PERSON = late_regex(
    r"\b(?:verif(?:y|ying)|confirm|prove|checking|making sure)(?: that| if| whether)? you(?:(?:'|’)re| are)"
    r" (?:an? )?(?:human|real person|not an? (?:ro)?bot)\b"
    r"|\bare you an? (?:human|robot)\b|\b(?:i(?:'|’)m|i am) not a robot\b|\bchecking your browser\b"
    r"|\bunusual traffic from your\b|\bcomplete the (?:security check|captcha)\b"
    r"|\b(?:solve|enter|type) (?:the|this) captcha\b|\bbestätigen sie, dass sie ein mensch sind\b"
    r"|\bvérifiez que vous êtes humain\b|\bverifique que es (?:un ser )?humano\b",
    re.IGNORECASE,
)


def low_signal(body: bytes, media_type: str, text: bytes, *, http_status: int | None = None) -> str:
    """Why the page is probably not what a reader would see, as a sentence without its full stop; '' when
    nothing speaks for that.

    `body` are the page's bytes, `media_type` the server's claim ('' when it makes none), `text` the canonical
    text of the body in UTF-8 (empty when it has none), `http_status` the answer's status (None: unknown).
    """
    if http_status is not None and not 200 <= http_status < 300:
        return ""
    visible = text.decode("utf-8", "replace")
    letters = _letters(visible)
    if letters >= MAX_LETTERS:
        return ""
    page = body[:MAX_BYTES].decode("utf-8", "replace").removeprefix("\ufeff")
    if not _is_page(media_type, page):
        return ""
    if _WANTS_A_PERSON.search(visible):
        return "it wants its reader to prove to be human"
    markup, script_bytes, script_files = _without_scripts(page)
    if not script_bytes and not script_files:
        return ""
    has_much_script = script_bytes >= SCRIPT_BYTES or script_files >= SCRIPT_FILES
    return _sign(markup, text, letters, has_much_script)


def _is_page(media_type: str, page: str) -> bool:
    """Whether the server says that this is a web page, or, where it says nothing, it looks like one."""
    return media_type.lower() in _PAGES or (not media_type and _LOOKS_LIKE_PAGE.match(page) is not None)


def _sign(markup: str, text: bytes, letters: int, has_much_script: bool) -> str:
    """The first sign that the scripts of a page bring its text, '' for none."""
    if root := _empty_root(markup):
        return f"its {root} is empty until its scripts have run"
    if _asks_for_javascript(markup, text):
        return "it says that it needs JavaScript"
    if not letters:
        return "it has scripts and no visible text"
    if letters < FEW_LETTERS and has_much_script:
        return f"it has only {letters} letters of visible text beside its scripts"
    return ""


def _letters(text: str) -> int:
    """Letters and digits, counted up to MAX_LETTERS."""
    count = 0
    for character in text:
        count += character.isalnum()
        if count >= MAX_LETTERS:
            break
    return count


def _without_scripts(page: str) -> tuple[str, int, int]:
    """The page without comments, scripts and styles; bytes of script in it; scripts that it loads."""
    kept: list[str] = []
    at = script_bytes = script_files = 0
    while opening := _UNSEEN.search(page, at):
        kept.append(page[at : opening.start()])
        if opening[1] is None:
            end = page.find("-->", opening.end())
            at = len(page) if end < 0 else end + 3
            continue
        name = opening[1].lower()
        closing = _UNSEEN_ENDS[name].search(page, opening.end())
        end = closing.start() if closing else len(page)
        if name == "script" and (script := _SCRIPT.match(page, opening.start())) and _is_program(script[1]):
            if _SRC.search(script[1]):
                script_files += 1
            else:
                script_bytes += max(0, end - script.end())
        after = page.find(">", end)
        at = len(page) if after < 0 else after + 1
    kept.append(page[at:])
    return "".join(kept), script_bytes, script_files


def _is_program(attributes: str) -> bool:
    kind = _TYPE.search(attributes)
    return kind is None or _RUNS.fullmatch(kind[1]) is not None


def _empty_root(markup: str) -> str:
    """The application's root that holds no text, as it is to be named; '' for none."""
    for count, root in enumerate(_ROOT.finditer(markup)):
        if count == MAX_ROOTS:
            break
        tag = (root["tag"] or root["custom"]).lower()
        start = markup.find(">", root.end() - 1)
        if start >= 0 and _WAITING.fullmatch(_text_inside(markup, start + 1, tag)):
            return f"element #{root['id']}" if root["id"] else f"element <{tag}>"
    return ""


def _text_inside(markup: str, at: int, tag: str) -> str:
    """The text from `at` to the end of the element `tag` that is open there, of its first tags only."""
    words: list[str] = []
    depth = 1
    for _ in range(MAX_ROOT_TAGS):
        following = _TAG.search(markup, at)
        until = following.start() if following else len(markup)
        words.append(markup[at:until].strip()[:100])
        if following is None:
            break
        if following[2].lower() == tag:
            depth += -1 if following[1] else 1
        else:
            following = _past_noscript(markup, following)
        if not depth or following is None:
            break
        at = following.end()
    return " ".join(word for word in words if word)


def _past_noscript(markup: str, tag: re.Match[str]) -> re.Match[str] | None:
    """The tag itself; of one that opens a `<noscript>` the one that ends it, None where that is broken."""
    if tag[1] or tag[2].lower() != "noscript":
        return tag
    closing = markup.find("</noscript", tag.end())
    return _TAG.search(markup, closing) if closing >= 0 else tag


def _asks_for_javascript(markup: str, text: bytes) -> bool:
    if _NEEDED.search(text.decode("utf-8", "replace")):
        return True
    return any(_NEEDED.search(_TAG.sub(" ", notice[1])) for notice in _NOSCRIPT.finditer(markup))
