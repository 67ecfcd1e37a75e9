"""Settings: where they may stand, which place wins, and what is said of those that cannot be used."""

import os
import stat
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr, ValidationError

from vera.config import ConfigError, Loaded, SettingPlace, defaults, load, public, resolve_secret
from vera.config.environment import dotenv_layer
from vera.config.loading import PACKAGED
from vera.config.reference import tables, with_tables
from vera.config.schema import catalogue, sections
from vera.config.yaml_file import parse_layer

ROOT = Path(__file__).parents[1]

SPECIFIED = {
    "MODEL_BASE_URL": ("model.base_url", ""),
    "OPENAI_BASE_URL": ("model.base_url", ""),
    "MODEL_NAME": ("model.name", ""),
    "OPENAI_API_KEY": ("model.key", SecretStr("")),
    "MODEL_TIMEOUT": ("model.timeout_s", 150),
    "PROMPT_PROFILE": ("model.prompt_profile", "en"),
    "SYSTEM_ROLE": ("model.system_role", "system"),
    "MAX_STEPS": ("run.max_steps", 80),
    "MAX_TOOL_SECONDS": ("sandbox.max_tool_seconds", 900),
    "VERA_BASE_IMAGE": ("sandbox.base_image", "debian:bookworm-slim"),
    "CONTEXT_MAX_CHARS": ("context.max_chars", None),
    "ACTION_TAIL_MESSAGES": ("context.tail_steps", 4),
    "NOTES_UPDATE_INTERVAL": ("notes.update_interval", 3),
    "STAGNATION_LIMIT": ("policy.stagnation_limit", 3),
    "FAILURE_ESCALATION_LIMIT": ("policy.failure_escalation_limit", 3),
    "QUERY_MUTATION_BUDGET": ("policy.query_mutation_budget", 2),
    "QUERY_VECTOR_MIN": ("policy.query_vector_min", 2),
    "SOURCE_BUDGET": ("policy.source_budget", 12),
    "MOVE_REPEAT_LIMIT": ("policy.move_repeat_limit", 3),
    "DOMAIN_SHIFT_LIMIT": ("policy.domain_shift_limit", 2),
    "NEGATIVE_CLAIM_MIN_OFFICIAL": ("policy.negative_claim_min_official", 2),
    "NEGATIVE_CLAIM_MIN_INDEPENDENT": ("policy.negative_claim_min_independent", 1),
    "NEGATIVE_CLAIM_THRESHOLD_PCT": ("policy.negative_claim_threshold_pct", 0.6),
    "NEGATIVE_CLAIM_MAX_STEPS": ("policy.negative_claim_max_steps", 40),
    "BRAVE_API_KEY": ("brave.key", SecretStr("")),
    "BRAVE_SEARCH_API_KEY": ("brave.key", SecretStr("")),
    "BRAVE_API_VERSION": ("brave.api_version", ""),
    "BRAVE_DEFAULT_COUNT": ("brave.default_count", 12),
    "BRAVE_DISCOVERY_REQUIRED": ("brave.discovery_required", True),
    "BRAVE_MIN_INTERVAL": ("brave.min_interval_s", 1.05),
    "BRAVE_BACKOFF_MAX": ("brave.backoff_max_s", 10),
    "BRAVE_COOLDOWN_S": ("brave.cooldown_s", 60),
    "BRAVE_MAX_CONSEC_429": ("brave.max_consec_429", 2),
    "BRAVE_MAX_CALLS": ("brave.max_calls", 0),
    "HOST": ("dashboard.host", "127.0.0.1"),
    "PORT": ("dashboard.port", 8844),
    "VERIFIER_ROUNDS": ("verification.rounds", 3),
    "VERIFIER_API_KEY": ("verification.model_key", SecretStr("")),
    "ACTION_VERIFIER_API_KEY": ("action_verifier.model.key", SecretStr("")),
}
"""The names that the specifications give, with where they lead here and what holds without them."""


class Desk:
    """A working folder and a person's own settings, and nothing of the real ones."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.own = folder / "own" / "config.yaml"
        self.own.parent.mkdir()

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def load(
        self,
        *overrides: str,
        flags: Mapping[str, object] | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> Loaded:
        return load(overrides, flags, environ or {}, self.folder, self.own)

    def complaint(self, *overrides: str, environ: Mapping[str, str] | None = None) -> str:
        with pytest.raises(ConfigError) as caught:
            self.load(*overrides, environ=environ)
        return str(caught.value)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def value_of(settings: Any, key: str) -> Any:
    for part in key.split("."):
        settings = getattr(settings, part)
    return settings


def below(tree: Mapping[str, Any], group: str) -> list[str]:
    """The dotted names of what a tree holds."""
    return [
        name
        for key, value in tree.items()
        for name in (below(value, f"{group}{key}.") if isinstance(value, dict) else [f"{group}{key}"])
    ]


# Defaults and names


def test_without_anything_written_the_packaged_defaults_hold(desk: Desk) -> None:
    loaded = desk.load()
    assert loaded.settings == defaults()
    assert {str(origin) for origin in loaded.origin.values()} == {"default"}
    assert loaded.origin.keys() == catalogue().keys()


@pytest.mark.parametrize("name", SPECIFIED)
def test_every_name_of_the_specifications_leads_to_its_setting_and_default(name: str) -> None:
    key, default = SPECIFIED[name]
    assert name in catalogue()[key].env
    assert value_of(defaults(), key) == default


def test_no_other_environment_name_is_taken_than_those_of_the_specifications() -> None:
    assert {name for each in catalogue().values() for name in each.env} == SPECIFIED.keys()


def test_the_packaged_defaults_hold_every_setting_and_nothing_else() -> None:
    assert set(below(yaml.safe_load(PACKAGED.read_text()), "")) == set(catalogue())


def test_two_settings_never_share_a_name() -> None:
    names = [name for each in catalogue().values() for name in (*each.env_names, each.flag) if name]
    assert len(names) == len(set(names))


def test_defaults_with_changes_read_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAX_STEPS", "7")
    assert defaults({"model.temperature": 0.9}).model.temperature == 0.9
    assert defaults().run.max_steps == 80
    with pytest.raises(ConfigError, match=r"write run\.max_steps"):
        defaults({"max_steps": 5})


def test_a_working_folder_that_is_gone_is_told(tmp_path: Path) -> None:
    program = (
        "import os, sys; from vera.config import load\n"
        "os.chdir(sys.argv[1]); os.rmdir(sys.argv[1]); load(environ={})"
    )
    (tmp_path / "gone").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", program, tmp_path / "gone"], capture_output=True, text=True, check=False
    )
    assert done.stderr.endswith(
        "ConfigError: The working folder does not exist any more. Go to another one: cd\n"
    )


def test_settings_are_frozen() -> None:
    with pytest.raises(ValidationError):
        defaults().run.max_steps = 5


# Order


HANDED_OVER = (SettingPlace.LOG, SettingPlace.OWN_LOG, SettingPlace.TASK, SettingPlace.FORM)
STEPS = ["default", "user", "vera.yaml", ".env", "environment", "-c file", "-c value", "flag"]


@pytest.mark.parametrize("highest", range(len(STEPS)), ids=STEPS)
def test_the_higher_place_wins(desk: Desk, highest: int) -> None:
    if highest >= 1:
        desk.own.write_text("run: {max_steps: 9}")
    if highest >= 2:
        desk.write("vera.yaml", "# mine\nrun:\n  max_steps: 2\n")
    if highest >= 3:
        desk.write(".env", "OTHER=x\n\n# mine\n\nexport MAX_STEPS='3'  # for today\n")
    if highest >= 5:
        desk.write("other.yaml", "run.max_steps: 5")
    loaded = desk.load(
        *(["run.max_steps=6"] if highest >= 6 else []),
        *(["other.yaml"] if highest >= 5 else []),
        environ={"MAX_STEPS": "4"} if highest >= 4 else {},
        flags={"run.max_steps": 7 if highest >= 7 else None},
    )
    assert loaded.settings.run.max_steps == (80, 9, 2, 3, 4, 5, 6, 7)[highest]
    assert (
        str(loaded.origin["run.max_steps"])
        == [
            "default",
            f"file {desk.own}:1",
            "file vera.yaml:3",
            "file .env:5",
            "environment MAX_STEPS",
            "file other.yaml:1",
            "-c run.max_steps=6",
            "flag --max-steps",
        ][highest]
    )
    said_by_hand = [place for place in SettingPlace if place not in HANDED_OVER]
    assert loaded.origin["run.max_steps"].place is said_by_hand[highest]


def test_of_two_overrides_the_later_wins(desk: Desk) -> None:
    assert desk.load("run.max_steps=1", "run.max_steps=2").settings.run.max_steps == 2


def test_a_file_adds_to_the_sections_of_the_file_below(desk: Desk) -> None:
    desk.own.write_text("model: {name: small, temperature: 0.5}")
    desk.write("vera.yaml", "model: {name: large}")
    model = desk.load().settings.model
    assert (model.name, model.temperature) == ("large", 0.5)


def test_a_bad_value_that_a_higher_place_replaces_does_no_harm(desk: Desk) -> None:
    assert desk.load("run.max_steps=5", environ={"MAX_STEPS": "many"}).settings.run.max_steps == 5


def test_our_own_name_counts_before_that_of_the_specification(desk: Desk) -> None:
    environ = {"MAX_STEPS": "1", "VERA_RUN__MAX_STEPS": "2"}
    assert desk.load(environ=environ).settings.run.max_steps == 2


def test_of_two_specified_names_the_first_counts(desk: Desk) -> None:
    environ = {"OPENAI_BASE_URL": "http://b", "MODEL_BASE_URL": "http://a"}
    assert desk.load(environ=environ).settings.model.base_url == "http://a"


def test_an_empty_variable_sets_nothing(desk: Desk) -> None:
    assert desk.load(environ={"MODEL_BASE_URL": "", "MAX_STEPS": ""}).settings == defaults()


# Values


@pytest.mark.parametrize(
    ("written", "key", "value"),
    [
        ("model: {name: 0123}", "model.name", "0123"),
        ("model: {name: no}", "model.name", "no"),
        ("model: {name: 'null'}", "model.name", "null"),
        ("model:\n  name:\n", "model.name", ""),
        ("run: {max_steps: '12'}", "run.max_steps", 12),
        ("brave: {discovery_required: off}", "brave.discovery_required", False),
        ("run: {input_dir: ~}", "run.input_dir", None),
        ("run: {input_dir: papers}", "run.input_dir", Path("papers")),
        ("run:\n  # max_steps: 5\n", "run.max_steps", 80),
        ("", "run.max_steps", 80),
        ("\ufeffrun: {max_steps: 5}", "run.max_steps", 5),
        ("model.name: 127.0.0.1:1234", "model.name", "127.0.0.1:1234"),
    ],
)
def test_the_type_of_the_setting_and_not_yaml_decides_what_a_text_is(
    desk: Desk, written: str, key: str, value: object
) -> None:
    desk.write("vera.yaml", written)
    assert value_of(desk.load().settings, key) == value


def test_an_override_may_unset_what_may_be_null(desk: Desk) -> None:
    desk.own.write_text("run: {input_dir: papers}\ncontext: {max_chars: 9000}")
    settings = desk.load("run.input_dir=", "context.max_chars=null").settings
    assert (settings.run.input_dir, settings.context.max_chars) == (None, None)


@pytest.mark.parametrize(
    ("override", "sentence"),
    [
        ("run.max_steps=many", "run.max_steps must be a whole number from 0 to 10000000, but "
         "-c run.max_steps=many gives 'many'."),
        ("run.max_steps=-1", "from 0 to 10000000"),
        ("run.max_steps=", "gives ''."),
        ("model.temperature=nan", "model.temperature must be a number from 0 to 2"),
        ("model.timeout_s=0", "a number above 0 and up to 86400"),
        ("model.timeout_s=inf", "a number above 0 and up to 86400"),
        ("run.effort=hard", "run.effort must be one of quick, normal, thorough"),
        ("sandbox.backend=vm", "sandbox.backend must be one of auto, docker, bubblewrap, host, none"),
        ("brave.discovery_required=perhaps", "must be true or false"),
        ("context.max_chars=5", "a whole number from 4000 to 1000000000, or null"),
        ("model.base_url=ftp://x", "an address such as http://127.0.0.1:1234/v1"),
        ("model.base_url=http://me:secret@x", "without password or query"),
        ("model.base_url=http://x/v1?key=1", "without password or query"),
        ("model.base_url=http://x:port", "an address such as"),
        ("model.base_url=http://[", "an address such as"),
        ("model.prompt_profile=../../etc", "the name of a set of prompts"),
        ("dashboard.host=example.org", "an IP address or localhost"),
        ("dashboard.port=70000", "a whole number from 1 to 65535"),
        ("run.work_dir=a\0b", "a path, or null"),
        ("brave.api_version=1\r\nX: y", "a version such as"),
    ],
)  # fmt: skip
def test_a_bad_value_is_told_with_its_setting_its_place_and_what_is_allowed(
    desk: Desk, override: str, sentence: str
) -> None:
    complaint = desk.complaint(override)
    assert sentence in complaint
    assert "\n" not in complaint
    assert "\r" not in complaint


def test_the_place_of_a_bad_value_in_a_file_is_its_line(desk: Desk) -> None:
    desk.write("vera.yaml", "run:\n  effort: normal\n  max_steps: [1, 2]\nmodel:\n  timeout_s:\n")
    assert desk.complaint().splitlines() == [
        "model.timeout_s must be a number above 0 and up to 86400, but file vera.yaml:5 gives nothing.",
        "run.max_steps must be a whole number from 0 to 10000000, but file vera.yaml:3 gives a list.",
    ]


def test_all_problems_are_told_at_once_but_not_without_end(desk: Desk) -> None:
    lines = desk.complaint(*(f"run.wrong_{number}=1" for number in range(30))).splitlines()
    assert len(lines) == 11
    assert lines[-1] == "… and 20 more."


def test_a_control_character_never_reaches_the_terminal(desk: Desk) -> None:
    complaint = desk.complaint("run.max_steps=\x1b]0;x\x07", "run.\x1b[31m=1", "run.effort=\u202e")
    assert complaint.replace("\n", "").isprintable()


# Unknown and misplaced keys


@pytest.mark.parametrize(
    ("override", "sentence"),
    [
        ("max_steps=5", "max_steps belongs to run: write run.max_steps."),
        ("max-steps=5", "max_steps belongs to run: write run.max_steps."),
        ("model.max_steps=5", "max_steps belongs to run: write run.max_steps."),
        ("modle.name=x", "name belongs to model: write model.name."),
        (
            "key=x",
            "key belongs to model, action_verifier.model and brave: write model.key, "
            "action_verifier.model.key or brave.key.",
        ),
        (
            "action_verifer.model.name=x",
            "name belongs to action_verifier.model: write action_verifier.model.name.",
        ),
        ("sampling_kwargs.temperature=1", "write candidate_sampling.sampling_kwargs.temperature."),
        ("candidate_sampling.top_p=1", "write candidate_sampling.sampling_kwargs.top_p."),
        ("candidate_sampling.sampling_kwargs.top_b=1", "mean candidate_sampling.sampling_kwargs.top_p?"),
        (
            "action_verifier.model=x",
            "action_verifier.model is a group of settings: "
            "action_verifier.model.base_url, action_verifier.model.name, action_verifier.model.key.",
        ),
        ("action_verifier.model.name.x=y", "action_verifier.model.name takes one value, not a group"),
        ("run.max_stps=5", "Did you mean run.max_steps?"),
        ("temprature=1", "Did you mean model.temperature?"),
        ("Run.Max_Steps=5", "There is no setting Run.Max_Steps: write run.max_steps."),
        ("run=5", "run is a group of settings: run.max_steps, run.effort"),
        ("run.max_steps.x=5", "run.max_steps takes one value, not a group of them."),
        ("zzz=5", "There is no setting zzz. To see them all: vera config"),
        ("x" * 100_000 + "=5", "There is no setting xxx"),
    ],
)
def test_an_unknown_key_is_an_error_that_says_which_was_meant(
    desk: Desk, override: str, sentence: str
) -> None:
    assert sentence in desk.complaint(override)


def test_an_unknown_key_in_a_file_is_named_with_its_line(desk: Desk) -> None:
    desk.write("vera.yaml", "run:\n  effort: quick\n  max_stepps: 5\nmax_steps: 9\nmodel: fast\n")
    assert desk.complaint().splitlines() == [
        "file vera.yaml:3: There is no setting run.max_stepps. Did you mean run.max_steps?",
        "file vera.yaml:4: There is no setting max_steps: max_steps belongs to run: write run.max_steps.",
        "file vera.yaml:5: model is a group of settings: "
        + ", ".join(key for key in catalogue() if key.startswith("model."))
        + ".",
    ]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("VERA_RUN__MAX_STEP", "Did you mean VERA_RUN__MAX_STEPS?"),
        ("VERA_RUN_MAX_STEPS", "Did you mean VERA_RUN__MAX_STEPS?"),
        ("VERA_run__max_steps", "There is no setting VERA_run__max_steps: write VERA_RUN__MAX_STEPS."),
        ("VERA_MODEL__MAX_STEPS", "max_steps belongs to run: write VERA_RUN__MAX_STEPS."),
        ("VERA_VERIFIER__TYPE", "write VERA_ACTION_VERIFIER__VERIFIER_TYPE."),
        ("VERA_VERIFIER__MODEL__KEY", "write VERA_ACTION_VERIFIER__MODEL__KEY."),
        ("VERA_ACTION_VERIFIER_MODEL_KEY", "Did you mean VERA_ACTION_VERIFIER__MODEL__KEY?"),
        ("VERA_MODEL_TIMEOUT", "write MODEL_TIMEOUT or VERA_MODEL__TIMEOUT_S."),
        ("VERA_PORT", "write PORT or VERA_DASHBOARD__PORT."),
        ("VERA_X", "To see them all: vera config"),
    ],
)
@pytest.mark.parametrize("place", ["environment", ".env"])
def test_a_misspelt_name_of_ours_in_the_environment_is_an_error(
    desk: Desk, name: str, sentence: str, place: str
) -> None:
    if place == ".env":
        desk.write(".env", f"{name}=1\n")
        complaint = desk.complaint()
        assert complaint.startswith("file .env:1: ")
    else:
        complaint = desk.complaint(environ={name: "1"})
        assert complaint.startswith(f"environment {name}: ")
    assert sentence in complaint


def test_names_of_others_are_left_alone(desk: Desk) -> None:
    environ = {
        "STEPS": "x",
        "VERA_REQUIRE": "docker",
        "VERA_SERVICE_HOST": "10.0.0.1",
        "VERA_PORT": "tcp://10.0.0.1:80",
        "VERA_PORT_80_TCP_ADDR": "10.0.0.1",
    }
    desk.write(".env", "DATABASE_URL=postgres://x\nnot a line\n=\n")
    assert desk.load(environ=environ).settings == defaults()


def test_host_and_port_count_only_if_they_look_like_ours(desk: Desk) -> None:
    desk.write(".env", "HOST=0.0.0.0\nPORT=3000\n")
    assert desk.load(environ={"HOST": "my-laptop", "PORT": "tcp://x"}).settings == defaults()
    dashboard = desk.load(environ={"HOST": "::1", "PORT": "9000"}).settings.dashboard
    assert (dashboard.host, dashboard.port) == ("::1", 9000)
    assert "dashboard.host must be" in desk.complaint(environ={"HOST": "999.1.1.1"})
    assert "dashboard.host must be" in desk.complaint(environ={"VERA_DASHBOARD__HOST": "my-laptop"})


def test_the_environment_file_never_changes_the_environment(desk: Desk) -> None:
    desk.write(".env", "MODEL_NAME=from-file\nOTHER=${HOME}\n")
    before = dict(os.environ)
    assert desk.load().settings.model.name == "from-file"
    assert dict(os.environ) == before


def test_nothing_in_the_environment_file_is_expanded(desk: Desk) -> None:
    desk.write(".env", "MODEL_NAME=${HOME}$(id)\n")
    assert desk.load().settings.model.name == "${HOME}$(id)"


# Files that cannot be used


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("run: {max_steps: 5\n", "vera.yaml:2 is not valid YAML"),
        ("run:\n  max_steps: 5\n max_steps: 6\n", "vera.yaml:3 is not valid YAML"),
        ("a: \x00", "vera.yaml is not valid YAML"),
        ("- run\n", "vera.yaml:1 must hold names and values"),
        ("run\n", "vera.yaml:1 must hold names and values"),
        ("run: {max_steps: 5}\nmodel: {}\nrun: {max_steps: 6}\n", "vera.yaml:3 sets run.max_steps again; "
         "line 1 sets it already."),
        ("run: {max_steps: 5}\nrun.max_steps: 6\n", "vera.yaml:2 sets run.max_steps again"),
        ("run: &a {max_steps: 5}\n", "vera.yaml:1 uses an anchor or alias"),
        ("run: *a\n", "vera.yaml:1 uses an anchor or alias"),
        ("run: {max_steps: !!int '5'}\n", "vera.yaml:1 uses a tag"),
        ("run: !!python/object/apply:os.system ['id']\n", "vera.yaml:1 uses a tag"),
        ("? [a]\n: 1\n", "vera.yaml:1 has a list or a group where a name must stand"),
        ("run:\n  max_steps: [[1]]\n", "vera.yaml:2 has a list or a group inside a list"),
        ("a: 1\n---\nb: 2\n", "begins a second document"),
        ("a: " + "{a: " * 50 + "1" + "}" * 50, "vera.yaml:1 is nested too deeply"),
        ("[" * 500_000, "vera.yaml:1 "),  # PyYAML 6.0.4 refuses the depth itself
        ("a: " + "[1, " * 200_000, "vera.yaml:1 has a list or a group inside a list"),
        ("a: [" + "1," * 400_000, "vera.yaml:1 holds too much"),
        ("# " + "x" * 1_000_000, "is larger than 1000000 bytes."),
        ("? " + "x" * 900_000 + "\n: {a: 1}", "vera.yaml:1 has a name of more than 200 characters"),
        ("".join(f"x{number}: 1\n" for number in range(9_900)), "… and 9890 more."),
    ],
    ids=range(21),
)  # fmt: skip
def test_a_file_that_cannot_be_used_is_told_with_its_line(desk: Desk, text: str, sentence: str) -> None:
    desk.write("vera.yaml", text)
    assert sentence in desk.complaint()


def test_a_file_that_is_no_text_is_told(desk: Desk) -> None:
    (desk.folder / "vera.yaml").write_bytes(b"run: \xff\xfe")
    assert "vera.yaml is not UTF-8 text (byte 5)." in desk.complaint()


@pytest.mark.parametrize("name", ["vera.yaml", ".env"])
def test_what_is_no_regular_file_is_refused_at_once(desk: Desk, name: str) -> None:
    os.mkfifo(desk.folder / name)
    assert desk.complaint().endswith(f"{name} is not a regular file.")
    (desk.folder / name).unlink()
    (desk.folder / name).mkdir()
    assert desk.complaint().endswith(f"{name} is not a regular file.")


def test_a_file_that_cannot_be_opened_is_told(desk: Desk) -> None:
    (desk.folder / "vera.yaml").symlink_to("vera.yaml")
    assert "vera.yaml cannot be read: Too many levels of symbolic links." in desk.complaint()


def test_a_named_file_must_exist(desk: Desk) -> None:
    assert "-c fast is neither KEY=VALUE nor a file that exists." in desk.complaint("fast")
    assert "-c ./a=b.yaml is neither" in desk.complaint("./a=b.yaml")


def test_an_environment_file_that_would_take_minutes_is_refused(desk: Desk) -> None:
    desk.write(".env", "A=x" + " " * 60_000 + "y")
    assert "a thousand blanks in a row" in desk.complaint()
    desk.write(".env", "A=" + "x" * 70_000)
    assert ".env is larger than 64000 bytes." in desk.complaint()


PIECES = ["run:", "max_steps", *"{}[]-:,'|?#5~\n ", "&a", "*a", "!!int", "---", "..."]


@given(st.text() | st.lists(st.sampled_from(PIECES)).map("".join))
def test_any_yaml_text_is_read_or_refused_in_one_sentence(text: str) -> None:
    try:
        layer = parse_layer(text, "vera.yaml", SettingPlace.FOLDER)
    except ConfigError as error:
        assert str(error).startswith("vera.yaml")
    else:
        assert all(isinstance(entry.value, str | list | None) for entry in layer.values())


@given(data=st.binary() | st.text("MAX_STEPS=5'\"\\\n #exportVERA_").map(str.encode))
def test_any_environment_file_is_read_or_refused(data: bytes, tmp_path_factory: Any) -> None:
    path = tmp_path_factory.getbasetemp() / "any.env"
    path.write_bytes(data)
    try:
        dotenv_layer(path)
    except ConfigError as error:
        assert "any.env" in str(error)


# Keys


def test_a_key_is_nowhere_in_what_is_shown(desk: Desk) -> None:
    desk.own.write_text("model: {key: sk-own-secret}")
    loaded = desk.load("brave.key=sk-brave-secret")
    assert loaded.settings.model.key.get_secret_value() == "sk-own-secret"
    assert loaded.settings.brave.key.get_secret_value() == "sk-brave-secret"
    shown = (
        f"{loaded!r} {loaded.settings} {public(loaded.settings)} {[str(o) for o in loaded.origin.values()]}"
    )
    assert "secret'" not in shown.replace("SecretStr('**********')", "")
    assert "-secret" not in shown
    assert str(loaded.origin["brave.key"]) == "-c brave.key=…"


def test_a_bad_key_or_a_misspelt_name_for_one_is_told_without_it(desk: Desk) -> None:
    for complaint in (
        desk.complaint("brave.key=sk secret"),
        desk.complaint("brave.kee=sk-secret"),
        desk.complaint(environ={"OPENAI_API_KEY": "sk\nsecret"}),
    ):
        assert "secret" not in complaint


def test_public_settings_say_only_whether_a_key_is_set(desk: Desk) -> None:
    shown: Any = public(desk.load(environ={"OPENAI_API_KEY": "sk-1"}).settings)
    assert shown["model"]["key"] == "set"
    assert shown["brave"]["key"] == "not set"
    assert shown["run"]["base_dir"] == "."
    assert shown["action_verifier"]["model"] == {"base_url": "", "name": "", "key": "not set"}
    assert set(below(shown, "")) == set(catalogue())


def test_a_key_by_the_name_of_a_variable() -> None:
    secret, warning = resolve_secret("env:MY_KEY", {"MY_KEY": " sk-1 "})
    assert (secret.get_secret_value(), warning) == ("sk-1", None)
    with pytest.raises(ConfigError, match="The environment variable MY_KEY, which should hold the key"):
        resolve_secret("env:MY_KEY", {})


def test_a_key_in_a_file_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.write_text("sk-1\nsomething else\n")
    path.chmod(stat.S_IRUSR | stat.S_IWUSR)
    secret, warning = resolve_secret(f"@{path}", {})
    assert (secret.get_secret_value(), warning) == ("sk-1", None)
    path.chmod(0o644)
    assert f"chmod 600 {path}" in (resolve_secret(f"@{path}", {})[1] or "")
    path.write_text("\n")
    with pytest.raises(ConfigError, match="is empty"):
        resolve_secret(f"@{path}", {})
    path.unlink()
    with pytest.raises(ConfigError, match="does not exist"):
        resolve_secret(f"@{path}", {})


def test_a_key_on_the_command_line_is_taken_with_a_warning(desk: Desk) -> None:
    loaded = desk.load("brave.key=sk-1")
    assert loaded.settings.brave.key.get_secret_value() == "sk-1"
    assert len(loaded.warnings) == 1
    assert loaded.warnings[0].startswith("brave.key (-c brave.key=…): A key on the command line can be read")
    assert "sk-1" not in loaded.warnings[0]


def test_a_key_in_ones_own_settings_draws_no_warning(desk: Desk) -> None:
    desk.own.write_text("brave: {key: sk-1}")
    assert desk.load().warnings == ()


def test_a_reference_to_a_key_that_is_missing_is_told_with_its_place(desk: Desk) -> None:
    assert desk.complaint("brave.key=env:NOPE") == (
        "brave.key (-c brave.key=…): The environment variable NOPE, which should hold the key, is not set."
    )


# The package


def modules_after(statement: str) -> Sequence[str]:
    program = f"{statement}\nimport sys\nprint(*sys.modules)"
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()


def test_catching_its_errors_does_not_load_pydantic() -> None:
    loaded = modules_after("from vera.config import ConfigError, Origin")
    assert not {"pydantic", "yaml", "platformdirs"} & set(loaded)


def test_loading_does_not_pull_in_what_it_does_not_need() -> None:
    loaded = modules_after("from vera.config import load; load()")
    assert not {"pydantic_settings", "dotenv", "difflib", "asyncio", "httpx", "rich"} & set(loaded)


def test_a_name_that_the_package_does_not_have_is_an_attribute_error() -> None:
    import vera.config

    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = vera.config.nothing


def test_the_documentation_holds_every_setting_as_the_code_has_it() -> None:
    page = (ROOT / "docs/reference/settings.md").read_text(encoding="utf-8")
    assert page == with_tables(page), (
        "write it again: python -m vera.config.reference docs/reference/settings.md"
    )
    assert all(f"`{each.key}`" in tables() and each.description in tables() for each in catalogue().values())


def test_every_setting_and_section_says_what_it_means() -> None:
    assert all(each.description.endswith((".", ").")) for each in catalogue().values())
    assert all(kind.__doc__ for kind in sections().values())
