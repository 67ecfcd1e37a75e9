"""The signed verdict of a round."""

from vera.attestation.objects import Hyperthesis
from vera.headline import headline
from vera.report.view.attested import Verdict, signer_of
from vera.report.view.model import AttestationView
from vera.report.view.verdicts import reason_in_words
from vera.report.view.words import one_line
from vera.state import Round
from vera.store import Store

MAX_SENTENCES = 50
_SENTENCE_SHOWN = 1200


def attestation_view(done: Round, verdict: Verdict, store: Store) -> AttestationView | None:
    """The attestation of a round; None while it has not decided.

    Of what cannot be read the log's own words are shown, and `reason` says what is wrong.
    """
    decision = done.decision
    if decision is None:
        return None
    attestation = verdict.attestation
    keyid, unsigned = signer_of(decision.envelope, store)
    reason = " ".join(part for part in (reason_in_words(decision.reason), verdict.problem, unsigned) if part)
    return AttestationView(
        id=one_line(decision.attestation),
        result=attestation.result if attestation else one_line(decision.result),
        reason=one_line(reason, _SENTENCE_SHOWN),
        keyid=keyid,
        issued_at=attestation.issued_at if attestation else "",
        expires_at=attestation.expires_at if attestation else "",
        rule=one_line(done.started.rule),
        word=headline(
            attestation.result if attestation else decision.result,
            attestation.reason if attestation else decision.reason,
            done.started.rule,
        ),
        hyperthesis=tuple(map(_in_words, attestation.hyperthesis[:MAX_SENTENCES])) if attestation else (),
    )


def _in_words(each: Hyperthesis) -> tuple[str, str]:
    said = f"{each.blind_spot} {each.bound}"
    return each.boundary.replace("_", " "), one_line(said, _SENTENCE_SHOWN)
