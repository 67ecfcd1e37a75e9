"""Which plugins there are: read from distributions, imported only when they are loaded."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.cli import vera
from support.plugin_packages import on_path, put, put_example
from vera.plugins import FAMILIES, PluginError
from vera.plugins.installed import Installed, chosen, installed, load, sha256_of

LOUD = """
from pathlib import Path
Path(__file__).with_name("imported").touch()

def loud(text: str) -> str:
    "Say it again."
    return text
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    before = set(sys.modules)
    monkeypatch.syspath_prepend(tmp_path / "site")
    yield tmp_path / "site"
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_all_families_are_found_in_order(site: Path) -> None:
    put(site, "parts", "", {family: {"part": "thing"} for family in reversed(FAMILIES)})
    assert [each.family for each in installed() if each.module == "parts"] == list(FAMILIES)


def test_the_example_is_found_with_its_version(site: Path) -> None:
    put_example(site)
    found = {(each.family, each.name): each for each in installed()}
    assert found["formats", "calendar"] == Installed(
        family="formats",
        name="calendar",
        distribution="vera-example-plugin",
        version="0.1.0",
        module="vera_example_plugin",
        attribute="CALENDAR",
    )


def test_nothing_is_imported_to_list_hash_or_choose(site: Path) -> None:
    put(site, "loud_part", LOUD, {"tools": {"loud": "loud"}})
    assert [each.name for each in chosen(["loud"])] == ["loud"]
    assert len(sha256_of("loud_part")) == 64
    assert not (site / "imported").exists()
    assert load(chosen(["loud"])[0])("again") == "again"
    assert (site / "imported").exists()


def test_no_command_imports_a_plugin_that_is_not_enabled(tmp_path: Path) -> None:
    put(tmp_path / "site", "loud_part", LOUD, {"tools": {"loud": "loud"}})
    environment = on_path(tmp_path / "site")
    (tmp_path / "input").mkdir()
    (tmp_path / "input" / "a.txt").write_text("The hall is open.\n")
    listed = vera("plugins", cwd=tmp_path, **environment)
    ran = vera("run", "Is the hall open?", "--input-dir", "input", cwd=tmp_path, **environment)
    assert "loud" in listed.stdout
    assert ran.returncode in (0, 3), ran.stderr
    assert not (tmp_path / "site" / "imported").exists()


def test_the_list_as_json_says_what_is_enabled(tmp_path: Path) -> None:
    put_example(tmp_path / "site")
    shown = vera(
        "plugins", "--json", "-c", "plugins.enabled=weekday", cwd=tmp_path, **on_path(tmp_path / "site")
    )
    rows = {row["name"]: row for row in json.loads(shown.stdout)}
    assert set(rows["weekday"]) == {
        *("group", "name", "distribution", "version", "enabled", "module", "sha256")
    }
    assert (rows["weekday"]["group"], rows["weekday"]["enabled"]) == ("vera.tools", True)
    assert rows["calendar"]["enabled"] is False
    assert len(rows["calendar"]["sha256"]) == 64


def test_the_doctor_has_one_line_for_them(tmp_path: Path) -> None:
    put_example(tmp_path / "site")
    enabled = ("-c", "plugins.enabled=weekday,gone")
    shown = vera("doctor", "--json", *enabled, cwd=tmp_path, **on_path(tmp_path / "site"))
    (line,) = [each for each in json.loads(shown.stdout) if each["part"] == "plugins"]
    assert line["state"] == "broken"
    assert line["found"] == ("5 installed; enabled: weekday (vera-example-plugin 0.1.0); not installed: gone")


def test_a_name_that_is_not_installed_is_told_with_the_nearest(site: Path) -> None:
    put_example(site)
    with pytest.raises(PluginError, match=r"'weekdays'\. Did you mean weekday"):
        chosen(["weekdays"])


def test_two_distributions_with_one_name_are_refused(site: Path) -> None:
    put(site, "one", "", {"tools": {"same": "a"}}, name="first-parts")
    put(site, "two", "", {"tools": {"same": "a"}}, name="second-parts")
    with pytest.raises(PluginError, match="first-parts and second-parts"):
        chosen(["same"])


@pytest.mark.parametrize("name", ["Weekday", "a b", "x" * 49, "1st", "ünit"])
def test_a_name_that_none_may_have_is_not_listed(site: Path, name: str) -> None:
    put(site, "odd", "", {"tools": {name: "a"}})
    assert not [each for each in installed() if each.module == "odd"]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("raise ValueError('out\\nof order')", "ValueError: out of order"),
        ("import sys; sys.exit(7)", "SystemExit: 7"),
        ("import not_there_at_all", "ModuleNotFoundError"),
        ("", "AttributeError"),
        ("class E(Exception):\n    def __str__(self): raise RuntimeError\nraise E", "for: E."),
    ],
)
def test_a_module_that_fails_is_a_sentence(site: Path, source: str, said: str) -> None:
    put(site, "failing_part", source, {"tools": {"failing": "tool"}})
    with pytest.raises(PluginError) as error:
        load(chosen(["failing"])[0])
    assert said.removeprefix("for: ") in str(error.value)
    assert "\n" not in str(error.value)


def test_the_hash_is_that_of_the_file_or_of_all_files_of_a_package(site: Path) -> None:
    put(site, "single", "A = 1\n", {})
    package = site / "many"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "part.py").write_text("B = 2\n")
    command = "find . -type f | LC_ALL=C sort | sed 's,^./,,' | xargs sha256sum | sha256sum"
    by_hand = subprocess.run(["bash", "-c", command], cwd=package, capture_output=True, text=True, check=True)
    assert sha256_of("many.part") == by_hand.stdout.split()[0]
    (package / "part.py").write_text("B = 3\n")
    assert sha256_of("many") != by_hand.stdout.split()[0]
    assert len(sha256_of("single")) == 64
    assert sha256_of("not_there_at_all") == ""
