"""What a person, a folder, a task or a row of a queue says: settings, tasks, questions, lenses, requests."""

import contextlib
import io
import json
import sys
from pathlib import Path

from assurance.batteries import Trial
from assurance.fuzzing import mutate
from assurance.fuzzing.row import Row
from support import benchmarks
from support.attacks import vera_here
from vera.attestation.lenses import load_lens
from vera.attestation.objects import ObjectError
from vera.attestation.proposition import RequestError
from vera.attestation.request import request_of
from vera.attestation.request_json import read_request
from vera.batch.errors import BatchError
from vera.batch.questions import read_questions as read_columns
from vera.batch.task_file import parse_task, read_tasks
from vera.batch.task_settings import TaskSettings
from vera.bench.eval_data import DataError, read_questions
from vera.config import ConfigError, load
from vera.config.handed import Handed, allowed_of, read_handed
from vera.config.loading import public
from vera.config.schema import catalogue
from vera.connectors import ConnectorError, read_source
from vera.service.queued_task import NotQueued, named

sys.path.append(str(benchmarks.FOLDER))

from checks.labelled import read_averitec, read_quotesum, read_wice

KEYS = tuple(catalogue())
PACKAGED = (Path(load.__code__.co_filename).parents[1] / "default.yaml").read_bytes()
FOLDER = (
    b"run:\n  max_steps: 20\n  effort: quick\nmodel: {base_url: builtin, temperature: 0.5}\n"
    b"egress:\n  allow: [a.test]\n"
)
DOTENV = b"# a comment\nMAX_STEPS=20\nexport MODEL_NAME='a \\'b'\nVERA_RUN__EFFORT=\"quick\"\nX=${Y}\n"
LENS = (
    b"name: contracts\ndescription: d\nguidance: g\nquotas:\n  - {source_type: file, count: 2}\n"
    b"file_sources: 2\nrequired: [omissions]\n"
)
ID = "20261123T193000-0123456789abcdef"
TASKS = (
    {
        "task": "When do patents end?",
        "settings": {"run.max_steps": 20, "model.temperature": 0.5},
        "name": "n",
    },
    {"thesis": "They end after 20 years.", "input_dir": "papers"},
    {"job": f"verify laptop-0123abcd/{ID}", "settings": {"egress.mode": "none", "budget.seconds": 60}},
)
HANDED = {"source": "form", "where": "a form", "text": "Why?", "settings": {"run.max_steps": 3}}
ASKED = {
    "text": "The offer is valid for three years.",
    "lens": "general",
    "scope": ["files"],
    "constraints": {"not_before": "2020-01-01", "domains": ["gnu.org"]},
    "budget": {"queries": 3, "seconds": 9.5},
    "risk": "high",
}
EVALUATED = {"id": "a", "question": "Why?", "answer": ["x", "y"], "evidence": {"file": "f", "quotation": "q"}}
REVIEWED = {"question": "Why?", "claim": "So.", "label": "agree", "form": "statement"}
COLUMNS = b'question,title\n"How long, is it?",length\nWhy?,\n'
LABELLED = (
    {"claim": "c", "label": "supported", "supporting_sentences": [[0]], "evidence": ["a", "b"], "meta": {}},
    {"summary": "[ 1 words ] and [ 2 more ]", "source1": "s", "title1": "t", "source2": "u", "title2": "v"},
    {"claim": "c", "label": "Supported", "questions": [{"question": "q", "answers": [{"answer": "a"}]}]},
)
VALUES = (
    "20",
    "0",
    "-1",
    "nan",
    "1e400",
    "true",
    "null",
    "",
    "~",
    "a.test,b.test",
    "/",
    "..",
    "\x00",
    "builtin",
)


def value_of(draw: mutate.Draw) -> str:
    return draw.choice(
        (draw.choice(VALUES), mutate.text(draw, VALUES, 5000), str(draw.choice(mutate.NUMBERS)))
    )


def settings(trial: Trial) -> None:
    """Settings from every place at once are one frozen tree, or a ConfigError with sentences."""
    draw = trial.random
    here = trial.folder
    if draw.random() < 0.6:
        (here / "vera.yaml").write_bytes(mutate.data(draw, [FOLDER, PACKAGED]))
    if draw.random() < 0.3:
        (here / ".env").write_bytes(mutate.data(draw, [DOTENV], 1 << 16))
    (here / "more.yaml").write_bytes(mutate.data(draw, [PACKAGED, FOLDER]))
    names = [catalogue()[key].env_names[-1] for key in draw.sample(KEYS, 3) if catalogue()[key].env_names]
    environ = {name: value_of(draw).replace("\0", "") for name in [*names, draw.choice(("VERA_X", "PORT"))]}
    overrides = [f"{draw.choice(KEYS)}={value_of(draw)}" for _ in range(draw.choice((0, 1, 4)))]
    overrides += draw.choice(([], [], ["more.yaml"], [mutate.text(draw, ["run.max_steps=3"], 3000)]))
    given = {draw.choice(KEYS): mutate.extreme(draw) for _ in range(2)}
    handed = Handed(source="task", where="a task", settings=given) if draw.random() < 0.3 else None  # type: ignore[arg-type]  # of any kind
    try:
        loaded = load(overrides, None, environ, here, here / "none.yaml", handed=handed)
    except ConfigError as error:
        assert str(error)
    else:
        json.dumps(public(loaded.settings), default=str)


def handed_over(trial: Trial) -> None:
    """What standard input and the options of permission give is read, or a ConfigError."""
    draw = trial.random
    with contextlib.suppress(ConfigError):
        read = read_handed(io.BytesIO(mutate.encoded(draw, HANDED)))
        read.layer()
    with contextlib.suppress(ConfigError):
        allowed_of(
            (f"{draw.choice(KEYS)}={value_of(draw)}", mutate.text(draw, ["a=b"], 200)), (str(trial.folder),)
        )
    with contextlib.suppress(ConnectorError):
        read_source(mutate.text(draw, ["code=git:~/project#rev=v1.2", "s=site:http://a.test/#pages=2"], 5000))


def tasks(trial: Trial) -> None:
    """A file of tasks is tasks, or a BatchError with its lines; a row of a queue names a job or none."""
    draw = trial.random
    path = trial.folder / "tasks.jsonl"
    lines = [mutate.encoded(draw, draw.choice(TASKS)) for _ in range(draw.choice((1, 2, 30)))]
    path.write_bytes(draw.choice((b"\n", b"\r\n", b"\n\n")).join(lines))
    with contextlib.suppress(BatchError):
        read_tasks(path, TaskSettings().endpoint)
    with contextlib.suppress(ValueError, NotQueued):
        named(parse_task(mutate.encoded(draw, TASKS[2])), trial.folder)


def questions(trial: Trial) -> None:
    """Files of questions and of labelled claims are read, or an error names the line."""
    draw = trial.random
    path = trial.folder / "q.jsonl"
    path.write_bytes(b"\n".join(mutate.encoded(draw, draw.choice((EVALUATED, REVIEWED))) for _ in range(3)))
    with contextlib.suppress(DataError):
        read_questions(path)
    path.write_bytes(mutate.data(draw, [COLUMNS]))
    with contextlib.suppress(BatchError):
        read_columns(path)
    for read in (read_wice, read_quotesum, read_averitec):
        row = mutate.encoded(draw, draw.choice(LABELLED))
        path.write_bytes(b"[" + row + b"]" if read is read_averitec else row + b"\n" + row)
        with contextlib.suppress(DataError):
            list(read(path))


def requests(trial: Trial) -> None:
    """A request, a lens and a thesis are what they say, or a RequestError."""
    draw = trial.random
    with contextlib.suppress(RequestError, ObjectError):
        asked = read_request(mutate.encoded(draw, ASKED))
        asked.insist_on_ids(request_of(asked.text, lens=load_lens("general"), **asked.arguments())[0])
    path = trial.folder / "mine.yaml"
    path.write_bytes(mutate.data(draw, [LENS]))
    with contextlib.suppress(RequestError):
        load_lens(str(path), paths=True)
    with contextlib.suppress(RequestError, ObjectError):
        request_of(mutate.text(draw, ["The offer is valid for three years. It is free."], 50_000))


COMMANDS = (
    ("run", "Why?", "--max-steps", "2"),
    ("verify", "It is so.", "--input-dir", "."),
    ("config", "show"),
    ("check", "a.md", "--sources", "."),
    ("list", "--base-dir", "."),
    ("show", "."),
    ("batch", "tasks.jsonl", "--slots", "2"),
    ("table", "q.csv", "--input-dir", "."),
    ("trust", "add", "me", "00"),
    ("review", ".", "c1"),
    ("ahdb", "list"),
    ("export", ".", "--bundle", "x.zip"),
    ("index", "search", "x"),
    ("gc", "."),
)


def options(trial: Trial) -> None:
    """Any words behind `vera` end with an exit code and a sentence."""
    draw = trial.random
    words = list(draw.choice(COMMANDS))
    at = draw.randint(1, len(words) - 1)
    odd = draw.choice((value_of(draw), "--", "-", "--help", "-c", "--json", mutate.text(draw, words, 2000)))
    words[at : at + draw.choice((0, 1))] = [odd.replace("\0", "")]
    if words[0] == "run":
        words += ["-c", "model.base_url=builtin", "--sandbox", "none", "--egress", "none"]
    (trial.folder / "tasks.jsonl").write_text('{"task": "Why?", "settings": {"x": 1}}\n')
    (trial.folder / "a.md").write_text("It is so.\n")
    ended = vera_here(*(word.encode("utf-8", "replace").decode() for word in words), cwd=trial.folder)
    assert 0 <= ended.code <= 6, ended
    assert ended.code == 0 or (ended.out + ended.error).strip()


ROWS = (
    Row("settings: files, environment and options together", settings, 15, 150, share=4),
    Row("settings: handed over to another process", handed_over, 5, 64, share=1),
    Row("tasks and rows of a queue", tasks, 15, 100, share=3),
    Row("files of questions and of labelled claims", questions, 10, 100, share=2),
    Row("requests, lenses and theses", requests, 10, 100, share=2),
    Row("words on the command line", options, 60, 300, share=2, wall=300),
)
