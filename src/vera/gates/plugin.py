"""A gate of a plugin: asked for a bounded time, its verdict checked. One that cannot be asked ends the run.

Whoever enables a gate wants it to be asked: a run that went on without it might do what the gate refuses.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from vera.gates.kernel import Action, Allow, End, Gate, Nudge, Refuse, Rules, State, Verdict, named_gate
from vera.plugins.calling import PluginFailed, call
from vera.sanitize import one_line

SECONDS = 5.0
"""Seconds for one verdict. Our own take less than a millisecond, and the run waits for each."""

SAID = 500
"""Characters of a reason, and of a way forward: the model reads them."""

SUBJECT = 200


def plugin_gate(name: str, judge: Callable[[State, Action, Rules], Any]) -> Gate:
    """The gate `policy_NAME`, whose verdicts are those of `judge` where they can be used."""

    def asked(state: State, action: Action, rules: Rules) -> Verdict:
        try:
            return call(lambda: _checked(judge(state, action, rules)), SECONDS)
        except PluginFailed as error:
            return End(reason=f"The gate {name} of a plugin cannot be asked: {error}.")

    return named_gate(name, asked)


def _checked(verdict: Any) -> Verdict:
    """The verdict with members of their types and texts of a bounded length. Raises PluginFailed."""
    if not isinstance(verdict, Allow | Refuse | Nudge | End):
        raise PluginFailed("it gave something else than Allow, Refuse, Nudge or End")
    if isinstance(verdict, Allow):
        return verdict
    sound = msgspec.convert(msgspec.to_builtins(verdict), type(verdict))
    facts = msgspec.structs.replace(sound.facts, subject=one_line(sound.facts.subject, SUBJECT))
    sound = msgspec.structs.replace(sound, reason=one_line(sound.reason, SAID), facts=facts)
    if isinstance(sound, End):
        return sound
    return msgspec.structs.replace(sound, way_forward=one_line(sound.way_forward, SAID))
