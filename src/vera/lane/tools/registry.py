"""Every tool that a lane can be given, in the order in which a prompt lists them. A lane has those that its
toolkit has the means for. One more is a file and a line here."""

from collections.abc import Callable, Mapping, Sequence

import msgspec

from vera.lane.capture import Capture
from vera.lane.tools import Tool
from vera.lane.tools.fetch import Fetch
from vera.lane.tools.kb import Kb, Library
from vera.lane.tools.note import Note
from vera.lane.tools.search import Search, Searched
from vera.lane.tools.web_search import DEFAULT_COUNT, search_tools
from vera.websearch import WebSearch


class Toolkit(msgspec.Struct, frozen=True, kw_only=True):
    """What a lane works with; None is nothing of the kind.

    `corpus` is searched, it holds so many `files`; `capture` and `web` are the ways to pages and to search
    engines, which give `count` hits; `library` has the sources of earlier sessions; `notes`: the lane takes
    notes. `verify`, `read`, `shell` and `submit` are made by whoever runs the lane, since each kind of lane
    has its own.
    """

    corpus: Searched | None = None
    files: int = 0
    capture: Capture | None = None
    web: WebSearch | None = None
    count: int = DEFAULT_COUNT
    library: Library | None = None
    notes: bool = False
    verify: Tool | None = None
    read: Tool | None = None
    shell: Tool | None = None
    submit: Tool | None = None


TOOLS: Mapping[tuple[str, ...], Callable[[Toolkit], Sequence[Tool | None]]] = {
    ("verify",): lambda kit: [kit.verify],
    ("search",): lambda kit: [Search(kit.corpus, kit.files) if kit.corpus is not None else None],
    ("fetch",): lambda kit: [Fetch(kit.capture) if kit.capture is not None else None],
    ("web_search", "brave_search", "brave_news"): lambda kit: (
        search_tools(kit.web, kit.count) if kit.web is not None else []
    ),
    ("kb",): lambda kit: [Kb(kit.library) if kit.library is not None else None],
    ("read",): lambda kit: [kit.read],
    ("shell",): lambda kit: [kit.shell],
    ("note",): lambda kit: [Note() if kit.notes else None],
    ("submit",): lambda kit: [kit.submit],
}
"""The names of tools → those of them that can be made of a toolkit."""

NAMES = frozenset(name for names in TOOLS for name in names)
"""No plugin may have one of these."""


def toolset(kit: Toolkit) -> list[Tool]:
    """The tools of a lane."""
    return [tool for offered in TOOLS.values() for tool in offered(kit) if tool is not None]
