"""Policy rules: what one rule allows, and whether some rules cover others. Pure.

`grants` compiles rules for speed, `escalation` compares them; both mean what is written here.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from muster.values.json import JsonObject
from muster.values.quoting import go_quote

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from muster.access.attributes import Attributes
    from muster.api.rbac import Role

ALL = "*"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a role: verbs on resources, or verbs on paths. No names: every name."""

    verbs: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()

    def to_object(self) -> JsonObject:
        """The rule as access reviews and roles write it; empty members are left out."""
        members = {
            "verbs": self.verbs,
            "apiGroups": self.groups,
            "resources": self.resources,
            "resourceNames": self.names,
            "nonResourceURLs": self.urls,
        }
        return {key: list(values) for key, values in members.items() if values}

    def __str__(self) -> str:
        """As the real server writes a rule in a message."""
        members = {
            "APIGroups": self.groups,
            "Resources": self.resources,
            "NonResourceURLs": self.urls,
            "ResourceNames": self.names,
            "Verbs": self.verbs,
        }
        shown = (f"{key}:{quoted_list(values)}" for key, values in members.items() if values)
        return f"{{{', '.join(shown)}}}"


def rules_of(role: Role) -> tuple[Rule, ...]:
    """The rules that are written in a Role or ClusterRole."""
    return tuple(
        Rule(each.verbs, each.api_groups, each.resources, each.resource_names, each.non_resource_urls)
        for each in role.rules
    )


# --- What a rule allows -------------------------------------------------------------------------------------------


def allows(rule: Rule, attributes: Attributes) -> bool:
    """Whether the rule allows it, word for word as Kubernetes defines it."""
    return allows_some(rule, attributes) and (bool(attributes.path) or not rule.names or attributes.name in rule.names)


def allows_some(rule: Rule, attributes: Attributes) -> bool:
    """Whether the rule allows it but for the name, of which it may list very many."""
    if ALL not in rule.verbs and attributes.verb not in rule.verbs:
        return False
    if attributes.path:
        return any(url_covers(url, attributes.path) for url in rule.urls)
    if ALL not in rule.groups and attributes.group not in rule.groups:
        return False
    return any(each in rule.resources for each in resource_forms(attributes.resource, attributes.subresource))


def resource_forms(resource: str, subresource: str) -> tuple[str, ...]:
    """How rules may write a resource: itself, everything, or a subresource of everything."""
    if not subresource:
        return (resource, ALL)
    return (f"{resource}/{subresource}", ALL, f"*/{subresource}")


def url_covers(rule_url: str, path: str) -> bool:
    """Paths match as they are written, or by a prefix that ends in a star."""
    return rule_url == path or (rule_url.endswith(ALL) and path.startswith(rule_url.rstrip(ALL)))


# --- Whether rules cover others -----------------------------------------------------------------------------------

_MOST_PARTS = 20_000  # a rule may name so many combinations of verb, group, resource and name


class TooManyPartsError(Exception):
    """Rules that name more combinations than anybody means."""


def uncovered(owned: Sequence[Rule], wanted: Iterable[Rule]) -> list[Rule]:
    """Those parts of the wanted rules that no owned rule holds. Each part has one verb, resource and name at most."""
    holder = _Holder(owned)
    return [part for part in _parts(wanted) if not holder.covers(part)]


def _parts(rules: Iterable[Rule]) -> Iterator[Rule]:
    room = _MOST_PARTS
    for rule in rules:
        room -= len(rule.groups) * len(rule.resources) * len(rule.verbs) * max(1, len(rule.names))
        room -= len(rule.urls) * len(rule.verbs)
        if room < 0:
            raise TooManyPartsError
        for group, resource, verb in product(rule.groups, rule.resources, rule.verbs):
            if not rule.names:
                yield Rule((verb,), (group,), (resource,))
            for name in rule.names:
                yield Rule((verb,), (group,), (resource,), (name,))
        for url, verb in product(rule.urls, rule.verbs):
            yield Rule((verb,), urls=(url,))


class _Holder:
    """Owned rules with their members as sets, equal rules once."""

    def __init__(self, owned: Sequence[Rule]) -> None:
        self._owned = [
            (frozenset(rule.verbs), frozenset(rule.groups), frozenset(rule.resources), frozenset(rule.names), rule.urls)
            for rule in dict.fromkeys(owned)
        ]

    def covers(self, part: Rule) -> bool:
        verb = part.verbs[0]
        if part.urls:
            return any(
                (ALL in verbs or verb in verbs) and not names and any(url_covers(url, part.urls[0]) for url in urls)
                for verbs, _, _, names, urls in self._owned
            )
        group, resource = part.groups[0], part.resources[0]
        _, slash, subresource = resource.partition("/")
        forms = (ALL, resource, f"*/{subresource}") if slash else (ALL, resource)
        return any(
            (ALL in verbs or verb in verbs)
            and (ALL in groups or group in groups)
            and not resources.isdisjoint(forms)
            and (not names or (bool(part.names) and part.names[0] in names))
            for verbs, groups, resources, names, _ in self._owned
        )


def compacted(rules: Iterable[Rule]) -> list[Rule]:
    """Rules for people to read: those on one resource that differ by their verbs become one."""
    simple: dict[tuple[str, str], list[str]] = {}
    other: list[Rule] = []
    for rule in rules:
        if rule.names or rule.urls or len(rule.groups) != 1 or len(rule.resources) != 1:
            other.append(rule)
        else:
            simple.setdefault((rule.groups[0], rule.resources[0]), []).extend(rule.verbs)
    return other + [Rule(tuple(verbs), (group,), (resource,)) for (group, resource), verbs in simple.items()]


def quoted_list(values: Iterable[str]) -> str:
    """`["a" "b"]`, as Go prints a list of strings."""
    return f"[{' '.join(map(go_quote, values))}]"
