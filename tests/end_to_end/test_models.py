"""`vera models`, as a person uses it: pull, interrupt, go on, run, remove."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import parts
from support.cli import folded, vera
from support.fake_hub import FakeHub
from support.gguf_header import LLAMA, header

REPO, FILE, NAME = "HuggingFaceTB/SmolLM2-GGUF", "smollm2.Q4_1.gguf", "smollm2.Q4_1"


def test_pull_list_and_remove(tmp_path: Path) -> None:
    with FakeHub() as hub:
        hub.put(REPO, FILE, header(LLAMA) + b"\0" * 5000)
        home = {"XDG_DATA_HOME": str(tmp_path / "data"), "HF_ENDPOINT": hub.endpoint}
        pulled = vera("models", "pull", f"{REPO}:{FILE}", cwd=tmp_path, **home)
        assert pulled.returncode == 0, pulled.stderr
        assert "licence apache-2.0" in pulled.stderr
        listed = json.loads(vera("models", "--json", cwd=tmp_path, **home).stdout)
        (model,) = [each for each in listed["models"] if each["source"] == "pulled"]
        assert (model["name"], model["quantisation"]) == (NAME, "Q4_1")
        assert [each["name"] for each in listed["offered"]]
        shown = vera("models", cwd=tmp_path, **home)
        assert f"{NAME}: 131072 tokens" in shown.stdout and "vera models pull NAME" in shown.stdout
        failed = vera("models", "pull", "nonsense", cwd=tmp_path, **home)
        assert failed.returncode == 2
        assert (
            failed.stderr.startswith("vera: 'nonsense' is no model to pull")
            and "\n" not in failed.stderr[:-1]
        )
        assert vera("models", "remove", NAME, cwd=tmp_path, **home).returncode == 0
        again = vera("models", "remove", NAME, cwd=tmp_path, **home)
        assert again.returncode == 2 and "None was pulled" in again.stderr


@pytest.mark.needs("smollm2")
def test_a_real_model_is_pulled_interrupted_gone_on_with_and_answers(tmp_path: Path) -> None:
    file = parts.smollm2()
    assert file is not None
    data = file.read_bytes()
    home = {"XDG_DATA_HOME": str(tmp_path / "data")}
    (tmp_path / "rivers").mkdir()
    (tmp_path / "rivers" / "rivers.txt").write_text("The Elbe is 1094 kilometres long.\n")

    with FakeHub(holds_after=40 << 20) as hub:
        hub.put(REPO, FILE, data)
        pulling = subprocess.Popen(
            [sys.executable, "-m", "vera", "models", "pull", f"{REPO}:{FILE}"],
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **home, "HF_ENDPOINT": hub.endpoint},
        )
        assert hub.holding.wait(120)
        pulling.send_signal(signal.SIGINT)
        _, said = pulling.communicate(timeout=60)
    assert pulling.returncode == 130
    assert f"To go on with the rest: vera models pull {REPO}:{FILE}" in said

    with FakeHub() as hub:
        hub.put(REPO, FILE, data)
        done = vera("models", "pull", f"{REPO}:{FILE}", cwd=tmp_path, HF_ENDPOINT=hub.endpoint, **home)
        (asked,) = hub.ranges
    assert done.returncode == 0, done.stderr
    assert "going on after" in done.stderr
    assert int(asked.removeprefix("bytes=").rstrip("-")) > 30 << 20
    assert (tmp_path / "data" / "vera" / "models" / f"{NAME}.gguf").stat().st_size == len(data)

    run = vera(
        "run", "How long is the Elbe?", "--input-dir", "rivers", "--work-dir", "work/first",
        "--max-steps", 1, "--budget-seconds", 10, "--verifier", "literal", "--sandbox", "none",
        "--protocol", "text",
        "-c", "model.max_tokens=64", cwd=tmp_path, MODEL_BASE_URL="", **home,
    )  # fmt: skip
    assert f"model: {NAME}, which you pulled" in run.stderr
    server = folded(tmp_path / "work/first").model_server
    assert server is not None and (server.kind, server.model) == ("llamacpp", f"{NAME}.gguf")
    assert run.returncode in (0, 3, 6), run.stderr
    assert "1094 kilometres" in run.stdout
