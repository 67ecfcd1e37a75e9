"""Replay: a session, or a bundle of one, held against itself. No model, no network, no trust in its maker.

Level 0 reads bytes (`integrity`), level 1 computes every verdict again (`recompute`), level 2 makes the text
of every source again from its raw bytes (`reextract`). A level is looked at only when the bytes are whole.
What people said of single claims (`reviews`) is checked beside them and changes nothing of the verdict.
"""

from pathlib import Path

from vera.attestation.integrity import Loaded, NoSession, attested_in, check_integrity
from vera.attestation.objects import Thesis
from vera.attestation.replay_theses import with_theses
from vera.attestation.report import Level, Report
from vera.attestation.reviews import ReviewLog, digests_of, read_reviews
from vera.attestation.signers import Signers

__all__ = ["LEVELS", "NoSession", "Report", "replay"]

LEVELS = (0, 1, 2)


def replay(
    session_dir: Path, signers: Signers, level: int = 2, entailment_model: Path | None = None
) -> Report:
    """Replay a session up to a level, signed by whom `signers` accept.

    With `entailment_model`, a folder or an `.onnx` file, the labels of an entailment judge are computed
    again. Reads only; the sessions of an execution's theses are replayed with it. Raises NoSession when there
    is none, OSError when it cannot be read.
    """
    report, loaded = _replay(session_dir, signers, level, entailment_model)
    levels = with_theses(
        session_dir,
        loaded.records,
        report.levels,
        lambda folder: _replay(folder, signers, level, entailment_model)[0],
    )
    whole = levels[0].verdict not in ("BROKEN", "ALTERED", "MISSING", "UNSEALED")
    reviews = reviews_of(session_dir, loaded, signers, is_whole=whole)
    return Report(levels=levels, attested=report.attested, reviews=reviews)


def reviews_of(root: Path, loaded: Loaded, signers: Signers, *, is_whole: bool) -> ReviewLog | None:
    """The reviews of a session, held against its sealed log; None without any. Of a session that `is_whole`
    no more, none counts."""
    sealed = is_whole and loaded.is_sealed and loaded.ended is not None
    head = loaded.seal.hash if loaded.seal and sealed else ""
    return read_reviews(root, head, digests_of(_thesis(loaded)), signers)


def _thesis(loaded: Loaded) -> Thesis | None:
    """What was attested of the chosen answer, else of the last one; None where that cannot be read."""
    shown = loaded.chosen or (loaded.rounds[-1] if loaded.rounds else None)
    if shown is None or shown.opened is None or shown.objects is None:
        return None
    found = shown.objects.get(shown.opened.attestation.thesis)
    return found if isinstance(found, Thesis) else None


def _replay(
    session_dir: Path, signers: Signers, level: int, entailment_model: Path | None
) -> tuple[Report, Loaded]:
    integrity, loaded = check_integrity(session_dir, signers)
    levels = [integrity]
    whole = integrity.verdict not in ("BROKEN", "ALTERED")
    if level >= 1:
        levels.append(_verdicts(loaded, entailment_model) if whole else _not_checked("L1", "verdict"))
    if level >= 2:
        levels.append(_texts(loaded) if whole else _not_checked("L2", "text"))
    return Report(levels=tuple(levels), attested=attested_in(loaded, signers)), loaded


def _verdicts(loaded: Loaded, entailment_model: Path | None) -> Level:
    from vera.attestation.recompute import check_verdicts

    return check_verdicts(loaded, entailment_model)


def _texts(loaded: Loaded) -> Level:
    from vera.attestation.reextract import check_texts

    return check_texts(loaded)


def _not_checked(name: str, subject: str) -> Level:
    sentence = "The bytes are not whole (L0), so nothing was computed from them."
    return Level(name=name, subject=subject, verdict="NOT_CHECKED", sentence=sentence)
