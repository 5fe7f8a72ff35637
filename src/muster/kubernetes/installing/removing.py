"""Taking the Kubernetes home away again, in an order in which nobody else is disturbed.

First goes what makes the API server call us: a webhook or an APIService without anybody behind it stops other people's
work. Definitions stay unless it is said otherwise, and with them every object; but the one that our Pods converted is
served in its stored version only from then on. Then policies, Pods and roles.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec

from muster.api import RESOURCES
from muster.controllers.permissions import LEASE
from muster.controllers.runtime.quarantine import CONFIG_MAP as QUARANTINE
from muster.kubernetes.installing.applying import put, remove, until_gone
from muster.kubernetes.installing.cluster import Cluster, ObjectId, id_of
from muster.kubernetes.installing.inventory import inventory_id
from muster.kubernetes.installing.owners import owner_of
from muster.kubernetes.installing.plan import Deed, Plan, Step
from muster.kubernetes.manifests import objects
from muster.kubernetes.objects.common import labelled
from muster.kubernetes.objects.crds import CRD, crd
from muster.kubernetes.settings import SECRET, HomeSettings
from muster.values.json import JsonMapping
from muster.values.json_members import list_at, text_at

if TYPE_CHECKING:
    from collections.abc import Callable

    from muster.kubernetes.installing.inventory import Inventory

#: Kinds in the order in which they go; others go between, last applied first.
_FIRST: Final = (
    "ValidatingWebhookConfiguration",
    "MutatingWebhookConfiguration",
    "APIService",
    CRD,  # what is said of it: its conversion
    "ValidatingAdmissionPolicyBinding",
    "MutatingAdmissionPolicyBinding",
    "ValidatingAdmissionPolicy",
    "MutatingAdmissionPolicy",
    "Deployment",
)


@dataclass(frozen=True, slots=True)
class Leaving:
    """What goes beside our own parts."""

    crds: bool = False  # the definitions, and with them every object
    namespace: bool = False


async def removal_planned(cluster: Cluster, home: str, installed: Inventory | None, leaving: Leaving) -> Plan:
    """What it takes to be gone. Without an inventory everything that we might have installed is looked for."""
    everything = msgspec.structs.replace(_with_everything(home, installed), namespace=home)
    ids = [id_of(each) for each in objects(everything)]
    noted = () if installed is None else installed.objects
    ids += [each for each in noted if each not in ids]
    made_by_pods = [
        ObjectId("v1", "Secret", home, SECRET),
        ObjectId("coordination.k8s.io/v1", "Lease", home, LEASE),
        ObjectId("v1", "ConfigMap", home, QUARANTINE),
    ]
    steps = [step for each in sorted(ids, key=_rank(ids)) if (step := await _step(cluster, each, leaving)) is not None]
    there = [each for each in [*made_by_pods, inventory_id(home)] if await cluster.get(each) is not None]
    steps += [Step(Deed.REMOVE, each) for each in there]
    # What is kept, or goes with everything in it, is last.
    last = [step for step in steps if step.id.kind in ("Namespace", CRD) and step.deed is not Deed.CHANGE]
    return Plan((*(step for step in steps if step not in last), *last))


async def take_away(cluster: Cluster, plan: Plan, say: Callable[[str], None]) -> None:
    """Take every step. Raises StepFailedError for the first that is refused; what is left can be tried again."""
    for step in plan.steps:
        if step.deed is Deed.REMOVE:
            await remove(cluster, step.id, say)
        elif step.deed is Deed.CHANGE and step.obj is not None:
            await put(cluster, step.obj, force=True)
            say(f"{step.id} changed: it needs our Pods no longer")
    definitions = [step.id for step in plan.steps if step.deed is Deed.REMOVE and step.id.kind == CRD]
    for each in await until_gone(cluster, definitions):
        say(f"{each} is still being removed: finalizers keep objects of it")


def _with_everything(home: str, installed: Inventory | None) -> HomeSettings:
    base = HomeSettings(namespace=home) if installed is None else installed.settings
    return msgspec.structs.replace(
        base,
        crds="ours",
        policies=True,
        webhooks=True,
        questions=True,
        monitoring=True,
        cert_manager=True,
        network_policy=True,
    )


def _rank(ids: list[ObjectId]) -> Callable[[ObjectId], tuple[int, int]]:
    """Kinds of _FIRST in their order, the rest in the reverse of the order in which it was applied."""
    places = {each: place for place, each in enumerate(ids)}
    return lambda each: (_FIRST.index(each.kind) if each.kind in _FIRST else len(_FIRST), -places[each])


async def _step(cluster: Cluster, which: ObjectId, leaving: Leaving) -> Step | None:
    live = await cluster.get(which)
    if live is None or "deletionTimestamp" in live["metadata"]:
        return None
    owner = owner_of(live)
    if not owner.is_ours:
        return Step(Deed.KEEP, which, None, (f"owned by {owner}",)) if which.kind == CRD else None
    if owner.release and which.kind != CRD:  # definitions outlive their release
        return Step(Deed.CONFLICT, which, None, (f"it belongs to {owner}: `helm uninstall` removes it",))
    if which.kind == CRD:
        return await _definition(cluster, which, live, leaving)
    if which.kind == "Namespace" and not leaving.namespace:
        return Step(Deed.KEEP, which, None, ("--delete-namespace removes it with everything in it",))
    return Step(Deed.REMOVE, which)


async def _definition(cluster: Cluster, which: ObjectId, live: JsonMapping, leaving: Leaving) -> Step:
    resource = RESOURCES.get(which.name)
    if leaving.crds:
        version = text_at(live, "spec", "group") + "/" + _stored(live)
        count = await cluster.count(version, text_at(live, "spec", "names", "kind"))
        return Step(Deed.REMOVE, which, None, (f"{count} objects go with it",) if count else ())
    if text_at(live, "spec", "conversion", "strategy") == "Webhook" and resource is not None:
        plain = labelled(crd(resource, HomeSettings(webhooks=False), converted=False))
        return Step(Deed.CHANGE, which, plain, ("only its stored version is served: nobody converts others",))
    return Step(Deed.KEEP, which, None, ("with every object; --delete-crds removes both",))


def _stored(definition: JsonMapping) -> str:
    names = [text_at(each, "name") for each in list_at(definition, "spec", "versions") if each.get("storage")]
    return names[0] if names else ""
