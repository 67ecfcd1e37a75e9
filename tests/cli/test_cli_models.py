"""`vera models` in words, and the question about a found server where a pulled model is named."""

from pathlib import Path

import pytest

from vera.agent import pulled_models
from vera.agent.found_models import FoundModel, Listed
from vera.agent.pull import OFFERED
from vera.agent.pulled_models import Pulled
from vera.cli import found_server
from vera.cli.models import _lines
from vera.cli.progress import Progress
from vera.config import load


def test_where_nothing_is_the_built_in_model_and_the_offers_are_named() -> None:
    lines = _lines(Listed(models=()), list(OFFERED))
    assert lines[0] == "No model was found: the built-in one answers."
    assert [line.split()[0] for line in lines[-len(OFFERED) :]] == [offer.name for offer in OFFERED]
    assert "the figures are the publishers'" in "\n".join(lines)


def test_a_model_is_shown_with_what_is_known_and_nothing_else() -> None:
    known = FoundModel(
        name="small\x1b[2J", source="pulled", place="/models/small.gguf", context_tokens=8192,
        size=98_000_000, quantisation="Q4_1", licence="mit", tokens_per_second=12.34,
        exam="failed, 9 of 20 right",
    )  # fmt: skip
    unknown = FoundModel(name="m", source="server", place="vLLM at http://127.0.0.1:8000/v1", use="--x")
    broken = FoundModel(name="b", source="file", place="/b.gguf", problem="It is not a GGUF model file.")
    assert _lines(Listed(models=(known, unknown, broken), left_out=3), []) == [
        "small\ufffd[2J: 8192 tokens, 98 MB, Q4_1, mit, 12.3 tokens/s, judge's exam failed, 9 of 20 right",
        "  pulled: /models/small.gguf",
        "m: nothing more is known",
        "  server: vLLM at http://127.0.0.1:8000/v1",
        "  use: --x",
        "b: It is not a GGUF model file.",
        "  file: /b.gguf",
        "3 more of servers are not shown.",
    ]


def test_who_names_a_pulled_model_is_not_asked_about_a_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr(found_server, "_a_person_is_here", lambda: True)
    looked: list[object] = []

    async def discover() -> list[object]:
        looked.append(1)
        return []

    monkeypatch.setattr("vera.model.probe.discover", discover)
    pulled_models.folder().mkdir(parents=True)
    part = pulled_models.folder() / "part"
    part.write_bytes(b"GGUF")
    pulled_models.keep(
        Pulled(name="small", hub="", repo="a/b", file="c.gguf", commit="0", sha256="0", size=4, licence="",
               pulled_at=1.0),
        part,
    )  # fmt: skip
    found_server.ask_once(load(["model.name=small"]).settings, Progress(quiet=True))
    assert looked == []
    found_server.ask_once(load(["model.name=other"]).settings, Progress(quiet=True))
    assert looked == [1]
