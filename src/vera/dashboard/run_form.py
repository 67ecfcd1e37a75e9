"""What can be chosen when a run is started in the dashboard, and its way to the run.

The task and what was chosen go to the run's standard input: arguments can be read by everybody on the
machine, and would be the person's word (`config.trust`). No key is among the fields.
"""

import stat
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from vera.config import ConfigError, Loaded, load
from vera.config.address import server_of
from vera.config.handed import Allowed, Handed
from vera.config.origin import SettingPlace
from vera.model.probe import Found

MAX_TASK_BYTES = 200_000
MAX_FIELD = 2_000
"""Characters of any other field."""

PROFILES = ("research", "sealed", "lab")
EFFORTS = ("quick", "normal", "thorough")
NETWORKS = ("none", "allowlist", "public")
KINDS = {"question": "Question", "thesis": "Thesis"}
"""What is asked for: an answer, or the verdict on a statement."""

MAX_FOLDERS = 100
"""Folders of the base that are offered as input."""

SERVERS_NAMED = 4
MODELS_NAMED = 4
"""Servers that a form names, and models of each."""

NO_FIELDS = frozenset({"form_token", "again_of"})
"""What a form carries that is not for the run."""

BUDGETS = {
    "max_steps": "run.max_steps",
    "budget_tokens": "budget.tokens",
    "budget_seconds": "budget.seconds",
    "budget_cost": "budget.cost",
    "budget_searches": "budget.searches",
}
"""Field → its setting: what a run may do in all, also asked for when it is resumed."""

LIMITS = {field: field.partition("_")[2] for field in BUDGETS}
"""The same fields with their names for a reader: steps, tokens, …"""

CHOICES = {
    "input_dir": "run.input_dir",
    "model_base_url": "model.base_url",
    "model_name": "model.name",
    "profile": "sandbox.profile",
    "effort": "run.effort",
    "num_candidates": "candidate_sampling.num_candidates",
    "egress": "egress.mode",
    **BUDGETS,
}

THE_FORM = "the form of the dashboard"


class StartForm(msgspec.Struct, frozen=True, kw_only=True):
    """What the form for a start shows. `locked`: it cannot be sent, `reason` says why; `kind` (of KINDS),
    `task` and `values` (by field: what is in CHOICES) are those of the last try, else what is configured; ''
    is the default. `errors` are sentences by field, '' for what is wrong with the whole.

    `again_of` is the hash of the first record of the session that is run again, '' for a new question.
    `input_folders` and `models` are offered by name, `files` are those that the session keeps already;
    `key_sentence` says where the person's key would go, `model_sentence` which servers were found.
    """

    locked: bool = False
    reason: str = ""
    kind: str = "question"
    task: str = ""
    values: Mapping[str, str] = msgspec.field(default_factory=dict)
    errors: Mapping[str, str] = msgspec.field(default_factory=dict)
    files: tuple[str, ...] = ()
    again_of: str = ""
    profiles: tuple[str, ...] = PROFILES
    efforts: tuple[str, ...] = EFFORTS
    networks: tuple[str, ...] = NETWORKS
    input_folders: tuple[str, ...] = ()
    key_sentence: str = ""
    models: tuple[str, ...] = ()
    model_sentence: str = ""


class Start(msgspec.Struct, frozen=True, kw_only=True):
    """A start that can be made: the question or thesis, and every other field that was filled in, checked."""

    task: str
    chosen: Mapping[str, str]
    kind: str = "question"


class FieldProblem(Exception):
    """Fields do not hold what they should: a sentence for the person, and one for each field ('' for what is
    no single field)."""

    def __init__(self, sentence: str, field: str = "", others: Mapping[str, str] | None = None) -> None:
        super().__init__(sentence)
        self.fields: Mapping[str, str] = {**(others or {}), field: sentence}


def read_start(fields: Mapping[str, str], base: Path, allowed: Allowed) -> Start:
    """The start that the fields of a form ask for; an empty field is one that was not sent.

    `base` is the base folder by its real path, `allowed` what the person lets a form set. Raises
    FieldProblem, which has a sentence for each field that is wrong.
    """
    given = _given(fields, {"task", "kind", *CHOICES})
    kind = given.pop("kind", "question")
    task = given.pop("task", "").replace("\r\n", "\n").strip()
    wrong = {}
    if kind not in KINDS:
        wrong["kind"] = f"kind must be one of {', '.join(KINDS)}."
    if problem := _problem_of_task(task, kind):
        wrong["task"] = problem
    try:
        if "input_dir" in given:
            given["input_dir"] = str(_folder_within(base, given["input_dir"]))
    except FieldProblem as found:
        wrong["input_dir"] = str(found)
        del given["input_dir"]
    try:
        _insist(given, base, allowed)
    except FieldProblem as found:
        wrong |= found.fields
    if wrong:
        field, sentence = next(iter(wrong.items()))
        raise FieldProblem(sentence, field, wrong)
    return Start(task=task, chosen=given, kind=kind)


def _problem_of_task(task: str, kind: str) -> str:
    if not task:
        return "Write a thesis: it is empty." if kind == "thesis" else "Write a question: the task is empty."
    if "\0" in task:
        return "The task holds a zero byte; write it as text."
    if len(task.encode("utf-8", "replace")) > MAX_TASK_BYTES:
        return (
            f"The task is longer than {MAX_TASK_BYTES // 1000} kB. Put long material into a file of the "
            "input folder."
        )
    return ""


def read_limits(fields: Mapping[str, str], base: Path, allowed: Allowed) -> Mapping[str, str]:
    """The limits that a resumed run gets. Raises FieldProblem."""
    given = _given(fields, set(BUDGETS))
    _insist(given, base, allowed)
    return given


def handed_of(chosen: Mapping[str, str], allowed: Allowed, task: str = "") -> Handed:
    """What the process of a run gets: its fields stay those of a form."""
    settings = {CHOICES[name]: value for name, value in chosen.items()}
    return Handed(source="form", where=THE_FORM, text=task, settings=settings, allowed=allowed)


def blank_form(base: Path, configured: Loaded | None) -> StartForm:
    """The form for a new run."""
    return StartForm(
        values=_configured(configured) if configured else {},
        input_folders=_folders(base),
        key_sentence=_where_the_key_goes(configured) if configured else "",
    )


def with_models(form: StartForm, found: Sequence[Found]) -> StartForm:
    """The form with the servers that were found on this machine, each with its first models."""
    servers = [
        f"{each.title} at {each.base_url} ({', '.join(each.models[:MODELS_NAMED])})"
        for each in found[:SERVERS_NAMED]
    ]
    sentence = f"Found on this machine: {'; '.join(servers)}." if servers else ""
    models = dict.fromkeys(name for each in found for name in each.models)
    return msgspec.structs.replace(form, models=tuple(models)[:MAX_FOLDERS], model_sentence=sentence)


def tried_form(form: StartForm, fields: Mapping[str, str], errors: Mapping[str, str]) -> StartForm:
    """The form as a person filled it in, with what was wrong; fields that it does not have are left out."""
    values = {name: fields[name][:MAX_FIELD] for name in CHOICES if name in fields}
    return msgspec.structs.replace(
        form,
        kind="thesis" if fields.get("kind") == "thesis" else "question",
        task=fields.get("task", "")[:MAX_TASK_BYTES],
        values={**form.values, **values},
        errors=dict(errors),
        again_of=fields.get("again_of", "")[:MAX_FIELD],
    )


def _given(fields: Mapping[str, str], known: set[str]) -> dict[str, str]:
    given = {}
    for name, value in fields.items():
        if name in NO_FIELDS:
            continue
        if name not in known:
            raise FieldProblem(
                f"{name[:40]!r} is no field of this form. Keys are never taken from a browser: they come "
                "from the environment that the dashboard was started in, or from your configuration."
            )
        if name != "task":
            value = value.strip()
            if len(value) > MAX_FIELD or not value.isprintable():
                raise FieldProblem(f"{name} must be one line of at most {MAX_FIELD} characters.", name)
        if value:
            given[name] = value
    return given


def _insist(given: Mapping[str, str], base: Path, allowed: Allowed) -> None:
    """Raises FieldProblem unless the settings of a run take these values beside what is configured."""
    for name, known in (("profile", PROFILES), ("effort", EFFORTS), ("egress", NETWORKS)):
        if name in given and given[name] not in known:
            raise FieldProblem(f"{name} must be one of {', '.join(known)}.", name)
    no_address = _no_address(given.get("model_base_url", ""))
    if problem := no_address or _refusal(given, base, allowed):
        alone = {name: _refusal({name: value}, base, allowed) for name, value in given.items()}
        wrong = {name: sentence for name, sentence in alone.items() if sentence}
        if no_address:
            wrong = {**wrong, "model_base_url": no_address}
        field, sentence = next(iter(wrong.items()), ("", problem))
        raise FieldProblem(sentence, field, wrong)


def _no_address(address: str) -> str:
    """Why this is no address of a model server, '' for one that is, or for none."""
    if not address or address in ("auto", "builtin") or ("://" in address and server_of(address)):
        return ""
    return (
        "The model's address must be an http or https address such as http://127.0.0.1:1234/v1, or auto, or "
        "builtin."
    )


def _refusal(given: Mapping[str, str], base: Path, allowed: Allowed) -> str:
    """Why the settings of a run do not take these values, '' when they do."""
    try:
        load((), {}, cwd=base, handed=handed_of(given, allowed))
    except ConfigError as error:
        return str(error)
    return ""


def _folder_within(base: Path, name: str) -> Path:
    """The folder by its real path. Raises FieldProblem for what is not a folder, or lies outside the base."""
    problem = FieldProblem(
        "The input folder must be a folder below the base folder, such as ./input, and no link that leads "
        "out of it."
    )
    try:
        real = (base / name).resolve(strict=True)
    except (OSError, ValueError, RuntimeError):
        raise problem from None
    if not real.is_dir() or not real.is_relative_to(base):
        raise problem
    return real


def _configured(configured: Loaded) -> dict[str, str]:
    """What a person configured, by field: shown in the form; what is a default is left to the run."""
    from vera.config.schema import value_of

    return {
        name: "" if value is None else str(value)
        for name, key in CHOICES.items()
        if configured.origin[key].place is not SettingPlace.DEFAULT
        and (value := value_of(configured.settings, key)) is not None
        and name != "input_dir"
    }


def _where_the_key_goes(configured: Loaded) -> str:
    model = configured.settings.model
    if not model.key.get_secret_value():
        return "No key for a model is configured, so none is sent."
    if server_of(model.base_url) is None:
        return (
            "Your key is sent to no server, because no address is configured for it: set MODEL_BASE_URL and "
            "start the dashboard again."
        )
    return f"Your key goes to {model.base_url} only. A run at another address gets none."


def _folders(base: Path) -> tuple[str, ...]:
    """Folders directly below the base that hold no runs; hidden ones and links are left out."""
    try:
        found = sorted(
            path.name
            for path in base.iterdir()
            if not path.name.startswith(".")
            and path.name != "work"
            and path.name.isprintable()
            and stat.S_ISDIR(path.lstat().st_mode)
            and not (path / "trace.jsonl").exists()
        )
    except OSError:
        return ()
    return tuple(f"./{name}" for name in found[:MAX_FOLDERS])
