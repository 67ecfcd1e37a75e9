"""A guard against accidents: what plainly destroys is refused, and what only looks or says so is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.gating import Trial, rules_for
from vera import events
from vera.agent.rules import listed
from vera.config import defaults
from vera.gates.commands import simple_commands
from vera.gates.destructive import destroys

DESTROYS = [
    "rm -rf /",
    "rm -fr /",
    "rm -r -f /",
    "sudo rm -rf /*",
    "sudo -u root rm -rf /",
    "/bin/rm -rf //",
    "rm --recursive --force /",
    "rm / -rf",
    "cd /x && rm -rf /",
    "echo hi; rm -rf ~",
    "echo hi | xargs rm -rf /",
    "ls\nrm -rf /work/*",
    "x=$(rm -rf /)",
    'echo "$(rm -rf /)"',
    "echo `rm -rf /`",
    "bash -c 'rm -rf /'",
    'bash -lc "cd /; rm -rf /"',
    "timeout 10 rm -rf /",
    "if true; then rm -rf /; fi",
    "(rm -rf /)",
    "{ rm -rf /; }",
    'r""m -rf /',
    "rm -rf \\\n /",
    "mkfs.ext4 /dev/sda",
    "mkfs -t ext4 /dev/sdb1",
    "dd if=x of=/dev/sda bs=1M",
    "dd if=/dev/zero of=/dev/nvme0n1",
    ":(){ :|:& };:",
    ":(){:|:&};:",
    "cat x > /dev/sda",
    "> /dev/sda",
    "echo a >>/dev/sdb",
    'rm -rf "$HOME"',
    "rm -rf ${HOME}/*",
    "A=1 B=2 rm -rf /",
    "eval 'rm -rf /'",
    "cat <<EOF\nx\nEOF\nrm -rf /",
    "shutdown -h now",
    "chmod -R 777 /",
    "rm -rf /work/",
    "sudo reboot",
    "FOO=bar; rm -Rf /",
    "rm -rf -- /",
    "cat <<-E1 <<E2\n\tE1\nE2\nrm -r /",
    "while true; do rm -r /; done",
    "! rm -r /",
    "&>/dev/null rm -r /",
    "env -i A=1 rm -r /",
]

SAFE = [
    "grep mount f",
    "date +%Y-%m-dd",
    "# dd",
    "# rm -rf /",
    "curl https://x.org/mount",
    'echo "rm -rf /"',
    "echo 'rm -rf /'",
    "rm -rf /work/tmp",
    "rm -rf build",
    "rm -r /tmp/x",
    "cat <<EOF > a.sh\nrm -rf /\nEOF",
    "cat <<'EOF'\nrm -rf /\nEOF\nls",
    "cat <<-EOF\n\trm -rf /\n\tEOF",
    "python3 -c '\nrm -rf /\n'",
    "dd if=/dev/zero of=/dev/null bs=1M",
    "dd if=/dev/sda of=img",
    "ls > /dev/null 2>&1",
    "echo halt",
    "grep -r reboot /etc",
    "git commit -m 'a\nrm -rf /\nb'",
    "rm /work/x",
    "rm -f /",
    "man shutdown",
    "mount",
    "cat <<< 'rm -rf /'",
    "echo a#b rm",
    "sudo grep rm -r /",
    "find / -name rm",
    "echo $((1+2))",
    "chmod -R 755 /work",
    "echo ':(){ :|:& };:'",
    "wipefs /dev/sda",
    "sudo -v",
    "timeout 5",
    "rm -rf /work/*.tmp",
    "rm -rf /work/out/*",
    "echo hi >& 2",
    "which mkfs",
    "mkfs.ext4 disk.img",
    "shred secret.txt",
    "awk '{print $1}' f | sort",
    "for x in a b; do echo $x; done",
    "case x in a) ls;; esac",
    "echo 'unclosed",
    "$(",
    "`",
    "<<",
    "cat <<",
    "a=(1 2)",
    "",
    " ; ; ",
    "\\",
    '"$(',
]


PATTERNS = tuple(listed(defaults().policy.destructive))
"""Those of the packaged settings."""


@pytest.mark.parametrize("command", DESTROYS)
def test_what_plainly_destroys_is_found(command: str) -> None:
    assert destroys(command, PATTERNS)


@pytest.mark.parametrize("command", SAFE)
def test_what_only_looks_like_it_is_not(command: str) -> None:
    assert destroys(command, PATTERNS) == ""


def test_a_refused_command_names_the_pattern_and_leaves_the_shell_usable() -> None:
    trial = Trial(rules_for(destructive=PATTERNS))
    said = trial.shell("sudo rm -r -f /")
    assert "rm -r /" in said and "Name exactly the files" in said
    assert trial.spoken(events.PolicyDestructive)[0].subject == "rm -r /"
    assert not trial.shell("rm -rf /work/tmp") and not trial.shell("grep mount /etc/fstab")
    assert trial.refused("fetch", {"url": "https://example.org/rm -rf /"}) is None


def test_an_empty_list_refuses_nothing() -> None:
    assert not Trial(rules_for(destructive=())).shell("rm -rf /")


def test_a_person_edits_the_list() -> None:
    assert destroys("git push origin main --force", ("git push -f",))
    assert not destroys("git push origin main", ("git push -f",))
    assert destroys("psql -c 'DROP TABLE x'", ("psql *DROP*",))


def test_simple_commands_of_nested_text() -> None:
    text = "a $(b `c`) | d && bash -c 'e; f' # g\nh <<X\ni\nX\nj >k"
    assert sorted(words[0] for words in simple_commands(text)) == [
        "a",
        "b",
        "bash",
        "c",
        "d",
        "e",
        "f",
        "h",
        "j",
    ]
    assert simple_commands("j >k 2>/dev/null") == [["j", ">k", ">/dev/null"]]


@given(st.text(alphabet="rm -/*~'\"`$(){};&|<>#\\\n=aE", max_size=60))
def test_any_text_is_read_without_an_error(text: str) -> None:
    assert isinstance(destroys(text, PATTERNS), str)
    assert destroys(f"true\n{text}", ()) == ""


@pytest.mark.parametrize(
    "text", ["$(" * 500_000, "`" * 1_000_000, '"' * 999_999, "<<a\n" * 250_000, "\\" * 1_000_000]
)
def test_a_hostile_command_of_a_million_characters_is_read_in_bounded_work(text: str) -> None:
    assert destroys(text, PATTERNS) == ""
