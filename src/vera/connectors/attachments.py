"""Files that a library of references attaches to its entries, read from inside allowed folders only."""

import os
from pathlib import Path

from vera.connectors.basket import LARGEST, Basket
from vera.connectors.values import ConnectorError, Source
from vera.evidence.reading import read_regular
from vera.extraction.source import Unreadable


class Attachments:
    """Takes attachments under the citation key of their entry: `@KEY/FILE`.

    `home` is the folder of the library; files elsewhere are left out unless the option `allow` of the source
    names a folder that they are in. Raises ConnectorError for an `allow` that is no folder.
    """

    def __init__(self, source: Source, home: Path, basket: Basket) -> None:
        self._basket = basket
        self._home = home.resolve()
        self._roots = [self._home]
        if allowed := source.options.get("allow", ""):
            folder = Path(allowed).expanduser()
            if not folder.is_dir():
                raise ConnectorError(f"The connector {source.name}: allow={allowed} is no folder.")
            self._roots.append(folder.resolve())

    def take(self, key: str, path: str, cited: str) -> bool:
        """Take the file at `path`, relative to the library's folder or absolute, for the entry of this key;
        whether it was taken. `cited` is what a person reads: author, title, year."""
        name = f"@{_safe(key)}/{_safe(path.replace(chr(92), '/').rpartition('/')[2])}"
        if "\0" in path:
            self._basket.leave_out(name, "its path holds a zero byte")
            return False
        given = Path(path).expanduser() if path.startswith("~/") else self._home / path
        whole = Path(os.path.normpath(given))
        try:
            data = self._read(whole)
        except Unreadable as error:
            self._basket.leave_out(name, str(error))
            return False
        return self._basket.add(name, data, f"[@{key}] {cited}: {whole}")

    def _read(self, whole: Path) -> bytes:
        """The bytes of a file in one of the folders. Raises Unreadable."""
        for root in self._roots:
            try:
                relative = whole.relative_to(root)
            except ValueError:
                continue
            return read_regular(root, relative.as_posix(), LARGEST)
        raise Unreadable("its path leads out of the library's folder; #allow=FOLDER lets a folder be read")


def _safe(text: str) -> str:
    """A key or file name that a file can have."""
    kept = "".join("_" if each in '/\\:*?"<>|' or not each.isprintable() else each for each in text.strip())
    kept = kept.strip(". ")
    while len(kept.encode("utf-8", "replace")) > 180:
        kept = kept[len(kept) // 8 + 1 :]
    return kept or "_"
