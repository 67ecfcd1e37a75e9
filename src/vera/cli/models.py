"""`vera models`: the models of this machine, and fetching a small one."""

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from vera.agent.found_models import FoundModel, Listed
    from vera.agent.pull import Offer


@click.group(invoke_without_command=True)
@click.option("-c", "--config", "overrides", multiple=True, help="KEY=VALUE or FILE.yaml; may be repeated.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_context
def models(ctx: click.Context, overrides: tuple[str, ...], as_json: bool) -> None:
    """List the models of this machine: on servers, and in files; and the small ones that can be fetched.

    Nothing is sent to a server that is not on this machine.
    """
    if ctx.invoked_subcommand is not None:
        return
    from vera.cli.exit import clean_errors

    with clean_errors():
        import asyncio

        import msgspec

        from vera import config
        from vera.agent.found_models import find_models
        from vera.agent.pull import OFFERED
        from vera.report.printable import printable, printable_json

        listed = asyncio.run(find_models(config.load(overrides).settings.model))
        if as_json:
            found = msgspec.to_builtins(listed)
            click.echo(printable_json({**found, "offered": msgspec.to_builtins(OFFERED)}))
            return
        here = {model.name for model in listed.models if model.source == "pulled"}
        for line in _lines(listed, [offer for offer in OFFERED if offer.name not in here]):
            click.echo(printable(line))


@models.command()
@click.argument("name")
def pull(name: str) -> None:
    """Fetch a model: NAME is one of those that 'vera models' offers, or REPO:FILE.gguf of a hub.

    What was received stays when it is interrupted, and the next time the rest is fetched. The file's SHA-256
    is held against the hub's. HF_ENDPOINT names another hub than Hugging Face.
    """
    from vera.cli.exit import INTERRUPTED, clean_errors, stop

    with clean_errors():
        from vera.agent.pull import pull as fetch
        from vera.cli.progress import Progress

        progress = Progress()
        try:
            fetch(name, progress.say, progress.now)
        except KeyboardInterrupt:
            progress.done()
            stop(f"interrupted. To go on with the rest: vera models pull {name}", INTERRUPTED)
        finally:
            progress.done()
        progress.say('Next: vera run "QUESTION" --input-dir DIR')


@models.command()
@click.argument("name")
def remove(name: str) -> None:
    """Delete a fetched model, or what an interrupted fetch left of it."""
    from vera.cli.exit import clean_errors

    with clean_errors():
        from vera.agent.pulled_models import remove as delete

        click.echo(f"{name} is deleted, {delete(name) / 1e6:.0f} MB are free again.")


def _lines(listed: "Listed", offered: "list[Offer]") -> list[str]:
    lines = [line for model in listed.models for line in _model(model)]
    if not lines:
        lines.append("No model was found: the built-in one answers.")
    if listed.left_out:
        lines.append(f"{listed.left_out} more of servers are not shown.")
    if offered:
        from vera.cli.exit import as_typed

        lines += ["", as_typed("To fetch one: vera models pull NAME (the figures are the publishers')")]
        width = max(len(offer.name) for offer in offered)
        lines += [
            f"  {offer.name:<{width}}  {offer.gigabytes:.1f} GB, {offer.context} tokens, {offer.licence}, "
            f"{offer.repo}"
            for offer in offered
        ]
    return lines


def _model(model: "FoundModel") -> list[str]:
    known = (
        f"{model.context_tokens} tokens" if model.context_tokens else "",
        f"{model.size / 1e6:.0f} MB" if model.size else "",
        model.quantisation,
        model.licence,
        f"{model.tokens_per_second:.1f} tokens/s" if model.tokens_per_second else "",
        f"judge's exam {model.exam}" if model.exam else "",
    )
    said = model.problem or ", ".join(filter(None, known)) or "nothing more is known"
    lines = [_one_line(f"{model.name}: {said}"), _one_line(f"  {model.source}: {model.place}")]
    return [*lines, _one_line(f"  use: {model.use}")] if model.use else lines


def _one_line(text: str) -> str:
    from vera.report.printable import one_printable_line

    return one_printable_line(text)
