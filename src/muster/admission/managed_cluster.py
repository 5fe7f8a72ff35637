"""ManagedCluster: the time of a taint is the server's. A placement tolerates taints for a while, counted from it."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING, Any

from muster.admission.write import CREATE, NOTHING, Finding, refused, spec_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muster.admission.write import Write

_IDENTITY = ("key", "value", "effect")


def taint_times(write: Write) -> Finding:
    """New and changed taints get the present time, others keep theirs. Nobody else sets it."""
    new = write.new
    if new is None or write.subresource:
        return NOTHING
    taints: Sequence[dict[str, Any]] = spec_of(new).get("taints") or ()
    if not taints:
        return NOTHING
    now = write.now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    known = {_identity(taint): taint.get("timeAdded") for taint in reversed(spec_of(write.old).get("taints") or ())}
    timed, forged = [], []
    for taint in taints:
        given = taint.get("timeAdded")
        stored = known.get(_identity(taint))
        if write.operation != CREATE and given is not None and given != stored:
            forged.append(str(taint.get("key")))
        timed.append({**taint, "timeAdded": stored or now})
    if forged:
        return refused(f'It is not allowed to set TimeAdded of Taint "{",".join(forged)}".')
    if timed == list(taints):
        return NOTHING
    return Finding({**new, "spec": {**spec_of(new), "taints": timed}})


def _identity(taint: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(taint.get(name) or "" for name in _IDENTITY)
