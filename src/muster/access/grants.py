"""Rules compiled for decisions: the table of a role, and the roles that one subject holds in one place.

A decision looks up every way in which a rule could have written what is asked (`Question.keys`), so its cost does not
grow with the number of rules. `policy` keeps these up to date; they know neither objects nor users.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from muster.access.rules import ALL, Rule, allows_some, resource_forms, url_covers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.access.attributes import Attributes

# A rule that names more combinations than this is compared member by member instead of being looked up.
_MOST_KEYS = 4096
# From so many roles on, one common table is quicker than asking each.
MANY_ROLES = 8


# One combination that a rule allows: verb, group, resource, and the name or None for every name.
Grant = tuple[str, str, str, str | None]
# A verb on one path, written out in full.
PathGrant = tuple[str, str]
AnyGrant = Grant | PathGrant


class RoleKey(NamedTuple):
    """A role; no namespace for cluster roles."""

    namespace: str
    name: str


class Question:
    """What is asked, with everything precomputed that does not depend on a role."""

    __slots__ = ("attributes", "keys")

    def __init__(self, attributes: Attributes) -> None:
        self.attributes = attributes
        verbs = (attributes.verb, ALL)
        self.keys: tuple[AnyGrant, ...]
        if attributes.path:
            self.keys = tuple(product(verbs, (attributes.path, ALL)))
            return
        forms = resource_forms(attributes.resource, attributes.subresource)
        self.keys = tuple(product(verbs, (attributes.group, ALL), forms, (None, attributes.name)))


class RoleTable:
    """The rules of one role."""

    __slots__ = ("grants", "prefixes", "rules", "wide")

    def __init__(self, rules: tuple[Rule, ...]) -> None:
        self.rules = rules
        self.grants: set[AnyGrant] = set()
        self.prefixes: list[Rule] = []  # rules on paths that end in a star
        self.wide: list[tuple[Rule, frozenset[str]]] = []  # rules that name too many combinations, and their names
        for rule in rules:
            self._add(rule)

    def _add(self, rule: Rule) -> None:
        size = len(rule.verbs) * len(rule.groups) * len(rule.resources) * max(1, len(rule.names))
        if size + len(rule.verbs) * len(rule.urls) > _MOST_KEYS:
            self.wide.append((rule, frozenset(rule.names)))
            return
        names: tuple[str | None, ...] = rule.names or (None,)
        self.grants.update(product(rule.verbs, rule.groups, rule.resources, names))
        self.grants.update(product(rule.verbs, rule.urls))
        if any(url.endswith(ALL) and url != ALL for url in rule.urls):
            self.prefixes.append(rule)

    def allows(self, question: Question) -> bool:
        return not self.grants.isdisjoint(question.keys) or self._scanned(question.attributes)

    def _scanned(self, attributes: Attributes) -> bool:
        if attributes.path:
            for rule in self.prefixes:
                if (ALL in rule.verbs or attributes.verb in rule.verbs) and any(
                    url_covers(url, attributes.path) for url in rule.urls
                ):
                    return True
        return any(
            (bool(attributes.path) or not names or attributes.name in names) and allows_some(rule, attributes)
            for rule, names in self.wide
        )

    @property
    def needs_scan(self) -> bool:
        return bool(self.wide or self.prefixes)


class Holdings:
    """The roles that one subject holds in one namespace, or everywhere. Roles that do not exist have no table."""

    __slots__ = ("_common", "_scanned", "absent", "tables")

    def __init__(self) -> None:
        self.tables: dict[RoleKey, RoleTable | None] = {}
        self.absent: set[RoleKey] = set()  # bound, and yet there is no such role
        self._common: dict[AnyGrant, set[RoleKey]] | None = None
        self._scanned: set[RoleKey] = set()

    def hold(self, role: RoleKey, table: RoleTable | None) -> None:
        """From now on the role is held, with this content."""
        self.release(role)
        self.tables[role] = table
        if table is None:
            self.absent.add(role)
        if self._common is not None:
            self._enter(role, table)
        elif len(self.tables) > MANY_ROLES:
            self._common = {}
            for each, its_table in self.tables.items():
                self._enter(each, its_table)

    def release(self, role: RoleKey) -> None:
        """The role is held no longer."""
        table = self.tables.pop(role, None)
        self._scanned.discard(role)
        self.absent.discard(role)
        if self._common is None or table is None:
            return
        for grant in table.grants:
            holders = self._common[grant]
            holders.discard(role)
            if not holders:
                del self._common[grant]

    def _enter(self, role: RoleKey, table: RoleTable | None) -> None:
        if table is None or self._common is None:
            return
        for grant in table.grants:
            self._common.setdefault(grant, set()).add(role)
        if table.needs_scan:
            self._scanned.add(role)

    def allowing(self, question: Question) -> Iterator[RoleKey]:
        """The roles that allow it."""
        if self._common is None:
            for role, table in self.tables.items():
                if table is not None and table.allows(question):
                    yield role
            return
        for key in question.keys:
            yield from self._common.get(key, ())
        for role in self._scanned:
            table = self.tables[role]
            if table is not None and table.allows(question):
                yield role
