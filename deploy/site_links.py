"""A hook of mkdocs: links of a page that lead out of `docs/` go to the file in the repository."""

import posixpath
import re
from typing import Any

_LINK = re.compile(r"\]\((?P<path>(?:\.\./)+[^)#\s]+)(?P<anchor>#[^)\s]*)?\)")


def on_page_markdown(markdown: str, *, page: Any, config: Any, **_: Any) -> str:
    """The page with those links made absolute (mkdocs' event of this name)."""
    folder = posixpath.join("docs", posixpath.dirname(page.file.src_uri))

    def absolute(link: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(folder, link["path"]))
        if path.startswith(("docs/", "..")):
            return link[0]
        return f"]({config.repo_url.rstrip('/')}/blob/main/{path}{link['anchor'] or ''})"

    return _LINK.sub(absolute, markdown)
