"""A folder of documents: its regular files, links left out."""

import asyncio
from pathlib import Path

from vera.connectors.basket import LARGEST, Basket
from vera.connectors.reach import Reach
from vera.connectors.values import ConnectorError, Source
from vera.evidence.reading import read_regular, walk
from vera.extraction.source import Unreadable

MAX_FILES = 1_000_000
"""Of the folder, that are looked at."""


class FolderConnector:
    """`folder:PATH`: the files of a folder, in order of their names."""

    version = "1"

    async def gather(self, source: Source, basket: Basket, reach: Reach) -> str:
        """Put the files of the folder into the basket. A folder has no revision. Raises ConnectorError."""
        source.only()
        root = Path(source.address).expanduser()
        if not root.is_dir():
            raise ConnectorError(f"The connector {source.name}: {source.address} is no folder.")
        await asyncio.to_thread(_take, root.resolve(), basket)
        return ""


def _take(root: Path, basket: Basket) -> None:
    for entry in walk(root, MAX_FILES):
        if basket.is_full:
            basket.leave_out(entry.path, f"beyond {basket.ended_at}: what follows it was not looked at")
            return
        why = entry.skipped or basket.why_not(entry.size)
        try:
            data = b"" if why else read_regular(root, entry.path, LARGEST)
        except Unreadable as error:
            why = str(error)
        if why:
            basket.leave_out(entry.path, why)
        else:
            basket.add(entry.path, data, f"{root}/{entry.path}")
