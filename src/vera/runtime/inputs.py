"""`run.inputs`: the files, folders, archives and web addresses of a run, as one folder and one source.

Files and folders are laid out as the input folder. Addresses are a source of pages, which is gathered with
the connectors of the run.
"""

from collections.abc import Callable, Sequence

from vera.agent.inputs import is_address, lay_out
from vera.config import Settings
from vera.connectors import Source
from vera.sanitize import one_line

PAGES = "web"
"""The name of the source: it begins the names of the pages."""

TOLD = 20
"""Files that are named among those left out."""

LINE = 2000
"""Characters of a line that is told."""

Say = Callable[[str], None]


def inputs_of(settings: Settings) -> list[str]:
    """The inputs of a run in their order."""
    return [line.strip() for line in settings.run.inputs.splitlines() if line.strip()]


def pages_of(settings: Settings) -> list[Source]:
    """The source of the pages whose addresses are inputs; none without an address."""
    urls = [each.replace(" ", "%20") for each in inputs_of(settings) if is_address(each)]
    return [Source(name=PAGES, kind="page", address=" ".join(urls))] if urls else []


def with_folder(settings: Settings, say: Say) -> Settings:
    """The settings with the files and folders of the inputs as their input folder, and the addresses as their
    only inputs. `say` hears of what got another name or is left out. Without inputs the settings as they are.

    Raises SetupError: an input cannot be read (2), or the folder cannot be written (5).
    """
    inputs = inputs_of(settings)
    paths = [each for each in inputs if not is_address(each)]
    if not inputs:
        return settings
    folder = None
    if paths:
        laid = lay_out(paths, settings.run.base_dir)
        folder = laid.folder
        for line in _told(laid.renamed, laid.left_out):
            say(line)
    addresses = "\n".join(each for each in inputs if is_address(each))
    run = settings.run.model_copy(update={"input_dir": folder, "inputs": addresses})
    return settings.model_copy(update={"run": run})


def _told(renamed: Sequence[tuple[str, str]], left_out: Sequence[tuple[str, str]]) -> list[str]:
    told = [f"{path} is called {name} here: another input has its name" for path, name in renamed]
    told += [f"not read: {path}: {why}" for path, why in left_out[:TOLD]]
    told += [f"… and {len(left_out) - TOLD} more"] if len(left_out) > TOLD else []
    return [one_line(line, LINE) for line in told]
