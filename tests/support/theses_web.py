"""A thesis verified over the small web: its sites and engine, one `vera verify`, and what came of it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.cast import Cast
from support.cli import records, vera
from support.fake_web import Reply
from support.scripted_server import ScriptedServer
from support.small_web import ENGINE, Answer, SmallWeb, html, listing, small_web
from vera import events

SEARCH = f"{ENGINE}/search"


@dataclass(frozen=True)
class Run:
    """A verification that is over: exit code, its JSON, what the model was asked, the web, the session."""

    code: int
    said: Mapping[str, Any]
    stderr: str
    cast: Cast | None
    web: SmallWeb
    session: Path

    @property
    def verdict(self) -> tuple[int, str, str]:
        """Exit code, result, reason."""
        return self.code, self.said["result"], self.said["reason"]

    @property
    def cards(self) -> list[tuple[str, str]]:
        """Source and relation of each card, sorted."""
        return sorted((card["source"], card["relation"]) for card in self.said["cards"])

    @property
    def clusters(self) -> list[int]:
        """How many sources each cluster has, sorted."""
        return sorted(len(cluster["sources"]) for cluster in self.said["coverage_map"]["clusters"])

    @property
    def omissions(self) -> dict[str, tuple[str, str]]:
        """By cell: why, and the pointer."""
        return {each["cell"]: (each["why"], each.get("pointer", "")) for each in self.said["omissions"]}

    @property
    def blind_spots(self) -> dict[str, str]:
        """By detector."""
        return {each["detector"]: each["blind_spot"] for each in self.said["hyperthesis"]}

    @property
    def pages(self) -> list[str]:
        """The pages that were asked for, without searches."""
        return [url for url in self.web.asked if url != SEARCH]

    def logged(self, *kinds: type[events.Event]) -> list[Any]:
        return [record for record in records(self.session) if isinstance(record, kinds)]

    def prompts(self, *parts: str) -> list[str]:
        """What the model got to read, in these parts."""
        assert self.cast is not None
        bodies = [body for part in parts for body in self.cast.bodies.get(part, [])]
        return [str(message["content"]) for body in bodies for message in body["messages"]]


def verify(
    place: Path,
    thesis: str,
    pages: Mapping[str, Answer],
    *options: object,
    cast: Cast | None = None,
    work: str = "w",
    **environment: str,
) -> Run:
    """`vera verify` over these pages, by the rule or with a scripted model; its session must replay."""
    with small_web(pages) as web, ScriptedServer(cast or Cast([])) as server:
        model = ["--model-base-url", server.root, "-c", "model.protocol=text"] if cast else []
        done = vera(
            "verify", thesis, "--scope", "web", "--work-dir", work, "--json", *web.options, *model, *options,
            cwd=place, **web.environment, **environment,
        )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    assert done.stdout, done.stderr
    replayed = vera("replay", work, cwd=place)
    assert replayed.returncode == 0, replayed.stdout + replayed.stderr
    return Run(done.returncode, json.loads(done.stdout), done.stderr, cast, web, place / work)


def finds(*urls: str) -> Reply:
    """What the engine finds for every query."""
    return listing(*((url, "A page", "of the small web") for url in urls))


def linking(title: str, paragraphs: Sequence[str], *links: str) -> Reply:
    """A page that links to these."""
    text = "".join(f"<p>{each}</p>" for each in paragraphs)
    anchors = "".join(f'<p>See <a href="{url}">here</a>.</p>' for url in links)
    return html(f"<title>{title}</title>", f"<h1>{title}</h1>{text}{anchors}")
