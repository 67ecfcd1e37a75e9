"""Every page is reached from the index, every link leads somewhere, and no page knows this machine."""

import re
from pathlib import Path

import pytest
from docs_pages import DOCS, PAGES, ROOT, anchors, name, prose

LINK = re.compile(r"\]\(([^)\s]+)\)")
OF_ANOTHER_MACHINE = re.compile(
    r"(?<![\w./])/(?:work/(?!notes\.md|output|out\b)\w|root/|tmp/\w|home/(?!you\b)\w|Users/\w)"
)

OF_THE_PROJECT = sorted(ROOT.glob("*.md"))
"""README, contributing, security and their like, where a reader of a repository looks for them."""


def links(page: Path) -> list[str]:
    return [link for link in LINK.findall(prose(page.read_text())) if "://" not in link]


def test_every_page_is_linked_from_the_index() -> None:
    linked = {(DOCS / link.partition("#")[0]).resolve() for link in links(DOCS / "index.md")}
    performance = {page for page in PAGES if page.name.startswith("performance")}
    assert [name(page) for page in PAGES if page not in linked | performance | {DOCS / "index.md"}] == []


@pytest.mark.parametrize("page", [*PAGES, *OF_THE_PROJECT], ids=name)
def test_every_relative_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    broken = []
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


def test_the_pages_of_the_project_are_linked_from_its_index_or_readme() -> None:
    found = {
        (page.parent / link.partition("#")[0]).resolve()
        for page in (DOCS / "index.md", ROOT / "README.md")
        for link in links(page)
    }
    assert [name(page) for page in OF_THE_PROJECT if page not in found | {ROOT / "README.md"}] == []


@pytest.mark.parametrize("page", [*PAGES, *OF_THE_PROJECT], ids=name)
def test_a_page_names_no_path_of_somebodys_machine(page: Path) -> None:
    assert [found[0] for found in OF_ANOTHER_MACHINE.finditer(page.read_text())] == []
