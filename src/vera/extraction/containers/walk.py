"""The walk: all members of a container, those of containers in it included, in one order that never changes.

Archives and mailboxes are opened when at most one other lies around them; mails, for what is attached to
them, when at most two do.
"""

import io
from collections.abc import Iterator
from typing import BinaryIO

from vera.extraction.canonical.mail import attachment_name
from vera.extraction.canonical.mime import leaves
from vera.extraction.containers import mbox, tar
from vera.extraction.containers.names import MARK, MAX_NAME_LENGTH, inner_name, kind_of
from vera.extraction.containers.stream import Broken, File, Foreign, Meter, Stream, TooMuch
from vera.extraction.containers.values import MAX_MEMBERS, MEMBER_BYTES, Member, Order, Place, Step, numbers
from vera.extraction.containers.zip import ZIP_MAGIC, Zip

_ARCHIVES_DEEP = 2
_MAILS_DEEP = 3
_TOO_DEEP = "an archive within two others: unpack the outer one"


class Walk:
    """One walk through one file, which somebody else opened (`descriptor`) and closes."""

    def __init__(self, descriptor: int, order: Order, meter: Meter) -> None:
        self._order = order
        self._meter = meter
        self._file = io.BufferedReader(File(descriptor, meter), buffer_size=1 << 18)
        self._count = 0

    def members(self) -> Iterator[Member]:
        """The members from `order.start` on, or that one alone.

        Raises Foreign for a file that is no such container, Broken and TooMuch when the rest cannot be read.
        """
        if self._order.alone:
            yield Member(self._order.start, "", self._pick(self._order.start), "", self._meter.consumed)
            return
        for member in self._walk(self._order.kind, self._file, (), "", self._order.start):
            self._count += 1
            if self._count > MAX_MEMBERS:
                raise TooMuch(f"more than {MAX_MEMBERS} members: the rest was not read")
            yield member

    def _walk(
        self, kind: str, file: BinaryIO | Stream | bytes, place: Place, name: str, start: Place
    ) -> Iterator[Member]:
        """The members of one container; `place` and `name` are its own, `start` is seen from it."""
        first = start[0].number if start else 1
        match kind:
            case "eml":
                data = file if isinstance(file, bytes) else self._stream(file).whole()
                yield from self._mail(data, place, name, start)
            case "mbox":
                yield from self._mailbox(self._stream(file), place, name, start)
            case "zip":
                archive = Zip(_seekable(file), self._meter)
                for step, content, reason in archive.entries(first):
                    yield from self._entry(step, content, reason, place, name, start)
            case _:
                stream = tar.opened(kind, self._stream(file), self._meter)
                for step, content, reason in tar.entries(kind, stream):
                    if step.number >= first:
                        yield from self._entry(step, content, reason, place, name, start)

    def _mailbox(self, file: Stream, place: Place, name: str, start: Place) -> Iterator[Member]:
        """The mails of a mailbox, each with what is attached to it."""
        for step, mail in mbox.mails(file, start[0] if start else None):
            inner = f"{name}{MARK if name else ''}m{step.number:06}.eml"
            if mail is None:
                yield self._without((*place, step), inner, f"larger than {MEMBER_BYTES >> 20} MB")
            else:
                yield from self._mail(mail, (*place, step), inner, _rest(start, step))

    def _entry(
        self, step: Step, content: Stream | None, reason: str, outer: Place, name: str, start: Place
    ) -> Iterator[Member]:
        """A member of an archive, with what is in it."""
        place = (*outer, step)
        own, bad = inner_name(step.name)
        prefix = f"{name}{MARK}" if name else ""
        if bad or len(prefix) + len(own) > MAX_NAME_LENGTH:
            told = f"{bad or 'its name is too long'}: {step.name[:100]!a}"
            place = (*outer, Step(step.kind, step.number, step.offset, step.length))
            yield self._without(place, f"{prefix}#{step.number:06}", told)
            return
        inner = prefix + own
        if content is None:
            yield self._without(place, inner, reason)
            return
        try:
            yield from self._opened(content, place, inner, _rest(start, step))
        except (Broken, TooMuch) as error:
            yield self._without(place, inner, str(error))

    def _opened(self, content: Stream, place: Place, name: str, start: Place) -> Iterator[Member]:
        kind = kind_of(name)
        if kind == "eml":
            yield from self._mail(content.whole(), place, name, start)
            return
        if kind and _begins(kind, content):
            if len(place) >= _ARCHIVES_DEEP:
                yield self._without(place, name, _TOO_DEEP)
                return
            file = content.whole() if kind == "zip" else content
            try:
                yield from self._walk(kind, file, place, name, start)
            except Foreign:
                if isinstance(file, bytes):
                    yield Member(place, name, file, "", self._consumed)
                else:
                    yield self._without(place, name, "packed data that hold no tar archive")
            return
        yield Member(place, name, content.whole(), "", self._consumed)

    def _mail(self, data: bytes, place: Place, name: str, start: Place) -> Iterator[Member]:
        """A mail, and what is attached to it."""
        if not start:
            yield Member(place, name, data, "", self._consumed)
        if len(place) >= _MAILS_DEEP:
            return
        first = start[0].number if start else 1
        for part in leaves(data):
            if part.is_attachment and part.number >= first:
                step = Step("eml", part.number, name=part.name[:MAX_NAME_LENGTH])
                inner = f"{name}{MARK if name else ''}{attachment_name(part)}"
                if len(inner) > MAX_NAME_LENGTH:
                    yield self._without((*place, step), inner[:MAX_NAME_LENGTH], "its name is too long")
                    continue
                content = Stream(io.BytesIO(part.content()), self._meter)
                try:
                    yield from self._opened(content, (*place, step), inner, _rest(start, step))
                except (Broken, TooMuch) as error:
                    yield self._without((*place, step), inner, str(error))

    def _pick(self, place: Place) -> bytes:
        """The bytes of one member. Raises Broken when it is not there any more."""
        content: Stream = Stream(self._file, self._meter)
        file: BinaryIO | None = self._file
        for step in place:
            match step.kind:
                case "zip":
                    content = Zip(file or _seekable(content.whole()), self._meter).member(step)
                case "eml":
                    part = next(
                        (each for each in leaves(content.whole()) if each.number == step.number), None
                    )
                    if part is None:
                        raise Broken("it has fewer parts than it had")
                    content = Stream(io.BytesIO(part.content()), self._meter)
                case _:
                    if step.kind != "mbox":
                        content = tar.opened(step.kind, content, self._meter)
                    content.skip_to(step.offset)
                    content = Stream(content, self._meter, limit=step.length)
            file = None
        return content.whole()

    @property
    def _consumed(self) -> int:
        return self._meter.consumed

    def _without(self, place: Place, name: str, reason: str) -> Member:
        return Member(place, name, None, reason, self._consumed)

    def _stream(self, file: BinaryIO | Stream | bytes) -> Stream:
        if isinstance(file, Stream):
            return file
        return Stream(io.BytesIO(file) if isinstance(file, bytes) else file, self._meter)


def after(place: Place, other: Place) -> bool:
    """Whether a place comes later in the walk than another."""
    return numbers(place) > numbers(other)


def _rest(start: Place, step: Step) -> Place:
    """Where to begin within this member."""
    return start[1:] if start and start[0].number == step.number else ()


def _seekable(file: BinaryIO | Stream | bytes) -> BinaryIO:
    if isinstance(file, Stream):
        file = file.whole()
    return io.BytesIO(file) if isinstance(file, bytes) else file


def _begins(kind: str, content: Stream) -> bool:
    """Whether bytes begin as a container of this kind does."""
    match kind:
        case "zip":
            return content.peek(4) in ZIP_MAGIC
        case "mbox":
            return mbox.begins(content)
    return tar.begins(kind, content)
