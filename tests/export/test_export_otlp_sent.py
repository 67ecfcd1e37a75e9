"""Spans on the wire: requests of bounded size, what is sent again, and what is said when it fails."""

import asyncio
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from support.otlp_collector import OtlpCollector, Partial, Reply, attributes, failure
from vera import events
from vera.export.otel_span import Kind, Span, SpanEvent
from vera.export.otlp import Export, ExportFailed, export
from vera.export.otlp_encode import MAX_BYTES, requests
from vera.export.otlp_endpoint import Endpoint, endpoint
from vera.session.log import Log


def span(number: int, size: int = 1) -> Span:
    return Span(
        trace_id=b"t" * 16,
        span_id=number.to_bytes(8, "big"),
        parent_id=b"p" * 8,
        name="chat qwen",
        kind=Kind.CLIENT,
        start_ns=1,
        end_ns=2**62,
        attributes={"text": "x" * size, "whole": -(2**62), "part": 0.5, "yes": True, "list": ("a", "b")},
        failed=True,
        message="why",
        events=(SpanEvent(name="judged", at_ns=7, attributes={"score": 4.0}),),
        links=(b"l" * 8,),
    )


def test_a_span_stands_in_protobuf_as_it_is() -> None:
    (request,) = requests([span(1)])
    (of,) = ExportTraceServiceRequest.FromString(request.body).resource_spans
    assert {pair.key: pair.value.string_value for pair in of.resource.attributes}["service.name"] == "vera"
    (scope,) = of.scope_spans
    (sent,) = scope.spans
    assert (sent.trace_id, sent.span_id, sent.parent_span_id) == (b"t" * 16, b"\0" * 7 + b"\1", b"p" * 8)
    assert (sent.name, sent.kind, sent.flags) == ("chat qwen", sent.SPAN_KIND_CLIENT, 0x101)
    assert (sent.start_time_unix_nano, sent.end_time_unix_nano) == (1, 2**62)
    assert attributes(sent) == {
        "text": "x", "whole": -(2**62), "part": 0.5, "yes": True, "list": ["a", "b"],
    }  # fmt: skip
    assert (sent.status.code, sent.status.message) == (2, "why")
    assert [(each.name, each.time_unix_nano, attributes(each)) for each in sent.events] == [
        ("judged", 7, {"score": 4.0})
    ]
    assert [(link.trace_id, link.span_id) for link in sent.links] == [(b"t" * 16, b"l" * 8)]


def test_requests_are_bounded_in_spans_and_bytes_and_nothing_is_lost() -> None:
    many = list(requests(span(number) for number in range(1000)))
    assert [request.spans for request in many] == [512, 488]
    large = list(requests(span(number, size=MAX_BYTES // 3) for number in range(8)))
    assert [request.spans for request in large] == [2, 2, 2, 2]
    assert max(len(request.body) for request in large) < MAX_BYTES + 1000
    assert list(requests([])) == []


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Path]:
    """A session with a log of three spans, nobody writing to it."""
    yield write(tmp_path / "first", steps=1)


def write(root: Path, steps: int) -> Path:
    root.mkdir()
    ticks = iter(range(10**9))
    log = Log.create(root / "trace.jsonl", lambda: 1_000_000.0 + next(ticks))
    log.append(events.Session(format=1, version="0.1.0", settings={}), "")
    log.append(
        events.LaneStarted(
            purpose="research", system="", task_message="", tools=(), protocol="text", system_role="system",
            prompt_sha256="", high_tokens=1, max_bytes=0, tail_steps=1,
        ),
        "main",
    )  # fmt: skip
    for step in range(1, steps + 1):
        log.append(events.Model(step=step, scope="agent", latency_s=0.5), "main")
    log.append(events.LaneEnded(reason="answered"), "main")
    end = events.RunEnd(status="VERIFIED", reason="", exit_code=0, steps=steps, seconds=1.0)
    log.append(end, "")
    log.close()
    return root


class Pauses:
    def __init__(self) -> None:
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


def send(session: Path, to: str | Endpoint, pauses: Pauses | None = None) -> Export:
    to = endpoint(to, {}) if isinstance(to, str) else to
    return asyncio.run(export(session, to, sleep=(pauses or Pauses()).sleep))


def refusal(session: Path, to: str | Endpoint, pauses: Pauses | None = None) -> str:
    with pytest.raises(ExportFailed) as caught:
        send(session, to, pauses)
    return str(caught.value)


def test_what_is_sent_is_compressed_protobuf_with_the_headers_of_the_person(session: Path) -> None:
    with OtlpCollector() as collector:
        to = endpoint(collector.url, {"OTEL_EXPORTER_OTLP_HEADERS": "Authorization=Bearer%20abc"})
        done = send(session, to)
        (received,) = collector.received
    assert (done.spans, done.requests, done.rejected, done.left_open) == (3, 1, 0, 0)
    assert received.path == "/v1/traces"
    assert received.headers["content-type"] == "application/x-protobuf"
    assert received.headers["content-encoding"] == "gzip"
    assert received.headers["authorization"] == "Bearer abc"


def test_without_compression_it_is_plain_protobuf(session: Path) -> None:
    with OtlpCollector() as collector:
        send(session, endpoint(collector.url, {"OTEL_EXPORTER_OTLP_COMPRESSION": "none"}))
        assert "content-encoding" not in collector.received[0].headers
        assert len(collector.spans) == 3


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_busy_collector_is_asked_again_after_growing_pauses(session: Path, status: int) -> None:
    pauses = Pauses()
    with OtlpCollector([Reply(status), Reply(status)]) as collector:
        assert send(session, collector.url, pauses).spans == 3
        assert len(collector.received) == 3 and len(collector.spans) == 3
    assert 0.75 <= pauses.slept[0] <= 1.0 and 1.5 <= pauses.slept[1] <= 2.0


def test_a_retry_after_is_kept_to(session: Path) -> None:
    pauses = Pauses()
    with OtlpCollector([Reply(429, headers={"retry-after": "7"})]) as collector:
        send(session, collector.url, pauses)
    assert pauses.slept == [7.0]


def test_a_collector_that_wants_an_hour_is_not_waited_for(session: Path) -> None:
    pauses = Pauses()
    with OtlpCollector([Reply(503, headers={"retry-after": "3600"})]) as collector:
        assert "left alone for another 3600 s" in refusal(session, collector.url, pauses)
        assert len(collector.received) == 1
    assert pauses.slept == []


def test_a_collector_that_stays_busy_is_given_up_after_five_times(session: Path) -> None:
    with OtlpCollector([Reply(503, body=failure("full"))] * 9) as collector:
        said = refusal(session, collector.url)
        assert len(collector.received) == 5
    assert "answered 503 5 times: full. Try again later" in said


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (Reply(400, body=failure("bad span")), "answered 400: bad span."),
        (Reply(401), "OTEL_EXPORTER_OTLP_HEADERS=Authorization=Bearer%20KEY"),
        (Reply(403, b'{"message": "not yours"}', media="application/json"), "answered 403: not yours."),
        (Reply(404, b"<html>", media="text/html"), "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"),
        (Reply(413, b"too  large\n", media="text/plain"), "answered 413: too large."),
        (Reply(500, b"\xff\xff\xff"), "answered 500."),
        (Reply(301, headers={"location": "http://evil.example/v1/traces"}), "redirect to evil.example"),
        (Reply(200, b"<html>hello</html>", media="text/html"), "something else listens there"),
        (Reply(200, b"\xff\xff\xff"), "something else listens there"),
        (Reply(200, b"[1]", media="application/json"), "something else listens there"),
        (Reply(200, b"x" * (1 << 20)), "something else listens there"),
    ],
)  # fmt: skip
def test_another_answer_is_never_sent_again_and_is_said_in_a_sentence(
    session: Path, reply: Reply, says: str
) -> None:
    with OtlpCollector([reply]) as collector:
        said = refusal(session, collector.url)
        assert len(collector.received) == 1
    assert says in said and said.endswith((".", "KEY."))


def test_a_partial_success_is_counted_and_not_sent_again(session: Path) -> None:
    with OtlpCollector([Partial(2, "too old")]) as collector:
        done = send(session, collector.url)
        assert len(collector.received) == 1
    assert (done.spans, done.rejected, done.messages) == (1, 2, ("too old",))


def test_a_partial_success_in_json_is_understood_too(session: Path) -> None:
    body = b'{"partialSuccess": {"rejectedSpans": "1", "errorMessage": "no room"}}'
    with OtlpCollector([Reply(200, body, media="application/json")]) as collector:
        done = send(session, collector.url)
    assert (done.spans, done.rejected, done.messages) == (2, 1, ("no room",))


def test_where_nobody_listens_a_sentence_says_so(session: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        assert f"There is no collector at {url}/v1/traces" in refusal(session, url)


def test_a_collector_that_does_not_answer_costs_its_time_and_no_more(session: Path) -> None:
    with OtlpCollector([Reply(seconds=60)]) as collector:
        to = Endpoint(url=f"{collector.url}/v1/traces", headers={}, timeout_s=0.2)
        assert "did not answer within 0.2 s" in refusal(session, to)


def test_an_answer_that_trickles_costs_its_time_and_no_more(session: Path) -> None:
    with OtlpCollector([Reply(trickles=True)]) as collector:
        to = Endpoint(url=f"{collector.url}/v1/traces", headers={}, timeout_s=0.2)
        assert "did not answer within 0.2 s" in refusal(session, to)


def test_neither_a_proxy_nor_a_netrc_changes_what_a_collector_on_this_machine_gets(
    session: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login somebody password else\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    with OtlpCollector() as collector:
        send(session, endpoint(collector.url, {"OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20abc"}))
        assert collector.received[0].headers["authorization"] == "Bearer abc"


def test_what_was_taken_before_a_failure_is_counted(tmp_path: Path) -> None:
    long = write(tmp_path / "long", steps=600)
    with OtlpCollector([Reply(), Reply(400)]) as collector, pytest.raises(ExportFailed) as caught:
        send(long, collector.url)
    assert (caught.value.done.spans, caught.value.done.requests) == (512, 1)


def test_a_second_export_sends_the_same_spans(session: Path) -> None:
    with OtlpCollector() as collector:
        first, second = send(session, collector.url), send(session, collector.url)
        once, again = collector.spans[:3], collector.spans[3:]
    assert first == second and once == again


def test_of_a_log_that_somebody_writes_open_spans_are_left_out(tmp_path: Path) -> None:
    root = tmp_path / "now"
    root.mkdir()
    log = Log.create(root / "trace.jsonl", lambda: 1_000_000.0)
    log.append(events.Session(format=1, version="0.1.0", settings={}), "")
    log.append(events.Search(engine="brave", kind="web", query="q", outcome="ok"), "main")
    try:
        with OtlpCollector() as collector:
            under_way = send(root, collector.url)
            assert [span.name for span in collector.spans] == ["retrieval brave"]
        assert (under_way.spans, under_way.left_open) == (1, 1)
    finally:
        log.close()
    with OtlpCollector() as collector:
        assert send(root, collector.url).left_open == 0
        (run,) = collector.named("invoke_agent vera")
    assert attributes(run)["error.type"] == "interrupted"


def test_of_a_broken_log_what_stands_before_is_sent(session: Path) -> None:
    path = session / "trace.jsonl"
    lines = path.read_bytes().split(b"\n")
    lines[3] = lines[3].replace(b"answered", b"ANSWERED")
    path.write_bytes(b"\n".join(lines))
    with OtlpCollector() as collector:
        done = send(session, collector.url)
        assert {span.name for span in collector.spans} == {"invoke_agent vera", "step 1", "chat"}
    assert "broken at line 4" in done.broken
