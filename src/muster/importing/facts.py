"""What can be known of a cluster by looking at it: its version, its nodes, what it says of itself.

`collecting/reading.py` fills it in, rules see it as JSON. A part that could not be read is None, which is not empty:
what stands of it on the hub stays.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

import msgspec

from muster.api.managed_cluster import Amount  # noqa: TC001 - structs resolve their annotations
from muster.api.parts import Node, Part
from muster.api.reading import Reader
from muster.values.faults import Fault
from muster.values.json import JsonObject
from muster.values.quantity import InvalidQuantityError, Quantity, parse

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_RESOURCES: Final = 100  # names of resources of one cluster; a node has ten or so
_LONGEST_NAME: Final = 253
_LONGEST_QUANTITY: Final = 64


class _NodeMetadata(Part, frozen=True):
    name: str = ""
    labels: dict[str, str] = msgspec.field(default_factory=dict)


class _NodeSpec(Part, frozen=True):
    provider_id: str = msgspec.field(default="", name="providerID")
    unschedulable: bool = False


class _NodeInfo(Part, frozen=True):
    architecture: str = ""
    operating_system: str = ""
    os_image: str = ""
    kernel_version: str = ""
    kubelet_version: str = ""
    container_runtime_version: str = ""


class _NodeCondition(Part, frozen=True):
    type: str = ""
    status: str = ""


class _NodeStatus(Node, frozen=True):
    capacity: dict[str, Amount] = msgspec.field(default_factory=dict)
    allocatable: dict[str, Amount] = msgspec.field(default_factory=dict)
    node_info: _NodeInfo = _NodeInfo()
    conditions: tuple[_NodeCondition, ...] = ()


class _NodeObject(Node, frozen=True):
    metadata: _NodeMetadata = _NodeMetadata()
    spec: _NodeSpec = _NodeSpec()
    status: _NodeStatus = _NodeStatus()


class _ListMeta(Part, frozen=True):
    continue_: str = msgspec.field(default="", name="continue")


class _NodeList(Node, frozen=True):
    metadata: _ListMeta = _ListMeta()
    items: tuple[_NodeObject, ...] = ()


class NodeFacts(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """One node, as rules see it. Every field is always there."""

    name: str = ""
    labels: dict[str, str] = msgspec.field(default_factory=dict)
    capacity: dict[str, Amount] = msgspec.field(default_factory=dict)
    allocatable: dict[str, Amount] = msgspec.field(default_factory=dict)
    architecture: str = ""
    operating_system: str = ""
    os_image: str = ""
    kernel_version: str = ""
    kubelet_version: str = ""
    container_runtime: str = ""
    provider_id: str = msgspec.field(default="", name="providerID")
    unschedulable: bool = False
    ready: bool = False


class OpenShift(msgspec.Struct, frozen=True, gc=False):
    """What a cluster of OpenShift says of itself."""

    version: str = ""
    id: str = ""


class ClusterFacts(msgspec.Struct, frozen=True, gc=False):
    """What is known. `claims` and `properties` are the cluster's own objects of these kinds."""

    version: str = ""
    id: str | None = None  # of the namespace kube-system, which is as old as the cluster
    nodes: tuple[NodeFacts, ...] | None = None
    openshift: OpenShift | None = None
    claims: dict[str, str] | None = None
    properties: dict[str, str] | None = None

    def plain(self) -> JsonObject:
        """As rules see it: `version`, `id`, `nodes` and `openshift`."""
        nodes = None if self.nodes is None else [msgspec.to_builtins(each) for each in self.nodes]
        return {
            "version": self.version,
            "id": self.id,
            "nodes": nodes,
            "openshift": msgspec.to_builtins(self.openshift),
        }


class NodePage(msgspec.Struct, frozen=True):
    """Some nodes, and the token with which the next ones are asked for."""

    nodes: tuple[NodeFacts, ...]
    following: str


_NODES: Final = Reader(_NodeList)


def node_page(body: bytes) -> NodePage | Fault:
    """The nodes of an answer, as far as they can be read; a fault when it is no list at all."""
    found = _NODES.read(body)
    if isinstance(found, Fault):
        return found
    return NodePage(tuple(_facts(each) for each in found.obj.items), found.obj.metadata.continue_)


def _facts(node: _NodeObject) -> NodeFacts:
    status, info = node.status, node.status.node_info
    return NodeFacts(
        name=node.metadata.name,
        labels=node.metadata.labels,
        capacity=status.capacity,
        allocatable=status.allocatable,
        architecture=info.architecture,
        operating_system=info.operating_system,
        os_image=info.os_image,
        kernel_version=info.kernel_version,
        kubelet_version=info.kubelet_version,
        container_runtime=info.container_runtime_version,
        provider_id=node.spec.provider_id,
        unschedulable=node.spec.unschedulable,
        ready=any(each.type == "Ready" and each.status == "True" for each in status.conditions),
    )


class Amounts(msgspec.Struct, frozen=True):
    """The resources of a cluster, and what could not be counted."""

    capacity: dict[str, str]
    allocatable: dict[str, str]
    faults: tuple[str, ...] = ()


def amounts(nodes: Iterable[NodeFacts]) -> Amounts:
    """Sums over nodes, as OCM's agent makes them: what is allocatable on nodes that take no Pods does not count."""
    capacity: dict[str, Quantity] = {}
    allocatable: dict[str, Quantity] = {}
    faults: dict[str, None] = {}
    for node in nodes:
        _add(capacity, node.capacity, node.name, faults)
        if not node.unschedulable:
            _add(allocatable, node.allocatable, node.name, faults)
    return Amounts(_texts(capacity, faults), _texts(allocatable, faults), tuple(islice(faults, 10)))


def _add(total: dict[str, Quantity], amount: dict[str, Amount], node: str, faults: dict[str, None]) -> None:
    for name, value in amount.items():
        text = str(value)
        if len(name) > _LONGEST_NAME or len(text) > _LONGEST_QUANTITY:
            faults[f"node {node[:_LONGEST_NAME]} has a resource whose name or amount is too long"] = None
            continue
        if name not in total and len(total) >= MOST_RESOURCES:
            faults[f"more than {MOST_RESOURCES} resources: {name} and others are left out"] = None
            return
        try:
            more = parse(text)
            if more.sign < 0:
                faults[f"node {node[:_LONGEST_NAME]}: {name} {text!r} cannot be counted: it is negative"] = None
                continue
            total[name] = total[name].add(more) if name in total else more
        except InvalidQuantityError as error:
            faults[f"node {node[:_LONGEST_NAME]}: {name} {text!r} cannot be counted: {error}"] = None


def _texts(total: dict[str, Quantity], faults: dict[str, None]) -> dict[str, str]:
    found = {}
    for name in sorted(total):
        text = str(total[name])
        if len(text) > _LONGEST_QUANTITY:
            faults[f"{name} is more than can be written"] = None
        else:
            found[name] = text
    return found
