"""All roles and bindings, indexed by subject and kept up to date object by object.

`authorizer` feeds it from the store and asks it; `muster auth who-can` feeds it from lists. It decides as Kubernetes
does: cluster role bindings first, then the role bindings of the namespace, each by name. Aggregated cluster roles hold
what the roles they select hold at the moment of the decision.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from muster.access.grants import Holdings, Question, RoleKey, RoleTable
from muster.access.rules import Rule, rules_of
from muster.api.rbac import read_binding, read_role
from muster.values.json import JsonMapping
from muster.values.labels import InvalidSelectorError, object_selector
from muster.values.quoting import go_quote

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from muster.access.attributes import Attributes, User
    from muster.api.rbac import Role
    from muster.api.rbac import Subject as NamedSubject
    from muster.values.labels import Selector

GROUP = "rbac.authorization.k8s.io"
USER, GROUP_SUBJECT, SERVICE_ACCOUNT = "User", "Group", "ServiceAccount"


_FEW = 16  # bindings looked at for the reason: any of them would do


class BindingKey(NamedTuple):
    """A binding; no namespace for cluster role bindings. Keys sort in the order in which bindings are tried."""

    namespace: str
    name: str


class Subject(NamedTuple):
    """Who a binding names. Service accounts are the users they act as."""

    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class Binding:
    """A role for some subjects. `shown` are their descriptions as a reason states them."""

    key: BindingKey
    role: RoleKey
    subjects: tuple[Subject, ...]
    shown: tuple[str, ...]

    def applies_to(self, subjects: frozenset[Subject]) -> str | None:
        """The first of the binding's subjects that is one of these, in words."""
        return next((text for each, text in zip(self.subjects, self.shown, strict=True) if each in subjects), None)

    def describe(self, subject: str) -> str:
        role = f"{'Role' if self.role.namespace else 'ClusterRole'} {go_quote(self.role.name)}"
        if not self.key.namespace:
            return f"ClusterRoleBinding {go_quote(self.key.name)} of {role} to {subject}"
        name = go_quote(f"{self.key.name}/{self.key.namespace}")
        return f"RoleBinding {name} of {role} to {subject}"


@dataclass(slots=True)
class _Role:
    rules: tuple[Rule, ...]
    labels: Mapping[str, str] = field(default_factory=dict)
    selectors: tuple[Selector, ...] | None = None  # of an aggregated role
    members: set[RoleKey] = field(default_factory=set)  # whom the selectors choose
    table: RoleTable = field(default_factory=lambda: RoleTable(()))


class Policy:
    """Put and remove objects in any order; ask in between.

    Of the bindings that allow something the first by name is the reason; where there are very many, one of them.
    """

    def __init__(self) -> None:
        self._roles: dict[RoleKey, _Role] = {}
        self._aggregated: set[RoleKey] = set()
        self._bindings: dict[BindingKey, Binding] = {}
        self._bound: dict[RoleKey, set[BindingKey]] = {}
        self._holdings: dict[tuple[Subject, str], Holdings] = {}
        self._binders: dict[tuple[Subject, str, RoleKey], set[BindingKey]] = {}

    # --- Roles ----------------------------------------------------------------------------------------------------

    def put_role(self, obj: JsonMapping) -> None:
        """A Role or ClusterRole as it is now."""
        found = read_role(obj)
        key = RoleKey(found.metadata.namespace, found.metadata.name)
        role = _Role(rules_of(found), found.metadata.labels, None if key.namespace else _selectors(found))
        self._roles[key] = role
        self._aggregated.discard(key)
        if role.selectors is not None:
            self._aggregated.add(key)
            role.members = {
                other for other, each in self._roles.items() if other != key and _selects(role.selectors, other, each)
            }
        self._role_changed(key)

    def remove_role(self, key: RoleKey) -> None:
        self._roles.pop(key, None)
        self._aggregated.discard(key)
        self._role_changed(key)

    def _role_changed(self, key: RoleKey) -> None:
        """Compile the role anew, and every role that gathers it, directly or through others."""
        stale = {key}
        if not key.namespace:
            role = self._roles.get(key)
            for parent in self._aggregated:
                gatherer = self._roles[parent]
                if parent == key or gatherer.selectors is None:
                    continue
                chosen = role is not None and _selects(gatherer.selectors, key, role)
                if chosen or key in gatherer.members:
                    stale.add(parent)
                if chosen:
                    gatherer.members.add(key)
                else:
                    gatherer.members.discard(key)
            self._add_gatherers(stale)
        for each in stale:
            self._compile(each)

    def _add_gatherers(self, stale: set[RoleKey]) -> None:
        found = set(stale)
        while found:
            found = {
                parent
                for parent in self._aggregated
                if parent not in stale and not self._roles[parent].members.isdisjoint(found)
            }
            stale |= found

    def _compile(self, key: RoleKey) -> None:
        role = self._roles.get(key)
        if role is not None:
            role.table = RoleTable(self._effective(key))
        table = None if role is None else role.table
        for binding in self._bound.get(key, ()):
            for subject in self._bindings[binding].subjects:
                self._holdings[subject, binding.namespace].hold(key, table)

    def _effective(self, key: RoleKey) -> tuple[Rule, ...]:
        """The rules of a role; of an aggregated one those of all it reaches, each once, by name."""
        role = self._roles[key]
        if role.selectors is None:
            return role.rules
        seen, waiting = {key}, [key]
        leaves: set[RoleKey] = set()
        while waiting:
            for member in self._roles[waiting.pop()].members - seen:
                seen.add(member)
                if self._roles[member].selectors is None:
                    leaves.add(member)
                else:
                    waiting.append(member)
        return tuple(dict.fromkeys(rule for leaf in sorted(leaves) for rule in self._roles[leaf].rules))

    def role_rules(self, key: RoleKey) -> tuple[Rule, ...] | None:
        """What a role holds; None if there is no such role."""
        role = self._roles.get(key)
        return None if role is None else role.table.rules

    def aggregated(self) -> Iterator[tuple[RoleKey, tuple[Rule, ...], tuple[Rule, ...]]]:
        """Aggregated cluster roles: their key, the rules written in the object, and those they hold."""
        for key in sorted(self._aggregated):
            role = self._roles[key]
            yield key, role.rules, role.table.rules

    # --- Bindings -------------------------------------------------------------------------------------------------

    def put_binding(self, obj: JsonMapping) -> None:
        """A RoleBinding or ClusterRoleBinding as it is now."""
        binding = _binding(obj)
        self.remove_binding(binding.key)
        if binding.role.name == "":
            return
        self._bindings[binding.key] = binding
        self._bound.setdefault(binding.role, set()).add(binding.key)
        role = self._roles.get(binding.role)
        table = None if role is None else role.table
        for subject in binding.subjects:
            place = (subject, binding.key.namespace)
            self._binders.setdefault((*place, binding.role), set()).add(binding.key)
            holdings = self._holdings.get(place)
            if holdings is None:
                holdings = self._holdings[place] = Holdings()
            if binding.role not in holdings.tables:
                holdings.hold(binding.role, table)

    def remove_binding(self, key: BindingKey) -> None:
        binding = self._bindings.pop(key, None)
        if binding is None:
            return
        self._bound[binding.role].discard(key)
        if not self._bound[binding.role]:
            del self._bound[binding.role]
        for subject in set(binding.subjects):
            place = (subject, key.namespace)
            binders = self._binders[*place, binding.role]
            binders.discard(key)
            if binders:
                continue  # another binding gives the same role
            del self._binders[*place, binding.role]
            self._holdings[place].release(binding.role)
            if not self._holdings[place].tables:
                del self._holdings[place]

    # --- Asking ---------------------------------------------------------------------------------------------------

    def decide(self, user: User, attributes: Attributes) -> Binding | None:
        """The first binding that allows it."""
        question = Question(attributes)
        subjects = _subjects(user)
        for namespace in _places(attributes.namespace):
            found = {
                binder
                for subject in subjects
                if (holdings := self._holdings.get((subject, namespace))) is not None
                for role in islice(holdings.allowing(question), _FEW)
                for binder in islice(self._binders[subject, namespace, role], _FEW)
            }
            if found:
                return self._bindings[min(found)]
        return None

    def reason(self, user: User, binding: Binding) -> str:
        """Why the binding allows it, as the real server says it."""
        return f"RBAC: allowed by {self.granted_by(user, binding)}"

    def granted_by(self, user: User, binding: Binding) -> str:
        """The binding, the role and the subject by which the user has it."""
        return binding.describe(binding.applies_to(_subjects(user)) or "")

    def missing_roles(self, user: User, namespace: str) -> list[RoleKey]:
        """Roles that are bound to the user and do not exist, each once, in the order of the bindings."""
        found = {
            role: None
            for place in _places(namespace)
            for subject in _subjects(user)
            if (holdings := self._holdings.get((subject, place))) is not None
            for role in holdings.absent
        }
        return sorted(found)

    def rules_for(self, user: User, namespace: str) -> list[Rule]:
        """Everything the user holds in a namespace, binding by binding."""
        return [rule for binding in self.bindings_of(user, namespace) for rule in self.role_rules(binding.role) or ()]

    def bindings_of(self, user: User, namespace: str) -> list[Binding]:
        """The bindings that apply to a user in a namespace, in the order in which they are tried."""
        found: list[Binding] = []
        for place in _places(namespace):
            keys = {
                key
                for subject in _subjects(user)
                if (holdings := self._holdings.get((subject, place))) is not None
                for role in holdings.tables
                for key in self._binders[subject, place, role]
            }
            found.extend(self._bindings[key] for key in sorted(keys))
        return found

    def who_can(self, attributes: Attributes) -> Iterator[Binding]:
        """Every binding that allows it to somebody."""
        question = Question(attributes)
        for key, binding in sorted(self._bindings.items()):
            if key.namespace and key.namespace != attributes.namespace:
                continue
            role = self._roles.get(binding.role)
            if role is not None and role.table.allows(question):
                yield binding


def missing_role_text(role: RoleKey, *, plural: bool = False) -> str:
    """That a bound role does not exist; the authorizer and the storage of the real server word it differently."""
    noun = ("role" if role.namespace else "clusterrole") + ("s" if plural else "")
    return f"{noun}.{GROUP} {go_quote(role.name)} not found"


def aggregate_text(errors: Iterable[str]) -> str:
    """Several errors in one, as Go's aggregate prints them."""
    texts = list(dict.fromkeys(errors))
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def _places(namespace: str) -> tuple[str, ...]:
    return ("", namespace) if namespace else ("",)


def _subjects(user: User) -> frozenset[Subject]:
    return frozenset((Subject(USER, user.name), *(Subject(GROUP_SUBJECT, group) for group in user.groups)))


def _selectors(role: Role) -> tuple[Selector, ...] | None:
    """The selectors of an aggregated role. One that is not valid selects nothing."""
    if role.aggregation_rule is None:
        return None
    found = []
    for spec in role.aggregation_rule.cluster_role_selectors:
        requirements = ((each.key, each.operator, each.values) for each in spec.match_expressions)
        with contextlib.suppress(InvalidSelectorError):
            found.append(object_selector(spec.match_labels, requirements))
    return tuple(found)


def _selects(selectors: Iterable[Selector], key: RoleKey, role: _Role) -> bool:
    return not key.namespace and any(selector.matches(role.labels) for selector in selectors)


def _binding(obj: JsonMapping) -> Binding:
    given = read_binding(obj)
    key = BindingKey(given.metadata.namespace, given.metadata.name)
    kind, name = given.role_ref.kind, given.role_ref.name
    if kind == "ClusterRole":
        role = RoleKey("", name)
    elif kind == "Role" and key.namespace:
        role = RoleKey(key.namespace, name)
    else:
        role = RoleKey("", "")  # refers to nothing that could hold a rule
    subjects, shown = [], []
    for each in given.subjects:
        subject, text = _subject(each, key.namespace)
        if subject is not None:
            subjects.append(subject)
            shown.append(text)
    return Binding(key, role, tuple(subjects), tuple(shown))


def _subject(given: NamedSubject, namespace: str) -> tuple[Subject | None, str]:
    kind, name = given.kind, given.name
    if kind in (USER, GROUP_SUBJECT):
        return Subject(kind, name), f"{kind} {go_quote(name)}"
    home = given.namespace or namespace
    if kind == SERVICE_ACCOUNT and home:
        shown = go_quote(f"{name}/{home}")
        return Subject(USER, f"system:serviceaccount:{home}:{name}"), f"{kind} {shown}"
    return None, ""
