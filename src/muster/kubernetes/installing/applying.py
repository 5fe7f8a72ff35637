"""Carrying out a plan: definitions first and until they are in force, the rest in order, what is left over last.

Whoever calls it hears of every step. An installation that is broken off can be repeated: each step finds what the
earlier run has done.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Final

from muster.errors import ApiError
from muster.kubernetes.installing.cluster import Cluster, ObjectId, Refusal, id_of
from muster.kubernetes.installing.inventory import inventory_object
from muster.kubernetes.installing.plan import Deed, loses_conversion
from muster.kubernetes.objects.crds import CRD
from muster.kubernetes.settings import NAME
from muster.values.json import JsonMapping, JsonObject
from muster.values.json_members import list_at, object_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from muster.kubernetes.installing.inventory import Inventory
    from muster.kubernetes.installing.plan import Options, Plan, Step
    from muster.kubernetes.settings import HomeSettings

_PAUSE: Final = 0.25
_CALLED: Final = frozenset({"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration", "APIService"})
ESTABLISHED_WITHIN: Final = 60.0


class StepFailedError(ApiError):
    """A step that was refused although the plan had been accepted."""

    def __init__(self, which: ObjectId, refusal: Refusal) -> None:
        self.which = which
        super().__init__(refusal.code, "", f"{which}: {refusal.words}")


async def carry_out(
    cluster: Cluster,
    plan: Plan,
    settings: HomeSettings,
    installed: Inventory | None,
    options: Options,
    say: Callable[[str], None],
) -> None:
    """Take every step. Raises StepFailedError for the first that is refused."""
    wanted = [step for step in plan.steps if step.obj is not None]
    removed = [step.id for step in plan.steps if step.deed is Deed.REMOVE]
    ids = [step.id for step in wanted]
    before = () if installed is None else installed.objects
    first, rest = _split(wanted)
    for step in first[:1]:  # the namespace: the inventory is in it
        await _apply(cluster, step, options, say)
    await _note(cluster, settings, [*ids, *(each for each in before if each not in ids)])
    # What made the server call us and is no longer wanted goes before the Pods that answered.
    for which in [each for each in removed if each.kind in _CALLED]:
        await remove(cluster, which, say)
    for step in first[1:]:
        await _apply(cluster, step, options, say)
    definitions = [step.id for step in first if step.id.kind == CRD]
    if any(step.deed is Deed.CREATE for step in first if step.id.kind == CRD):
        say(f"waiting until {len(definitions)} definitions are in force")
    await until_established(cluster, definitions)
    await cluster.look_again()
    for step in rest:
        await _apply(cluster, step, options, say)
    for which in [each for each in removed if each.kind not in _CALLED]:
        await remove(cluster, which, say)
    kept = [step.id for step in plan.steps if step.deed is Deed.KEEP and step.id in before]
    await _note(cluster, settings, [*ids, *kept])


async def put(cluster: Cluster, obj: JsonObject, *, force: bool) -> None:
    """Apply an object. Raises StepFailedError."""
    which = id_of(obj)
    live = await cluster.get(which) if which.kind == CRD else None
    done: JsonObject | Refusal | None = None
    if live is not None and loses_conversion(live, obj):
        done = await cluster.release_conversion(which)
    if not isinstance(done, Refusal):
        done = await cluster.apply(obj, force=force)
    if isinstance(done, Refusal):
        raise StepFailedError(which, done)


async def remove(cluster: Cluster, which: ObjectId, say: Callable[[str], None]) -> None:
    refusal = await cluster.delete(which)
    if refusal is not None:
        raise StepFailedError(which, refusal)
    say(f"{which} removed")


async def until_established(
    cluster: Cluster, definitions: Iterable[ObjectId], within: float = ESTABLISHED_WITHIN
) -> None:
    """Wait until the server serves these kinds. Raises ApiError when it does not in time."""
    end = time.monotonic() + within
    for which in definitions:
        while not is_true(await cluster.get(which), "Established"):
            if time.monotonic() > end:
                raise ApiError(
                    504, "Timeout", f"{which} was not in force after {within:.0f} s: {await _told(cluster, which)}"
                )
            await asyncio.sleep(_PAUSE)


async def until_gone(
    cluster: Cluster, removed: Iterable[ObjectId], within: float = ESTABLISHED_WITHIN
) -> list[ObjectId]:
    """Wait until objects are really gone: a definition takes its objects along first. What is left after that time."""
    end = time.monotonic() + within
    left = list(removed)
    while left := [each for each in left if await cluster.get(each) is not None]:
        if time.monotonic() > end:
            break
        await asyncio.sleep(_PAUSE)
    return left


async def until_available(cluster: Cluster, namespace: str, within: float, say: Callable[[str], None]) -> None:
    """Wait until all of our Pods run. Raises ApiError when they do not in time."""
    which = ObjectId("apps/v1", "Deployment", namespace, NAME)
    end, told = time.monotonic() + within, ""
    while True:
        live = await cluster.get(which)
        state = {} if live is None else live
        words = rollout_words(state)
        if not words:
            return
        if words != told:
            say(f"waiting: {words}")
            told = words
        if time.monotonic() > end:
            raise ApiError(504, "Timeout", f"{which} was not ready after {within:.0f} s: {words}")
        await asyncio.sleep(4 * _PAUSE)


def rollout_words(deployment: JsonMapping) -> str:
    """What a Deployment still lacks; nothing when every replica is new and available."""
    spec, status = object_at(deployment, "spec"), object_at(deployment, "status")
    wanted = spec.get("replicas", 1)
    if status.get("observedGeneration", 0) < object_at(deployment, "metadata").get("generation", 1):
        return "nobody has taken up the Deployment yet"
    fresh, available = status.get("updatedReplicas", 0), status.get("availableReplicas", 0)
    if fresh < wanted or available < wanted:
        return f"{available} of {wanted} replicas are available, {fresh} of them new"
    return ""


def is_true(obj: JsonMapping | None, condition: str) -> bool:
    """Whether an object says so of itself."""
    told = [] if obj is None else list_at(obj, "status", "conditions")
    return any(each.get("type") == condition and each.get("status") == "True" for each in told)


async def _told(cluster: Cluster, which: ObjectId) -> str:
    live = await cluster.get(which)
    conditions = [] if live is None else list_at(live, "status", "conditions")
    untrue = [str(each.get("message", "")) for each in conditions if each.get("status") != "True"]
    return "; ".join(untrue) if untrue else "the server does not say why"


def _split(steps: Sequence[Step]) -> tuple[list[Step], list[Step]]:
    """Namespace and definitions, and what needs them."""
    early = ("Namespace", CRD)
    return [step for step in steps if step.id.kind in early], [step for step in steps if step.id.kind not in early]


async def _apply(cluster: Cluster, step: Step, options: Options, say: Callable[[str], None]) -> None:
    if step.obj is None or step.deed is Deed.UNCHANGED:
        return
    force = options.force_conflicts or (step.id.kind == CRD and options.replace_crds)
    await put(cluster, step.obj, force=force)
    say(f"{step.id} {'created' if step.deed is Deed.CREATE else 'changed'}")


async def _note(cluster: Cluster, settings: HomeSettings, objects: list[ObjectId]) -> None:
    await put(cluster, inventory_object(settings, objects), force=True)
