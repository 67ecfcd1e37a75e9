"""`vera run`: answer a question."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vera.cli.inputs import SOURCES, connector_option, input_option, take_sources
from vera.cli.options import BUDGET, MODEL, budget_options, model_options

if TYPE_CHECKING:
    from vera.cli.progress import Progress
    from vera.config import Settings

MAX_TASK_BYTES = 1 << 20

# Option → the setting it sets.
FLAGS = {
    **SOURCES,
    "work_dir": "run.work_dir",
    "input_dir": "run.input_dir",
    "lane": "run.lane",
    "risk": "run.risk",
    "require_thesis": "run.require_theses",
    "base_dir": "run.base_dir",
    **BUDGET,
    "effort": "run.effort",
    "mode": "run.mode",
    "form": "run.form",
    "sub_question": "run.sub_questions",
    **MODEL,
    "temperature": "model.temperature",
    "protocol": "model.protocol",
    "system_role": "model.system_role",
    "prompt_profile": "model.prompt_profile",
    "sandbox": "sandbox.backend",
    "profile": "sandbox.profile",
    "privileged": "sandbox.privileged",
    "base_image": "sandbox.base_image",
    "build": "sandbox.build",
    "egress": "egress.mode",
    "num_candidates": "candidate_sampling.num_candidates",
    "action_verifier": "action_verifier.verifier_type",
    "brave_api_key": "brave.key",
    "embedding_file": "search.embedding",
    "plugin": "plugins.enabled",
    "official_domain": "policy.official_domains",
    "verifier": "verification.rule",
    "entailment_model": "verification.entailment_model",
    "require": "verification.require",
    "verifier_rounds": "verification.rounds",
    "verifier_model_base_url": "verification.model_base_url",
    "verifier_model_name": "verification.model_name",
}


@click.command()
@click.argument("question", required=False)
@click.option("--task", help="The question: text, '-' for standard input, or @FILE.")
@click.option("--work-dir", type=click.Path(), help="Session folder; a new one under work/ by default.")
@input_option("to answer from")
@click.option("--input-dir", type=click.Path(), help="Folder of documents to answer from.")
@connector_option
@click.option(
    "--lane",
    type=click.Choice(["research", "execute"]),
    help="What kind of run: one that searches and answers, or one that works and may only ask for "
    "verification.  [default: research]",
)
@click.option(
    "--require-thesis",
    multiple=True,
    metavar="TEXT",
    help="With --lane execute: a thesis that must be SUPPORTED before files are changed; may be repeated.",
)
@click.option(
    "--risk",
    type=click.Choice(["low", "med", "high"]),
    help="With --lane execute: the risk tier of its theses, at least.  [default: med]",
)
@click.option("--base-dir", type=click.Path(), help="Folder that holds the work folders.")
@model_options
@click.option(
    "--embedding-file",
    metavar="FILE",
    type=click.Path(),
    help="Find passages by meaning too: a GGUF file, or the folder or zip file of a sentence-transformer.",
)
@budget_options()
@click.option("--temperature", type=float, help="Sampling temperature.")
@click.option(
    "--effort",
    type=click.Choice(["quick", "normal", "thorough"]),
    help="Step limit: quick 20, normal 80, thorough 200.",
)
@click.option(
    "--mode",
    type=click.Choice(["auto", "agent", "guided", "quick"]),
    help="Who searches and reads: the model (agent), or VERA, and the model writes from the lines that were "
    "found (guided, quick).  [default: auto]",
)
@click.option(
    "--form",
    type=click.Choice(["answer", "report"]),
    help="One answer, or a report: at most eight sub-questions, and one text of what holds of their answers."
    "  [default: answer]",
)
@click.option(
    "--sub-question",
    multiple=True,
    metavar="TEXT",
    help="With --form report: a question that it answers; may be repeated. Without one they are proposed.",
)
@click.option("--yes", is_flag=True, help="With --form report: answer the proposed sub-questions unasked.")
@click.option(
    "--protocol",
    type=click.Choice(["auto", "text", "json_schema", "tools"]),
    help="How the model formats its turns.",
)
@click.option("--system-role", type=click.Choice(["system", "user"]), help="Role of the instructions.")
@click.option("--prompt-profile", help="Which set of prompts is used.")
@click.option("--sandbox", help="Where commands run: auto, docker, bubblewrap, none, or host (no isolation).")
@click.option(
    "--profile",
    type=click.Choice(["sealed", "research", "lab"]),
    help="What commands may do: no network, the web, or root in their sandbox.  [default: research]",
)
@click.option(
    "--privileged",
    flag_value=True,
    default=None,
    help="With --profile lab: no isolation at all, root inside can take over this machine.",
)
@click.option(
    "--egress",
    type=click.Choice(["auto", "none", "allowlist", "public"]),
    help="What of the web may be reached.  [default: auto, which is public but for sealed]",
)
@click.option("--brave-api-key", help="Key for Brave search: env:NAME, @FILE, or the key itself.")
@click.option(
    "--official-domain",
    multiple=True,
    help="A domain that speaks officially on the subject; may be repeated.",
)
@click.option(
    "--plugin",
    multiple=True,
    metavar="NAME",
    help="An installed plugin to load, which then runs with your rights; may be repeated (see vera plugins).",
)
@click.option("--base-image", help="Image that the sandbox's own image is built on.")
@click.option("--no-build", "build", flag_value=False, default=None, help="Do not build a missing image.")
@click.option(
    "--verifier",
    type=click.Choice(["auto", "model", "entailment", "literal"]),
    help="Who says what a cited span means: a model, the file of --entailment-model, or the word-by-word "
    "rule.  [default: auto]",
)
@click.option(
    "--entailment-model", metavar="DIR|FILE", help="A cross-encoder in ONNX that judges what lines say."
)
@click.option(
    "--require",
    type=click.Choice(["verified"]),
    help="End with exit code 3 for what is less than VERIFIED.",
)
@click.option(
    "--num-candidates", type=int, help="Actions sampled for each step, of which one runs.  [default: 1]"
)
@click.option(
    "--action-verifier",
    metavar="NAME",
    help="Choose among them by this selector (pairwise, llm, majority, …): this switches it on. Without it "
    "the first one runs.",
)
@click.option("--verifier-rounds", type=int, help="Rounds of verification and repair.  [default: 3]")
@click.option("--verifier-model-base-url", help="Another server for the verifier.")
@click.option("--verifier-model-name", help="Model to ask for there.")
@click.option("-c", "--config", "overrides", multiple=True, help="KEY=VALUE or FILE.yaml; may be repeated.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
@click.option("--handed", is_flag=True, hidden=True)
def run(
    question: str | None,
    task: str | None,
    overrides: tuple[str, ...],
    as_json: bool,
    quiet: bool,
    handed: bool,
    yes: bool,
    **options: Any,
) -> None:
    """Answer a question, with every statement cited.

    The answer goes to stdout, progress to stderr. Exit codes: 0 VERIFIED or QUOTED, 1 error, 2 usage, 3
    PARTIAL or UNRESOLVED, 4 REFUTED or DISPUTED, 5 environment not ready, 6 budget spent, 130 interrupted.
    """
    from vera.cli.exit import USAGE, clean_errors, stop

    with clean_errors():
        import asyncio

        from vera import config
        from vera.agent.effort import with_effort
        from vera.agent.work_dir import default_work_dir
        from vera.cli.execute import execute
        from vera.cli.found_server import ask_once
        from vera.cli.progress import Progress
        from vera.cli.sub_questions import revise
        from vera.config.handed import read_handed
        from vera.runtime.connectors import connect, sources_of
        from vera.runtime.inputs import pages_of
        from vera.runtime.research import new_session
        from vera.session import Session, insist_on_place

        given = read_handed(sys.stdin.buffer) if handed else None
        text = given.text if given else read_task(question, task)
        take_sources(options)
        options["official_domain"] = ",".join(options["official_domain"]) or None
        options["plugin"] = ",".join(options["plugin"]) or None
        options["require_thesis"] = "\n".join(map(_one_line, options["require_thesis"])) or None
        _refuse_empty(options["sub_question"])
        options["sub_question"] = "\n".join(map(_one_line, options["sub_question"])) or None
        flags = {FLAGS[name]: value for name, value in options.items() if value is not None}
        loaded = config.load(overrides, flags, handed=given)
        settings = with_effort(loaded)
        progress = Progress(quiet=quiet)
        for warning in loaded.warnings:
            progress.say(f"warning: {warning}")
        ask_once(settings, progress)
        if settings.run.lane == "execute" and (options["connector"] or pages_of(settings)):
            stop(
                "--connector and addresses with --input are for research: an execution asks for verification "
                "instead.",
                USAGE,
            )
        sources = sources_of(settings) if settings.run.lane == "research" else []
        if sources:
            progress.now("gathering documents")
        connected = asyncio.run(connect(settings, sources, progress.say))
        settings = with_real_input(connected.settings)
        chosen = settings.run.work_dir
        root = (
            _asked_again(chosen, text, progress) if chosen else default_work_dir(settings.run.base_dir, text)
        )
        insist_on_place(root)

        def open_session() -> Session:
            return new_session(root, settings, text, progress)

        asks = not (as_json or quiet or yes)
        execute(
            open_session,
            settings,
            as_json=as_json,
            progress=progress,
            revise=revise if asks else list,
            connections=connected.connections,
        )


def _asked_again(chosen: Path, text: str, progress: "Progress") -> Path:
    """The work folder that was chosen. Where a run of the same question has ended in it, a new one beside it:
    whoever types a command twice gets a second answer, and the first one stays."""
    from vera.agent.work_dir import next_free
    from vera.cli.list import task_of
    from vera.dashboard.log_ends import read_ends

    ends = read_ends(chosen / "trace.jsonl")
    if ends.end is None or task_of(chosen, ends) != text:
        return chosen
    free = next_free(chosen)
    progress.say(f"{chosen} holds a finished run of this question; this one is in {free}")
    return free


def with_real_input(settings: "Settings") -> "Settings":
    """The settings with the input folder of an execution by its real path: its lane does not see the folder,
    so the log's task does not name it, and a resumed run finds it in the settings."""
    folder = settings.run.input_dir
    if folder is None or settings.run.lane != "execute":
        return settings
    return settings.model_copy(
        update={"run": settings.run.model_copy(update={"input_dir": folder.resolve()})}
    )


def read_task(question: str | None, task: str | None) -> str:
    """The question from whichever place it was given in. Ends the command when there is none, or two."""
    return read_text(question, task, "question", "--task", 'vera run "QUESTION" --input-dir DIR')


def read_text(argument: str | None, option: str | None, what: str, flag: str, command: str) -> str:
    """What is asked, given as an argument or as an option that may name a file. Ends the command, with the
    `command` to type, when there is nothing, or two."""
    from vera.cli.exit import USAGE, stop

    if argument is not None and option is not None:
        stop(f"the {what} was given twice: as an argument and with {flag}.", USAGE)
    text = argument if argument is not None else option
    if text is None:
        stop(f"there is no {what}. Type: {command}", USAGE)
    if option is not None:
        text = _from_elsewhere(option)
    text = text.strip()
    if not text:
        stop(f"the {what} is empty. Type: {command}", USAGE)
    if len(text.encode("utf-8", "replace")) > MAX_TASK_BYTES:
        stop(f"the {what} is longer than 1 MB. Put long material into a file of the input folder.", USAGE)
    return text


def _refuse_empty(sub_questions: Sequence[str]) -> None:
    """End the command for a sub-question that asks nothing."""
    from vera.agent.sub_questions import distinct
    from vera.cli.exit import USAGE, stop

    if not all(distinct([each]) for each in sub_questions):
        stop("a --sub-question is empty. Write the question, or leave the option out.", USAGE)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _from_elsewhere(task: str) -> str:
    from vera.cli.exit import USAGE, stop

    if task == "-":
        return sys.stdin.buffer.read(MAX_TASK_BYTES + 1).decode("utf-8", "replace")
    if task.startswith("@"):
        try:
            with Path(task[1:]).open("rb") as file:
                return file.read(MAX_TASK_BYTES + 1).decode("utf-8", "replace")
        except OSError as error:
            stop(f"the file {task[1:]} cannot be read: {error.strerror}.", USAGE)
    return task
