"""`vera verify`: is a thesis borne out by what can be looked at?"""

from typing import Any

import click

from vera.cli.inputs import connector_option, input_option
from vera.cli.options import budget_options, model_options, renamed_option


@click.command()
@click.argument("thesis_text", metavar="[THESIS]", required=False)
@click.option("--thesis", help="The thesis: text, '-' for standard input, or @FILE.")
@click.option(
    "--request",
    metavar="FILE",
    help="The request as JSON (VERIFY_REQUEST), '-' for standard input, in the place of thesis and options.",
)
@input_option("to look at")
@click.option("--input-dir", type=click.Path(), help="Folder of documents to look at.")
@connector_option
@click.option("--work-dir", type=click.Path(), help="Session folder; a new one under work/ by default.")
@click.option("--base-dir", type=click.Path(), help="Folder that holds the work folders.")
@click.option("--scope", help="Where to look: files, web, kb, connectors, separated by commas.")
@click.option(
    "--risk", type=click.Choice(["low", "med", "high"]), help="How much depends on it.  [default: med]"
)
@click.option(
    "--volatility",
    type=click.Choice(["static", "slow", "fast", "live"]),
    help="How soon it may change, which decides when the verdict expires.  [default: slow]",
)
@click.option("--lens", help="Rubric: general, factual, or the path of one of yours.")
@click.option("--allow-domain", multiple=True, help="Look only at this domain; may be repeated.")
@click.option("--deny-domain", multiple=True, help="Never look at this domain; may be repeated.")
@click.option("--not-before", help="Pages published before this date are no evidence.")
@click.option("--not-after", help="Pages published after this date are no evidence.")
@click.option("--source-type", multiple=True, help="Only sources of this class; may be repeated.")
@click.option("--language", multiple=True, help="Search in this language; may be repeated.")
@click.option(
    "--require",
    metavar="verified",
    multiple=True,
    help="End with exit code 3 for what is less than VERIFIED.",
)
@click.option(
    "--required-output",
    metavar="OUTPUT",
    multiple=True,
    help="Output without which the result is inconclusive: evidence_cards, coverage_map, contradictions or "
    "omissions; may be repeated.",
)
@renamed_option(
    "--budget-sources", "--max-sources", type=int, help="Documents to open at most.  [default: 12]"
)
@renamed_option(
    "--budget-searches", "--max-searches", type=int, help="Queries to ask at most.  [default: 24]"
)
@renamed_option(
    "--budget-tokens", "--max-tokens", type=int, help="Tokens to spend at most.  [default: 200000]"
)
@renamed_option(
    "--budget-bytes", "--max-bytes", type=int, help="Bytes to take in at most.  [default: 64 MiB]"
)
@renamed_option(
    "--budget-seconds", "--max-seconds", type=float, help="Seconds to take at most.  [default: 600]"
)
@budget_options("max_steps", "budget_tokens", "budget_seconds", "budget_searches")
@model_options
@click.option(
    "--egress",
    type=click.Choice(["auto", "none", "allowlist", "public"]),
    help="What of the web may be reached.",
)
@click.option("--brave-api-key", help="Key for Brave search: env:NAME, @FILE, or the key itself.")
@click.option("--official-domain", multiple=True, help="A domain that speaks officially; may be repeated.")
@click.option(
    "--verifier",
    type=click.Choice(["auto", "model", "entailment", "literal"]),
    help="Who says what a span means.  [default: auto]",
)
@click.option(
    "--entailment-model", metavar="DIR|FILE", help="A cross-encoder in ONNX that judges what lines say."
)
@click.option("-c", "--config", "overrides", multiple=True, help="KEY=VALUE or FILE.yaml; may be repeated.")
@click.option("--fresh", is_flag=True, help="Look again, also when the same request was verified before.")
@click.option("--json", "as_json", is_flag=True, help="Print the verdict as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
@click.option("--handed", is_flag=True, hidden=True)
def verify(thesis_text: str | None, thesis: str | None, overrides: tuple[str, ...], **options: Any) -> None:
    """Verify a thesis: evidence cards and a signed attestation, no answer.

    Exit codes: 0 VERIFIED or QUOTED, 1 error, 2 usage, 3 PARTIAL or UNRESOLVED, 4 REFUTED or DISPUTED, 5
    environment not ready, 6 budget spent, 130 interrupted.
    """
    from vera.cli.exit import clean_errors

    with clean_errors():
        from vera.cli.verify_thesis import run

        raise SystemExit(run(thesis_text, thesis, overrides, options))
