"""A format of a plugin: its text made canonical by our rules, under a name that no replay takes for ours."""

from vera.extraction.canonical.naming import bounded, file_title
from vera.extraction.canonical.registry import FORMATS, Format
from vera.extraction.canonical.text import canonical
from vera.extraction.source import Extracted, Unreadable
from vera.plugins import PluginError
from vera.plugins.calling import PluginFailed, call

EXTRACTOR = "plugin:"
"""How the name of such an extractor begins; the format and the distribution with its version follow."""

MAX_FILE = 256 << 20
"""Bytes of a file that is read, as of our own formats of plain text."""

MAX_TEXT = 64 << 20
"""Bytes of text that one file may give, as many as a file of our own formats."""

_TAKEN = frozenset(suffix for known in FORMATS for suffix in known.suffixes)


def plugin_format(name: str, given: Format, distribution: str, seconds: float) -> Format:
    """The format under the plugin's name. Raises PluginError where a suffix of it is ours, or no suffix."""
    suffixes = given.suffixes
    if not suffixes or not all(
        isinstance(each, str) and each.startswith(".") and each == each.lower() for each in suffixes
    ):
        raise PluginError(
            f"The format {name} of a plugin needs suffixes of files, in small letters: ('.log',)."
        )
    if taken := [each for each in suffixes if each in _TAKEN]:
        raise PluginError(
            f"The format {name} of a plugin wants files that end in {taken[0]}, which VERA reads."
        )
    extractor = f"{EXTRACTOR}{name}/{distribution}"

    def extract(data: bytes, path: str) -> Extracted:
        try:
            text, title = call(lambda: _text_of(given.extract(data, path)), seconds)
        except PluginFailed as error:
            raise Unreadable(f"the plugin's format {name}: {error}") from None
        return Extracted(
            text=text,
            title=bounded(title) or file_title(path),
            media_type="text/plain",
            extractor=extractor,
        )

    limit = min(given.limit, MAX_FILE)
    return Format(name, tuple(suffixes), False, limit, extract, distribution=distribution)


def _text_of(extracted: Extracted) -> tuple[bytes, str]:
    """The text, canonical, and the title. Raises PluginFailed."""
    if not isinstance(extracted, Extracted):
        raise PluginFailed("it gave something else than Extracted")
    if len(extracted.text) > MAX_TEXT:
        raise PluginFailed(f"it gave more than {MAX_TEXT >> 20} MB of text")
    return canonical(extracted.text.decode("utf-8", "replace").encode()), str(extracted.title)
