"""Lease: who leads, and until when. Agents renew one to show that their cluster is alive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.api import parts
from muster.api.builtin import AGE, builtin
from muster.api.parts import Identity, Node, Part
from muster.api.reading import Reader
from muster.api.resource import PrinterColumn
from muster.values.causes import Cause, invalid
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from datetime import datetime


class LeaseSpec(Part, frozen=True):
    """None is what was never said: nobody's lease has another holder than an empty one."""

    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    acquire_time: str | None = None
    renew_time: str | None = None
    lease_transitions: int | None = None
    strategy: str | None = None
    preferred_holder: str | None = None


class Lease(Node, frozen=True):
    """A lease, with as much of its metadata as its watchers read."""

    metadata: Identity = Identity()
    spec: LeaseSpec = LeaseSpec()


_READER: Final = Reader(Lease)


def rules(new: JsonObject, _: JsonObject | None) -> list[Cause]:
    spec = _READER.of(new).spec
    causes = []
    if (seconds := spec.lease_duration_seconds) is not None and seconds <= 0:
        causes.append(invalid("spec.leaseDurationSeconds", seconds, "must be greater than 0"))
    if (transitions := spec.lease_transitions) is not None and transitions < 0:
        causes.append(invalid("spec.leaseTransitions", transitions, "must be greater than or equal to 0"))
    return causes


def _holder(obj: JsonObject, _: datetime) -> object:
    return _READER.of(obj).spec.holder_identity


LEASE: Final = builtin(
    "Lease",
    "leases",
    parts.kind(
        "Who leads, and until when.",
        parts.obj(
            "The lease.",
            properties={
                "acquireTime": parts.time("When the holder got it.", nullable=True),
                "holderIdentity": parts.string("Who holds it."),
                "leaseDurationSeconds": parts.integer("How long it lasts after a renewal."),
                "leaseTransitions": parts.integer("How often the holder has changed."),
                "preferredHolder": parts.string("Who should hold it."),
                "renewTime": parts.time("When the holder last renewed it.", nullable=True),
                "strategy": parts.string("How the holder is chosen."),
            },
        ),
    ),
    (PrinterColumn("Holder", "string", description="Who holds it.", cell=_holder), AGE),
    group="coordination.k8s.io",
    rules=rules,
)
