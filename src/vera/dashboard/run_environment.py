"""What a run that the dashboard starts gets of the dashboard's environment, and which keys it must not have.

A key belongs to the address that the person configured for it. An address from a browser, or from a session
that lies in the base folder, is another one unless it is the same origin: scheme, host and port.
"""

import os
from collections.abc import Mapping

from vera.config import ConfigError, Loaded
from vera.config.loading import user_config_file
from vera.config.origin import SettingPlace
from vera.config.schema import catalogue
from vera.config.trust import KEYED_ADDRESSES, is_server_of_key
from vera.config.yaml_file import read_layer

NAMES = frozenset(
    {
        *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TMP", "TEMP"),
        *("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "VIRTUAL_ENV", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
        *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
        *("http_proxy", "https_proxy", "all_proxy", "no_proxy", "_VERA_COMMAND"),
    }
)
PREFIXES = ("LC_", "XDG_", "DOCKER_", "SSL_CERT_", "VERA_", "PYTHON", "CUDA_", "GGML_", "OMP_")
"""Beside the settings' own names: what programs need to run, and Docker, certificates and proxies to work."""


def withheld_keys(configured: Loaded, addresses: Mapping[str, str]) -> tuple[str, ...]:
    """The settings of keys that must not go with these addresses (dotted setting → address; '' for a server
    that is found by itself, which gets none anyway).

    A key goes with an address of the server that is configured for it and that it was not withheld from.
    """
    return tuple(
        keyed.key
        for keyed in KEYED_ADDRESSES
        if (asked := addresses.get(keyed.address, ""))
        and not is_server_of_key(configured.settings, keyed, asked)
    )


def every_key() -> tuple[str, ...]:
    """The settings of all keys: for a process that needs none."""
    return tuple(key for key, setting in catalogue().items() if setting.secret)


def child_environment(withheld: tuple[str, ...], environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of a run: `environ` (that of this process) without what a run has no use for, and
    without the keys of the settings in `withheld`."""
    environ = os.environ if environ is None else environ
    settings = {name: key for key, setting in catalogue().items() for name in setting.env_names}
    named = _named_by_the_user(withheld)
    return {
        name: value
        for name, value in environ.items()
        if settings.get(name) not in withheld
        and (name in NAMES or name in settings or name in named or name.startswith(PREFIXES))
    }


def _named_by_the_user(withheld: tuple[str, ...]) -> frozenset[str]:
    """The variables that hold the person's keys where the user configuration says `env:NAME`."""
    try:
        layer = read_layer(user_config_file(), "", SettingPlace.USER) or {}
    except ConfigError:
        return frozenset()
    return frozenset(
        str(entry.value).removeprefix("env:")
        for key, entry in layer.items()
        if key in catalogue()
        and catalogue()[key].secret
        and key not in withheld
        and str(entry.value).startswith("env:")
    )
