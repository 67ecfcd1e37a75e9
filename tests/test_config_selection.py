"""The settings of best of N: their names and bounds, other names, and mistakes that must not pass."""

import importlib
from collections.abc import Mapping
from itertools import takewhile
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from vera import events
from vera.cli.config import config
from vera.cli.mcp import client_config
from vera.config import ConfigError, Loaded, SettingPlace, defaults, load, public
from vera.config.aliases import canonical, under_own_names
from vera.config.loading import PACKAGED
from vera.config.logged import Begun, Proof, log_layer
from vera.config.origin import Origin, WrittenValue
from vera.config.schema import catalogue, sections, value_of
from vera.config.selection import MAX_REGEX_LENGTH, MAX_TEMPLATE_LENGTH, Fallback
from vera.config.trust import KEYED_ADDRESSES

ROOT = Path(__file__).parents[1]
PROMPTS = PACKAGED.parent / "prompts" / "en"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> Path:
    """A working folder with nothing in it, and beside it the place of the person's own settings."""
    (tmp_path / "here").mkdir()
    return tmp_path / "here"


def loaded(
    folder: Path,
    *overrides: str,
    folder_file: str = "",
    own_file: str = "",
    flags: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
) -> Loaded:
    """The settings with these texts in vera.yaml and in the person's own file."""
    own = folder.parent / "own.yaml"
    own.write_text(own_file)
    (folder / "vera.yaml").write_text(folder_file)
    return load(overrides, flags, environ or {}, folder, own)


def complaint(folder: Path, *overrides: str, **places: Any) -> str:
    with pytest.raises(ConfigError) as caught:
        loaded(folder, *overrides, **places)
    return str(caught.value)


# Every shipped file


SHIPPED = {
    "src/vera/default.yaml": (1, False, "pairwise", "", ""),
    "examples/best-of-4-pairwise.yaml": (4, True, "pairwise", "", ""),
    "examples/best-of-4-llm.yaml": (4, True, "llm", "http://127.0.0.1:8081/v1", "qwen3-8b"),
    "examples/best-of-4-majority.yaml": (4, True, "majority", "", ""),
}
"""File → candidates, whether one is chosen, by what, and the address and name of the model that is asked."""


def test_every_configuration_that_is_shipped_is_known_here() -> None:
    examples = {path.relative_to(ROOT).as_posix() for path in (ROOT / "examples").rglob("*.y*ml")}
    packaged = {path.relative_to(ROOT).as_posix() for path in PACKAGED.parent.glob("*.y*ml")}
    assert examples | packaged == SHIPPED.keys()


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_configuration_switches_on_what_it_describes(folder: Path, name: str) -> None:
    found = loaded(folder, str(ROOT / name))
    sampling, verifier = found.settings.candidate_sampling, found.settings.action_verifier
    assert (
        sampling.num_candidates,
        verifier.enabled,
        verifier.verifier_type,
        verifier.model.base_url,
        verifier.model.name,
    ) == SHIPPED[name]
    assert found.warnings == ()


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_configuration_says_nothing_that_vera_config_does_not_show(name: str) -> None:
    shown = CliRunner().invoke(config, ["-c", str(ROOT / name)])
    assert shown.exit_code == 0, shown.output
    written, in_force = yaml.safe_load((ROOT / name).read_text()), yaml.safe_load(shown.stdout)
    for group in ("candidate_sampling", "action_verifier"):
        for key, value in written[group].items():
            if isinstance(value, dict):
                value = {**in_force[group][key], **value}
                value.pop("key", None)
            assert in_force[group][key] == value, f"{group}.{key}"


@pytest.mark.parametrize(
    ("key", "packaged"),
    [("system_template", "select_system.md.j2"), ("selection_template", "select_candidates.md.j2")],
)
def test_the_example_of_a_template_is_the_one_that_is_used(folder: Path, key: str, packaged: str) -> None:
    lines = PACKAGED.read_text(encoding="utf-8").split("\n")
    first = lines.index(f"  # {key}: |")
    commented = [*takewhile(lambda line: line.startswith("  #"), lines[first:])]
    assert lines[first + len(commented)] == f'  {key}: ""'
    copied = "\n".join(["action_verifier:", *(f"  {line[4:]}" for line in commented), ""])
    given = getattr(loaded(folder, own_file=copied).settings.action_verifier, key)
    assert given == (PROMPTS / packaged).read_text(encoding="utf-8")


# Names and values


def test_sampling_is_off_without_being_asked_for() -> None:
    settings = defaults()
    assert settings.candidate_sampling.num_candidates == 1
    assert not settings.action_verifier.enabled
    assert settings.action_verifier.verifier_type == "pairwise"
    assert settings.action_verifier.selection_index_base == 1
    assert not settings.action_verifier.include_candidate_text


def test_what_the_specification_names_is_called_so() -> None:
    asked = {
        "candidate_sampling": {"num_candidates", "use_n", "sampling_kwargs"},
        "action_verifier": {
            *("enabled", "verifier_type", "verifier_class", "model", "prompt_name", "prompt_dir"),
            *("system_template", "selection_template", "history_steps", "selection_regex"),
            *("selection_index_base", "fallback", "include_candidate_text", "stop_on_agreement"),
        },
        "action_verifier.model": {"base_url", "name", "key"},
        "candidate_sampling.sampling_kwargs": {"temperature", "top_p", "max_tokens"},
    }
    for group, names in asked.items():
        assert names <= sections()[group].model_fields.keys()


def test_the_fallbacks_are_those_that_there_are() -> None:
    options = importlib.import_module("vera.selection.options")
    assert get_args(Fallback) == get_args(options.Fallback)


def test_every_type_of_the_registry_can_be_set_and_is_explained() -> None:
    registry = importlib.import_module("vera.selection.registry")
    said = catalogue()["action_verifier.verifier_type"].description
    for name in registry.SELECTORS:
        chosen = defaults({"action_verifier.verifier_type": name}).action_verifier
        assert chosen.verifier_type == name
        assert f"{name}: " in said


def test_the_defaults_of_the_settings_are_those_of_the_room() -> None:
    options = importlib.import_module("vera.selection.options").SelectionOptions()
    verifier = defaults().action_verifier
    of_the_room = {name: getattr(options, name) for name in options.__struct_fields__ if name != "selector"}
    assert of_the_room == {name: getattr(verifier, name) for name in of_the_room}


@pytest.mark.parametrize(
    ("key", "written", "value"),
    [
        ("candidate_sampling.num_candidates", "16", 16),
        ("candidate_sampling.use_n", "off", False),
        ("candidate_sampling.straggler_s", "0", 0),
        ("candidate_sampling.sampling_kwargs.temperature", "null", None),
        ("candidate_sampling.sampling_kwargs.temperature", "", None),
        ("candidate_sampling.sampling_kwargs.top_k", "-1", -1),
        ("candidate_sampling.sampling_kwargs.presence_penalty", "-2", -2),
        ("action_verifier.enabled", "yes", True),
        ("action_verifier.verifier_class", "mine.choosing.Careful", "mine.choosing.Careful"),
        ("action_verifier.verifier_class", "mine.choosing:Careful", "mine.choosing:Careful"),
        ("action_verifier.history_steps", "-1", -1),
        ("action_verifier.selection_regex", r"FINAL: (\d+)", r"FINAL: (\d+)"),
        ("action_verifier.selection_index_base", "0", 0),
        ("action_verifier.agreement_threshold", "1", 1),
        ("action_verifier.prompt_dir", "", None),
        ("action_verifier.system_template", "One.\n\n  Two: {{ task }}\n", "One.\n\n  Two: {{ task }}\n"),
    ],
)
def test_a_value_in_its_bounds_is_taken(folder: Path, key: str, written: str, value: object) -> None:
    assert value_of(loaded(folder, f"{key}={written}").settings, key) == value


@pytest.mark.parametrize(
    ("override", "sentence"),
    [
        ("candidate_sampling.num_candidates=0", "must be a whole number from 1 to 16"),
        ("candidate_sampling.num_candidates=17", "must be a whole number from 1 to 16"),
        ("candidate_sampling.sampling_kwargs.temperature=2.1", "must be a number from 0 to 2, or null"),
        ("candidate_sampling.sampling_kwargs.top_p=0", "must be a number above 0 and up to 1, or null"),
        ("candidate_sampling.sampling_kwargs.top_k=-2", "must be a whole number from -1 to 1000000, or null"),
        ("candidate_sampling.sampling_kwargs.seed=2147483648", "from 0 to 2147483647, or null"),
        ("action_verifier.enabled=perhaps", "must be true or false"),
        ("action_verifier.verifier_type=os.system", "must be the name of a selector, such as pairwise, but "
         "-c action_verifier.verifier_type=os.system gives 'os.system'."),
        ("verifier.type=Reward model", "action_verifier.verifier_type must be the name of a selector"),
        ("action_verifier.verifier_class=os", "must be the dotted path of a class"),
        ("action_verifier.verifier_class=os.system; x", "must be the dotted path of a class"),
        ("action_verifier.model.base_url=builtin", "must be an address such as http://127.0.0.1:1234/v1"),
        ("action_verifier.model.base_url=http://a:b@x", "without password or query"),
        ("action_verifier.prompt_name=../secret", "must be a name of letters, digits, - and _"),
        ("action_verifier.history_steps=-2", "must be a whole number from -1 to 100"),
        ("action_verifier.selection_regex=([0-9", "must be a regular expression of at most 200 characters"),
        (f"action_verifier.selection_regex={'x' * (MAX_REGEX_LENGTH + 1)}", "must be a regular expression"),
        ("action_verifier.selection_regex=x{99999999999999999999}", "must be a regular expression"),
        (
            f"action_verifier.system_template={'x' * (MAX_TEMPLATE_LENGTH + 1)}",
            "must be a template of at most",
        ),
        ("action_verifier.selection_index_base=2", "must be a whole number from 0 to 1"),
        ("action_verifier.fallback=last", "must be one of first_candidate, first_valid"),
        ("action_verifier.max_compared=1", "must be a whole number from 2 to 8"),
        ("action_verifier.deadline_s=0", "must be a number above 0 and up to 3600"),
    ],
)  # fmt: skip
def test_a_value_out_of_its_bounds_is_told_in_one_sentence(
    folder: Path, override: str, sentence: str
) -> None:
    told = complaint(folder, override)
    assert sentence in told
    assert "\n" not in told


def test_a_bad_value_two_levels_down_is_told_with_its_line(folder: Path) -> None:
    text = "candidate_sampling:\n  sampling_kwargs:\n    top_p: 0.9\n    min_p: many\n"
    assert complaint(folder, folder_file=text) == (
        "candidate_sampling.sampling_kwargs.min_p must be a number from 0 to 1, or null, but file "
        "vera.yaml:4 gives 'many'."
    )


@given(st.text(alphabet="()[]{}*+?|\\d1,.^$ab<>!=:P#-", max_size=40))
def test_any_text_for_the_regular_expression_is_taken_or_told(text: str) -> None:
    try:
        assert defaults({"action_verifier.selection_regex": text}).action_verifier.selection_regex == text
    except ConfigError as error:
        assert str(error).startswith("action_verifier.selection_regex must be a regular expression")


# Every place


@pytest.mark.parametrize("highest", range(1, 6))
def test_a_setting_two_levels_down_can_stand_in_every_place(folder: Path, highest: int) -> None:
    key = "candidate_sampling.sampling_kwargs.temperature"
    own = "VERA_CANDIDATE_SAMPLING__SAMPLING_KWARGS__TEMPERATURE"
    (folder / "other.yaml").write_text("candidate_sampling: {sampling_kwargs: {temperature: 0.4}}")
    found = loaded(
        folder,
        *(["other.yaml"] if highest > 3 else []),
        *([f"{key}=0.5"] if highest > 4 else []),
        own_file="candidate_sampling: {sampling_kwargs: {temperature: 0.1}}",
        folder_file="candidate_sampling.sampling_kwargs: {temperature: 0.2}" if highest > 1 else "",
        environ={own: "0.3"} if highest > 2 else {},
    )
    assert value_of(found.settings, key) == highest / 10


def test_a_file_that_sets_one_value_of_a_group_leaves_the_others(folder: Path) -> None:
    found = loaded(
        folder,
        own_file="action_verifier: {model: {name: judge}, seed: 3}",
        folder_file="action_verifier: {history_steps: 2}",
    ).settings.action_verifier
    assert (found.model.name, found.history_steps, found.seed) == ("judge", 2, 3)


def test_one_option_of_the_command_line_names_the_type_and_switches_it_on(folder: Path) -> None:
    flags = {"candidate_sampling.num_candidates": 4, "action_verifier.verifier_type": "majority"}
    found = loaded(folder, "action_verifier.enabled=false", flags=flags)
    assert found.settings.action_verifier.enabled
    assert found.settings.action_verifier.verifier_type == "majority"
    assert str(found.origin["action_verifier.enabled"]) == "flag --action-verifier"
    assert str(found.origin["candidate_sampling.num_candidates"]) == "flag --num-candidates"
    assert found.warnings == ()


def test_a_type_in_a_file_switches_nothing_on(folder: Path) -> None:
    assert not loaded(folder, folder_file="verifier: {type: llm}").settings.action_verifier.enabled


# Other names


def test_the_names_of_the_specification_work_in_a_file_and_after_c(folder: Path) -> None:
    text = "candidate_sampling: {num_candidates: 4}\nverifier: {enabled: true, type: llm, model: {name: j}}"
    found = loaded(folder, "verifier.seed=7", folder_file=text)
    verifier = found.settings.action_verifier
    assert (verifier.enabled, verifier.verifier_type, verifier.seed) == (True, "llm", 7)
    assert verifier.model.name == "j"
    assert str(found.origin["action_verifier.verifier_type"]) == "file vera.yaml:2"


def test_of_two_overrides_the_later_wins_under_whichever_name(folder: Path) -> None:
    overrides = ["action_verifier.verifier_type=llm", "verifier.type=random"]
    assert loaded(folder, *overrides).settings.action_verifier.verifier_type == "random"
    assert loaded(folder, *reversed(overrides)).settings.action_verifier.verifier_type == "llm"


def test_two_files_may_use_different_names(folder: Path) -> None:
    found = loaded(folder, own_file="action_verifier: {seed: 1}", folder_file="verifier: {seed: 2}")
    assert found.settings.action_verifier.seed == 2


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "verifier:\n  type: llm\n  verifier_type: pairwise\n",
            "file vera.yaml:3: verifier.verifier_type is set twice: verifier.type is the same, in file "
            "vera.yaml:2. Keep one of the two.",
        ),
        (
            "verifier:\n  enabled: true\n  seed: 1\naction_verifier:\n  type: llm\n  seed: 2\n",
            "file vera.yaml:5: action_verifier is set twice: verifier is the same, in file vera.yaml:2. Keep "
            "one of the two.",
        ),
        (
            "action_verifier.seed: 1\nverifier.seed: 1\n",
            "file vera.yaml:2: verifier is set twice: action_verifier is the same, in file vera.yaml:1. Keep "
            "one of the two.",
        ),
    ],
)
def test_both_names_in_one_file_are_an_error(folder: Path, text: str, sentence: str) -> None:
    assert complaint(folder, folder_file=text) == sentence


def test_a_group_whose_lines_are_commented_out_is_not_its_second_name(folder: Path) -> None:
    text = "verifier:\n  # type: llm\naction_verifier: {seed: 2}\n"
    assert loaded(folder, folder_file=text).settings.action_verifier.seed == 2


def test_a_group_under_its_other_name_is_shown_too() -> None:
    runner = CliRunner()
    own = runner.invoke(config, ["action_verifier.model"]).stdout
    assert runner.invoke(config, ["verifier.model"]).stdout == own
    assert own == "action_verifier:\n  model:\n    base_url: ''\n    name: ''\n    # key: not set (hidden)\n"


keys = st.lists(
    st.sampled_from(["verifier", "action_verifier", "type", "verifier_type", "model", "x"]),
    min_size=1,
    max_size=3,
).map(".".join)


@given(st.dictionaries(keys, st.sampled_from([None, "1"])))
def test_a_file_under_own_names_has_no_alias_and_loses_no_value_in_silence(
    values: dict[str, str | None],
) -> None:
    layer = {
        key: WrittenValue(value, Origin(SettingPlace.FILE, f"file x:{key}")) for key, value in values.items()
    }
    found, twice = under_own_names(layer)
    assert all(canonical(name) == name for name in found)
    assert {canonical(key) for key, value in values.items() if value} <= found.keys()
    lost = sum(1 for value in values.values() if value) - sum(1 for each in found.values() if each.value)
    assert lost <= 0 or twice


# Mistakes that must not pass


@pytest.mark.parametrize("name", ["verifier", "action_verifier"])
def test_a_verifier_that_is_indented_under_the_sampling_is_told_once(folder: Path, name: str) -> None:
    text = f"candidate_sampling:\n  num_candidates: 3\n  {name}:\n    enabled: true\n    type: llm\n"
    assert complaint(folder, folder_file=text) == (
        f"file vera.yaml:4: There is no setting candidate_sampling.{name}.enabled: {name} belongs at the top "
        f"level, not under candidate_sampling. In a file it stands without indentation; after -c write "
        f"{name}.enabled."
    )


def test_both_groups_under_a_group_of_another_program_are_told(folder: Path) -> None:
    text = "agent:\n  candidate_sampling: {num_candidates: 3}\n  verifier: {enabled: true}\n"
    assert complaint(folder, folder_file=text).splitlines() == [
        "file vera.yaml:2: There is no setting agent.candidate_sampling.num_candidates: candidate_sampling "
        "belongs at the top level, not under agent. In a file it stands without indentation; after -c write "
        "candidate_sampling.num_candidates.",
    ]


def test_a_setting_beside_its_group_is_told_where_it_belongs(folder: Path) -> None:
    text = "candidate_sampling:\n  num_candidates: 2\n  top_p: 0.9\n"
    assert complaint(folder, folder_file=text) == (
        "file vera.yaml:3: There is no setting candidate_sampling.top_p: top_p belongs to "
        "candidate_sampling.sampling_kwargs: write candidate_sampling.sampling_kwargs.top_p."
    )


def test_a_group_cannot_be_a_value(folder: Path) -> None:
    assert "action_verifier.model is a group of settings: action_verifier.model.base_url" in complaint(
        folder, folder_file="verifier: {model: gpt}"
    )


def test_choosing_among_one_candidate_draws_a_warning(folder: Path) -> None:
    (said,) = loaded(folder, "action_verifier.enabled=true").warnings
    assert said.startswith(
        "action_verifier.enabled has no effect: with one candidate a step there is nothing"
    )
    assert loaded(folder, "verifier.enabled=true", "candidate_sampling.num_candidates=2").warnings == ()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{prompt_name: careful}", "action_verifier.prompt_name needs action_verifier.prompt_dir"),
        ("{prompt_dir: prompts}", "action_verifier.prompt_dir needs action_verifier.prompt_name"),
    ],
)
def test_a_name_of_templates_and_their_folder_go_together(folder: Path, text: str, sentence: str) -> None:
    assert complaint(folder, own_file=f"action_verifier: {text}").startswith(sentence)


# Keys


def test_the_key_of_the_verifier_is_that_of_no_other_server(folder: Path) -> None:
    settings = loaded(folder, environ={"ACTION_VERIFIER_API_KEY": "sk-3"}).settings
    keys = {key: value_of(settings, key) for key, each in catalogue().items() if each.secret}
    given = {key for key, value in keys.items() if isinstance(value, SecretStr) and value.get_secret_value()}
    assert given == {"action_verifier.model.key"}


def test_every_key_with_an_address_beside_it_is_withheld_from_a_stranger() -> None:
    with_address = {key for key, each in catalogue().items() if each.secret and key != "brave.key"}
    assert {each.key for each in KEYED_ADDRESSES} == with_address


# Keys are nowhere in what is shown


def test_a_key_two_levels_down_is_nowhere_in_what_is_shown(folder: Path) -> None:
    for name in ("action_verifier.model.key", "verifier.model.key"):
        found = loaded(folder, f"{name}=sk-secret")
        shown: Any = public(found.settings)
        assert shown["action_verifier"]["model"]["key"] == "set"
        assert str(found.origin["action_verifier.model.key"]) == "-c action_verifier.model.key=…"
        assert "sk-secret" not in f"{found!r} {shown}"
        assert found.warnings[0].startswith(
            "action_verifier.model.key (-c action_verifier.model.key=…): A key"
        )
        assert "sk-secret" not in CliRunner().invoke(config, ["-c", f"{name}=sk-secret", "--origin"]).output
        made = client_config(found.settings, None, folder, (f"{name}=sk-secret", "verifier.seed=3"))
        assert "sk-secret" not in str(made)
        assert "verifier.seed=3" in str(made)


# Going on with a run


def going_on(folder: Path, logged: dict[str, Any]) -> Loaded:
    """The settings under which the run of one's own log goes on."""
    session = events.Session(format=1, version="1", settings=logged, seq=1)
    begun = Begun(session, events.Task(task="Why?", seq=2), None)
    return load((), {}, {}, folder, folder / "no.yaml", log=log_layer(begun, Proof(2)))


def test_a_resumed_run_has_the_settings_of_its_log(folder: Path) -> None:
    begun = loaded(
        folder,
        "candidate_sampling.num_candidates=4",
        "candidate_sampling.sampling_kwargs.top_p=0.9",
        "candidate_sampling.sampling_kwargs.temperature=1",
        "verifier.enabled=true",
        "verifier.type=llm",
        "verifier.model.name=judge",
        "verifier.selection_template=Which?\n\n  {{ candidates }}\n",
    ).settings
    assert public(going_on(folder, public(begun)).settings) == public(begun)


def test_a_log_from_before_these_settings_is_resumed_with_their_defaults(folder: Path) -> None:
    old = public(defaults())
    del old["candidate_sampling"], old["action_verifier"]
    assert public(going_on(folder, old).settings) == public(defaults())
