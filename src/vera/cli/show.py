"""`vera show`: a session's answer, and the bytes behind each citation."""

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

if TYPE_CHECKING:
    from vera.report.answer import Report
    from vera.report.view.model import RunPage
    from vera.state import RunState
    from vera.store import Store


@click.command()
@click.argument("work_dir", type=click.Path(path_type=Path))
@click.option("--evidence", metavar="ID[:FIRST[-LAST]]", help="Print an evidence, or some of its lines.")
@click.option("--request", type=int, metavar="STEP", help="Print the messages that the model got at a step.")
@click.option("--candidates", is_flag=True, help="Print what was sampled for each step, and what was chosen.")
@click.option("--step", type=int, metavar="STEP", help="With --candidates: only this step, and all of it.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def show(
    work_dir: Path,
    evidence: str | None,
    request: int | None,
    candidates: bool,
    step: int | None,
    as_json: bool,
) -> None:
    """Show a session: its answer with the cited bytes, whether it is whole, and who signed it.

    The status is that of the attestation and the sealed log. ALTERED, UNSEALED and UNTRUSTED are in its
    place where it cannot be relied on. Exit code 1 when the session was altered.
    """
    from vera.cli.exit import clean_errors, whole_log

    if step is not None and not candidates:
        raise click.UsageError("--step goes with --candidates.")
    with clean_errors():
        integrity = whole_log(work_dir)
        if evidence is not None:
            _evidence(work_dir, evidence)
        elif request is not None:
            _request(work_dir, request)
        elif candidates:
            from vera.cli import show_candidates

            show_candidates.show(work_dir, step, as_json=as_json)
        else:
            _answer(work_dir, as_json, integrity.sentence)


def _answer(work_dir: Path, as_json: bool, sentence: str) -> None:
    from vera.agent.conclusion import result_of
    from vera.agent.research_result import researched_of
    from vera.attestation.outcome import ALTERED, outcome_of
    from vera.attestation.signers import known_signers
    from vera.report.printable import printable_json
    from vera.session import Reader
    from vera.state import RunState
    from vera.store import Store

    outcome = outcome_of(work_dir, known_signers())
    reviewed = _reviews(work_dir)
    state = RunState(record for _, record in Reader(work_dir / "trace.jsonl").poll())
    store = Store(work_dir / "store")
    result = result_of(state, store)
    shown = result.report
    if outcome.word:
        shown = msgspec.structs.replace(shown, status=f"{outcome.word}: {outcome.reason}")
    if as_json:
        out = {**researched_of(state, work_dir, result).as_dict(), "log": sentence}
        if outcome.word:
            out |= {"status": outcome.word, "reason": outcome.reason, "exit_code": outcome.exit_code}
        out |= {"signed": outcome.signed, "keyid": outcome.keyid}
        if reviewed is not None:
            from vera.cli.review import as_plain

            out["reviews"] = as_plain(reviewed)
        click.echo(printable_json(out))
    else:
        _say_answer(state, store, shown, reviewed)
        signed = f" Signed {outcome.signed}." if outcome.signed else ""
        _say(sentence + signed)
    if outcome.word == ALTERED or any(quote.problem for quote in shown.quotes):
        raise SystemExit(1)


def _say_answer(state: "RunState", store: "Store", shown: "Report", reviewed: "RunPage | None") -> None:
    """The answer, what people say of it, its closing line, where it comes from, and what it cost."""
    from vera.agent.spending import in_words
    from vera.report import answer as report
    from vera.report.view.parent import parent_in_words, parent_view
    from vera.session import load_text

    _say(report.plain(shown))
    if any(quote.problem for quote in shown.quotes):
        click.echo("What was cited cannot be shown whole. What is wrong says: vera replay")
    if reviewed is not None:
        from vera.report.reviews_text import listing

        said = listing(reviewed, only_reviewed=True)
        _say(f"What people say (no verdict rests on it):\n{said}\n")
    _say(report.closing_line(shown))
    if parent := parent_view(state, partial(load_text, store)):
        _say(parent_in_words(parent))
    if spent := in_words(state):
        _say(spent)


def _say(text: str) -> None:
    """Print what may be shown of it, in lines that fit the terminal."""
    from vera.cli.terminal import columns, fitted
    from vera.report.printable import printable

    click.echo(fitted(printable(text), columns()))


def _reviews(work_dir: Path) -> "RunPage | None":
    """The page with what people said of its claims; None where there is no such file."""
    import os

    from vera.attestation.reviews import FILE
    from vera.dashboard.run_page import look_at

    return look_at(work_dir).page if os.path.lexists(work_dir / FILE) else None


def _evidence(work_dir: Path, wanted: str) -> None:
    from vera.cli.exit import USAGE, stop
    from vera.evidence.citation import find_citations
    from vera.lane.observation import numbered
    from vera.report.printable import printable
    from vera.session import Reader
    from vera.state import RunState
    from vera.store import Store
    from vera.text.span import Lines

    found = find_citations(f"[{wanted.strip().strip('[]')}]")
    if not found:
        stop(f"{wanted!r} is no evidence id; write it like ev_0003 or ev_0003:12-14.", USAGE)
    state = RunState(record for _, record in Reader(work_dir / "trace.jsonl").poll())
    evidence = state.evidence.get(found[0].evidence)
    if evidence is None:
        stop(f"there is no {found[0].evidence} in this session; it has {len(state.evidence)}.", USAGE)
    lines = Lines(Store(work_dir / "store").get(evidence.text.sha256))
    first = found[0].first or evidence.first
    last = found[0].last or found[0].first or evidence.last
    click.echo(
        printable(f"{evidence.id} · {evidence.summary} · {evidence.tier} · sha256 {evidence.text.sha256}"),
        err=True,
    )
    try:
        shown = numbered(lines, first, last) if len(lines) else []
    except IndexError:
        stop(f"{evidence.id} has {len(lines)} lines.", USAGE)
    for line in shown:
        _say(line)


def _request(work_dir: Path, step: int) -> None:
    from vera.cli.exit import ERROR, USAGE, stop
    from vera.lane.request import rebuild_request
    from vera.report.printable import printable_json
    from vera.session import Reader
    from vera.store import Store

    records = [record for _, record in Reader(work_dir / "trace.jsonl").poll()]
    rebuilt = rebuild_request(records, Store(work_dir / "store"), step)
    if rebuilt is None:
        stop(f"the model was not asked at step {step}.", USAGE)
    if not rebuilt.same:
        stop("the request made again from the log is not the one that was sent.", ERROR)
    click.echo(printable_json(json.loads(rebuilt.wire)))
