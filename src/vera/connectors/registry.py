"""Every kind of connector by its name: what it is called in `NAME=KIND:ADDRESS`."""

from collections.abc import Mapping

from vera.connectors.bibtex import BibTeX
from vera.connectors.folder import FolderConnector
from vera.connectors.git import Git
from vera.connectors.page import Pages
from vera.connectors.site import Site
from vera.connectors.values import Connector
from vera.connectors.zotero import Zotero

CONNECTORS: Mapping[str, Connector] = {
    "folder": FolderConnector(),
    "git": Git(),
    "page": Pages(),
    "site": Site(),
    "zotero": Zotero(),
    "bibtex": BibTeX(),
}
