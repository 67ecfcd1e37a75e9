"""Documents: each format through the extractor, containers through the unpacker, folders indexed."""

import atexit
import contextlib
import functools
from collections.abc import Callable

from assurance.batteries import Trial
from assurance.fuzzing import mutate
from assurance.fuzzing.document_seeds import CONTAINERS, DOCUMENTS, PDFS, changed
from assurance.fuzzing.row import Row
from support.attacks import vera_here
from vera.corpus import Corpus, EmptyCorpus
from vera.corpus.values import UnknownDocument
from vera.extraction.containers.names import CONTROL
from vera.extraction.containers.unpacking import ForeignFile, Unpacking
from vera.extraction.containers.values import Member
from vera.extraction.extractor import ExtractionLimits, Extractor
from vera.extraction.page_picture import PageRequest
from vera.extraction.page_picture_client import page_picture
from vera.extraction.source import Extracted, Unreadable

LIMITS = ExtractionLimits(seconds=10.0, memory=1 << 30)
MOST_TEXT = 65 << 20
"""Bytes of text of one document, its last line included."""

IN_PROCESS = ("md", "csv", "tsv", "json", "jsonl", "txt")


@functools.cache
def extractor() -> Extractor:
    """One for all trials of this process, as a run has one for all documents."""
    opened = Extractor(LIMITS)
    atexit.register(opened.close)
    return opened


@functools.cache
def unpacking() -> Unpacking:
    opened = Unpacking(LIMITS.seconds, LIMITS.memory)
    atexit.register(opened.close)
    return opened


def extracted(name: str) -> Callable[[Trial], None]:
    """A file of that format is text, or it is Unreadable with a reason."""

    def attempt(trial: Trial) -> None:
        data = changed(trial.random, name)
        try:
            made = extractor().extract(data, f"folder/file.{name}")
        except Unreadable as error:
            assert 0 < len(str(error)) < 300
            return
        is_canonical(made)
        if trial.random.random() < 0.1:
            assert extractor().extract(data, f"folder/file.{name}") == made

    return attempt


def is_canonical(made: Extracted) -> None:
    """What every reader of a text relies on."""
    made.text.decode("utf-8")
    assert made.text.endswith(b"\n") and len(made.text) <= MOST_TEXT
    assert all(
        0 <= one.start < one.end <= two.start for one, two in zip(made.marks, made.marks[1:], strict=False)
    )
    assert not made.marks or made.marks[-1].end <= len(made.text)
    assert list(made.pages) == sorted(made.pages)
    made.title.encode()


def unpacked(name: str) -> Callable[[Trial], None]:
    """A container is members in their order, and each is found again at its place, or it is refused."""

    def attempt(trial: Trial) -> None:
        path = trial.folder / f"box.{name}"
        path.write_bytes(changed(trial.random, name))
        first: list[Member] = []
        with path.open("rb") as file, contextlib.suppress(Unreadable, ForeignFile):
            for member in unpacking().members(file.fileno(), name):
                assert not CONTROL.search(member.name)
                if len(first) < 3 and member.data is not None:
                    first.append(member)
        with path.open("rb") as file:
            for member in first:
                assert unpacking().member(file.fileno(), name, member.place) == member.data

    return attempt


def pictured(trial: Trial) -> None:
    """A page of a PDF is a picture, or it is Unreadable."""
    draw = trial.random
    page = draw.choice((1, 1, 2, 0, -1, 99999))
    with contextlib.suppress(Unreadable):
        request = PageRequest(
            data=mutate.data(draw, [changed(draw, "pdf"), *PDFS]), number=page, words="Three"
        )
        assert page_picture(request, seconds=15.0).png.startswith(b"\x89PNG")


def indexed(trial: Trial) -> None:
    """A folder of anything is searched; what cannot be read is named; a second look finds nothing new."""
    draw = trial.random
    folder = trial.folder / "documents"
    folder.mkdir()
    for number in range(draw.choice((1, 3, 8))):
        name = draw.choice((*DOCUMENTS, *CONTAINERS))
        (folder / f"{number}.{name}").write_bytes(changed(draw, name))
    (folder / draw.choice(("plain.txt", "\x1b[2J.txt", "ü" * 100 + ".txt", "\udcff.txt"))).write_bytes(
        b"years\n"
    )
    with Corpus(folder, trial.folder / "index", extractor()) as corpus:
        with contextlib.suppress(EmptyCorpus):
            corpus.update()
        query = draw.choice(("three years", "years", mutate.text(draw, ["written offer"], 1000)))
        for hit in corpus.search(query, limit=5).hits:
            with contextlib.suppress(UnknownDocument, Unreadable):
                corpus.document(hit.path)
        with contextlib.suppress(EmptyCorpus):
            again = corpus.update()
            assert (again.read, again.removed) == (0, 0)


def checked(trial: Trial) -> None:
    """`vera check` of any document ends with a word and an exit code."""
    draw = trial.random
    name = draw.choice(("html", "md", "docx", "pdf", "txt"))
    sources = trial.folder / "sources"
    sources.mkdir()
    (sources / "terms.txt").write_text("The offer must be valid for three years.\n")
    written = trial.folder / f"report.{name}"
    written.write_bytes(mutate.data(draw, [changed(draw, name), REPORT]) if draw.random() < 0.5 else REPORT)
    ended = vera_here("check", written, "--sources", sources, cwd=trial.folder)
    assert ended.code in (0, 1, 2, 3, 4), ended
    assert "Traceback" not in ended.out + ended.error


REPORT = (
    b'# Report\n\nThe offer is valid for five years [1], "three years" (terms.txt:1).\n\n'
    b"It costs EUR 1,200.50 since 5 May 2020 <https://a.test/x>, says [Smith](terms.txt).\n\n"
    b"## References\n\n[1] terms.txt\n[2] Smith, J. (2019). A title. doi:10.1000/xyz\n"
)

ROWS = (
    *(
        Row(f"documents: {name}", extracted(name), 10, 250, share=2 if name in IN_PROCESS else 3)
        for name in DOCUMENTS
    ),
    *(Row(f"containers: {name}", unpacked(name), 10, 350, share=2) for name in CONTAINERS),
    Row("documents: a page of a PDF as a picture", pictured, 10, 100),
    Row("documents: a folder indexed", indexed, 20, 300, share=2),
    Row("documents: checked", checked, 30, 300, share=2),
)
