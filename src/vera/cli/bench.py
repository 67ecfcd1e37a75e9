"""`vera bench`: how well VERA's own parts work, measured."""

import json
from pathlib import Path

import click

_FILE = click.Path(path_type=Path)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def bench() -> None:
    """Measure VERA's own parts."""


@bench.command()
@click.option("--wice", metavar="FILE", type=_FILE, help="Claims of WiCE, JSON lines.")
@click.option("--quotesum", metavar="FILE", type=_FILE, help="Summaries of QuoteSum, JSON lines.")
@click.option(
    "--fever",
    metavar="EVIDENCE CLAIM LABEL",
    type=_FILE,
    nargs=3,
    help="Pairs of the kind of FEVER: three files whose lines belong together.",
)
@click.option(
    "--covidfact",
    metavar="EVIDENCE CLAIM LABEL",
    type=_FILE,
    nargs=3,
    help="Pairs of COVID-Fact: three files likewise.",
)
@click.option("--averitec", metavar="FILE", type=_FILE, help="Claims of AVeriTeC, a JSON list.")
@click.option("--mutations", is_flag=True, help="Planted faults. Measured when no data is given.")
@click.option("--limit", metavar="N", type=click.IntRange(min=1), help="Only the first N of each part.")
@click.option("--seed", metavar="N", type=int, default=0, show_default=True, help="For what is drawn by lot.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def verifier(
    wice: Path | None,
    quotesum: Path | None,
    fever: tuple[Path, Path, Path] | None,
    covidfact: tuple[Path, Path, Path] | None,
    averitec: Path | None,
    mutations: bool,
    limit: int | None,
    seed: int,
    as_json: bool,
) -> None:
    """Measure the checks that need no model: what they find, and what they wrongly reject.

    A claim is rejected rightly when people say that it is not fully supported. The data is read from the
    files that are named here; none of it comes with VERA.
    """
    from vera.bench.labelled import DataError
    from vera.bench.tables import as_text
    from vera.bench.verifier import measure
    from vera.cli.exit import USAGE, clean_errors, stop

    with clean_errors():
        try:
            figures = measure(
                wice=wice,
                quotesum=quotesum,
                fever=fever,
                covidfact=covidfact,
                averitec=averitec,
                mutated=mutations,
                limit=limit,
                seed=seed,
            )
        except DataError as error:
            stop(str(error), USAGE)
        click.echo(json.dumps(figures, ensure_ascii=False, indent=2) if as_json else as_text(figures))


@bench.command()
@click.argument("sessions", metavar="[SESSION...]", nargs=-1, type=_FILE)
@click.option(
    "--trajectories",
    metavar="PATH",
    type=_FILE,
    multiple=True,
    help="Labelled trajectories, a file or a folder. Each PATH has its own table.",
)
@click.option(
    "--labels",
    metavar="FILE",
    type=_FILE,
    help="What is good, JSON lines: of sessions, else of trajectories.",
)
@click.option("--simulate", is_flag=True, help="The simulation. Measured when nothing else is named.")
@click.option(
    "--steps",
    metavar="N",
    type=click.IntRange(min=2, max=1_000_000),
    default=4000,
    show_default=True,
    help="Steps of each row of the simulation.",
)
@click.option("--seed", metavar="N", type=int, default=0, show_default=True, help="For what is drawn by lot.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def selection(
    sessions: tuple[Path, ...],
    trajectories: tuple[Path, ...],
    labels: Path | None,
    simulate: bool,
    steps: int,
    seed: int,
    as_json: bool,
) -> None:
    """Measure how one of several candidates is chosen: against chance, and against one who knows.

    \b
    Nothing named, or --simulate:
      policies and judges made by lot, with the selectors that runs use.
    --trajectories PATH:
      whole attempts with a known end, chosen by rules that need no model.
      LLM-as-a-Verifier's files say themselves whether they passed; for
      *.traj.json (mini-swe-agent's and VERA's) --labels does, with lines like
      {"trajectory": "a/b.traj.json", "task": "t1", "passed": true}
    SESSION...:
      what was sampled and chosen in recorded sessions: how far candidates
      agree, who decided, how often a judge was asked. With --labels also
      how good the choices were, by lines like
      {"session": "FOLDER", "step": 3, "good": [0, 2]}
    """
    from vera.bench.labelled import DataError
    from vera.bench.selection import measure
    from vera.bench.selection_tables import as_text
    from vera.cli.exit import USAGE, clean_errors, stop

    if labels and not (sessions or trajectories):
        raise click.UsageError("--labels needs the sessions or the trajectories that it is about.")
    with clean_errors():
        try:
            figures = measure(
                sessions=sessions, trajectories=trajectories, labels=labels, simulated=simulate, steps=steps,
                seed=seed,
            )  # fmt: skip
        except DataError as error:
            stop(str(error), USAGE)
        click.echo(json.dumps(figures, ensure_ascii=False, indent=2) if as_json else as_text(figures))


@bench.command()
@click.option("--model-base-url", metavar="URL", help="OpenAI-compatible server (http://127.0.0.1:1234).")
@click.option("--model-name", metavar="NAME", help="Model to ask for; the loaded one by default.")
@click.option("--model-file", metavar="FILE", type=_FILE, help="GGUF file to serve with llama.cpp.")
@click.option("-c", "--config", "overrides", multiple=True, help="KEY=VALUE or FILE.yaml; may be repeated.")
@click.option(
    "--papers", metavar="N", type=click.IntRange(1, 20), default=1, show_default=True, help="Exams."
)
@click.option("--seed", metavar="N", type=int, default=0, show_default=True, help="Which paper is the first.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def judge(
    model_base_url: str | None,
    model_name: str | None,
    model_file: Path | None,
    overrides: tuple[str, ...],
    papers: int,
    seed: int,
    as_json: bool,
) -> None:
    """Have a model sit the exam of a judge, and show what it tells apart.

    Every paper is sat to its end, where a run ends it as soon as the model cannot pass. Exit code 0 when
    every paper was passed, 1 when one was not, 5 when the model gave no reply.
    """
    import asyncio
    from contextlib import AsyncExitStack
    from typing import Any

    from vera import config
    from vera.bench.judge import as_text, measure
    from vera.cli.exit import NOT_READY, USAGE, clean_errors, stop

    async def sat() -> dict[str, Any]:
        from vera.config.settings import BUILT_IN
        from vera.runtime.models import open_model

        flags = {"model.base_url": model_base_url, "model.name": model_name, "model.file": model_file}
        settings = config.load(overrides, flags).settings
        async with AsyncExitStack() as stack:
            model = await open_model(settings.model, stack, _to_stderr, lambda _: None)
            if model.info.kind == BUILT_IN:
                stop("The built-in model cannot judge. Name a server with --model-base-url.", USAGE)
            return await measure(model, seed=seed, papers=papers)

    with clean_errors():
        figures = asyncio.run(sat())
        click.echo(json.dumps(figures, ensure_ascii=False, indent=2) if as_json else as_text(figures))
        if figures["problem"]:
            raise SystemExit(NOT_READY)
        if not all(paper["passed"] for paper in figures["papers"]):
            raise SystemExit(1)


def _to_stderr(sentence: str) -> None:
    click.echo(sentence, err=True)
