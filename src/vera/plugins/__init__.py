"""Plugins: parts of VERA that other distributions bring, found by their entry points.

Nothing of a plugin is imported before a person has enabled it by name (`vera.plugins.installed`). Its code
then runs on the host with all rights of this process; what VERA bounds is what its results count for.
"""

from collections.abc import Mapping

FAMILIES: Mapping[str, str] = {
    "tools": "a function that the model can call",
    "gates": "a policy that may refuse an action",
    "checks": "a rule of the audit",
    "selectors": "a way to choose among sampled actions",
    "search_engines": "an engine of the web search",
    "formats": "a kind of document",
    "model_servers": "a kind of model server",
    "connectors": "a kind of connector",
}
"""Family → what one is. Its entry points are in the group `vera.FAMILY`."""


class PluginError(ValueError):
    """A plugin that cannot be used: a sentence for the person."""
