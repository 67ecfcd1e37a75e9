"""Files of the folder of sources that replace or amend what a document cites."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from vera.audit.case import Case
from vera.audit.source_text import SourceText
from vera.corpus import Corpus, EmptyCorpus, IndexUnusable, Progress, StopIndexing
from vera.document_check.findings import Held
from vera.document_check.sources import path_in
from vera.events import VersionSeen
from vera.evidence.claim import Cite, Claim
from vera.extraction.extractor import Extractor
from vera.verification.versions import Later, as_evidence, cited_files, later_versions

INDEX_SECONDS = 60.0
"""What is indexed of a folder within this time is searched."""


class DocumentVersions(msgspec.Struct, frozen=True, kw_only=True):
    """What was found: the files by id, which cited one each is about, and a note on what was left out."""

    held: Mapping[str, Held] = {}
    seen: tuple[VersionSeen, ...] = ()
    note: str = ""

    def names(self) -> dict[str, str]:
        """What each of the files is called."""
        return {name: each.evidence.source for name, each in self.held.items()}


def document_versions(
    root: Path, index: Path, extractor: Extractor, held: Mapping[str, Held], own: Path
) -> DocumentVersions:
    """Search the folder `root`, whose index lies in `index`, for files that speak of the `held` ones, which
    the document `own` cites. Bounded in time and files."""
    claims = tuple(Claim(key=name, text="", start=0, end=0, cites=(Cite(name),)) for name in held)
    sources = {each.evidence.text.sha256: SourceText(each.text) for each in held.values()}
    evidence = {name: each.evidence for name, each in held.items()}
    cited = cited_files(Case(task="", answer="", claims=claims, evidence=evidence, sources=sources))
    if not cited:
        return DocumentVersions()
    until = time.monotonic() + INDEX_SECONDS
    note = ""

    def stop_late(_: Progress) -> None:
        if time.monotonic() > until:
            raise StopIndexing

    with Corpus(root, index, extractor) as corpus:
        try:
            corpus.update(stop_late)
        except StopIndexing:
            note = "Not all files of the folder were searched for later versions: it is large; check again."
        except (EmptyCorpus, IndexUnusable) as problem:
            return DocumentVersions(note=f"Later versions of the sources were not looked for: {problem}")
        looked = later_versions(corpus, cited, sources, path_in(root, own.resolve()))
    if looked.problem:
        note = note or f"Later versions of the sources: {looked.problem}."
    return msgspec.structs.replace(_of(looked.found), note=note)


def _of(looked: Sequence[Later]) -> DocumentVersions:
    """The files that were found, each with an id that no source of a document has."""
    found: dict[str, Held] = {}
    ids: dict[str, str] = {}
    seen = []
    for later in looked:
        document = later.document
        if document.path not in ids:
            name = f"ev_{900_001 + len(ids)}"
            ids[document.path] = name
            found[name] = Held(as_evidence(document, name), document.extracted.text)
        seen.append(VersionSeen(cited=later.cited, evidence=ids[document.path], shared=later.shared))
    return DocumentVersions(held=found, seen=tuple(seen))
