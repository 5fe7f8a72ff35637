"""A cluster as it was found at its source, and what it is called here."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from muster.importing.facts import amounts
from muster.importing.platforms import labels_of
from muster.importing.rules import merged
from muster.values.names import NAME_LENGTH, label_value_problems, qualified_name_problems

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muster.importing.facts import ClusterFacts
    from muster.importing.rules import Rules

#: The label of every imported cluster; its value says by which command.
SOURCE: Final = "import.muster.dev/source"
#: The annotation that says how to get to the cluster: `secret`, `clusterprofile/NAMESPACE/NAME` or `context/NAME`.
ACCESS: Final = "import.muster.dev/access"
BY_SECRET: Final = "secret"  # noqa: S105 - a word
BY_PROFILE: Final = "clusterprofile/"
BY_CONTEXT: Final = "context/"
#: The Secret with a kubeconfig, in the namespace of the cluster's name.
SECRET: Final = "muster-kubeconfig"  # noqa: S105 - the name of one
MANAGER: Final = "muster-import"
#: The reason of the condition ManagedClusterJoined; an agent gives another.
IMPORTED: Final = "ManagedClusterImported"
_UNFIT: Final = re.compile(r"[^a-z0-9]+")
_PROVIDERS: Final = (
    re.compile(r"arn:aws[a-z-]*:eks:[a-z0-9-]+:\d+:cluster/(.+)"),
    re.compile(r"gke_[^_]+_[^_]+_(.+)"),
)


@dataclass(frozen=True, slots=True)
class State:
    """What a ManagedCluster's status is to say. None is what is not known: what stands of it stays."""

    version: str | None = None
    capacity: Mapping[str, str] | None = None
    allocatable: Mapping[str, str] | None = None
    claims: Mapping[str, str] | None = None
    available: tuple[str, str, str] | None = None  # status, reason, message


@dataclass(frozen=True, slots=True)
class Found:
    """One cluster. `notes` say what could not be read, `fault` why it cannot be imported at all."""

    name: str
    origin: str  # where it was found, for people
    source: str
    labels: Mapping[str, str] = field(default_factory=dict)
    url: str = ""
    authority: str = ""  # certificates in base64
    access: str = ""
    state: State = State()
    notes: tuple[str, ...] = ()
    fault: str = ""
    kubeconfig: str = field(default="", repr=False)  # to be kept in a Secret, if that is wanted


@dataclass(frozen=True, slots=True)
class Judged:
    """What facts come to."""

    state: State
    labels: Mapping[str, str]
    notes: tuple[str, ...]


def judged(facts: ClusterFacts, rules: Rules) -> Judged:
    """Version, resources and claims from what was read. Without nodes, what is known of resources stays."""
    sums = None if facts.nodes is None else amounts(facts.nodes)
    derived = rules.claims(facts)
    claims = merged((facts.properties, facts.claims), derived.values)
    notes = [*(() if sums is None else sums.faults), *derived.faults, *claims.faults]
    state = State(
        version=facts.version or None,
        capacity=None if sums is None else sums.capacity,
        allocatable=None if sums is None else sums.allocatable,
        claims=claims.values,
    )
    return Judged(state, labels_of(claims.values), tuple(notes))


def gathered(unread: Sequence[str]) -> list[str]:
    """What could not be read, one line for each reason.

    >>> gathered(["nodes: not permitted", "ClusterClaims: not permitted", "a: the server answers 500"])
    ['not read: nodes, ClusterClaims: not permitted', 'not read: a: the server answers 500']
    """
    by_reason: dict[str, list[str]] = {}
    for each in unread:
        what, _, why = each.rpartition(": ")
        by_reason.setdefault(why, []).append(what)
    return [f"not read: {', '.join(what)}: {why}" for why, what in by_reason.items()]


def cluster_name(text: str) -> str:
    """A name that a namespace can have too, from a context, an address or a name of another system.

    >>> cluster_name("arn:aws:eks:eu-west-1:123456789012:cluster/Prod_1"), cluster_name("gke_shop_europe-west4_web")
    ('prod-1', 'web')
    >>> cluster_name("kind-dev"), cluster_name("https://10.0.0.1:6443"), cluster_name("…")
    ('kind-dev', '10-0-0-1-6443', '')
    """
    for shape in _PROVIDERS:
        if known := shape.fullmatch(text):
            text = known[1]
    text = text.removeprefix("https://").removeprefix("http://")
    return _UNFIT.sub("-", text.lower()).strip("-")[:NAME_LENGTH].strip("-")


def fitting_labels(labels: Mapping[str, str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """The labels that an object can carry, and what is said of the others."""
    kept, notes = {}, []
    for key, value in sorted(labels.items()):
        problems = qualified_name_problems(key) or label_value_problems(value)
        if problems:
            notes.append(f"label {key[:80]!r} is left out: it {problems[0]}")
        else:
            kept[key] = value
    return kept, tuple(notes)
