"""The settings of a run that goes on, as its log has them."""

from collections.abc import Mapping
from typing import NamedTuple

from vera import events
from vera.config.handed import as_text
from vera.config.origin import Layer, Origin, SettingPlace, WrittenValue
from vera.config.schema import catalogue
from vera.config.section import AUTO, BUILT_IN
from vera.config.trust import ALWAYS_ASKED, KEYED_ADDRESSES, NO_KEY

NOT_SET = "not set"
"""What a log has in place of a key that there was none of."""

WHERE = "the log of the session"


class Proof(NamedTuple):
    """How much of a log the user's key has sealed: its first `sealed` records (0: none), or `whole`."""

    sealed: int = 0
    whole: bool = False


class Begun(NamedTuple):
    """What the log of a run says of how it was begun."""

    session: events.Session | None
    task: events.Task | None
    server: events.ModelServer | None

    @property
    def settings(self) -> Mapping[str, object]:
        return self.session.settings if self.session else {}

    def setting(self, key: str) -> object:
        """What the log has for a setting; None for one that it does not know."""
        value: object = self.settings
        for part in key.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        return value


def log_layer(begun: Begun, proof: Proof) -> Layer:
    """The settings of a log as entries: the user's where their key has sealed the log, else a
    session's. Keys are in no log.

    The server that was asked and the form of a turn belong to them: the prompt of a lane is written for one
    form, and a server may have been found by itself. Such a server is taken from a sealed log only. What
    gives commands more of this machine is the user's only when the whole log is sealed.
    """
    beginning = (begun.session.seq if begun.session else 0, begun.task.seq if begun.task else 0)
    own = min(beginning) > 0 and max(beginning) <= proof.sealed
    found = {
        key: value
        for key, setting in catalogue().items()
        if not setting.secret and key != "run.work_dir" and (value := begun.setting(key)) is not None
    }
    if begun.setting("run.lane") != "execute":  # whose task names no folder
        found["run.input_dir"] = (begun.task.input_dir if begun.task else "") or None
    server = begun.server
    if server is not None and server.kind == BUILT_IN:
        found["model.base_url"] = BUILT_IN
    elif server is not None:
        found["model.protocol"] = server.protocol
        is_named = begun.setting("model.base_url") not in (None, "", AUTO)
        is_known = is_named or (own and server.seq <= proof.sealed)
        if not begun.setting("model.file") and is_known:
            found["model.base_url"] = server.base_url
            found["model.name"] = server.model
            own = own and server.seq <= proof.sealed
    return {
        key: WrittenValue(None if value is None else as_text(value), _origin(key, own, proof))
        for key, value in found.items()
    }


def keys_never_given(begun: Begun) -> frozenset[str]:
    """The keys that did not go to their addresses when the run began: an address may have been found by
    itself, or named by someone else."""
    return frozenset(
        each.key
        for each in KEYED_ADDRESSES
        if begun.setting(each.key) == NOT_SET or begun.setting(each.address) in (None, *NO_KEY)
    )


def _origin(key: str, own: bool, proof: Proof) -> Origin:
    is_own = own and (proof.whole or key not in ALWAYS_ASKED)
    return Origin(SettingPlace.OWN_LOG if is_own else SettingPlace.LOG, WHERE)
