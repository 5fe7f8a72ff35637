"""Who belongs to whom: the metadata of all objects by UID, and of every owner the objects that name it.

The garbage collector keeps it up to date from its watches and asks it. It is a copy and may be behind: what is decided
from it is checked on the server before anything is written. No I/O.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from muster.api.parts import Identity, OwnerReference
    from muster.client import ServedResource

FOREGROUND: Final = "foregroundDeletion"
ORPHAN: Final = "orphan"
_MOST_GONE: Final = 10_000  # owners that are remembered after they have gone
Key = TypeVar("Key", bound="Hashable")


@dataclass(frozen=True, slots=True)
class Node:
    """An object as the collector sees it."""

    resource: ServedResource
    metadata: Identity

    @property
    def uid(self) -> str:
        return self.metadata.uid

    @property
    def path(self) -> str:
        return self.resource.object_path(self.metadata.namespace, self.metadata.name)

    @property
    def waits_for_dependents(self) -> bool:
        return self.metadata.deletion_timestamp is not None and FOREGROUND in self.metadata.finalizers

    def is_meant_by(self, reference: OwnerReference) -> bool:
        """Whether kind and name are those of the reference too. The version may be another."""
        group = reference.api_version.rpartition("/")[0]
        return (group, reference.kind, reference.name) == (self.resource.group, self.resource.kind, self.metadata.name)


class BoundedSet(Generic[Key]):
    """Remembers so many keys and forgets the oldest."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._keys: OrderedDict[Key, None] = OrderedDict()

    def __contains__(self, key: Key) -> bool:
        return key in self._keys

    def __len__(self) -> int:
        return len(self._keys)

    def add(self, key: Key) -> None:
        self._keys[key] = None
        self._keys.move_to_end(key)
        if len(self._keys) > self._most:
            self._keys.popitem(last=False)


class OwnerGraph:
    """Objects and their dependents. `put` and `remove` say whom a change concerns.

    For objects that are `protected` it remembers which of their owners were there and went.
    """

    def __init__(self, protected: Callable[[Node], bool]) -> None:
        self._protected = protected
        self._nodes: dict[str, Node] = {}
        self._dependents: dict[str, set[str]] = {}
        self._gone: BoundedSet[tuple[str, OwnerReference]] = BoundedSet(_MOST_GONE)

    def get(self, uid: str) -> Node | None:
        return self._nodes.get(uid)

    def put(self, node: Node) -> list[str]:
        """The UIDs to look at: the object, and owners that waited for it and do no longer."""
        before = self._nodes.get(node.uid)
        freed: set[str] = set()
        if before is not None and before.metadata.owner_references:
            freed = self._forget_references(node.uid) - {each.uid for each in node.metadata.owner_references}
            freed |= _blocked_by(before) - _blocked_by(node)
        self._nodes[node.uid] = node
        for reference in node.metadata.owner_references:
            self._dependents.setdefault(reference.uid, set()).add(node.uid)
        looked_at = sorted(freed)
        if node.metadata.owner_references or node.metadata.deletion_timestamp:
            looked_at.append(node.uid)
        return looked_at

    def remove(self, uid: str) -> list[str]:
        """The UIDs to look at: its dependents, and owners that waited for it."""
        owners = self._forget_references(uid)
        node = self._nodes.pop(uid, None)
        dependents = self.dependents(uid)
        if node is not None:
            for dependent in filter(self._protected, dependents):
                for reference in dependent.metadata.owner_references:
                    if reference.uid == uid and node.is_meant_by(reference):
                        self._gone.add((dependent.uid, reference))
        return [*(each.uid for each in dependents), *sorted(owners)]

    def dependents(self, uid: str) -> list[Node]:
        """The objects that name it as an owner, as they are at this moment."""
        return [self._nodes[each] for each in sorted(self._dependents.get(uid, ())) if each in self._nodes]

    def with_unseen_owners(self) -> list[str]:
        """The objects that name an owner which nobody has seen."""
        unseen = self._dependents.keys() - self._nodes.keys()
        return sorted({uid for owner in unseen for uid in self._dependents[owner]})

    def saw_it_go(self, dependent: Node, reference: OwnerReference) -> bool:
        """Whether this owner was there while the object named it, and then went."""
        return (dependent.uid, reference) in self._gone

    def _forget_references(self, uid: str) -> set[str]:
        """The owners that it named."""
        node = self._nodes.get(uid)
        owners = {reference.uid for reference in node.metadata.owner_references} if node else set()
        for owner in owners:
            siblings = self._dependents.get(owner)
            if siblings is not None:
                siblings.discard(uid)
                if not siblings:
                    del self._dependents[owner]
        return owners


def _blocked_by(node: Node) -> set[str]:
    """The owners that may not go before this object."""
    return {each.uid for each in node.metadata.owner_references if each.block_owner_deletion}
