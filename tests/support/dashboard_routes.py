"""The routes of the dashboard as its app has them, the addresses that they take, and the forms of its pages.

A suite that goes over them has each new route without anybody thinking of it: a parameter that no value is
known for fails it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec
from selectolax.lexbor import LexborHTMLParser
from starlette.routing import Route, compile_path

from vera.dashboard.app import create_app

PARAMETER = re.compile(r"{(\w+)(?::\w+)?}")
STREAMS = frozenset(("/events", "/events/pages", "/s/{id}/events"))
"""Routes whose answer does not end."""

BY_THE_GUARD = (("POST", "/login"),)
"""What is answered before a route is looked for."""


class Address(msgspec.Struct, frozen=True):
    """A method and the path of a route, with `{parameters}`."""

    method: str
    path: str

    @property
    def parameters(self) -> list[str]:
        return PARAMETER.findall(self.path)

    def filled(self, known: Mapping[str, str], **other: str) -> str:
        """The path with the values of `known` (`/path name` goes before `name`), but for `other`."""

        def value(found: re.Match[str]) -> str:
            name = found[1]
            return other.get(name) or known.get(f"{self.path} {name}") or known[name]

        return PARAMETER.sub(value, self.path)


def addresses(base: Path) -> list[Address]:
    """Every method of every route."""
    routes = create_app(base, token="x" * 40).routes
    assert all(isinstance(each, Route) for each in routes)
    found = [
        Address(method, each.path)
        for each in routes
        if isinstance(each, Route)
        for method in sorted(each.methods or ())
    ]
    return [*found, *(Address(*each) for each in BY_THE_GUARD)]


def route_of(path: str, known: Iterable[Address]) -> str:
    """The route that a path of a page leads to."""
    return next(each.path for each in known if compile_path(each.path)[0].match(path))


class Form(msgspec.Struct, frozen=True):
    """A form of a page: its method, where it goes, and its fields with their values."""

    method: str
    action: str
    fields: tuple[tuple[str, str], ...]

    def but(self, **changed: str) -> dict[str, str]:
        """The fields to send, some of them with another value."""
        return {**dict(self.fields), **changed}

    @property
    def names(self) -> list[str]:
        """The fields that a person or a program can fill in, without the token of the login."""
        return [name for name, _ in self.fields if name != "form_token"]


def forms_of(html: str) -> Iterator[Form]:
    """The forms of a page."""
    for form in LexborHTMLParser(html).css("form"):
        fields = {
            node.attributes["name"] or "": node.attributes.get("value") or ""
            for node in form.css("input[name], textarea[name], select[name], button[name]")
        }
        where = form.attributes
        yield Form((where.get("method") or "get").upper(), where.get("action") or "", tuple(fields.items()))
