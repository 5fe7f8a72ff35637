"""Laws of the permissions around cluster sets, for any users, roles, sets and sequences of edits.

Admission is compared with a second statement of the rules, written with nothing of the first: a cluster is in a set
when the label by the set's key has the set's name.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from muster.admission import Asker, Write, mutate, validate

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator, Sequence

    from muster.admission import Finding

Object = dict[str, Any]
OCM = "cluster.open-cluster-management.io"
CLUSTERS, SETS = f"managedclusters.{OCM}", f"managedclustersets.{OCM}"
DEFAULT = f"{OCM}/clusterset"
# Few, so that they meet.
KEYS = ("region", DEFAULT)
NAMES = ("apac", "default")
HOSTS = ("c1", "c2")
NOW = datetime(2026, 1, 1, tzinfo=UTC)
ALICE = Asker("alice")


# --- Roles ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Grant:
    """A verb on a resource; no name means every name."""

    verb: str
    resource: str
    name: str | None


def has(grants: Sequence[Grant] | None, verb: str, resource: str, name: str) -> bool:
    """Whether somebody with these grants may; an administrator has None and may everything."""
    return grants is None or any(
        (each.verb, each.resource) == (verb, resource) and each.name in (None, name) for each in grants
    )


def _grant(verb: str, resource: str, names: Sequence[str]) -> st.SearchStrategy[Grant]:
    return st.builds(Grant, st.just(verb), st.just(resource), st.sampled_from([None, *names]))


GRANTS = st.lists(
    st.one_of(
        _grant("create", "managedclustersets/join", NAMES),
        _grant("create", "managedclustersets/exclusiveKey", KEYS),
        _grant("update", "managedclusters", HOSTS),
    ),
    max_size=4,
)

# --- Edits ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Label:
    """A cluster gets these labels instead of those it has; it is created if need be."""

    cluster: str
    labels: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Found:
    """A set is created, or changed as far as it can be. No key: by label selector."""

    name: str
    key: str | None


@dataclass(frozen=True)
class Drop:
    """A set or a cluster is deleted."""

    name: str


Edit = Label | Found | Drop
LABELS = st.dictionaries(st.sampled_from(KEYS), st.sampled_from((*NAMES, "none")), max_size=2).map(
    lambda labels: tuple(sorted(labels.items()))
)
EDITS = st.one_of(
    st.builds(Label, st.sampled_from(HOSTS), LABELS),
    st.builds(Found, st.sampled_from(NAMES), st.sampled_from([None, *KEYS])),
    st.builds(Found, st.sampled_from(NAMES), st.sampled_from([None, *KEYS])),
    st.builds(Drop, st.sampled_from((*HOSTS, *NAMES))),
)


# --- What admission says --------------------------------------------------------------------------------------------


@dataclass
class Hub:
    """Objects, the grants of the one who edits them, and admission before every write."""

    objects: dict[tuple[str, str], Object] = field(default_factory=dict)
    grants: Sequence[Grant] | None = None

    async def get(self, resource: str, namespace: str, name: str) -> Object | None:
        return self.objects.get((resource, name))

    async def list(self, resource: str, namespace: str | None = None) -> Sequence[Object]:
        return [obj for (kind, _), obj in self.objects.items() if kind == resource]

    async def labelled(self, resource: str, key: str, value: str) -> Sequence[str]:
        return sorted(
            obj["metadata"]["name"]
            for (kind, _), obj in self.objects.items()
            if kind == resource and (obj["metadata"].get("labels") or {}).get(key) == value
        )

    async def missing(
        self, asker: Asker, verb: str, resource: str, names: Sequence[str], namespace: str = ""
    ) -> Sequence[str]:
        path = resource.removesuffix(f".{OCM}")
        return [name for name in names if not has(self.grants, verb, path, name)]

    def edit(self, edit: Edit) -> bool:
        """Do it if it is allowed."""
        match edit:
            case Label(cluster, labels):
                metadata = {"name": cluster, "labels": dict(labels)}
                return self._write(CLUSTERS, cluster, {"metadata": metadata, "spec": {"hubAcceptsClient": False}})
            case Found(name, key):
                kind = "LabelSelector" if key is None else "ExclusiveClusterSetLabel"
                spec: Object = {"clusterSelector": {"selectorType": kind}}
                if key not in (None, DEFAULT):
                    spec["exclusiveKey"] = key
                return self._write(SETS, name, {"metadata": {"name": name}, "spec": spec})
            case Drop(name):
                return self._write(CLUSTERS if name in HOSTS else SETS, name, None)

    def _write(self, resource: str, name: str, new: Object | None) -> bool:
        old = self.objects.get((resource, name))
        if old is None and new is None:
            return False
        if old is not None and new is not None and key_of(old) != key_of(new):
            return False  # immutable, and none of admission's business
        operation = "CREATE" if old is None else "DELETE" if new is None else "UPDATE"
        write = Write(operation, resource, "v1beta2", "", name, "", ALICE, old, new, False, NOW)
        if new is not None:
            new = mutate(write).object or new
            write = Write(operation, resource, "v1beta2", "", name, "", ALICE, old, new, False, NOW)
        if at_once(validate(write, self)).refusal is not None:
            return False
        if new is None:
            del self.objects[resource, name]
        else:
            self.objects[resource, name] = new
        return True


def at_once(coroutine: Coroutine[Any, Any, Finding]) -> Finding:
    """What a coroutine comes to that never waits; a loop for each would be most of the time."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        found: Finding = done.value
        return found
    raise AssertionError("it waits")


def key_of(obj: Object) -> str:
    return str(obj["spec"].get("exclusiveKey") or DEFAULT)


# --- The same, said again -------------------------------------------------------------------------------------------


@dataclass
class Model:
    """Labels of clusters and keys of sets, and the rules in their plainest form."""

    clusters: dict[str, dict[str, str]] = field(default_factory=dict)
    sets: dict[str, str | None] = field(default_factory=dict)
    fixed: dict[str, str] = field(default_factory=dict)  # effective keys, which never change while a set exists
    grants: Sequence[Grant] | None = None

    def may(self, verb: str, resource: str, name: str) -> bool:
        return has(self.grants, verb, resource, name)

    def members(self) -> set[tuple[str, str]]:
        return {
            (cluster, name)
            for cluster, labels in self.clusters.items()
            for name, key in self.sets.items()
            if key is not None and labels.get(key) == name
        }

    def edit(self, edit: Edit) -> bool:
        allowed = all(self._needs(edit))
        if allowed:
            self._do(edit)
        return allowed

    def _needs(self, edit: Edit) -> Iterator[bool]:
        match edit:
            case Label(cluster, labels):
                old, new = self.clusters.get(cluster, {}), {DEFAULT: "default", **dict(labels)}
                for label, value in set(old.items()) ^ set(new.items()):
                    if label == DEFAULT or self.sets.get(value) == label:
                        yield self.may("create", "managedclustersets/join", value)
            case Found(name, key):
                effective = key or DEFAULT
                yield self.fixed.get(name, effective) == effective
                if key is None or self.sets.get(name) == key:
                    return
                yield key == DEFAULT or self.may("create", "managedclustersets/exclusiveKey", key)
                for cluster, carried in self.clusters.items():
                    if carried.get(key) == name:
                        yield self.may("update", "managedclusters", cluster)
            case Drop(name):
                yield name in self.clusters or name in self.sets

    def _do(self, edit: Edit) -> None:
        match edit:
            case Label(cluster, labels):
                self.clusters[cluster] = {DEFAULT: "default", **dict(labels)}
            case Found(name, key):
                self.sets[name] = key
                self.fixed[name] = key or DEFAULT
            case Drop(name):
                self.clusters.pop(name, None)
                self.sets.pop(name, None)
                self.fixed.pop(name, None)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(
    before=st.lists(EDITS, max_size=6),
    users=st.lists(GRANTS, min_size=2, max_size=2),
    edits=st.lists(st.tuples(st.booleans(), EDITS), min_size=1, max_size=8),
)
def test_admission_allows_what_the_rules_say_and_nobody_gives_a_membership_without_permission(
    before: list[Edit], users: list[list[Grant]], edits: list[tuple[bool, Edit]]
) -> None:
    # An administrator sets the scene; what stands then is nobody's doing.
    hub, model = Hub(), Model()
    for edit in before:
        assert hub.edit(edit) == model.edit(edit)
    for second, edit in edits:
        grants = hub.grants = model.grants = users[second]
        members = model.members()
        allowed = model.edit(edit)
        event(f"{type(edit).__name__} {'allowed' if allowed else 'refused'}")
        assert hub.edit(edit) == allowed, edit
        for cluster, name in model.members() - members:
            key = model.sets[name]
            joined = has(grants, "create", "managedclustersets/join", name)
            founded = has(grants, "update", "managedclusters", cluster) and (
                key == DEFAULT or has(grants, "create", "managedclustersets/exclusiveKey", str(key))
            )
            assert joined or founded, (cluster, name)
