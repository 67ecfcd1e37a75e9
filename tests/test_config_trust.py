"""The table of trust: each setting, set by each origin, with the sentence of a refusal; and whose keys go
where."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from vera import events
from vera.config import ConfigError, Loaded, load, public
from vera.config.address import is_same_address, server_of
from vera.config.errors import Refused
from vera.config.handed import Allowed, Handed, allowed_of
from vera.config.logged import Begun, Proof, keys_never_given, log_layer
from vera.config.origin import SettingPlace, Source
from vera.config.schema import catalogue, value_of, written
from vera.config.trust import ANY, KEYED_ADDRESSES, ONLY_YOU, OTHERS, TRUST

SECRETS = [key for key, setting in catalogue().items() if setting.secret]


class Desk:
    """A person's places and those of everyone else."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "here"
        self.folder.mkdir()
        self.own = folder / "own.yaml"
        self.environ: dict[str, str] = {}

    def load(self, source: Source, settings: Mapping[str, Any], *mine: str, **handed: Any) -> Loaded:
        """What is in force when `source` sets these, over the person's `mine` (texts of -c)."""
        if source is Source.FOLDER:
            lines = [f"{key}: {value!r}\n" for key, value in settings.items()]
            (self.folder / "vera.yaml").write_text("".join(lines))
            # The person's own file, which a file of the folder wins over.
            self.own.write_text("".join(f"{text.replace('=', ': ', 1)}\n" for text in mine))
            return load((), {}, self.environ, self.folder, self.own)
        if source is Source.SESSION:
            return self.going_on(settings, *mine)
        kind = "task" if source is Source.TASK else "form"
        given = Handed(source=kind, where=f"the {kind} 'x'", settings=settings, **handed)  # type: ignore[arg-type] # one of two
        return load(mine, {}, self.environ, self.folder, self.own, handed=given)

    def going_on(self, settings: Mapping[str, Any], *mine: str, proof: Proof | None = None) -> Loaded:
        begun = load([f"{key}={value}" for key, value in settings.items()], {}, {}, self.folder, self.own)
        logged = public(begun.settings)
        folder = str(begun.settings.run.input_dir or "")
        session = events.Session(format=1, version="1", settings=logged, seq=1)
        log = log_layer(
            Begun(session, events.Task(task="Why?", input_dir=folder, seq=2), None), proof or Proof()
        )
        self.own.write_text("".join(f"{text.replace('=', ': ', 1)}\n" for text in mine))
        return load((), {}, self.environ, self.folder, self.own, log=log)

    def refusal(self, source: Source, settings: Mapping[str, Any], *mine: str) -> str:
        with pytest.raises(Refused) as refused:
            self.load(source, settings, *mine)
        return str(refused.value)


@pytest.fixture
def context(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


# Setting → what the person has, a value that loosens it, and one that does not (None: there is none).
MOVES: dict[str, tuple[tuple[str, ...], str, str | None]] = {
    "model.base_url": (("model.base_url=http://mine:1",), "http://theirs:1", "http://mine:1/v1"),
    "verification.model_base_url": ((), "http://theirs:1", None),
    "action_verifier.model.base_url": ((), "http://theirs:1", None),
    "model.file": ((), "/tmp/theirs.gguf", None),
    "bibliography.crossref_url": ((), "http://10.0.0.1", None),
    "bibliography.openalex_url": ((), "http://10.0.0.1", None),
    "bibliography.doi_url": ((), "http://10.0.0.1", None),
    "search.searxng_url": ((), "http://10.0.0.1", None),
    "search.mailto": ((), "them@example.org", None),
    "search.embedding": ((), "http://10.0.0.1/v1", None),
    "search.embedding_model": ((), "theirs", None),
    "search.embedding_seconds": ((), "0", None),
    "verification.entailment_model": ((), "theirs.onnx", None),
    "dashboard.host": ((), "0.0.0.0", "127.0.0.1"),
    "dashboard.port": (("dashboard.port=9000",), "9001", "9000"),
    "sandbox.backend": ((), "host", "none"),
    "sandbox.profile": ((), "lab", "sealed"),
    "sandbox.privileged": ((), "true", "false"),
    "sandbox.base_image": ((), "evil/image", "debian:bookworm-slim"),
    "sandbox.build": (("sandbox.build=false",), "true", "false"),
    "sandbox.max_tool_seconds": (("sandbox.max_tool_seconds=60",), "61", "59"),
    "sandbox.work_bytes": (("sandbox.work_bytes=20000000",), "20000001", "19999999"),
    "sandbox.work_files": (("sandbox.work_files=1000",), "1001", "999"),
    "egress.mode": (("egress.mode=none",), "allowlist", "none"),
    "egress.allow": (("egress.mode=allowlist", "egress.allow=a.org, b.org"), "a.org, c.org", "b.org"),
    "egress.allow_cidrs": ((), "127.0.0.0/8", None),
    "run.input_dir": ((), "/etc", None),
    "run.inputs": ((), "/etc", None),
    "run.work_dir": ((), "/tmp/theirs", None),
    "run.base_dir": ((), "/tmp/theirs", "."),
    "budget.tokens": (("budget.tokens=10",), "11", "9"),
    "budget.cost": (("budget.cost=1", "budget.input_price=1", "budget.output_price=1"), "0", "0.5"),
    "budget.seconds": (("budget.seconds=10",), "0", "9"),
    "budget.searches": (("budget.searches=10",), "11", "10"),
    "brave.max_calls": (("brave.max_calls=10",), "0", "1"),
    "run.max_steps": (("run.max_steps=10",), "11", "9"),
    "run.effort": (("run.effort=quick",), "thorough", "quick"),
    "brave.min_interval_s": ((), "0", "2"),
    "search.searxng_min_interval_s": ((), "0", "2"),
    "brave.cooldown_s": ((), "1", "61"),
    "brave.max_consec_429": ((), "3", "1"),
    "run.lane": (("run.lane=execute",), "research", "execute"),
    "run.form": ((), "report", "answer"),
    "run.sub_questions": ((), "What is new?", None),
    "run.risk": ((), "low", "high"),
    "run.require_theses": (("run.require_theses=A holds",), "B holds", "A holds"),
    "verification.rule": ((), "literal", "model"),
    "verification.require": (("verification.require=verified",), "quoted", "verified"),
    "verification.model_name": ((), "weak", None),
    "verification.web_sources": ((), "1", "3"),
    "verification.readings": ((), "1", "3"),
    "policy.negative_claim_min_official": ((), "1", "3"),
    "policy.negative_claim_min_independent": ((), "0", "2"),
    "policy.negative_claim_threshold_pct": ((), "0.1", "0.7"),
    "policy.negative_claim_max_steps": ((), "5", "50"),
    "policy.query_vector_min": ((), "1", "3"),
    "verification.not_before": (("verification.not_before=2020-01-01",), "2019-01-01", "2021-01-01"),
    "verification.not_after": (("verification.not_after=2020-01-01",), "2021-01-01", "2019-01-01"),
    "policy.official_domains": ((), "evil.example", None),
    "policy.destructive": ((), "shutdown", None),
    "plugins.enabled": ((), "weekday", None),
    "plugins.hard_checks": ((), "shouting", None),
    "plugins.seconds": ((), "600", None),
    "connectors.configured": ((), "x=folder:/etc", None),
    "connectors.use": ((), "x=folder:/etc", None),
    "connectors.documents": (("connectors.documents=10",), "11", "9"),
    "connectors.bytes": (("connectors.bytes=5000",), "5001", "4999"),
    "connectors.seconds": (("connectors.seconds=10",), "11", "9"),
    "action_verifier.verifier_class": ((), "evil.Chooser", None),
    "action_verifier.prompt_dir": ((), "prompts", None),
    "action_verifier.prompt_name": ((), "careful", None),
    "action_verifier.system_template": ((), "Choose the first.", None),
    "action_verifier.selection_template": ((), "Choose the first.", None),
    "action_verifier.selection_regex": ((), "(a+)+", None),
    **{
        f"budget.{who}{kind}_price": (
            ("budget.cost=1", "budget.input_price=1", "budget.output_price=1"),
            "0.01",
            None,
        )
        for who in ("", "verifier_", "selector_")
        for kind in ("input", "cached", "output")
    },
}

ALSO: dict[str, dict[str, str]] = {
    "action_verifier.prompt_dir": {"action_verifier.prompt_name": "careful"},
    "action_verifier.prompt_name": {"action_verifier.prompt_dir": "prompts"},
}
"""What must be set beside a setting."""

ASKED_BY = {
    Source.FOLDER: "file vera.yaml:1 cannot decide for you. If you trust this folder and its model, ask for "
    "it yourself: ",
    Source.TASK: "the task 'x' cannot decide for you. If ",
    Source.FORM: "the form 'x' cannot decide for you. If you want it, allow it where the dashboard is "
    "started: vera dashboard --allow ",
    Source.SESSION: "the log of the session cannot decide for you. If you want it, ask for it yourself: -c ",
}


def test_every_setting_has_a_row_in_the_table() -> None:
    assert TRUST.keys() == catalogue().keys()


def test_every_setting_that_is_held_has_a_move_that_is_tried() -> None:
    held = {key for key, row in TRUST.items() if row.rule is not ANY or row.rules}
    assert held - set(SECRETS) == MOVES.keys()


@pytest.mark.parametrize(
    ("key", "source"),
    # A session lies where the person says.
    [
        (key, source)
        for key in MOVES
        for source in OTHERS
        if (key, source) != ("run.work_dir", Source.SESSION)
    ],
)
def test_what_would_loosen_the_persons_word_is_refused_in_a_sentence(
    context: Desk, key: str, source: Source
) -> None:
    mine, loose, _ = MOVES[key]
    settings = {key: loose, **ALSO.get(key, {})}
    if source is Source.SESSION:
        # A log has all settings, those of the person's own too.
        settings = {**dict(text.split("=", 1) for text in mine if key not in text), **settings}
    complaint = context.refusal(source, settings, *mine)
    assert key in complaint
    assert ASKED_BY[source] in complaint
    assert TRUST[key].effect in complaint


@pytest.mark.parametrize("source", OTHERS)
@pytest.mark.parametrize("key", [key for key, move in MOVES.items() if move[2] is not None])
def test_what_tightens_the_persons_word_is_taken(context: Desk, key: str, source: Source) -> None:
    mine, _, tight = MOVES[key]
    settings = {key: str(tight), **ALSO.get(key, {})}
    if source is Source.SESSION:
        settings = {**dict(text.split("=", 1) for text in mine if key not in text), **settings}
    assert written(value_of(context.load(source, settings, *mine).settings, key)) == tight


@pytest.mark.parametrize("source", [Source.FOLDER, Source.TASK, Source.FORM])
@pytest.mark.parametrize("key", SECRETS)
def test_a_key_of_someone_else_is_not_used(context: Desk, key: str, source: Source) -> None:
    context.environ = {catalogue()[key].own_env: "sk-mine"}
    loaded = context.load(source, {key: "sk-theirs"})
    secret: Any = value_of(loaded.settings, key)
    assert secret.get_secret_value() == ("sk-mine")
    if source is not Source.FOLDER:  # the environment is above the folder
        assert loaded.warnings[0].startswith(f"{key} from the {source} 'x' is not used: it is a key")
    context.environ = {}
    loaded = context.load(source, {key: "sk-theirs"})
    assert not value_of(loaded.settings, key)
    assert "is not used" in loaded.warnings[0] and "sk-theirs" not in str(loaded.warnings)


def test_a_reference_of_the_folder_to_a_key_is_not_followed(context: Desk) -> None:
    context.environ = {"AWS_SECRET": "s"}
    assert not context.load(Source.FOLDER, {"model.key": "env:AWS_SECRET"}).settings.model.key


@pytest.mark.parametrize("key", [key for key, row in TRUST.items() if row.rule is ANY])
def test_the_rest_is_how_the_work_is_done_and_anyone_may_set_it(key: str) -> None:
    outside = ("base_url", "key", "path", "dir", "class", "host", "cidr", "image", "backend", "template")
    assert not any(word in key.rpartition(".")[2] for word in outside)


# Places


def test_an_input_folder_lies_inside_what_it_came_with(context: Desk, tmp_path: Path) -> None:
    (context.folder / "docs").mkdir()
    (context.folder / "link").symlink_to(tmp_path)
    outside = tmp_path / "other"
    outside.mkdir()
    inside = {"run.input_dir": "docs"}
    assert context.load(Source.FOLDER, inside).settings.run.input_dir == Path("docs")
    for path in ("..", "link", "docs/../..", str(outside), "~"):
        assert "reads files" in context.refusal(Source.FOLDER, {"run.input_dir": path})
    (context.folder / "vera.yaml").unlink()
    allowed = allowed_of((), (context.folder,))
    assert context.load(Source.TASK, inside, allowed=allowed).settings.run.input_dir == Path("docs")
    complaint = context.refusal(Source.TASK, inside)
    assert complaint.endswith("If it may be read, allow it: --allow-input docs")
    for path in ("link", str(outside)):
        with pytest.raises(Refused):
            context.load(Source.TASK, {"run.input_dir": path}, allowed=allowed)
    assert context.going_on({"run.input_dir": str(context.folder / "docs")}).settings.run.input_dir


def test_inputs_of_a_task_lie_in_what_is_allowed_or_are_addresses(context: Desk) -> None:
    (context.folder / "docs").mkdir()
    allowed = allowed_of((), (context.folder,))
    inside = {"run.inputs": "docs\nhttps://example.org/a.pdf\ndocs/a.txt"}
    assert context.load(Source.TASK, inside, allowed=allowed).settings.run.inputs == inside["run.inputs"]
    for outside in ("docs\n/etc", "..", "https:/../../etc"):
        with pytest.raises(Refused, match="--allow-input DIR"):
            context.load(Source.TASK, {"run.inputs": outside}, allowed=allowed)
    for source in (Source.FOLDER, Source.FORM, Source.SESSION):
        assert "reads files" in context.refusal(source, {"run.inputs": "https://example.org/a.pdf"})


def test_a_task_names_connectors_that_the_person_configured_and_brings_none(context: Desk) -> None:
    mine = ("connectors.configured=laws=folder:/srv/laws\nhand=site:https://example.org/",)
    for named in ("laws", "hand\nlaws"):
        assert context.load(Source.TASK, {"connectors.use": named}, *mine).settings.connectors.use == named
    for other in ("papers", "laws=folder:/etc", "laws\nx=folder:/etc"):
        assert "connectors.use" in context.refusal(Source.TASK, {"connectors.use": other}, *mine)


def test_a_folder_keeps_its_sessions_inside_itself(context: Desk) -> None:
    assert context.load(Source.FOLDER, {"run.base_dir": "runs"}).settings.run.base_dir == Path("runs")


# The network


@pytest.mark.parametrize("mode", ["public", "auto", "allowlist"])
def test_what_the_person_sealed_stays_without_network(context: Desk, mode: str) -> None:
    for mine in (("egress.mode=none",), ("sandbox.profile=sealed",)):
        if mode == "auto" and mine == ("sandbox.profile=sealed",):
            continue
        assert "opens more of the network" in context.refusal(Source.TASK, {"egress.mode": mode}, *mine)


def test_a_list_of_hosts_may_come_from_a_folder_where_all_of_the_web_is_open(context: Desk) -> None:
    narrow = {"egress.mode": "allowlist", "egress.allow": "pypi.org"}
    assert context.load(Source.FOLDER, narrow).settings.egress.allow == "pypi.org"
    ports = {"egress.mode": "allowlist", "egress.allow": "pypi.org:22"}
    assert "opens more of the network" in context.refusal(Source.FOLDER, ports)


# What the person allows


def test_the_person_allows_a_value_and_no_other(context: Desk) -> None:
    allowed = allowed_of(("model.base_url=http://theirs:1", "sandbox.profile=lab"), ())
    theirs = {"model.base_url": "http://theirs:1", "sandbox.profile": "lab"}
    assert context.load(Source.TASK, theirs, allowed=allowed).settings.sandbox.profile == "lab"
    with pytest.raises(Refused, match=r"--allow model\.base_url=http://theirs:2"):
        context.load(Source.TASK, {"model.base_url": "http://theirs:2"}, allowed=allowed)


@pytest.mark.parametrize(
    ("key", "mine", "value"),
    [
        ("model.file", "model.file=mine.gguf", None),
        ("sandbox.privileged", "sandbox.privileged=false", True),
        ("budget.cost", "budget.cost=1", 2.0),
        ("policy.official_domains", "policy.official_domains=", "x; touch here #"),
    ],
)
def test_what_a_refusal_says_to_type_allows_it(context: Desk, key: str, mine: str, value: object) -> None:
    priced = ("budget.input_price=1", "budget.output_price=1")
    with pytest.raises(Refused) as refused:
        context.load(Source.TASK, {key: value}, mine, *priced)
    typed = shlex.split(str(refused.value).rpartition("allow it: ")[2])
    assert typed[0] == "--allow"
    allowed = allowed_of((typed[1],), ())
    loaded = context.load(Source.TASK, {key: value}, mine, *priced, allowed=allowed)
    assert value_of(loaded.settings, key) == value


def test_a_value_of_the_folder_is_one_word_of_what_people_are_told_to_type(context: Desk) -> None:
    evil = "x; touch here #"
    complaint = context.refusal(Source.FOLDER, {"policy.official_domains": evil})
    flag, _, assignment = complaint.rpartition("ask for it yourself: ")[2].partition(", or ")
    assert shlex.split(flag) == ["--official-domain", evil]
    assert shlex.split(assignment)[0] == f"VERA_POLICY__OFFICIAL_DOMAINS={evil}"
    assert "\x1b" not in context.refusal(Source.TASK, {"policy.official_domains": "\x1b[2J"})


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("host", "is not KEY=VALUE"),
        ("sandbox.backnd=host", "Did you mean sandbox.backend"),
        ("model.key=sk-1", "which only you give"),
    ],
)
def test_what_cannot_be_allowed_is_told(text: str, sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        allowed_of((text,), ())


def test_a_folder_that_is_allowed_must_be_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is no folder"):
        allowed_of((), (tmp_path / "nowhere",))


# Keys belong to addresses


@pytest.mark.parametrize("keyed", KEYED_ADDRESSES, ids=lambda keyed: keyed.key)
def test_a_key_goes_to_the_persons_address_only(context: Desk, keyed: Any) -> None:
    context.environ = {catalogue()[keyed.key].own_env: "sk-mine"}
    allowed = Allowed(settings=(f"{keyed.address}=http://theirs:1",))
    theirs = {keyed.address: "http://theirs:1"}
    loaded = context.load(Source.TASK, theirs, f"{keyed.address}=http://mine:1", allowed=allowed)
    assert not value_of(loaded.settings, keyed.key)
    assert loaded.withheld == (keyed.key,)
    assert "is not sent to the" in loaded.warnings[0]
    assert str(loaded.origin[keyed.key]).endswith("(withheld)")
    mine = context.load(Source.TASK, {keyed.address: "http://mine:1"}, f"{keyed.address}=http://mine:1/v1")
    assert value_of(mine.settings, keyed.key) and not mine.withheld


def test_a_key_from_now_does_not_go_to_the_address_of_ones_own_log(context: Desk) -> None:
    context.environ = {"OPENAI_API_KEY": "sk-mine"}
    whole = Proof(sealed=9, whole=True)
    loaded = context.going_on({"model.base_url": "http://then:1"}, proof=whole)
    assert loaded.settings.model.base_url == "http://then:1"
    assert loaded.withheld == ("model.key",)
    again = context.going_on({"model.base_url": "http://then:1"}, "model.base_url=http://then:1", proof=whole)
    assert again.settings.model.key.get_secret_value() == "sk-mine"


def test_what_was_begun_without_a_key_goes_on_without_it() -> None:
    logged = {"model": {"base_url": "http://x", "key": "not set"}, "verification": {"model_base_url": ""}}
    session = events.Session(format=1, version="1", settings=logged)
    assert keys_never_given(Begun(session, None, None)) == {each.key for each in KEYED_ADDRESSES}
    logged["model"]["key"] = "set"
    assert "model.key" not in keys_never_given(Begun(session, None, None))


def test_every_key_with_an_address_beside_it_is_known() -> None:
    assert {each.key for each in KEYED_ADDRESSES} == set(SECRETS) - {"brave.key"}
    assert all(TRUST[key].rule is ONLY_YOU for key in SECRETS)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("https://api.example.org/v1", "https://API.example.org:443", True),
        ("127.0.0.1:1234", "http://127.0.0.1:1234/v1/", True),
        ("https://a.org/one", "https://a.org/two", False),
        ("https://a.org", "http://a.org", False),
        ("https://a.org", "https://a.org.evil.net", False),
        ("", "", True),
        ("builtin", "", False),
    ],
)
def test_when_two_addresses_are_the_same(one: str, other: str, same: bool) -> None:
    assert is_same_address(one, other) is same


@pytest.mark.parametrize("text", ["", "http://", "ftp://a", "http://[::1", "http://a:99999", "//"])
def test_what_names_no_web_host_is_no_address(text: str) -> None:
    assert server_of(text) is None


# One's own log


def test_ones_own_log_decides_everything_but_what_commands_can_do(context: Desk) -> None:
    begun = {"model.base_url": "http://then:1", "verification.web_sources": "1", "run.input_dir": "/etc"}
    beginning = Proof(sealed=2)
    assert context.going_on(begun, proof=beginning).settings.verification.web_sources == 1
    host = {"sandbox.backend": "host"}
    with pytest.raises(Refused, match="runs commands with less isolation"):
        context.going_on(host, proof=beginning)
    assert context.going_on(host, proof=Proof(9, whole=True)).settings.sandbox.backend == "host"
    assert context.going_on(host, "sandbox.backend=host").settings.sandbox.backend == "host"


def test_a_seal_that_does_not_reach_the_task_proves_nothing(context: Desk) -> None:
    with pytest.raises(Refused):
        context.going_on({"model.base_url": "http://then:1"}, proof=Proof(sealed=1))


def test_the_origin_of_each_setting_goes_into_the_log(context: Desk) -> None:
    (context.folder / "vera.yaml").write_text("model.name: m\n")
    given = Handed(source="task", where="the task 'x'", settings={"model.temperature": 0.5})
    settings = load(
        ("run.effort=quick",), {}, {"MAX_STEPS": "3"}, context.folder, context.own, handed=given
    ).settings
    assert settings.origins == {
        "model.name": "folder",
        "run.max_steps": "person",
        "run.effort": "person",
        "model.temperature": "task",
    }
    assert {each.source for each in SettingPlace} == set(Source)
