"""What an installation would do, object by object, found by asking the server without changing anything.

Every object is tried with a dry run of server-side apply: what it would change, who else owns the fields, and what the
server would refuse are known before anybody is asked. Definitions that somebody else owns are left alone unless it is
said that they are to be replaced.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from muster.kubernetes.installing.cluster import Cluster, ObjectId, Refusal, id_of
from muster.kubernetes.installing.differences import changed_fields
from muster.kubernetes.installing.owners import Owner, owner_of
from muster.kubernetes.objects.crds import CRD
from muster.values.json import JsonMapping, JsonObject
from muster.values.json_members import text_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from muster.kubernetes.installing.inventory import Inventory

_NOT_FOUND: Final = 404
#: What servers before 1.36 do not have. Webhooks do the same there.
NEWER_KINDS: Final = frozenset({"MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"})


class Deed(StrEnum):
    """What happens to an object."""

    CREATE = "create"
    CHANGE = "change"
    UNCHANGED = "unchanged"
    REMOVE = "remove"
    KEEP = "keep"  # it is somebody else's, or holds what users wrote
    LEAVE_OUT = "leave out"  # the server has no such kind, and need not have
    CONFLICT = "conflict"  # somebody else owns fields of it
    REFUSE = "refuse"  # the server would not take it


BLOCKING: Final = frozenset({Deed.CONFLICT, Deed.REFUSE})


@dataclass(frozen=True, slots=True)
class Step:
    """One object, what happens to it, and why or what of it."""

    deed: Deed
    id: ObjectId
    obj: JsonObject | None = None
    details: tuple[str, ...] = ()

    def plain(self) -> JsonObject:
        """For machines."""
        where: JsonObject = {"namespace": self.id.namespace} if self.id.namespace else {}
        found: JsonObject = {
            "deed": self.deed.value,
            "apiVersion": self.id.api_version,
            "kind": self.id.kind,
            **where,
            "name": self.id.name,
        }
        return found | ({"details": list(self.details)} if self.details else {})


@dataclass(frozen=True, slots=True)
class Options:
    """What whoever installs has allowed."""

    force_conflicts: bool = False  # take over fields that others own
    replace_crds: bool = False  # replace definitions that others own


@dataclass(frozen=True, slots=True)
class Plan:
    """All steps, in the order in which they are taken."""

    steps: tuple[Step, ...]

    def count(self, *deeds: Deed) -> int:
        return sum(step.deed in deeds for step in self.steps)

    @property
    def blocked(self) -> list[Step]:
        """What keeps it from being carried out."""
        return [step for step in self.steps if step.deed in BLOCKING]

    @property
    def changes_something(self) -> bool:
        return bool(self.count(Deed.CREATE, Deed.CHANGE, Deed.REMOVE))


async def planned(
    cluster: Cluster, wanted: Sequence[JsonObject], installed: Inventory | None, options: Options
) -> Plan:
    """What it takes to get from what is there to what is wanted."""
    steps = [await _step(cluster, obj, wanted, options) for obj in wanted]
    ids = {step.id for step in steps}
    before = () if installed is None else installed.objects
    gone = [await _removal(cluster, each) for each in reversed(before) if each not in ids]
    # What is no longer wanted goes last, except what makes the server call us: see `removing`.
    return Plan((*steps, *(step for step in gone if step is not None)))


async def _step(cluster: Cluster, obj: JsonObject, wanted: Iterable[JsonObject], options: Options) -> Step:
    which = id_of(obj)
    if which.kind in NEWER_KINDS and cluster.served(which.api_version, which.kind) is None:
        does_it = any(each["kind"] == "MutatingWebhookConfiguration" for each in wanted)
        instead = "a webhook does the same" if does_it else "with webhooks=true a webhook would do the same"
        return Step(Deed.LEAVE_OUT, which, None, (f"this server is too old for it; {instead}",))
    live = await cluster.get(which)
    if live is not None and "deletionTimestamp" in live["metadata"]:
        return Step(Deed.REFUSE, which, obj, ("it is being deleted; try again when it is gone",))
    owner = Owner() if live is None else owner_of(live)
    if owner.release and which.kind != CRD:  # definitions outlive their release
        return Step(Deed.CONFLICT, which, obj, (f"it belongs to {owner}: `helm upgrade` changes it",))
    if live is not None and not owner.is_ours:
        if which.kind == "Namespace":
            return Step(Deed.KEEP, which, None, ("it was there before",))
        if which.kind == CRD and not options.replace_crds:
            return Step(Deed.KEEP, which, None, (f"owned by {owner}; --replace-crds takes it over",))
        if which.kind != CRD and not options.force_conflicts:
            return Step(Deed.CONFLICT, which, obj, (f"it is owned by {owner}",))
    if live is not None and which.kind == CRD and loses_conversion(live, obj):
        return Step(Deed.CHANGE, which, obj, ("spec.conversion", "spec.versions"))
    force = options.force_conflicts or (which.kind == CRD and options.replace_crds)
    tried = await cluster.apply(obj, force=force, dry_run=True)
    if isinstance(tried, Refusal):
        return _refused(which, obj, tried, live, wanted)
    if live is None:
        return Step(Deed.CREATE, which, obj)
    changed = tuple(changed_fields(live, tried))
    return Step(Deed.CHANGE if changed else Deed.UNCHANGED, which, obj, changed)


def loses_conversion(live: JsonMapping, wanted: JsonMapping) -> bool:
    """Whether a definition has a webhook that converts, and is to have none: this takes a write of its own first."""
    path = ("spec", "conversion", "strategy")
    return text_at(live, *path) == "Webhook" and text_at(wanted, *path) != "Webhook"


def _refused(
    which: ObjectId, obj: JsonObject, refusal: Refusal, live: JsonMapping | None, wanted: Iterable[JsonObject]
) -> Step:
    """A conflict, a refusal, or only that what it lives in is yet to come."""
    if refusal.is_conflict:
        return Step(Deed.CONFLICT, which, obj, tuple(refusal.words.splitlines()))
    its_place = ("Namespace", which.namespace)
    to_come = any((each["kind"], each["metadata"]["name"]) == its_place for each in wanted)
    if live is None and refusal.code == _NOT_FOUND and which.namespace and to_come and "namespaces" in refusal.words:
        return Step(Deed.CREATE, which, obj)
    return Step(Deed.REFUSE, which, obj, (refusal.words,))


async def _removal(cluster: Cluster, which: ObjectId) -> Step | None:
    """What an earlier version installed and this one does not. Definitions stay, because objects go with them."""
    live = await cluster.get(which)
    if live is None:
        return None
    if which.kind in (CRD, "Namespace"):
        return Step(Deed.KEEP, which, None, ("no longer wanted, but what users wrote would go with it",))
    if not owner_of(live).is_ours:
        return Step(Deed.KEEP, which, None, (f"no longer wanted, but owned by {owner_of(live)}",))
    return Step(Deed.REMOVE, which)
