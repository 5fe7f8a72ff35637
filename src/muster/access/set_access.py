"""What is to be said about permissions of cluster sets: who may join a set, and whether a user may move a cluster.

For `muster clusterset` and JoinReview. Computed from roles and bindings with the functions of the hub's authorizer and
of its admission. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from muster.access.attributes import AUTHENTICATED, SYSTEM_MASTERS, Attributes, User, service_account_groups
from muster.access.subjects import grant_rows
from muster.api.managed_cluster import GROUP
from muster.clustersets.moves import join_permissions, moves_between_sets, possible_moves
from muster.clustersets.permissions import Permission, join
from muster.selectors.labels import labels_of
from muster.selectors.membership import DEFAULT_KEY, DEFAULT_SET, SETS, ExclusiveMembership, membership
from muster.values.json import JsonMapping

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from muster.access.policy import Policy
    from muster.access.rules import Rule

_CHANGES: Final = ("update", "patch")
_ACCOUNT: Final = "system:serviceaccount:"
_MOST_NAMED: Final = 5


# --- Who may join -------------------------------------------------------------------------------------------------


def joiners(policy: Policy, set_name: str) -> list[dict[str, str]]:
    """Everybody whom a role lets into and out of an exclusive set, and which clusters they may change for it."""
    return _rows(policy, [_attributes(join(set_name, ""))])


def changers(policy: Policy) -> list[dict[str, str]]:
    """Everybody who may change the labels of every cluster, and so decides over sets by label selector."""
    return _rows(policy, [Attributes(verb, GROUP, "", "managedclusters") for verb in _CHANGES])


def _rows(policy: Policy, questions: Iterable[Attributes]) -> list[dict[str, str]]:
    bindings = {binding.key: binding for question in questions for binding in policy.who_can(question)}
    rows = []
    for _, binding in sorted(bindings.items()):
        for row in grant_rows(binding):
            del row["namespace"]  # sets have none
            may_change = _changeable(policy.rules_for(_subject(row["kind"], row["subject"]), ""))
            if row["subject"].startswith(_ACCOUNT):
                home, _, name = row["subject"].removeprefix(_ACCOUNT).partition(":")
                row |= {"kind": "ServiceAccount", "subject": f"{home}/{name}"}
            rows.append(row | {"clusters": may_change})
    return rows


def _subject(kind: str, name: str) -> User:
    return User("", groups=(name, AUTHENTICATED)) if kind == "Group" else the_user(name, ())


def the_user(name: str, groups: Iterable[str]) -> User:
    """A user with the groups that everybody of its kind has besides those that are given."""
    home, _, account = name.removeprefix(_ACCOUNT).partition(":")
    implied = service_account_groups(home) if name.startswith(_ACCOUNT) and account else ()
    return User(name, groups=(*groups, *implied, AUTHENTICATED))


def _changeable(rules: Iterable[Rule]) -> str:
    """The clusters whose labels these rules allow to change: `any`, some names, or `none`."""
    names: set[str] = set()
    for rule in rules:
        if (
            not {"*", *_CHANGES}.isdisjoint(rule.verbs)
            and not {"*", GROUP}.isdisjoint(rule.groups)
            and not {"*", "managedclusters"}.isdisjoint(rule.resources)
        ):
            if not rule.names:
                return "any"
            names.update(rule.names)
    shown = sorted(names)
    more = f", {len(shown) - _MOST_NAMED} more" if len(shown) > _MOST_NAMED else ""
    return (", ".join(shown[:_MOST_NAMED]) + more) or "none"


# --- Whether a user may move a cluster ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Need:
    """Permissions of which any one will do, and by what the user has some of them."""

    any_of: tuple[Permission, ...]
    granted: Mapping[str, str]  # by verb: the binding, in words

    @property
    def is_met(self) -> bool:
        return bool(self.granted)


@dataclass(frozen=True, slots=True)
class MoveAnswer:
    """Whether a user may move a cluster into a set, or out of it if it is in there."""

    user: str
    cluster: str
    set: str
    enters: bool
    change: str  # of the cluster's labels, in words; empty if no change would do it
    needs: tuple[Need, ...]
    note: str = ""

    @property
    def allowed(self) -> bool:
        return bool(self.needs) and all(need.is_met for need in self.needs)

    @property
    def missing(self) -> list[Permission]:
        return [each for need in self.needs if not need.is_met for each in need.any_of]


@dataclass(frozen=True, slots=True)
class Move:
    """What moving a cluster into a set takes, or out of it if it is in there, whoever does it."""

    cluster: str
    set: str
    enters: bool
    change: str
    needs: tuple[tuple[Permission, ...], ...]  # of each one permission will do
    note: str = ""

    def answer(self, user: str, needs: tuple[Need, ...]) -> MoveAnswer:
        """Whether a user may, who has so much of what is needed."""
        return MoveAnswer(user, self.cluster, self.set, self.enters, self.change, needs, self.note)


def move(
    policy: Policy, user: User, cluster: JsonMapping, wanted: JsonMapping, sets: Sequence[JsonMapping]
) -> MoveAnswer:
    """Whether the user may move the cluster. Raises InvalidObjectError if the wanted set cannot be evaluated."""
    planned = planned_move(cluster, wanted, sets)
    return planned.answer(user.name, tuple(_need(policy, user, each) for each in planned.needs))


def planned_move(cluster: JsonMapping, wanted: JsonMapping, sets: Sequence[JsonMapping]) -> Move:
    """What moving the cluster needs. Raises InvalidObjectError if the wanted set cannot be evaluated."""
    name, set_name = str(cluster["metadata"]["name"]), str(wanted["metadata"]["name"])
    rule = membership(wanted)
    enters = not rule.match(cluster)
    change_it = tuple(_change(verb, name) for verb in _CHANGES)
    if not isinstance(rule, ExclusiveMembership):
        note = "the set has a label selector: whoever may change the cluster's labels decides whether it is a member"
        return Move(name, set_name, enters, "labels as the selector asks for", (change_it,), note)
    before = dict(labels_of(cluster))
    after = {**before, rule.key: set_name} if enters else {key: before[key] for key in before if key != rule.key}
    if rule.key == DEFAULT_KEY:
        after.setdefault(DEFAULT_KEY, DEFAULT_SET)
    if after == before:
        note = f"a cluster leaves {DEFAULT_SET} only into another set of the key {DEFAULT_KEY}"
        return Move(name, set_name, enters, "", (), note)
    known = {each.obj.metadata.name: each for each in map(SETS.partly, sets)}
    moves = moves_between_sets(possible_moves(before, after), known)
    change = f"label {rule.key}: {before.get(rule.key, '(none)')} → {after.get(rule.key, '(none)')}"
    return Move(name, set_name, enters, change, (change_it, *((each,) for each in join_permissions(moves))))


def _change(verb: str, cluster: str) -> Permission:
    refusal = f'cannot {verb} the ManagedCluster "{cluster}"'
    return Permission(verb, "managedclusters", "", cluster, "the cluster's labels change", refusal)


def master_need(any_of: tuple[Permission, ...]) -> Need:
    """Met, by a membership that no role is needed for."""
    return Need(any_of, {each.verb: f"membership of {SYSTEM_MASTERS}" for each in any_of})


def _need(policy: Policy, user: User, any_of: tuple[Permission, ...]) -> Need:
    if SYSTEM_MASTERS in user.groups:
        return master_need(any_of)
    bindings = {each.verb: policy.decide(user, _attributes(each)) for each in any_of}
    granted = {verb: policy.granted_by(user, binding) for verb, binding in bindings.items() if binding is not None}
    return Need(any_of, granted)


def _attributes(permission: Permission) -> Attributes:
    return Attributes(
        permission.verb, permission.group, "", permission.resource, permission.subresource, "", permission.name
    )
