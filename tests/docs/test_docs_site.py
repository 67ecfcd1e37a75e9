"""The documentation as a site: mkdocs builds it without a warning, and its search finds every page."""

import json
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").rglob("*.md"))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [ROOT / ".ci" / "site", folder], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert not done.stdout.strip()
    return folder


@pytest.mark.needs("pypi")
def test_the_site_is_built_without_a_warning_and_finds_every_page(site: Path) -> None:
    index = json.loads((site / "search" / "search_index.json").read_text())
    found = {entry["location"].partition("#")[0] for entry in index["docs"]}
    assert len(found) == len(PAGES)


@pytest.mark.needs("pypi")
def test_links_out_of_the_documentation_lead_into_the_repository(site: Path) -> None:
    page = (site / "index.html").read_text()
    assert "https://github.com/vera-agent/vera/blob/main/CONTRIBUTING.md" in page
    assert 'href="../CONTRIBUTING.md"' not in page


@pytest.mark.needs("pypi")
def test_a_page_loads_nothing_from_elsewhere(site: Path) -> None:
    page = (site / "tutorial" / "index.html").read_text()
    assert "fonts.googleapis.com" not in page
    assert 'src="http' not in page
