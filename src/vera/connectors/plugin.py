"""A connector that a plugin brings: a function of the source and the basket, bounded in time."""

from collections.abc import Callable

from vera.connectors.basket import Basket
from vera.connectors.reach import Reach
from vera.connectors.values import ConnectorError, Source
from vera.plugins.calling import PluginFailed, begun, finished
from vera.sanitize import one_line


class PluginConnector:
    """Calls `gather(source, basket)` of a plugin in a thread. It returns the revision, None for none."""

    def __init__(self, kind: str, version: str, gather: Callable[[Source, Basket], object]) -> None:
        self.version = version
        self._kind = kind
        self._gather = gather

    async def gather(self, source: Source, basket: Basket, reach: Reach) -> str:
        """What the plugin gives in the time of the source. Raises ConnectorError."""
        try:
            revision = await finished(begun(lambda: self._gather(source, basket)), basket.seconds_left)
        except PluginFailed as error:
            raise ConnectorError(
                f"The connector {source.name}, of the plugin {self._kind}, gave nothing: {error}."
            ) from None
        return one_line(str(revision), 200) if revision is not None else ""
