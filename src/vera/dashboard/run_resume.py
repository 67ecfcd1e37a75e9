"""Which sessions may be resumed from a browser: a log in the base folder may have come from a stranger."""

from collections.abc import Mapping
from pathlib import Path

from vera.attestation.own_log import proof_of
from vera.config import Loaded, load
from vera.config.errors import Refused
from vera.config.handed import Allowed
from vera.config.logged import Begun, Proof, log_layer
from vera.dashboard.log_ends import LogEnds
from vera.dashboard.run_form import handed_of


def resumed_settings(
    folder: Path, ends: LogEnds, base: Path, limits: Mapping[str, str], allowed: Allowed
) -> Loaded:
    """The settings under which the run of that log goes on, with new limits of a form: `vera resume` comes to
    the same. What gives commands more of this machine is never taken from a log here.

    Raises Refused when the log has settings that the person did not choose, and when it holds work that their
    key has not sealed.
    """
    proof, _ = proof_of(folder)
    log = log_layer(Begun(ends.session, ends.task, ends.server), Proof(proof.sealed))
    loaded = load((), {}, cwd=base, handed=handed_of(limits, allowed), log=log)
    if ends.began and not proof.sealed:
        raise Refused(["Your key has not sealed this session, so it is not known for yours."])
    return loaded
