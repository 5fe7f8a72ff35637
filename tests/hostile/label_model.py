"""Who may move a cluster into or out of an exclusive set: the rules once more, in their plainest form.

Written from the specification of the exclusive key, and from nothing of ours: this module imports no muster. `judge`
looks at what happened to the objects, whoever did it and however, and says what was not allowed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Object = dict[str, Any]
DEFAULT_KEY = "cluster.open-cluster-management.io/clusterset"


@dataclass(frozen=True)
class Grant:
    """Verbs on a resource, such as `managedclustersets/join`; no names means every name."""

    verbs: tuple[str, ...]
    resource: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Actor:
    name: str
    grants: tuple[Grant, ...]

    def may(self, verb: str, resource: str, name: str) -> bool:
        return any(
            verb in grant.verbs and resource == grant.resource and (not grant.names or name in grant.names)
            for grant in self.grants
        )

    def may_for_all(self, verb: str, resource: str) -> bool:
        return any(verb in grant.verbs and resource == grant.resource and not grant.names for grant in self.grants)


def exclusive_key(cluster_set: Object) -> str | None:
    """The key by which a set has its members; None if it has them by a label selector."""
    spec = cluster_set.get("spec") or {}
    if (spec.get("clusterSelector") or {}).get("selectorType") == "LabelSelector":
        return None
    return spec.get("exclusiveKey") or DEFAULT_KEY


@dataclass
class Model:
    """The clusters and sets as the last change left them, in whatever version they are stored."""

    clusters: dict[str, Object] = field(default_factory=dict)
    sets: dict[str, Object] = field(default_factory=dict)
    doomed: set[str] = field(default_factory=set)  # clusters whose deletion somebody who may has asked for
    doomed_sets: set[str] = field(default_factory=set)
    owned: set[str] = field(default_factory=set)  # clusters whose owners somebody chose who may delete them
    seen: dict[str, tuple[str, str]] = field(default_factory=dict)  # uid to kind and name of everything there ever was
    bindings: dict[str, Object] = field(default_factory=dict)
    joined: int = 0
    left: int = 0

    def labels(self, cluster: str) -> dict[str, str]:
        return _labels(self.clusters.get(cluster))

    def memberships(self, labels: dict[str, str]) -> set[str]:
        """The exclusive sets that a cluster with these labels is in."""
        return {name for name, obj in self.sets.items() if (key := exclusive_key(obj)) and labels.get(key) == name}

    def members(self, key: str, name: str) -> list[str]:
        return [cluster for cluster, obj in self.clusters.items() if _labels(obj).get(key) == name]

    # --- what happened

    def cluster_changed(self, name: str, new: Object | None, actors: list[Actor], *, collected: bool) -> list[str]:
        """What was not allowed about the change. One of the actors has made it, or the collector has."""
        old = self.clusters.get(name)
        before = self.memberships(_labels(old)) if old is not None else set()
        after = self.memberships(_labels(new)) if new is not None else set()
        self.joined += len(after - before)
        self.left += len(before - after)
        wrong = self._wrong_about_cluster(name, old, new, before ^ after, actors, collected=collected)
        if new is None:
            self.clusters.pop(name, None)
            self.doomed.discard(name)
            self.owned.discard(name)
        else:
            self.clusters[name] = new
            self.seen[new["metadata"]["uid"]] = ("ManagedCluster", name)
        return wrong

    def _wrong_about_cluster(
        self,
        name: str,
        old: Object | None,
        new: Object | None,
        moved: set[str],
        actors: list[Actor],
        *,
        collected: bool,
    ) -> list[str]:
        if new is None:
            return self._wrong_about_deletion(name, old, actors, collected=collected)
        marked = "deletionTimestamp" in new["metadata"] and "deletionTimestamp" not in (old or new)["metadata"]
        if collected:
            never = [] if not marked else self._never(old)
            self.doomed |= {name} if marked else set()
            return [f"the collector changed {name}: {sorted(moved)}, {never}"] if moved or never else []
        wrong = []
        joins = [each for each in actors if all(each.may("create", "managedclustersets/join", one) for one in moved)]
        if moved and not joins:
            wrong.append(f"{name} moved between {sorted(moved)} by {_names(actors)}, none of whom may join all")
        # A deletion that waits for finalizers is a change too, of the deletionTimestamp.
        able = ("create" if old is None else "update", "patch", "delete", "deletecollection")
        if not any(each.may(verb, "managedclusters", name) for each in actors for verb in able):
            wrong.append(f"{name} was written by {_names(actors)}, none of whom may write it")
        if marked:
            if not any(_may_delete(each, name) for each in actors):
                wrong.append(f"{name} was marked for deletion by {_names(actors)}")
            self.doomed.add(name)
        if _owners(new) != _owners(old):
            consenting = old is None or any(each.may("delete", "managedclusters", name) for each in actors)
            if not consenting:
                wrong.append(f"{name} got owners from {_names(actors)}, none of whom may delete it")
            self.owned.add(name)
        return wrong

    def _wrong_about_deletion(
        self, name: str, old: Object | None, actors: list[Actor], *, collected: bool
    ) -> list[str]:
        if name in self.doomed:
            return []  # it waited for finalizers, and whoever took the last one away only ended that
        if not collected:
            if any(_may_delete(each, name) for each in actors):
                return []
            return [f"{name} was deleted by {_names(actors)}, none of whom may delete it"]
        owners = _owners(old)
        if not owners or name not in self.owned:
            return [f"the collector deleted {name}, which has no owner"]
        never = self._never(old)
        return [f"the collector deleted {name} after an owner that never was: {never}"] if never else []

    def _never(self, obj: Object | None) -> list[Object]:
        """Owners that there never were."""
        return [each for each in _owners(obj) if self.seen.get(each["uid"]) != (each["kind"], each["name"])]

    def set_changed(self, name: str, new: Object | None, actors: list[Actor], *, collected: bool) -> list[str]:
        old = self.sets.get(name)
        before, after = exclusive_key(old) if old else None, exclusive_key(new) if new else None
        was = set(self.members(before, name)) if before else set()
        now = set(self.members(after, name)) if after else set()
        self.joined += len(now - was)
        self.left += len(was - now)
        wrong = []
        if new is None:
            if name in self.doomed_sets:
                pass
            elif collected:
                never = self._never(old)
                if never or not _owners(old):
                    wrong.append(f"the collector deleted the set {name}: {never}")
            elif not any(_may_delete(each, name, "managedclustersets") for each in actors):
                wrong.append(f"the set {name} was deleted by {_names(actors)}")
        elif before and after and before != after:
            wrong.append(f"the set {name} changed its key from {before} to {after}")
        elif after and before != after:
            if not any(self._may_begin(each, name, after, now, new=old is None) for each in actors):
                wrong.append(f"the set {name} began by {after} with {sorted(now)}, by {_names(actors)}")
        elif not collected and not any(
            each.may(verb, "managedclustersets", name)
            for each in actors
            for verb in ("create", "update", "patch", "delete", "deletecollection")
        ):
            wrong.append(f"the set {name} was written by {_names(actors)}")
        if new is None:
            self.sets.pop(name, None)
            self.doomed_sets.discard(name)
        else:
            owned = _owners(new) != _owners(old) and old is not None and not collected
            if owned and not any(each.may("delete", "managedclustersets", name) for each in actors):
                wrong.append(f"the set {name} got owners from {_names(actors)}")
            if "deletionTimestamp" in new["metadata"] and "deletionTimestamp" not in (old or new)["metadata"]:
                if not collected and not any(_may_delete(each, name, "managedclustersets") for each in actors):
                    wrong.append(f"the set {name} was marked for deletion by {_names(actors)}")
                self.doomed_sets.add(name)
            self.sets[name] = new
            self.seen[new["metadata"]["uid"]] = ("ManagedClusterSet", name)
        return wrong

    def binding_changed(self, name: str, new: Object | None, actors: list[Actor], *, collected: bool) -> list[str]:
        """Who creates a binding may bind the set, and it stays with that set."""
        old = self.bindings.get(name)
        if new is None:
            self.bindings.pop(name, None)
            return ["the collector deleted a binding"] if collected else []
        self.bindings[name] = new
        bound = (new.get("spec") or {}).get("clusterSet")
        if bound != name:
            return [f"the binding {name} binds {bound}"]
        if old is None and not any(
            each.may("create", "managedclustersets/bind", name)
            and each.may("create", "managedclustersetbindings", name)
            for each in actors
        ):
            return [f"{name} was bound by {_names(actors)}, none of whom may bind it"]
        return []

    def _may_begin(self, actor: Actor, name: str, key: str, members: set[str], *, new: bool) -> bool:
        verbs = ("create",) if new else ("update", "patch")
        if not any(actor.may(verb, "managedclustersets", name) for verb in verbs):
            return False
        if key != DEFAULT_KEY and not actor.may("create", "managedclustersets/exclusiveKey", key):
            return False
        return all(actor.may("update", "managedclusters", each) for each in members)

    # --- what should happen

    def may_label(self, actor: Actor, name: str, labels: dict[str, str], verb: str) -> bool:
        """Whether a plain change of an existing cluster's labels is allowed."""
        if not actor.may(verb, "managedclusters", name):
            return False
        old = self.labels(name)
        new = {**labels} if labels.get(DEFAULT_KEY) else {**labels, DEFAULT_KEY: "default"}
        asked = self.memberships(old) ^ self.memberships(new)
        if old.get(DEFAULT_KEY) != new.get(DEFAULT_KEY):
            # The default key is guarded whether or not there is such a set, as upstream has it.
            asked |= {value for value in (old.get(DEFAULT_KEY), new.get(DEFAULT_KEY)) if value}
        return all(actor.may("create", "managedclustersets/join", each) for each in asked)


def _may_delete(actor: Actor, name: str, resource: str = "managedclusters") -> bool:
    return actor.may("delete", resource, name) or actor.may_for_all("deletecollection", resource)


def _labels(obj: Object | None) -> dict[str, str]:
    return ((obj or {}).get("metadata") or {}).get("labels") or {}


def _owners(obj: Object | None) -> list[Object]:
    return ((obj or {}).get("metadata") or {}).get("ownerReferences") or []


def _names(actors: list[Actor]) -> str:
    return ", ".join(each.name for each in actors)
