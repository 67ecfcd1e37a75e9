"""What is asked of a page in a browser."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page


def text_only(page: "Page") -> None:
    """The page has our script and no other, no handler in its markup, nothing that loads or leads away."""
    found = page.evaluate(
        """() => ({
          scripts: [...document.scripts].map((each) => each.src),
          handlers: [...document.querySelectorAll('*')].flatMap((each) =>
            [...each.attributes].filter((one) => one.name.startsWith('on') || one.name === 'style')
              .map((one) => `${each.tagName} ${one.name}`)),
          foreign: document.querySelectorAll('iframe, object, embed, base, meta[http-equiv]').length,
          pictures: [...document.images].map((each) => each.getAttribute('src')),
          links: [...document.links].map((each) => each.getAttribute('href')),
        })"""
    )
    assert all(src.endswith("/vera.js") for src in found["scripts"])
    assert len(found["scripts"]) <= 1
    assert found["handlers"] == []
    assert found["foreign"] == 0
    assert all(src.startswith("/s/") for src in found["pictures"])
    assert all(link.startswith(("/", "#")) and not link.startswith("//") for link in found["links"])
