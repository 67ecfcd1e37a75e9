"""The text of chunks, read from where it lies: the folder, or the index for what is no plain text."""

from collections.abc import Sequence

import msgspec

from vera.corpus.candidates import Candidate
from vera.corpus.folder import Folder
from vera.corpus.index import File, Index, digest, ended
from vera.corpus.schema import Damaged


class Passage(msgspec.Struct, frozen=True):
    """A chunk with its file and its text."""

    candidate: Candidate
    file: File
    text: bytes

    @property
    def lines(self) -> list[bytes]:
        return self.text.removesuffix(b"\n").split(b"\n")


def fetch(index: Index, folder: Folder, wanted: Sequence[Candidate]) -> tuple[list[Passage], frozenset[str]]:
    """The passages with their text, and the names of the files that are no longer what was indexed."""
    files = index.files(sorted({candidate.file for candidate in wanted}))
    changed: set[str] = set()
    passages: list[Passage] = []
    for number, file in sorted(files.items(), key=lambda item: item[1].name):
        mine = sorted((one for one in wanted if one.file == number), key=lambda one: one.start)
        texts = _texts(index, folder, file, mine)
        if texts is None:
            changed.add(file.name)
        else:
            passages += [Passage(one, file, text) for one, text in zip(mine, texts, strict=True)]
    return passages, frozenset(changed)


def _texts(index: Index, folder: Folder, file: File, wanted: Sequence[Candidate]) -> list[bytes] | None:
    """The text of some chunks of a file; None when the file is no longer what was indexed."""
    ranges = [(one.start, one.end) for one in wanted]
    pieces = _pieces(index, folder, file, ranges if file.verbatim else ())
    if pieces is None:
        return None
    if file.verbatim:
        texts = [ended(piece, end - start) for piece, (start, end) in zip(pieces, ranges, strict=True)]
    else:
        texts = [index.kept(file.id, start, end) for start, end in ranges]
    if all(digest(text) == one.digest for text, one in zip(texts, wanted, strict=True)):
        return texts
    if file.verbatim:
        return None
    raise Damaged(f"the text of {file.name}")


def _pieces(
    index: Index, folder: Folder, file: File, ranges: Sequence[tuple[int, int]]
) -> list[bytes] | None:
    """The bytes of each range of a file; None when it, or the container that it lies in, has changed."""
    lies_in = index.container(file.container) if file.container else file
    return folder.pieces(lies_in.name, lies_in.stamp, ranges) if lies_in else None
