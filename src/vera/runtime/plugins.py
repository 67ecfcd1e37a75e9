"""The plugins of a run: those that the person enabled by name, loaded, held against their shapes and ours."""

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from typing import Any

import msgspec

from vera import events
from vera.agent.errors import SetupError
from vera.agent.rules import listed
from vera.config import Settings
from vera.connectors import Connector
from vera.extraction.canonical.registry import Format
from vera.gates.kernel import Gate
from vera.lane.tools import Tool
from vera.model.servers.base import Server
from vera.plugins import PluginError
from vera.plugins.installed import Installed, chosen, load, sha256_of
from vera.session import Session
from vera.verification.plugin_checks import PluginCheck
from vera.websearch import Engine


class Plugins(msgspec.Struct, frozen=True, kw_only=True):
    """What plugins bring to a run. `used` names them for the log."""

    used: tuple[events.PluginUsed, ...] = ()
    tools: tuple[Tool, ...] = ()
    gates: tuple[Gate, ...] = ()
    checks: tuple[PluginCheck, ...] = ()
    selectors: Mapping[str, Any] = {}
    engines: Mapping[str, Engine] = {}
    formats: tuple[Format, ...] = ()
    servers: tuple[Server, ...] = ()
    connectors: Mapping[str, Connector] = {}

    def record(self, session: Session) -> None:
        """Name them in the log, also when a run goes on: they may be others by then."""
        if self.used:
            session.emit(events.PluginsLoaded(plugins=self.used), lane="")


NONE = Plugins()


def open_plugins(settings: Settings, functions: Sequence[Callable[..., Any]] = ()) -> Plugins:
    """The plugins that the settings enable, and `functions` of the caller as tools beside them. With neither
    nothing is looked for.

    Raises SetupError (2): one that is not installed, cannot be loaded, has a wrong shape, or the name of a
    part of VERA.
    """
    names = listed(settings.plugins.enabled)
    if not names and not functions:
        return NONE
    try:
        found = [(each, _loaded(each)) for each in chosen(names)]
        _refuse_unknown_checks(settings, [each for each, _ in found])
        return _made(settings, found, functions)
    except PluginError as error:
        raise SetupError(str(error), 2) from None


def _loaded(plugin: Installed) -> Any:
    if plugin.name in _our_names(plugin.family):
        raise PluginError(
            f"The plugin {plugin.name} of {plugin.distribution} has the name of a part of VERA "
            f"(vera.{plugin.family}). It needs another one."
        )
    return load(plugin)


def _made(
    settings: Settings, found: Sequence[tuple[Installed, Any]], functions: Sequence[Callable[..., Any]]
) -> Plugins:
    from vera.connectors.plugin import PluginConnector
    from vera.extraction.canonical.plugin import plugin_format
    from vera.gates.plugin import plugin_gate
    from vera.lane.tools.function import FunctionTool
    from vera.model.servers.plugin import plugin_server
    from vera.websearch.plugin import PluginEngine

    seconds, hard = settings.plugins.seconds, set(listed(settings.plugins.hard_checks))

    def of(family: str) -> list[tuple[Installed, Any]]:
        return [(plugin, given) for plugin, given in found if plugin.family == family]

    handed = {FunctionTool(function, seconds=seconds): function for function in functions}
    tools = [FunctionTool(_called(each, given), each.name, seconds=seconds) for each, given in of("tools")]
    tools += handed
    _refuse_twice([tool.spec.name for tool in tools])
    plugins = Plugins(
        used=(
            *(_used(plugin) for plugin, _ in found),
            *(_handed(tool.spec.name, function) for tool, function in handed.items()),
        ),
        tools=tuple(tools),
        gates=tuple(plugin_gate(each.name, _called(each, given)) for each, given in of("gates")),
        checks=tuple(
            PluginCheck(
                name=each.name, check=_called(each, given), seconds=seconds, may_be_hard=each.name in hard
            )
            for each, given in of("checks")
        ),
        selectors={each.name: _selector(each, given) for each, given in of("selectors")},
        engines={
            each.name: PluginEngine(each.name, _instance(each, given)) for each, given in of("search_engines")
        },
        formats=tuple(
            plugin_format(each.name, _format(each, given), f"{each.distribution}-{each.version}", seconds)
            for each, given in of("formats")
        ),
        servers=tuple(plugin_server(each.name, given) for each, given in of("model_servers")),
        connectors={
            each.name: PluginConnector(each.name, f"{each.distribution}-{each.version}", _called(each, given))
            for each, given in of("connectors")
        },
    )
    _refuse_shared_suffixes(plugins.formats)
    return plugins


def _used(plugin: Installed) -> events.PluginUsed:
    return events.PluginUsed(
        family=plugin.family,
        name=plugin.name,
        module=plugin.module,
        distribution=plugin.distribution,
        version=plugin.version,
        sha256=sha256_of(plugin.module),
    )


def _handed(name: str, function: Callable[..., Any]) -> events.PluginUsed:
    """A function that the caller of `vera.research` handed in: there is no distribution, and the module may
    be a script."""
    module = str(getattr(function, "__module__", "") or "")
    return events.PluginUsed(family="tools", name=name, module=module, sha256=sha256_of(module))


def _called(plugin: Installed, given: Any) -> Callable[..., Any]:
    if not callable(given) or isinstance(given, type):
        raise PluginError(
            f"The plugin {plugin.name} of {plugin.distribution} must be a function "
            f"({plugin.module}:{plugin.attribute}): that is what vera.{plugin.family} takes."
        )
    takes = {"gates": 3, "checks": 1, "connectors": 2}.get(plugin.family)
    try:
        parameters = inspect.signature(given).parameters
    except (TypeError, ValueError):
        return given  # type: ignore[no-any-return] # a function in C says nothing of its arguments
    if takes is not None and len(parameters) != takes:
        raise PluginError(
            f"The plugin {plugin.name} of {plugin.distribution} takes {len(parameters)} arguments; one in "
            f"vera.{plugin.family} takes {takes}."
        )
    return given  # type: ignore[no-any-return] # callable, as was just asked


def _instance(plugin: Installed, given: Any) -> Any:
    """An engine, or the one that a class without arguments makes."""
    if not isinstance(given, type):
        return given
    try:
        return given()
    except Exception as error:
        raise PluginError(
            f"The plugin {plugin.name} of {plugin.distribution} cannot be made: its class takes no arguments "
            f"and must raise nothing ({type(error).__name__})."
        ) from error


def _selector(plugin: Installed, given: Any) -> Any:
    from vera.selection.registry import SelectorError, selector

    try:
        selector(plugin.name, {plugin.name: given})
    except SelectorError as error:
        raise PluginError(f"The plugin {plugin.name} of {plugin.distribution}: {error}") from None
    return given


def _format(plugin: Installed, given: Any) -> Format:
    if not isinstance(given, Format):
        raise PluginError(
            f"The plugin {plugin.name} of {plugin.distribution} is no Format "
            "(vera.extraction.canonical.registry.Format)."
        )
    return given


def _refuse_twice(names: Sequence[str]) -> None:
    """Names of tools: those of ours are refused for what a caller hands in, too."""
    for at, name in enumerate(names):
        if name in _our_names("tools"):
            raise PluginError(f"The tool {name} has the name of a tool of VERA. It needs another one.")
        if name in names[:at]:
            raise PluginError(f"Two tools are called {name}. One of them needs another name.")


def _refuse_shared_suffixes(formats: Sequence[Format]) -> None:
    seen: dict[str, str] = {}
    for each in formats:
        for suffix in each.suffixes:
            if suffix in seen:
                raise PluginError(
                    f"The formats {seen[suffix]} and {each.name} of plugins both read files that end in "
                    f"{suffix}. Enable one of them."
                )
            seen[suffix] = each.name


def _refuse_unknown_checks(settings: Settings, found: Sequence[Installed]) -> None:
    checks = {each.name for each in found if each.family == "checks"}
    if unknown := [name for name in listed(settings.plugins.hard_checks) if name not in checks]:
        raise PluginError(
            f"plugins.hard_checks names {unknown[0]}, which is no check of a plugin that plugins.enabled "
            "enables."
        )


@cache
def _our_names(family: str) -> Collection[str]:
    """What no plugin of a family may be called."""
    match family:
        case "tools":
            from vera.lane.tools.registry import NAMES

            return NAMES
        case "gates":
            from vera.gates.registry import EXECUTE_GATES, GATES

            return {gate.name.removeprefix("policy_") for gate in (*GATES, *EXECUTE_GATES)}
        case "checks":
            from vera.audit.registry import CHECKS

            return {getattr(check, "__name__", "") for check in CHECKS}
        case "selectors":
            from vera.selection.registry import SELECTORS

            return SELECTORS.keys()
        case "search_engines":
            from vera.websearch import ENGINES

            return ENGINES.keys()
        case "formats":
            from vera.extraction.canonical import FORMATS

            return {known.name for known in FORMATS}
        case "connectors":
            from vera.connectors.registry import CONNECTORS

            return CONNECTORS.keys()
        case _:
            from vera.model.servers.registry import SERVERS

            return {server.kind for server in SERVERS}
