"""Distributions with plugins, put on the path as an installer leaves them: a module and a .dist-info."""

import os
import shutil
import tomllib
from collections.abc import Mapping
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "plugin"


def put(
    site: Path,
    module: str,
    source: str,
    points: Mapping[str, Mapping[str, str]],
    *,
    name: str = "strange-parts",
    version: str = "1.0",
) -> Path:
    """A distribution of one module in the folder `site`. `points` are entry points: family → name → object
    of the module."""
    site.mkdir(parents=True, exist_ok=True)
    (site / f"{module}.py").write_text(source, "utf-8")
    lines = []
    for family, named in points.items():
        lines += [f"[vera.{family}]", *(f"{key} = {module}:{target}" for key, target in named.items())]
    _dist_info(site, name, version, lines)
    return site


def put_example(site: Path) -> Path:
    """The example package, as its pyproject.toml describes it."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text("utf-8"))["project"]
    site.mkdir(parents=True, exist_ok=True)
    shutil.copy(EXAMPLE / "src" / "vera_example_plugin.py", site)
    lines = []
    for group, named in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{key} = {target}" for key, target in named.items())]
    _dist_info(site, project["name"], project["version"], lines)
    return site


def on_path(site: Path) -> dict[str, str]:
    """The environment of a process that has the folder on its path."""
    return {"PYTHONPATH": os.pathsep.join(filter(None, [str(site), os.environ.get("PYTHONPATH", "")]))}


def _dist_info(site: Path, name: str, version: str, entry_points: list[str]) -> None:
    folder = site / f"{name.replace('-', '_')}-{version}.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", "utf-8")
    (folder / "entry_points.txt").write_text("\n".join(entry_points) + "\n", "utf-8")
