"""The members of archives, mailboxes and mails: what is found, under which names, and what is refused."""

import io
import os
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.containers import mail, mbox, tarred, zipped
from vera.extraction.containers import walk
from vera.extraction.containers.names import CONTROL, as_given, inner_name, kind_of
from vera.extraction.containers.stream import Broken, Foreign, Meter, TooMuch
from vera.extraction.containers.unpacking import ForeignFile, Unpacking
from vera.extraction.containers.values import Member, Order
from vera.extraction.containers.walk import Walk
from vera.extraction.source import Unreadable
from vera.text.quantity import quantities

BOX = mbox(
    mail("one", "First.\n\nFrom here on it is prose.\n"),
    mail("two", "Second.\n", {"table.csv": b"a,b\n", "in.zip": zipped({"deep.txt": b"deep\n"})}),
    mail("three", "Third.\n", {"forwarded.eml": mail("four", "Fourth.\n", {"note.txt": b"note\n"})}),
)
OF_BOX = [
    "m000001.eml",
    "m000002.eml",
    "m000002.eml!/p2-table.csv",
    "m000002.eml!/p3-in.zip!/deep.txt",
    "m000003.eml",
    "m000003.eml!/p2-forwarded.eml",
    "m000003.eml!/p2-forwarded.eml!/p2-note.txt",
]


@pytest.fixture(scope="module")
def unpacking() -> Iterator[Unpacking]:
    warm = Unpacking(seconds=20, memory=1 << 30)
    yield warm
    warm.close()


class Box:
    """A container on the disk."""

    def __init__(self, path: Path, data: bytes, unpacking: Unpacking) -> None:
        self.unpacking = unpacking
        path.write_bytes(data)
        self.path = path
        self.kind = kind_of(path.name)

    def members(self, start: Member | None = None) -> tuple[list[Member], str]:
        """The members, and why there are no more of them."""
        found: list[Member] = []
        descriptor = os.open(self.path, os.O_RDONLY)
        try:
            for member in self.unpacking.members(descriptor, self.kind, start.place if start else ()):
                found.append(member)
        except Unreadable as error:
            return found, str(error)
        finally:
            os.close(descriptor)
        return found, ""

    def names(self) -> list[str]:
        return [member.name for member in self.members()[0]]

    def reasons(self) -> dict[str, str]:
        return {member.name: member.reason for member in self.members()[0]}

    def pick(self, member: Member) -> bytes:
        descriptor = os.open(self.path, os.O_RDONLY)
        try:
            return self.unpacking.member(descriptor, self.kind, member.place)
        finally:
            os.close(descriptor)


Make = Callable[[str, bytes], Box]


@pytest.fixture
def box(tmp_path: Path, unpacking: Unpacking) -> Make:
    def make(name: str, data: bytes) -> Box:
        return Box(tmp_path / name, data, unpacking)

    return make


def without_progress(member: Member) -> Member:
    return msgspec.structs.replace(member, consumed=0)


CONTAINERS: dict[str, tuple[bytes, list[str] | None]] = {
    "mail.mbox": (BOX, [name for name in OF_BOX if "deep" not in name]),
    "takeout.zip": (zipped({"Mail/All.mbox": BOX, "a/note.txt": b"note\n"}), None),
    "backup.tar": (tarred({"./All.mbox": BOX, "b.txt": b"b\n"}), None),
    "backup.tar.gz": (tarred({"in.tgz": tarred({"x.txt": b"x\n"}, "w:gz"), "b.txt": b"b\n"}, "w:gz"), None),
    "backup.tar.bz2": (tarred({"in.zip": zipped({"x.txt": b"x\n"})}, "w:bz2"), ["in.zip!/x.txt"]),
    "backup.txz": (tarred({"a": b"a\n"}, "w:xz"), ["a"]),
    "letter.eml": (mail("l", "Text\n", {"in.zip": zipped({"x.txt": b"x\n"})}), ["", "p2-in.zip!/x.txt"]),
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_every_member_is_found_named_and_found_again_by_its_place(name: str, box: Make) -> None:
    data, expected = CONTAINERS[name]
    made = box(name, data)
    members, reason = made.members()
    assert reason == ""
    readable = [member for member in members if member.data is not None]
    if expected is not None:
        assert [member.name for member in readable] == expected
    for at, member in enumerate(members):
        if member.data is not None:
            assert made.pick(member) == member.data
        again, _ = made.members(start=member)
        assert list(map(without_progress, again)) == list(map(without_progress, members[at:]))


def test_a_mail_of_a_mailbox_is_the_bytes_at_its_offset(box: Make) -> None:
    members, _ = box("mail.mbox", BOX).members()
    for member in members:
        if len(member.place) == 1:
            (step,) = member.place
            assert BOX[step.offset : step.offset + step.length] == member.data


def test_a_file_of_a_tar_is_the_bytes_at_its_offset(box: Make) -> None:
    data = tarred({"a.txt": b"alpha\n", "b.txt": b"beta\n"})
    for member in box("x.tar", data).members()[0]:
        step = member.place[0]
        assert data[step.offset : step.offset + step.length] == member.data


def test_prose_that_begins_with_from_ends_no_mail(box: Make) -> None:
    assert box("mail.mbox", mbox(mail("s", "a\n\nFrom now on.\n\nFrom 10:00 to 12:00\n"))).names() == [
        "m000001.eml"
    ]


@pytest.mark.parametrize("name", ["x.zip", "x.tar", "x.tar.gz", "x.mbox"])
def test_what_is_no_such_container_is_left_to_others(name: str, tmp_path: Path, unpacking: Unpacking) -> None:
    with pytest.raises(ForeignFile):
        Box(tmp_path / name, b"plain text\n", unpacking).members()


def test_an_office_document_called_zip_is_left_to_others(tmp_path: Path, unpacking: Unpacking) -> None:
    office = zipped({"[Content_Types].xml": b"<x/>", "word/document.xml": b"<x/>"})
    with pytest.raises(ForeignFile):
        Box(tmp_path / "x.zip", office, unpacking).members()


# What means harm


def special(name: str, kind: bytes, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info


def test_names_that_no_document_can_have_are_refused_each_with_its_reason(box: Make) -> None:
    names = ("../../etc/passwd", "/etc/passwd", "C:\\x.txt", "a\nb.txt", "good.txt")
    members, _ = box("x.tar", tarred(dict.fromkeys(names, b"x"))).members()
    assert [(each.name, each.reason.partition(":")[0]) for each in members] == [
        ("#000001", "its name leads out of the archive"),
        ("#000002", "its name is an absolute path or one of another system"),
        ("#000003", "its name is an absolute path or one of another system"),
        ("#000004", "its name holds control characters"),
        ("good.txt", ""),
    ]


def test_links_and_devices_are_refused(box: Make) -> None:
    data = tarred(
        {}, "w",
        special("link", tarfile.SYMTYPE, "/etc/passwd"),
        special("hard", tarfile.LNKTYPE, "link"),
        special("device", tarfile.CHRTYPE),
        special("pipe", tarfile.FIFOTYPE),
        special("folder", tarfile.DIRTYPE),
    )  # fmt: skip
    assert box("x.tar", data).reasons() == {
        "link": "a link, which is not followed",
        "hard": "a link, which is not followed",
        "device": "a device or pipe, not a file",
        "pipe": "a device or pipe, not a file",
    }


def test_a_link_in_a_zip_is_refused(box: Make) -> None:
    info = zipfile.ZipInfo("link")
    info.external_attr = 0o120777 << 16
    data = zipped({})
    path = box("x.zip", data).path
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(info, "/etc/passwd")
    assert box("x.zip", path.read_bytes()).reasons() == {"link": "a link, which is not followed"}


def test_an_encrypted_member_is_refused(box: Make) -> None:
    data = bytearray(zipped({"a.txt": b"secret\n"}))
    data[6] |= 1
    data[data.rfind(b"PK\x01\x02") + 8] |= 1
    assert box("x.zip", bytes(data)).reasons() == {"a.txt": "it is encrypted"}


def test_a_member_that_unpacks_to_too_much_is_refused_and_the_others_are_read(box: Make) -> None:
    data = zipped({"bomb.txt": bytes(40_000_000), "good.txt": b"good\n"})
    assert box("x.zip", data).reasons() == {
        "bomb.txt": "it unpacks to more than 200 times its size",
        "good.txt": "",
    }


def test_a_tar_that_unpacks_to_too_much_is_read_no_further(box: Make) -> None:
    data = tarred({f"{n}.txt": bytes(20_000_000) for n in range(6)}, "w:gz")
    members, reason = box("x.tar.gz", data).members()
    assert len(members) <= 5
    assert "more than 200 times its size" in reason + members[-1].reason


def test_containers_lie_at_most_two_deep(box: Make) -> None:
    deep = zipped({"2.zip": zipped({"3.zip": zipped({"x.txt": b"x"}), "y.txt": b"y"})})
    assert box("1.zip", deep).reasons() == {
        "2.zip!/3.zip": "an archive within two others: unpack the outer one",
        "2.zip!/y.txt": "",
    }


@pytest.mark.parametrize("mode", ["w:gz", "w:bz2", "w:xz"])
def test_a_cut_archive_gives_what_stands_before_the_cut_and_the_reason(mode: str, box: Make) -> None:
    data = tarred({"a.txt": os.urandom(50_000).hex().encode(), "b.txt": os.urandom(400_000)}, mode)
    members, reason = box("x.tar." + mode[2:], data[: len(data) // 2]).members()
    told = [member.reason for member in members] + [reason]
    assert any("ends too early" in each or "missing or damaged" in each for each in told)


@pytest.mark.parametrize("suffix", ["tar", "tar.gz", "tar.xz", "zip"])
def test_all_that_is_whole_before_a_cut_is_read(suffix: str, box: Make) -> None:
    texts = {f"{number}.txt": os.urandom(14_000).hex().encode() for number in range(10)}
    mode = f"w:{suffix[4:]}" if suffix[4:] else "w"
    data = zipped(texts) if suffix == "zip" else tarred(texts, mode)
    members, reason = box(f"x.{suffix}", data[: len(data) // 2]).members()
    whole = {member.name: member.data for member in members if not member.reason}
    assert len(whole) >= 3
    assert all(texts[name] == text for name, text in whole.items())
    assert reason in ("it ends too early", "its end is missing or damaged")


def test_a_member_of_a_cut_zip_is_found_again_and_a_wrong_one_is_not_read(box: Make) -> None:
    data = bytearray(
        zipped({"a.txt": b"alpha\n", "b.txt": b"beta\n", "c.txt": b"gamma\n"}, zipfile.ZIP_STORED)
    )
    data[data.index(b"beta")] = ord("B")
    cut = box("x.zip", bytes(data[: data.index(b"PK\x01\x02")]))
    members, _ = cut.members()
    assert cut.pick(members[2]) == b"gamma\n"
    assert cut.reasons() == {"a.txt": "", "b.txt": "its packed data are damaged", "c.txt": ""}


def test_a_cut_zip_whose_sizes_stand_behind_its_members_is_read(box: Make) -> None:
    held = Forward()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.txt", b"alpha PK\x07\x08 omega " * 9)
        archive.writestr("b.txt", b"beta\n")
    cut = bytes(held.written[: held.written.index(b"PK\x01\x02") - 2])
    assert box("x.zip", cut).reasons() == {"a.txt": ""}


class Forward(io.RawIOBase):
    """A file that cannot go back, as a pipe."""

    def __init__(self) -> None:
        self.written = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        self.written += bytes(data)
        return len(data)


def test_a_damaged_header_in_the_middle_of_a_tar_is_said(box: Make) -> None:
    data = bytearray(tarred({"a.txt": b"a\n", "b.txt": b"b\n"}))
    data[1024:1034] = b"\xff" * 10
    members, reason = box("x.tar", bytes(data)).members()
    assert ([member.name for member in members], reason) == (["a.txt"], "its end is missing or damaged")


def test_a_member_that_is_too_large_is_refused(box: Make) -> None:
    big = os.urandom(1 << 20) * 65
    assert box("x.zip", zipped({"big.bin": big, "a.txt": b"a\n"}, zipfile.ZIP_STORED)).reasons() == {
        "big.bin": "larger than 64 MB",
        "a.txt": "",
    }


def test_a_mail_that_is_too_large_is_refused_and_the_next_one_read(box: Make) -> None:
    data = mbox(b"Subject: big\n\n" + (b"y" * 79 + b"\n") * 850_000, mail("s", "small\n"))
    assert box("x.mbox", data).reasons() == {"m000001.eml": "larger than 64 MB", "m000002.eml": ""}


def test_more_members_than_are_looked_at_are_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(walk, "MAX_MEMBERS", 3)
    path = tmp_path / "x.mbox"
    path.write_bytes(mbox(*(mail(str(n), "t\n") for n in range(5))))
    with path.open("rb") as file, pytest.raises(TooMuch, match="more than 3 members"):
        list(Walk(file.fileno(), Order("mbox"), Meter(1 << 20, lambda _: None)).members())


def test_a_walk_that_nobody_finishes_disturbs_no_other(box: Make, unpacking: Unpacking) -> None:
    made = box("mail.mbox", BOX)
    with made.path.open("rb") as file:
        first = next(iter(unpacking.members(file.fileno(), "mbox")))
    assert first.name == "m000001.eml"
    assert made.names()[0] == "m000001.eml"


def killed_at(box: Box, *places: int) -> list[str]:
    """The names of the members, when the process is killed each time so many of them have come."""
    names: list[str] = []
    with box.path.open("rb") as file:
        for member in box.unpacking.members(file.fileno(), box.kind):
            names.append(member.name)
            if len(names) in places:
                process = box.unpacking._process
                assert process is not None
                process._process.kill()
                while os.read(process._output, 1 << 20):
                    pass  # what was on its way: a part of it could end where a message begins
                process._received.clear()
    return names


def test_after_a_crash_the_walk_goes_on_once_where_it_was(box: Make) -> None:
    made = box("mail.mbox", mbox(*(mail(str(n), "x" * 70_000) for n in range(100))))
    assert killed_at(made, 40) == made.names()
    with pytest.raises(Unreadable, match="crashed"):
        killed_at(made, 40, 50)


def test_too_little_memory_is_a_reason(tmp_path: Path) -> None:
    small = Unpacking(seconds=20, memory=120 << 20)
    data = zipped({"big.txt": os.urandom(1 << 20) * 60}, zipfile.ZIP_STORED)
    assert "memory" in Box(tmp_path / "x.zip", data, small).members()[1]
    small.close()


# Anything at all

SOUND = [zipped({"a.txt": b"a\n" * 50, "b/c.eml": mail("s", "t")}), tarred({"a": b"a" * 700, "b": b"b"}), BOX]


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    data = bytearray(draw(st.sampled_from(SOUND)))
    for _ in range(draw(st.integers(1, 8))):
        data[draw(st.integers(0, len(data) - 1))] = draw(st.integers(0, 255))
    return bytes(data[: draw(st.integers(1, len(data)))])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(damaged(), st.sampled_from(["zip", "tar", "mbox", "eml", "tar.gz"]))
def test_whatever_the_bytes_are_the_walk_ends_with_members_and_a_reason(
    tmp_path: Path, data: bytes, kind: str
) -> None:
    path = tmp_path / "x"
    path.write_bytes(data)
    numbers: list[tuple[int, ...]] = []
    with path.open("rb") as file:
        try:
            for member in Walk(file.fileno(), Order(kind), Meter(len(data), lambda _: None)).members():
                numbers.append(tuple(step.number for step in member.place))
                assert (member.data is None) == bool(member.reason)
                assert not CONTROL.search(member.name)
        except (Broken, TooMuch, Foreign):
            pass
    assert numbers == sorted(set(numbers))


def test_the_number_in_a_name_backs_no_number_of_a_claim(box: Make) -> None:
    many = mbox(*(mail("s", "text\n", {"a.txt": b"a\n"}) for _ in range(12)))
    names = [as_given(f"mail.mbox!/{name}") for name in box("mail.mbox", many).names()]
    assert len(names) == 24
    assert not list(quantities("\n".join(names)))
    assert as_given("2019.zip!/report-7.txt") == "2019.zip!/report-7.txt"


@given(st.text(max_size=300))
def test_an_inner_name_stays_inside_and_is_its_own_plain_form(name: str) -> None:
    plain, reason = inner_name(name)
    assert bool(plain) != bool(reason)
    if plain:
        assert ".." not in plain.split("/")
        assert not plain.startswith("/")
        assert not CONTROL.search(plain)
        assert inner_name(plain) == (plain, "")
