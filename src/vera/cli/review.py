"""`vera review`: what a person says of the claims of a session, signed beside its log."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from vera.dashboard.run_page import LookedAt
    from vera.report.view.model import RunPage

LABELS = ("agree", "disagree", "unsure")


@click.command()
@click.argument("session", metavar="SESSION|FOLDER", type=click.Path(path_type=Path))
@click.option("--claim", metavar="N", type=click.IntRange(min=1), help="The claim to review, by its number.")
@click.option("--agree", "label", flag_value="agree", help="The claim is right.")
@click.option("--disagree", "label", flag_value="disagree", help="The claim is wrong.")
@click.option("--unsure", "label", flag_value="unsure", help="You cannot say.")
@click.option("--note", metavar="TEXT", help="Why, in at most 2000 characters.")
@click.option(
    "--export",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the reviews as data for 'vera eval', a line each (the file must not exist yet).",
)
@click.option("--any-signer", is_flag=True, help="With --export: also reviews by keys that are unknown.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def review(
    session: Path,
    claim: int | None,
    label: str | None,
    note: str | None,
    export: Path | None,
    any_signer: bool,
    as_json: bool,
) -> None:
    """List the claims of a session with their numbers and reviews, or review one of them.

    What you say is about the claim, not about its verdict. It is added to reviews.jsonl in the session,
    signed with your key. It changes no verdict, no attestation and no exit code. What you said last counts.

    --export takes a session, or a folder with sessions in it, and writes question, claim, evidence and label.
    """
    from vera.cli.exit import clean_errors

    if _is_half_said(claim, label, note):
        raise click.UsageError(
            "To review a claim, say which and what: --claim N --agree|--disagree|--unsure."
        )
    if export is not None and (claim is not None or as_json):
        raise click.UsageError("--export goes without --claim and --json.")
    if any_signer and export is None:
        raise click.UsageError("--any-signer goes with --export.")
    with clean_errors():
        if export is not None:
            _export(session, export, any_signer=any_signer)
            return
        found = _looked_at(session)
        if claim is not None and label is not None:
            _write(session, found, claim, label, note)
            found = _looked_at(session)
        _print(session, found.page, as_json=as_json)


def as_plain(page: "RunPage") -> dict[str, Any]:
    """The claims with their reviews, for programs."""
    import msgspec

    return {
        "summary": page.reviews.sentence,
        "claims": [
            {
                "number": number,
                "claim": each.key,
                "text": each.text,
                "verdict": each.verdict,
                "reviews": msgspec.to_builtins(each.reviews),
            }
            for number, each in enumerate(page.claims, 1)
        ],
        "not_counted": [{"line": line, "standing": word, "why": why} for line, word, why in page.reviews.bad],
    }


def _is_half_said(claim: int | None, label: str | None, note: str | None) -> bool:
    """Whether part of a review is missing: its claim or its label."""
    return (claim is None) != (label is None) or (note is not None and label is None)


def _looked_at(session: Path) -> "LookedAt":
    from vera.attestation.replay import NoSession
    from vera.cli.exit import ERROR, stop
    from vera.dashboard.run_page import look_at

    try:
        return look_at(session)
    except NoSession as error:
        stop(str(error), ERROR)


def _write(session: Path, found: "LookedAt", claim: int, label: str, note: str | None) -> None:
    from vera.cli.exit import ERROR, USAGE, stop
    from vera.dashboard.reviewing import review as write
    from vera.dashboard.runs import RunRefused

    claims = found.page.claims
    if claim > len(claims):
        stop(f"there is no claim {claim}: the answer has {len(claims)}. See: vera review {session}", USAGE)
    fields = {"claim": claims[claim - 1].key, "label": label, "note": note or ""}
    try:
        write(session, found.page, found.head, fields)
    except RunRefused as error:
        stop(str(error), ERROR)


def _print(session: Path, page: "RunPage", *, as_json: bool) -> None:
    from vera.report.printable import printable, printable_json
    from vera.report.reviews_text import listing

    if as_json:
        click.echo(printable_json({"session": str(session), **as_plain(page)}))
    elif page.claims:
        click.echo(printable(listing(page)))
    else:
        click.echo("There are no claims: they are read from an answer.", err=True)


def _export(place: Path, file: Path, *, any_signer: bool) -> None:
    from vera.cli.exit import ERROR, stop
    from vera.cli.review_export import NothingToExport, export_reviews

    try:
        rows, sessions, skipped = export_reviews(place, file, any_signer=any_signer)
    except (NothingToExport, FileExistsError) as error:
        stop(
            f"{file} exists already. Choose another name." if isinstance(error, OSError) else str(error),
            ERROR,
        )
    from vera.report.view.words import counted

    left = f" Left out, since they do not count: {skipped}." if skipped else ""
    what = f"{counted(rows, 'review')} of {counted(sessions, 'session')}"
    click.echo(f"{file}: {what}.{left} Go on with: vera eval {file}")
