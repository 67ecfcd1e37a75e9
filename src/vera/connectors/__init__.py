"""Connectors: where documents of a run come from beside the input folder.

A connector puts documents into a bounded basket, each under a stable name and with its origin. What was
gathered is kept as a folder that does not change any more, which a run then reads like an input folder.
"""

from vera.connectors.basket import Basket
from vera.connectors.values import Connector, ConnectorError, Source, read_source, read_sources

__all__ = ["Basket", "Connector", "ConnectorError", "Source", "read_source", "read_sources"]
