"""Guards of a Placement: what they say must be readable, and loosening them needs a permission of its own.

An approval (`placement.muster.dev/approve-removals`) lets clusters go, and so does a guard that is changed or taken
away.
Whoever writes either must be allowed to `approve` the placement. Setting a guard where there was none is free; the
window of a limit that is there is a part of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.admission.write import NOTHING, Finding, invalid_object, name_of, refused
from muster.api.managed_cluster import GROUP
from muster.api.parts import Node, ObjectMeta
from muster.api.reading import Reader
from muster.placement.guards import ANNOTATIONS, APPROVAL, PREFIX, placement_guard, unknown_annotations
from muster.values.causes import invalid
from muster.values.json import JsonObject
from muster.values.quoting import go_quote

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muster.admission.write import World, Write

VERB: Final = "approve"
RESOURCE: Final = f"placements.{GROUP}"
_LIMIT: Final = f"{PREFIX}max-removals"
_WINDOW: Final = f"{PREFIX}removal-window"


class _Annotated(Node, frozen=True):
    metadata: ObjectMeta = ObjectMeta()


_OBJECTS: Final = Reader(_Annotated)


def readable(write: Write) -> Finding:
    """Refuses guards that cannot be read, if this write brings them; warns of names that guard nothing."""
    if write.new is None or write.subresource:
        return NOTHING
    before, after = _annotations(write.old), _annotations(write.new)
    changed = {name: text for name, text in after.items() if before.get(name) != text}
    guard = placement_guard(changed)
    if guard is not None and guard.faults:
        path = "metadata.annotations"
        return invalid_object(
            [invalid(f"{path}[{each.path}]", changed[each.path], each.message) for each in guard.faults]
        )
    return Finding(warnings=tuple(f"annotation {each.path} {each.message}" for each in unknown_annotations(changed)))


async def permitted(write: Write, world: World) -> Finding:
    """Refuses approvals and loosened guards by those who may not approve."""
    if write.new is None or write.subresource:
        return NOTHING
    before, after = _annotations(write.old), _annotations(write.new)
    approves = after.get(APPROVAL, "") not in ("", before.get(APPROVAL, ""))
    loosened = sorted(name for name in ANNOTATIONS & before.keys() if after.get(name) != before[name])
    if _LIMIT in before and _WINDOW not in before and _WINDOW in after:
        loosened.append(_WINDOW)  # without it the limit had the usual one
    if not approves and not loosened:
        return NOTHING
    name = name_of(write)
    if not await world.missing(write.asker, VERB, RESOURCE, (name,), write.namespace):
        return NOTHING
    deed = "approve removals" if approves else f"change the guard {loosened[0]}"
    text = f"{RESOURCE} {go_quote(name)} is forbidden: user {go_quote(write.asker.name)} cannot {deed}: it needs the "
    text += f'permission to "{VERB}" {RESOURCE} in the namespace {go_quote(write.namespace)}'
    return refused(text, 403, "Forbidden")


def _annotations(obj: JsonObject | None) -> Mapping[str, str]:
    return {} if obj is None else _OBJECTS.partly(obj).obj.metadata.annotations
