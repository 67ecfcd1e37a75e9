"""`vera bench judge`: which model can judge."""

import json
from pathlib import Path
from typing import Any

import click

_FILE = click.Path(path_type=Path)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def bench() -> None:
    """Measure how well a model judges.

    What only VERA's makers need is in the source: benchmarks/verifier.py measures the checks that need no
    model, benchmarks/selection.py how one of several candidates is chosen.
    """


@bench.command()
@click.option("--model-base-url", metavar="URL", help="OpenAI-compatible server (http://127.0.0.1:1234).")
@click.option("--model-name", metavar="NAME", help="Model to ask for; the loaded one by default.")
@click.option("--model-file", metavar="FILE", type=_FILE, help="GGUF file to serve with llama.cpp.")
@click.option(
    "--entailment-model",
    metavar="DIR|FILE",
    type=click.Path(path_type=Path),
    help="A cross-encoder in ONNX, in place of a language model.",
)
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
    entailment_model: Path | None,
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

    from vera.bench.judge import as_text
    from vera.cli.exit import NOT_READY, clean_errors

    if entailment_model and (model_base_url or model_name or model_file):
        raise click.UsageError("Name either a model or the file of --entailment-model.")
    with clean_errors():
        if entailment_model:
            figures = _file_sat(entailment_model, seed, papers)
        else:
            flags = {"model.base_url": model_base_url, "model.name": model_name, "model.file": model_file}
            figures = asyncio.run(_model_sat(overrides, flags, seed, papers))
        click.echo(json.dumps(figures, ensure_ascii=False, indent=2) if as_json else as_text(figures))
        if figures["problem"]:
            raise SystemExit(NOT_READY)
        if not all(paper["passed"] for paper in figures["papers"]):
            raise SystemExit(1)


async def _model_sat(
    overrides: tuple[str, ...], flags: dict[str, Any], seed: int, papers: int
) -> dict[str, Any]:
    from contextlib import AsyncExitStack

    from vera import config
    from vera.bench.judge import measure
    from vera.cli.exit import USAGE, stop
    from vera.config.settings import BUILT_IN
    from vera.runtime.models import open_model

    settings = config.load(overrides, flags).settings
    async with AsyncExitStack() as stack:
        model = await open_model(settings.model, stack, _to_stderr, lambda _: None)
        if model.info.kind == BUILT_IN:
            stop("The built-in model cannot judge. Name a server with --model-base-url.", USAGE)
        return await measure(model, seed=seed, papers=papers)


def _file_sat(path: Path, seed: int, papers: int) -> dict[str, Any]:
    from vera.bench.judge import measure_file
    from vera.cli.exit import NOT_READY, stop
    from vera.entailment import EntailmentError
    from vera.entailment.choose import open_reader

    try:
        return measure_file(open_reader(path), seed=seed, papers=papers)
    except EntailmentError as error:
        stop(str(error), NOT_READY)


def _to_stderr(sentence: str) -> None:
    click.echo(sentence, err=True)
