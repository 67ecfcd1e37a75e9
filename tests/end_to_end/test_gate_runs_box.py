"""The gates of commands in whole runs, in a real box: what a command wrote, destroyed or reached for.

The table of the gates is in `test_gate_runs.py`."""

import pytest

from support.gate_runs import NEGATIVE, act, answer, check_refused, fetch, page, play, shell
from vera import events
from vera.evidence.queries import is_package_index

pytestmark = pytest.mark.needs("bubblewrap")

BOX = "bubblewrap"
HOSTS = ("apple.com", "b.example", "pypi.org")
SITE = {f"{host}/{number}": page(f"{host} says {number}") for host in HOSTS for number in range(1, 6)}


def test_notes_that_a_command_lost_are_put_back() -> None:
    """At once, and the model is told; then it is over."""
    run = play(
        [act("note", text="The first finding."), shell(": > /work/notes.md"), shell("cat /work/notes.md")],
        box=BOX,
    )
    (guarded,) = run.of(events.PolicyNotesGuard)
    assert (guarded.step, guarded.detail) == (2, "earlier lines were changed or lost")
    assert "/work/notes.md only grows: earlier lines were changed or lost, and it was restored" in run.told(2)
    assert "7| - The first finding." in run.told(3)
    assert "only grows" not in run.told(3).splitlines()[0]


def test_what_a_command_appends_to_the_notes_is_kept() -> None:
    run = play(
        [
            act("note", text="The first finding."),
            shell("echo '- more' >> /work/notes.md"),
            shell("cat notes.md"),
        ],
        box=BOX,
    )
    assert run.of(events.PolicyNotesGuard) == []
    assert [(each.step, each.text, each.by) for each in run.of(events.Note)] == [
        (1, "The first finding.", "model"), (2, "- more", "command"),
    ]  # fmt: skip
    assert "more" in run.told(3)


def test_a_command_that_destroys_does_not_run() -> None:
    run = play(
        [shell("echo data > a.txt"), shell("cd /work && sudo rm -fr /work"), shell("cat a.txt")], box=BOX
    )
    assert run.spoken("policy_destructive") == [(2, "refuse")]
    assert run.record("policy_destructive") == {
        "step": 2,
        "effect": "refuse",
        "reason": "The command matches “rm -r /work” on the list of plainly destructive commands.",
        "way_forward": "Name exactly the files below /work that you want to change.",
        "tool": "shell",
        "subject": "rm -r /work",
    }
    assert run.told(2) == (
        "NOT RUN (policy_destructive). The command matches “rm -r /work” on the list of plainly destructive "
        "commands. Name exactly the files below /work that you want to change."
    )
    check_refused(run, 2, "policy_destructive")
    assert "1| data" in run.told(3)


@pytest.mark.parametrize(
    "command",
    [
        "grep mount /proc/self/mounts > m.txt; echo done",
        "echo 'rm -rf /' | grep -c 'rm -rf /'; echo done",
        "mkdir -p /work/tmp; rm -r /work/tmp; rm -rf ./build; echo done",
        "cat > clean.sh <<'END'\nrm -rf /\nEND\necho done",
        "# shutdown\necho done",
    ],
    ids=["grep", "quoted", "a folder of its own", "a here-document", "a comment"],
)
def test_a_grep_for_mount_is_not_destructive(command: str) -> None:
    run = play([shell(command)], box=BOX)
    assert run.spoken("policy_destructive") == []
    assert "| done" in run.told(1)


def test_a_command_that_names_twelve_urls_has_read_none_of_them() -> None:
    """Neither by naming nor by printing them: only what answered with content was read."""
    urls = " ".join(f"http://s{number}.example/" for number in range(1, 15))
    run = play(
        [shell(f"echo {urls} > urls.txt"), shell(f"printf '%s\\n' {urls}"), fetch("http://b.example/1")],
        pages=SITE,
        box=BOX,
    )
    assert [len(move.targets) for move in run.of(events.Move)] == [14, 14, 1]
    assert run.spoken("policy_source_budget") == []
    assert [each.target.domain for each in run.lane.history.reached] == ["b.example"]
    assert run.sites.asked == ["b.example/1"]


def test_a_connection_to_a_domain_that_was_visited_enough_is_refused_at_the_tunnel() -> None:
    """The same gate as for `fetch`: the command runs, its client prints the sentence, and so does the
    observation. Package indexes are exempt, however often they are asked."""
    said = (
        "apple.com was visited 2 times in a row, and before “none” can be said 1 more official domain and 1 "
        "more independent domain must be reached. Go to another domain: search for one, or fetch another "
        "result."
    )
    assert is_package_index("pypi.org")
    run = play(
        [
            fetch("http://apple.com/1"),
            fetch("http://apple.com/2"),
            shell("curl -sS http://apple.com/3; fetch http://apple.com/3"),
            shell("for n in 1 2 3; do curl -sSf -o /dev/null http://pypi.org/$n && echo got $n; done"),
            shell("fetch http://b.example/1"),
            shell("curl -sSf -o /dev/null http://apple.com/3 && echo got 3"),
        ],
        task=NEGATIVE,
        pages=SITE,
        box=BOX,
    )
    assert run.spoken("policy_domain_shift") == [(3, "refuse")]
    assert (run.record("policy_domain_shift")["tool"], run.record("policy_domain_shift")["subject"]) == (
        "shell", "apple.com",
    )  # fmt: skip
    assert run.told(3).splitlines()[1:] == [
        f"1| Forbidden: {said}",
        f"2| fetch: refused: {said}",
        f"REFUSED: {said}",
        "Step 3 of 80.",
    ]
    assert run.told(4).splitlines()[1:4] == ["1| got 1", "2| got 2", "3| got 3"]
    assert "1| got 3" in run.told(6)
    assert "apple.com/3" in run.sites.asked
    assert [each.target.domain for each in run.history(3).reached] == ["apple.com"]
    refused = [each for each in run.of(events.Egress) if each.verdict == "refused"]
    assert [(each.by, each.host, each.reason) for each in refused] == [("box", "apple.com", said)]


REPORT = "/work/output/report.md"


def test_a_report_that_is_written_again_and_again_is_handed_in_through_verification() -> None:
    """It is told one time before. The file goes through verification first; what that says is a step like any
    other, and the lane goes on."""
    run = play(
        [
            shell("echo 42; seq 9"),
            *[
                shell(f"mkdir -p output; echo 'It is 4{number} [ev_0001:1].' > output/report.md")
                for number in (0, 1, 3)
            ],
            shell("echo on"),
        ],
        task="How much is six times seven?",
        box=BOX,
    )
    assert run.spoken("policy_finalization_stop") == [(3, "nudge"), (4, "end")]
    assert run.record("policy_finalization_stop") == {
        "step": 3,
        "effect": "nudge",
        "reason": f"{REPORT} was written 2 times without a new result in between.",
        "way_forward": "If it is done, hand it in or give the answer. Written once more, it is handed in.",
        "tool": "shell",
        "subject": REPORT,
        "count": 2,
        "limit": 3,
    }
    assert (
        f"policy_finalization_stop: {REPORT} was written 2 times without a new result in between. If it is "
        "done, hand it in or give the answer. Written once more, it is handed in."
    ) in run.told(3)
    (given,) = run.of(events.Answer)
    assert (given.submitted, given.text) == ("output/report.md", "It is 43 [ev_0001:1].")
    assert [each.path for each in run.of(events.Output)] == ["report.md"]
    rounds = [each for each in run.records if isinstance(each, events.VerifierStarted)]
    assert [each.answer_seq for each in rounds] == [given.seq]
    assert "CONSTRAINT" not in run.told(4)
    assert "CONSTRAINT MET policy_finalization_stop" in run.told(5)
    assert "VERIFICATION of your answer, round 1 of 3: not verified." in str(
        run.server.requests[4].body["messages"]
    )
    assert "| on" in run.told(5)
    assert run.lane.history.ending is None
    assert run.history(5).drafts.count == 0


def test_a_report_that_grows_with_what_is_found_is_let_be() -> None:
    turns = []
    for number in (1, 2, 3, 4):
        turns += [
            fetch(f"http://b.example/{number}"),
            shell(f"mkdir -p output; echo {number} > output/report.md"),
        ]
    run = play(turns, pages=SITE, box=BOX)
    assert run.spoken("policy_finalization_stop") == []
    assert run.of(events.Answer) == []


def test_a_report_that_is_handed_in_by_itself_is_looked_at_as_any_answer() -> None:
    run = play(
        [
            shell("mkdir -p output; echo 42 > output/report.md"),
            act("submit", path="output/report.md"),
            answer("42"),
        ],
        box=BOX,
    )
    assert run.spoken("policy_finalization_stop") == []
    assert run.of(events.Answer)[0].submitted == "output/report.md"
