"""What a connector gathered, and whether something ran or leaked on the way."""

from pathlib import Path

from redteam.place import Place
from support.connecting import CLOSED, gathered
from vera.connectors.reach import Reach
from vera.connectors.values import ConnectorError


def gather(place: Place, source: str, reach: Reach = CLOSED) -> None:
    """Gather the source into `place`; why it cannot be is kept."""
    try:
        gathered(place.folder / "basket", source, reach)
    except ConnectorError as error:
        place.told = {"said": str(error)}


def run_git(place: Place, source: str, marker: Path) -> str:
    """RAN where the marker is there, GATHERED where a.txt was taken, else REFUSED."""
    gather(place, source)
    if marker.exists():
        return "RAN"
    return "GATHERED" if any((place.folder / "basket").rglob("a.txt")) else "REFUSED"


def text_of(place: Place) -> str:
    """All that was gathered."""
    files = [each for each in (place.folder / "basket").rglob("*") if each.is_file()]
    return "\n".join(each.read_text("utf-8", "replace") for each in files)
