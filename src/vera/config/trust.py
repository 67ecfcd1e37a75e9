"""The one table of trust: what the project folder, a task, a form or a session may set, and how far.

The person decides everything (`origin.Source`). A value of anyone else is held against what the person would
have without it, packaged defaults included: `TRUST` says for each setting by which rule. A setting without a
row cannot be set by anyone else, and a test fails.
"""

import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple, cast

from vera.config.address import is_same_address, is_same_server
from vera.config.errors import plain
from vera.config.handed import Allowed, as_text
from vera.config.origin import Layer, Origin, SettingPlace, Source
from vera.config.schema import Setting, catalogue, value_of, written
from vera.config.section import AUTO, BUILT_IN
from vera.config.settings import Settings

MAX_QUOTED = 2000
"""Characters of a stranger's value in a command that is suggested."""

OTHERS = (Source.FOLDER, Source.TASK, Source.FORM, Source.SESSION)
"""Who is limited by the table, in the order of its columns."""


class Asked(NamedTuple):
    """A value that someone else set, beside the user's.

    `mine` is what the person has without it, `is_mine_set` whether the person wrote that, `settings` and
    `yours` are all settings with and without it. Relative paths start at `cwd`.
    """

    key: str
    value: object
    mine: object
    is_mine_set: bool
    settings: Settings
    yours: Settings
    source: Source
    cwd: Path
    allowed: Allowed


class Rule(NamedTuple):
    """How far a setting may be moved: in words for the table of the documentation, and as a judgement."""

    words: str
    holds: Callable[[Asked], bool]


def _is_mine(asked: Asked) -> bool:
    return bool(asked.value == asked.mine)


def _at_most(asked: Asked) -> bool:
    """0 is unlimited."""
    limit, value = _number(asked.mine), _number(asked.value)
    return not limit or 0 < value <= limit


def _at_most_if_set(asked: Asked) -> bool:
    return not asked.is_mine_set or _at_most(asked)


def _unless_set(asked: Asked) -> bool:
    return not asked.is_mine_set or _is_mine(asked)


def _at_least(asked: Asked) -> bool:
    return _number(asked.value) >= _number(asked.mine)


def _later(asked: Asked) -> bool:
    return str(asked.value) >= str(asked.mine)


def _earlier(asked: Asked) -> bool:
    return not asked.mine or "" < str(asked.value) <= str(asked.mine)


def _one_of_levels(*levels: str) -> Callable[[Asked], bool]:
    """From loose to strict."""
    return lambda asked: levels.index(str(asked.value)) >= levels.index(str(asked.mine))


def _keeps_all(separator: str) -> Callable[[Asked], bool]:
    return lambda asked: _items(asked.mine, separator) <= _items(asked.value, separator)


def _effort(asked: Asked) -> bool:
    order = ("thorough", "normal", "quick")
    return not asked.is_mine_set or order.index(str(asked.value)) >= order.index(str(asked.mine))


_BACKENDS = {
    "host": ("host", "auto", "docker", "bubblewrap", "none"),
    "auto": ("auto", "docker", "bubblewrap", "none"),
    "docker": ("docker", "none"),
    "bubblewrap": ("bubblewrap", "none"),
    "none": ("none",),
}
"""The person's backend → those that isolate as much."""


def _backend(asked: Asked) -> bool:
    return str(asked.value) in _BACKENDS[str(asked.mine)]


def _reach(settings: Settings, mode: object) -> int:
    """How much of the network a mode opens: 0 nothing, 1 a list, 2 every public host."""
    closed = settings.sandbox.profile == "sealed"
    return {"none": 0, "allowlist": 1, "public": 2}.get(str(mode), 0 if closed else 2)


def _network(asked: Asked) -> bool:
    return _reach(asked.settings, asked.value) <= _reach(asked.yours, asked.mine)


def _hosts(asked: Asked) -> bool:
    """Beside the user's list only hosts of it; where the person allows every public host, any of them
    on the ports of the web."""
    if _reach(asked.yours, asked.yours.egress.mode) == 2:
        return ":" not in str(asked.value)
    return _items(asked.value, ",") <= _items(asked.mine, ",")


def _address(asked: Asked) -> bool:
    return asked.value == BUILT_IN or is_same_address(str(asked.value), str(asked.mine))


def _price(asked: Asked) -> bool:
    return not asked.yours.budget.cost or _is_mine(asked)


def _inside(asked: Asked) -> bool:
    """Within the folder that whoever names it came with."""
    if asked.value is None:
        return asked.mine is None
    real = _real(asked.cwd, asked.value)
    if real is None:
        return False
    if asked.mine is not None and real == _real(asked.cwd, asked.mine):
        return True
    match asked.source:
        case Source.FOLDER:
            root = _real(asked.cwd, "")
        case Source.SESSION:
            root = _real(asked.cwd, asked.yours.run.base_dir)
        case _:
            return asked.allowed.has_input(real)
    return root is not None and real.is_relative_to(root)


def _all_inside(asked: Asked) -> bool:
    """Each path lies in what is allowed. A page is fetched as far as the person opens the network, which a
    task can have its model do, too."""
    paths = (line.strip() for line in str(asked.value).splitlines())
    return _is_mine(asked) or all(
        path.lower().startswith(("https://", "http://")) or _inside(asked._replace(value=path, mine=None))
        for path in paths
        if path
    )


def _configured(asked: Asked) -> bool:
    """Each is named, and the person said where it leads."""
    mine = {line.partition("=")[0].strip() for line in asked.yours.connectors.configured.splitlines()}
    return _is_mine(asked) or _items(asked.value, "\n") <= mine


def _same_place(asked: Asked) -> bool:
    if asked.value is None or asked.mine is None:
        return _is_mine(asked)
    return _real(asked.cwd, asked.value) == _real(asked.cwd, asked.mine) is not None


def _real(folder: Path, path: object) -> Path | None:
    """The real path of one that starts at the folder; None for a circle of links."""
    try:
        return (folder / str(path)).resolve()
    except (OSError, RuntimeError, ValueError):
        return None


def _items(text: object, separator: str) -> set[str]:
    return {part.strip() for part in str(text).split(separator) if part.strip()}


def _number(value: object) -> float:
    return float(cast(float, value)) if value is not None else 0.0


ANY = Rule("anything", lambda asked: True)
ONLY_YOU = Rule("only you", _is_mine)
SAME_PLACE = Rule("only you", _same_place)
ADDRESS = Rule("only you, or `builtin`", _address)
AT_MOST = Rule("at most yours", _at_most)
AT_MAX_IF_SET = Rule("at most what you set", _at_most_if_set)
UNLESS_SET = Rule("while you did not set it", _unless_set)
AT_LEAST = Rule("at least yours", _at_least)
LATER = Rule("the same day or later", _later)
EARLIER = Rule("the same day or earlier", _earlier)
EFFORT = Rule("at most what you set", _effort)
STRICTER_RISK = Rule("at least yours", _one_of_levels("low", "med", "high"))
STRICTER_WORD = Rule("at least yours", _one_of_levels("quoted", "verified"))
STRICTER_JUDGE = Rule("yours, or `model`", lambda asked: _is_mine(asked) or asked.value == "model")
STRICTER_PROFILE = Rule("as closed as yours", _one_of_levels("lab", "research", "sealed"))
NEVER_ON = Rule("`false`, or yours", lambda asked: not asked.value or _is_mine(asked))
ISOLATED = Rule("as isolated as yours", _backend)
LESS_NETWORK = Rule("less network than yours", _network)
FEWER_HOSTS = Rule("fewer hosts than yours", _hosts)
MORE_LINES = Rule("more than yours", _keeps_all("\n"))
MORE_ITEMS = Rule("more than yours", _keeps_all(","))
PRICE = Rule("while you do not limit the cost", _price)
IN_FOLDER = Rule("inside the folder", _inside)
IN_ALLOWED = Rule("inside `--allow-input`", _inside)
IN_BASE = Rule("inside the base folder", _inside)
CONFIGURED = Rule("names of those that you configured", _configured)
INPUTS_ALLOWED = Rule("inside `--allow-input`, or an address", _all_inside)


class Row(NamedTuple):
    """What others may do with a setting, and what a value that they may not set would do.

    `rules` holds for those of `OTHERS` that have their own rule.
    """

    rule: Rule
    effect: str = "loosens what you set"
    rules: Mapping[Source, Rule] = {}

    def rule_of(self, source: Source) -> Rule:
        return self.rules.get(source, self.rule)


SPENDS = "lets the run spend more than you allowed"
ASKS_LESS = "asks for less before an answer counts as verified"
ASKS_FIRST = "changes what a run must ask before it works"
TELLS = "decides who reads what the run reads"
CHOOSES = "decides by whose words candidates are chosen"
IS_KEY = "is a key, and keys come from you"
OUTSIDE = "reads files that were not opened for it"

_INPUT = {Source.FOLDER: IN_FOLDER, Source.TASK: IN_ALLOWED, Source.FORM: IN_BASE, Source.SESSION: IN_BASE}
_OWN_FOLDERS = {Source.FOLDER: IN_FOLDER}


def _each(keys: str, *row: object) -> dict[str, Row]:
    return {key: Row(*row) for key in keys.split()}  # type: ignore[arg-type] # the members of a Row


TRUST: Mapping[str, Row] = {
    # Where keys, questions and documents go.
    **_each("model.base_url", ADDRESS, TELLS),
    **_each("verification.model_base_url action_verifier.model.base_url", ADDRESS, TELLS),
    **_each("model.key verification.model_key action_verifier.model.key brave.key", ONLY_YOU, IS_KEY),
    **_each("model.file", SAME_PLACE, "is loaded by a program on this machine"),
    **_each("search.searxng_url", ONLY_YOU, "opens a place that may be in your own network"),
    **_each("search.mailto", ONLY_YOU, "tells a service who you are"),
    **_each(
        "bibliography.crossref_url bibliography.openalex_url bibliography.doi_url",
        ONLY_YOU,
        "opens a place that may be in your own network",
    ),
    **_each("search.embedding", ONLY_YOU, "loads a file, or sends your documents to a server"),
    **_each("search.embedding_model search.embedding_seconds", ONLY_YOU, "belongs to search.embedding"),
    **_each("dashboard.host", ONLY_YOU, "opens the dashboard to other machines"),
    **_each("dashboard.port", UNLESS_SET, "moves the dashboard"),
    # What commands can do.
    **_each("sandbox.backend", ISOLATED, "runs commands with less isolation than you chose"),
    **_each("sandbox.profile", STRICTER_PROFILE, "gives commands more rights in their sandbox"),
    **_each("sandbox.privileged", NEVER_ON, "takes the sandbox's isolation away"),
    **_each("sandbox.base_image", ONLY_YOU, "decides which system commands run in"),
    **_each("sandbox.build", NEVER_ON, "builds an image that you did not ask for"),
    **_each("sandbox.max_tool_seconds", AT_MAX_IF_SET, SPENDS),
    **_each("sandbox.work_bytes sandbox.work_files", AT_MOST, SPENDS),
    **_each("egress.mode", LESS_NETWORK, "opens more of the network than you did"),
    **_each("egress.allow", FEWER_HOSTS, "opens more of the network than you did"),
    **_each("egress.allow_cidrs", ONLY_YOU, "opens addresses of your own network"),
    # What is read and where it is kept.
    **_each("run.input_dir", ONLY_YOU, OUTSIDE, _INPUT),
    **_each("run.inputs", ONLY_YOU, OUTSIDE, {Source.TASK: INPUTS_ALLOWED}),
    **_each("run.work_dir run.base_dir", SAME_PLACE, "writes outside the folder", _OWN_FOLDERS),
    # What may be spent.
    **_each("budget.tokens budget.cost budget.seconds budget.searches brave.max_calls", AT_MOST, SPENDS),
    **_each("run.max_steps", AT_MAX_IF_SET, SPENDS),
    **_each("run.effort", EFFORT, SPENDS),
    **_each(
        "budget.input_price budget.cached_price budget.output_price budget.verifier_input_price "
        "budget.verifier_cached_price budget.verifier_output_price budget.selector_input_price "
        "budget.selector_cached_price budget.selector_output_price",
        PRICE,
        "decides what your limit on cost is worth",
    ),
    **_each(
        "brave.min_interval_s brave.cooldown_s search.searxng_min_interval_s",
        AT_LEAST,
        "asks a service more often than you allowed",
    ),
    **_each("brave.max_consec_429", AT_MOST, "asks a service more often than you allowed"),
    # What an answer needs.
    **_each("run.lane", UNLESS_SET, ASKS_FIRST),
    **_each("run.form run.sub_questions", ONLY_YOU, "decides what is asked in your place"),
    **_each("run.risk", STRICTER_RISK, ASKS_FIRST),
    **_each("run.require_theses", MORE_LINES, ASKS_FIRST),
    **_each("verification.rule", STRICTER_JUDGE, ASKS_LESS),
    **_each("verification.require", STRICTER_WORD, ASKS_LESS),
    **_each("verification.model_name verification.entailment_model", ONLY_YOU, "decides who verifies"),
    **_each(
        "verification.web_sources verification.readings policy.negative_claim_min_official "
        "policy.negative_claim_min_independent policy.negative_claim_threshold_pct "
        "policy.negative_claim_max_steps policy.query_vector_min",
        AT_LEAST,
        ASKS_LESS,
    ),
    **_each("verification.not_before", LATER, ASKS_LESS),
    **_each("verification.not_after", EARLIER, ASKS_LESS),
    **_each("policy.official_domains", ONLY_YOU, "decides which sources are official"),
    **_each("policy.destructive", MORE_ITEMS, "lets commands run that you refused"),
    # What chooses among candidates.
    **_each("action_verifier.verifier_class", ONLY_YOU, "runs foreign code on this machine"),
    **_each("action_verifier.prompt_dir", SAME_PLACE, CHOOSES),
    **_each(
        "action_verifier.prompt_name action_verifier.system_template action_verifier.selection_template "
        "action_verifier.selection_regex",
        ONLY_YOU,
        CHOOSES,
    ),
    # Code of others.
    **_each("plugins.enabled", ONLY_YOU, "runs the code of others on this machine"),
    **_each("plugins.hard_checks", ONLY_YOU, "decides whose findings end a claim"),
    **_each("plugins.seconds", ONLY_YOU, SPENDS),
    # Documents from elsewhere.
    **_each("connectors.configured", ONLY_YOU, OUTSIDE),
    **_each("connectors.use", ONLY_YOU, OUTSIDE, {Source.TASK: CONFIGURED}),
    **_each("connectors.documents connectors.bytes connectors.seconds", AT_MOST, SPENDS),
    # How the work is done.
    **_each(
        "model.name model.timeout_s model.deadline_s model.temperature model.max_tokens "
        "model.context_tokens model.protocol model.assumed model.system_role model.prompt_profile "
        "candidate_sampling.num_candidates candidate_sampling.use_n candidate_sampling.straggler_s "
        "candidate_sampling.sampling_kwargs.temperature candidate_sampling.sampling_kwargs.top_p "
        "candidate_sampling.sampling_kwargs.top_k candidate_sampling.sampling_kwargs.min_p "
        "candidate_sampling.sampling_kwargs.max_tokens candidate_sampling.sampling_kwargs.seed "
        "candidate_sampling.sampling_kwargs.presence_penalty "
        "candidate_sampling.sampling_kwargs.frequency_penalty "
        "action_verifier.enabled action_verifier.verifier_type action_verifier.model.name "
        "action_verifier.history_steps action_verifier.selection_index_base action_verifier.fallback "
        "action_verifier.include_candidate_text action_verifier.stop_on_agreement "
        "action_verifier.agreement_threshold action_verifier.max_compared action_verifier.vote_weight "
        "action_verifier.temperature action_verifier.max_tokens action_verifier.deadline_s "
        "action_verifier.seed context.high_tokens context.max_chars context.tail_steps "
        "notes.update_interval policy.pre_tool_nudges policy.length_nudges policy.reminders "
        "policy.parse_error_limit policy.stagnation_limit policy.stuck_limit policy.failure_escalation_limit "
        "policy.source_shift_limit policy.finalization_limit policy.query_mutation_budget "
        "policy.gate_limits policy.source_budget policy.move_repeat_limit policy.domain_shift_limit run.mode "
        "run.ocr "
        "search.engines search.language brave.api_version brave.default_count brave.discovery_required "
        "brave.backoff_max_s verification.rounds verification.check_steps",
        ANY,
    ),
}


class KeyedAddress(NamedTuple):
    """The settings of an address and of the key that goes there, and how a person names the address."""

    address: str
    key: str
    of_what: str
    by_hand: str


KEYED_ADDRESSES = (
    KeyedAddress(
        "model.base_url",
        "model.key",
        "model's",
        "--model-base-url, or MODEL_BASE_URL in the environment",
    ),
    KeyedAddress(
        "verification.model_base_url",
        "verification.model_key",
        "verifier's",
        "--verifier-model-base-url, or -c verification.model_base_url=ADDRESS",
    ),
    KeyedAddress(
        "action_verifier.model.base_url",
        "action_verifier.model.key",
        "action verifier's",
        "-c action_verifier.model.base_url=ADDRESS",
    ),
)

NO_KEY = ("", AUTO, BUILT_IN)
"""Addresses that no key is sent to: a server that is found by itself, and the built-in model."""

ALWAYS_ASKED = ("sandbox.backend", "sandbox.profile", "sandbox.privileged")
"""What a command can do to this machine: the log of one's own run decides it only when it is sealed whole."""


def refusals(
    settings: Settings,
    merged: Layer,
    mine: Layer,
    yours: Settings,
    cwd: Path,
    allowed: Allowed,
) -> list[str]:
    """A sentence for each setting that someone else may not set so.

    `merged` are the entries in force, as `settings`; `mine` those that would be without anyone else, as
    `yours`.
    """
    problems = []
    for key, entry in merged.items():
        source = entry.origin.place.source
        if source is Source.PERSON:
            continue
        row = TRUST.get(key, Row(ONLY_YOU))
        asked = Asked(
            key,
            value_of(settings, key),
            value_of(yours, key),
            mine[key].origin.place is not SettingPlace.DEFAULT,
            settings,
            yours,
            source,
            cwd,
            allowed,
        )
        if not row.rule_of(source).holds(asked) and not allowed.has(key, asked.value):
            problems.append(_refusal(catalogue()[key], row, asked, entry.origin))
    return problems


def without_foreign_keys(merged: Layer, mine: Layer) -> tuple[Layer, list[str]]:
    """The entries without keys that someone else gives, which the user's replace, and a
    sentence for each that was passed over."""
    kept, said = dict(merged), []
    for key, entry in merged.items():
        if catalogue()[key].secret and entry.origin.place.source is not Source.PERSON:
            kept[key] = mine[key]
            if entry.value:
                said.append(
                    f"{key} from {entry.origin} is not used: it {IS_KEY}. Put it into your environment "
                    f"({catalogue()[key].env_names[-1]}) or your own configuration."
                )
    return kept, said


def keys_to_withhold(settings: Settings, origin: Mapping[str, Origin], yours: Settings) -> list[KeyedAddress]:
    """The keys that must not go to the addresses in force: these were named by someone else, or in an
    earlier run, and the user's address now is another server, or there is none."""
    found = []
    for keyed in KEYED_ADDRESSES:
        address = str(value_of(settings, keyed.address))
        if address in NO_KEY or origin[keyed.address].place.is_now:
            continue
        is_foreign = not is_same_server(address, str(value_of(yours, keyed.address)))
        if is_foreign and value_of(settings, keyed.key):
            found.append(keyed)
    return found


def withheld_sentence(keyed: KeyedAddress, origin: Mapping[str, Origin]) -> str:
    return (
        f"Your key ({origin[keyed.key]}) is not sent to the {keyed.of_what} address, because that comes from "
        f"{origin[keyed.address]} and not from you. If it may have the key, name the address yourself: "
        f"{keyed.by_hand}."
    )


def is_server_of_key(configured: Settings, keyed: KeyedAddress, address: str) -> bool:
    """Whether an address is that of the server for which the person configured a key."""
    mine = str(value_of(configured, keyed.address))
    return bool(value_of(configured, keyed.key)) and is_same_server(address, mine)


def _refusal(setting: Setting, row: Row, asked: Asked, origin: Origin) -> str:
    shown = written(asked.value)
    return (
        f"{setting.key}: {shown} {row.effect}, which {origin} cannot decide for you. "
        f"{_by_hand(setting, asked)}"
    )


def _by_hand(setting: Setting, asked: Asked) -> str:
    """What the person can type to allow it. A stranger's value is quoted for the shell."""
    text = plain(as_text(asked.value), MAX_QUOTED)
    chosen, value = shlex.quote(f"{setting.key}={text}"), shlex.quote(text)
    match asked.source:
        case Source.FOLDER:
            by_hand = f"{setting.own_env}={value} in the environment"
            if setting.flag:
                flag = setting.flag if asked.value is True else f"{setting.flag} {value}"
                by_hand = f"{flag}, or {by_hand}"
            return f"If you trust this folder and its model, ask for it yourself: {by_hand}"
        case Source.SESSION:
            return f"If you want it, ask for it yourself: -c {chosen}, or --trust-session for all of them."
        case Source.TASK if setting.key == "run.input_dir":
            return f"If it may be read, allow it: --allow-input {value}"
        case Source.TASK if setting.key == "run.inputs":
            return "If they may be read, allow the folder that they are in: --allow-input DIR"
        case Source.TASK:
            return f"If you want it, allow it: --allow {chosen}"
        case _:
            return f"If you want it, allow it where the dashboard is started: vera dashboard --allow {chosen}"


def table() -> str:
    """The table of the documentation: per setting what each of the others may set."""
    lines = [
        "| setting | project folder | task | form | session |",
        "|---|---|---|---|---|",
    ]
    for key in catalogue():
        cells = (TRUST[key].rule_of(source).words for source in OTHERS)
        lines.append(f"| `{key}` | {' | '.join(cells)} |")
    return "\n".join(lines)
