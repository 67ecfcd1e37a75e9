"""The extractor: a warm worker under limits, replaced when it dies."""

import contextlib
import os
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from support.documents import make_docx, make_pdf, paragraph
from vera.extraction import client as extraction_client
from vera.extraction.canonical import extract
from vera.extraction.canonical.registry import Format, format_of
from vera.extraction.extractor import ExtractionLimits, Extractor
from vera.extraction.source import Extracted, Unreadable

PAGE = b"<p>some text</p>"
# Each open block is looked for among all that are open: quadratic time, minutes for this one.
ENDLESS = b"<div>" * 400_000


@pytest.fixture
def extractor() -> Iterator[Extractor]:
    with Extractor() as started:
        yield started


def workers() -> list[psutil.Process]:
    found = []
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.Error):  # one that has just died
            if "vera.extraction.worker" in " ".join(child.cmdline()):
                found.append(child)
    return found


def wait_until_gone(process: psutil.Process) -> None:
    process.wait(timeout=30)


def test_a_hostile_format_gives_the_same_as_without_the_worker(extractor: Extractor) -> None:
    for data, name in (
        (PAGE, "a.html"),
        (make_pdf(["one"], ["two"]), "a.pdf"),
        (make_docx(paragraph("x")), "a.docx"),
    ):
        assert extractor.extract(data, name) == extract(data, name)


def test_plain_formats_need_no_worker(extractor: Extractor) -> None:
    assert extractor.extract(b"text\n", "a.txt").text == b"text\n"
    assert not workers()


def test_the_worker_stays_warm(extractor: Extractor) -> None:
    extractor.extract(PAGE, "a.html")
    (first,) = workers()
    extractor.extract(PAGE, "b.html")
    assert workers() == [first]


def test_a_reason_comes_through_and_the_worker_lives_on(extractor: Extractor) -> None:
    extractor.extract(PAGE, "a.html")
    (first,) = workers()
    with pytest.raises(Unreadable, match="damaged"):
        extractor.extract(b"%PDF-1.7 nothing", "a.pdf")
    assert workers() == [first]


def test_a_name_that_is_no_unicode_comes_through(extractor: Extractor) -> None:
    assert extractor.extract(b"<p>---</p>", "\udcff\ud800.html").title == "\ufffd\ufffd.html"


def test_the_worker_sees_nothing_of_the_environment(
    extractor: Extractor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    extractor.extract(PAGE, "a.html")
    (worker,) = workers()
    assert "OPENAI_API_KEY" not in worker.environ()
    if sys.platform == "linux":
        assert worker.rlimit(psutil.RLIMIT_FSIZE) == (0, 0)


def test_a_document_that_takes_too_long_is_given_up_and_the_next_one_read() -> None:
    with Extractor(ExtractionLimits(seconds=0.5)) as extractor:
        results = dict(
            extractor.extract_all([(1, PAGE, "a.html"), (2, ENDLESS, "b.html"), (3, PAGE, "c.html")])
        )
    assert str(results[2]) == "it takes too long to read: more than 0.5 s"
    assert isinstance(results[1], Extracted)
    assert isinstance(results[3], Extracted)


def test_a_document_that_needs_too_much_memory_is_given_up_and_the_next_one_read() -> None:
    with Extractor(ExtractionLimits(memory=300 << 20)) as extractor:
        with pytest.raises(Unreadable, match="more than 300 MB of memory"):
            extractor.extract(b"<p>a" * 2_000_000, "a.html")
        assert extractor.extract(PAGE, "b.html").text == b"some text\n"


MANY_ATTRIBUTES = b"<p " + b" ".join(b'a%d="x"' % number for number in range(200_000)) + b">text</p>"


@pytest.mark.parametrize("page", [ENDLESS, MANY_ATTRIBUTES], ids=["deep", "attributes"])
def test_a_page_gets_five_seconds_of_processor_time(page: bytes, extractor: Extractor) -> None:
    before = psutil.Process().cpu_times()
    with pytest.raises(Unreadable, match="it takes too long to read: more than 5 s"):
        extractor.extract(page, "a.html")
    after = psutil.Process().cpu_times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    assert 4 < used < 10  # processor time, not waiting: ended by the limit of 5 s, and its start with it
    assert extractor.extract(PAGE, "b.html").text == b"some text\n"


def test_a_large_page_is_read_within_its_time(extractor: Extractor) -> None:
    part = b'<div style="color:red"><h2>Title</h2><p>Some <b>words</b> of <i>text</i>.</p></div>'
    page = part * (2_000_000 // len(part))
    assert extractor.extract(page, "a.html").text.count(b"Some words of text.") == page.count(b"<p>")


def flate_pdf(content: bytes, times: int) -> bytes:
    """A PDF of one page whose content stream is `content` so many times, compressed."""
    packer = zlib.compressobj(9)
    stream = b"".join(packer.compress(content) for _ in range(times)) + packer.flush()
    return (
        b"%%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n"
        b"2 0 obj\n<< /Type /Pages /Kids [3 0 R] /Count 1 >>\nendobj\n"
        b"3 0 obj\n<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >>\nendobj\n"
        b"4 0 obj\n<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream\nendobj\n"
        b"trailer\n<< /Size 5 /Root 1 0 R >>\n%%%%EOF\n" % (len(stream), stream)
    )


def test_a_pdf_gets_256_mb_of_memory(extractor: Extractor) -> None:
    extractor.extract(PAGE, "a.html")
    peaks: list[int] = []
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.01):
            for worker in workers():
                with contextlib.suppress(psutil.Error):
                    peaks.append(worker.memory_info().rss)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        with pytest.raises(Unreadable, match="needs more than 256 MB of memory"):
            extractor.extract(flate_pdf(b"0 0 m 1 1 l S q 1 0 0 1 0 0 cm Q\n" * 20_000, 100), "bomb.pdf")
    finally:
        done.set()
        watcher.join()
    assert max(peaks) < 300 << 20
    assert extractor.extract(make_pdf(["one"]), "b.pdf").text == b"one\n"


def test_a_pdf_of_300_pages_is_read_after_a_page_that_took_much_memory(extractor: Extractor) -> None:
    extractor.extract(b"<p>a</p>" * 500_000, "a.html")
    lines = [f"line {number}: the quick brown fox jumps over the lazy dog" for number in range(50)]
    assert len(extractor.extract(make_pdf(*[lines] * 300), "b.pdf").pages) == 300


def wait_until_it_reads(extractor: Extractor) -> None:
    """A worker that dies before it is ready has not died of its document."""
    deadline = time.monotonic() + 60
    while not (extractor._pump and extractor._pump._worker and extractor._pump._worker.to_blame):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def next_worker(*old: psutil.Process) -> psutil.Process:
    deadline = time.monotonic() + 60
    while not (new := [worker for worker in workers() if worker not in old]):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return new[0]


def test_a_document_on_which_two_workers_died_is_given_up_and_the_next_ones_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def patient(data: bytes, name: str) -> Format:  # a busy machine kills late, and the limit of HTML is 5 s
        return format_of(data, name)._replace(seconds=120.0)

    monkeypatch.setattr("vera.extraction.extractor.format_of", patient)
    items = [(1, ENDLESS, "a.html"), *((number, PAGE, "b.html") for number in range(2, 6))]
    results: dict[int, Extracted | Unreadable] = {}
    with Extractor(ExtractionLimits(seconds=120)) as extractor:
        reader = threading.Thread(target=lambda: results.update(extractor.extract_all(items)))
        reader.start()
        first = next_worker()
        wait_until_it_reads(extractor)
        first.kill()
        second = next_worker(first)
        wait_until_it_reads(extractor)
        second.kill()
        reader.join()
    assert str(results[1]) == "the extractor crashed on this file"
    assert all(isinstance(results[number], Extracted) for number in range(2, 6))


def test_a_document_whose_worker_was_killed_is_read_by_the_next_one(extractor: Extractor) -> None:
    page = b"<div>" * 20_000 + b"text"  # about a second
    texts: list[bytes] = []
    reader = threading.Thread(target=lambda: texts.append(extractor.extract(page, "a.html").text))
    reader.start()
    next_worker().kill()
    reader.join()
    assert texts == [b"text\n"]


def test_a_worker_killed_between_documents_costs_nothing(extractor: Extractor) -> None:
    extractor.extract(PAGE, "a.html")
    (worker,) = workers()
    worker.kill()
    wait_until_gone(worker)
    assert extractor.extract(PAGE, "a.html").text == b"some text\n"


def test_a_worn_worker_is_replaced() -> None:
    with Extractor(ExtractionLimits(documents=2)) as extractor:
        seen: set[int] = set()
        for _ in range(5):
            extractor.extract(PAGE, "a.html")
            seen.update(worker.pid for worker in workers())
    assert len(seen) == 3


def test_a_worker_that_cannot_start_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with Extractor() as extractor, pytest.raises(Unreadable, match=r"could not start \(exit status 1\)"):
        extractor.extract(PAGE, "a.html")
    monkeypatch.setattr(sys, "executable", "/no/such/program")
    with Extractor() as extractor, pytest.raises(Unreadable, match="could not start"):
        extractor.extract(PAGE, "a.html")


@pytest.mark.parametrize(
    "answer", ["xxxxxxxxxxxxxxxx", "\\0\\0\\0\\0\\0\\0\\0\\2{}", "\\0\\0\\0\\0\\377\\377\\377\\377"]
)
def test_a_worker_that_answers_nonsense_is_not_believed(
    answer: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    impostor = tmp_path / "python"
    impostor.write_text(f"#!/bin/sh\nprintf '{answer}'\nexec sleep 60\n")
    impostor.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(impostor))
    monkeypatch.setattr(extraction_client, "_FAREWELL_SECONDS", 0.05)
    with Extractor() as extractor, pytest.raises(Unreadable, match=r"crashed|could not start"):
        extractor.extract(PAGE, "a.html")


def test_results_come_in_order_with_their_keys_whatever_their_format(extractor: Extractor) -> None:
    items = []
    for number in range(150):
        data, name = (b"<p>%d</p>" % number, "a.html") if number % 3 else (b"%d\n" % number, "a.txt")
        items.append((number, data, name) if number % 10 else (number, b"", name))
    results = list(extractor.extract_all(items))
    assert [key for key, _ in results] == list(range(150))
    for number, result in results:
        if number % 10:
            assert isinstance(result, Extracted)
            assert result.text == b"%d\n" % number
        else:
            assert isinstance(result, Unreadable)


def test_items_are_drawn_ahead_but_not_all_at_once(extractor: Extractor) -> None:
    drawn = []

    def items() -> Iterator[tuple[int, bytes, str]]:
        for number in range(1000):
            drawn.append(number)
            yield number, PAGE, "a.html"

    results = extractor.extract_all(items())
    next(results)
    assert 1 < len(drawn) < 100


def test_the_worker_goes_on_while_the_consumer_is_busy_with_a_result(extractor: Extractor) -> None:
    extractor.extract(PAGE, "a.html")
    (worker,) = workers()
    page = b"<p>some text</p>" * 10_000
    results = extractor.extract_all((number, page, "a.html") for number in range(40))
    next(results)
    before = sum(worker.cpu_times()[:2])
    deadline = time.monotonic() + 20
    while sum(worker.cpu_times()[:2]) < before + 0.1:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert sum(isinstance(result, Extracted) for _, result in results) == 39


def test_several_threads_may_share_an_extractor(extractor: Extractor) -> None:
    texts: dict[int, bytes] = {}

    def use(number: int) -> None:
        texts[number] = extractor.extract(b"<p>%d</p>" % number, "a.html").text

    threads = [threading.Thread(target=use, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert texts == {number: b"%d\n" % number for number in range(20)}


def test_closing_leaves_no_process_and_fails_what_waits() -> None:
    extractor = Extractor()
    extractor.extract(PAGE, "a.html")
    (worker,) = workers()
    results = extractor.extract_all((number, ENDLESS, "a.html") for number in range(10))
    closer = threading.Timer(0.3, extractor.close)
    closer.start()
    assert {str(result) for _, result in results} == {"the extractor was closed"}
    closer.join()
    assert not worker.is_running()
    assert not workers()
    with pytest.raises(RuntimeError, match="closed"):
        extractor.extract(PAGE, "a.html")


def test_the_worker_ends_when_its_owner_is_killed() -> None:
    owner = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import time; from vera.extraction.extractor import Extractor\n"
            "e = Extractor(); e.extract(b'<p>x</p>', 'a.html'); print('ready', flush=True); time.sleep(60)",
        ],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert owner.stdout is not None
    assert owner.stdout.readline() == b"ready\n"
    (worker,) = psutil.Process(owner.pid).children()
    owner.kill()
    owner.wait()
    owner.stdout.close()
    wait_until_gone(worker)
