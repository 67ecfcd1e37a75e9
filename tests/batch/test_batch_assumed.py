"""What a batch takes for granted of a model server, and for how long."""

from vera import events
from vera.batch.probe_cache import ASSUMED_SECONDS, MAX_PROBES, Assumptions
from vera.batch.task import BatchTask
from vera.state import RunState


def task(temperature: float = 0.0, endpoint: str = "http://127.0.0.1:1/v1") -> BatchTask:
    settings = {"model.temperature": temperature}
    return BatchTask(id="0" * 64, kind="task", text="?", settings=settings, endpoint=endpoint)


def state(ts: float, kind: str = "vllm", assumed: str = "") -> RunState:
    """The state of a session whose server was looked at at `ts`."""
    folded = RunState()
    folded.apply(
        events.Session(format=1, version="1", settings={"model": {"assumed": assumed}}, seq=1, ts=ts)
    )
    folded.apply(
        events.ModelServer(
            kind=kind, base_url="http://127.0.0.1:1/v1", model="m", protocol="json_schema", seq=2, ts=ts
        )
    )
    return folded


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_what_one_session_found_holds_for_tasks_with_the_same_settings() -> None:
    known = Assumptions(Clock())
    assert known.of(task()) == ""
    known.learn(task(), state(1000.0))
    assert known.of(task()) == "vllm/json_schema"
    assert known.of(task(temperature=1.0)) == ""
    assert known.of(task(endpoint="http://127.0.0.1:2/v1")) == ""


def test_it_holds_for_some_minutes_from_the_time_of_the_record() -> None:
    clock = Clock()
    known = Assumptions(clock)
    known.learn(task(), state(1000.0))
    clock.now += ASSUMED_SECONDS
    assert known.of(task()) == ""
    known.learn(task(), state(1000.0))
    assert known.of(task()) == ""


def test_what_a_session_assumed_itself_is_no_new_knowledge() -> None:
    known = Assumptions(Clock())
    known.learn(task(), state(1000.0, assumed="vllm/json_schema"))
    assert known.of(task()) == ""


def test_after_a_session_without_a_result_the_server_is_asked_anew() -> None:
    known = Assumptions(Clock())
    known.learn(task(), state(999.0))
    known.forget(task())
    assert known.of(task()) == ""
    known.learn(task(), state(999.0))
    assert known.of(task()) == ""
    known.learn(task(), state(1001.0, kind="ollama"))
    assert known.of(task()) == "ollama/json_schema"


def test_a_server_that_is_found_by_itself_or_started_for_the_run_is_never_assumed() -> None:
    known = Assumptions(Clock())
    for endpoint in ("auto", "builtin", "file"):
        known.learn(task(endpoint=endpoint), state(1000.0))
        assert known.of(task(endpoint=endpoint)) == ""


def test_it_is_kept_of_a_bounded_number_of_settings() -> None:
    known = Assumptions(Clock())
    for number in range(MAX_PROBES + 1):
        known.learn(task(temperature=number / MAX_PROBES), state(1000.0))
    assert known.of(task(temperature=1 - 1 / MAX_PROBES)) != ""
    assert known.of(task(temperature=1.0)) == ""
