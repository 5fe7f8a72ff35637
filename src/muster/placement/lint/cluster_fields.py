"""Names in an expression that no cluster has: labels, claims, scores, and fields that the kind does not know."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.api.managed_cluster import MANAGED_CLUSTER
from muster.api.schema.object_meta import OBJECT_META
from muster.cel.syntax.traversal import descendants
from muster.cel.syntax.tree import Call, Literal, Select
from muster.placement.lint.fields import property_names
from muster.placement.lint.findings import Finding, meant
from muster.selectors.cel import path_of
from muster.selectors.paths import LABELS, SCORES
from muster.values.json import JsonMapping
from muster.values.paths import PRESENT, Where

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.cel.program import Program
    from muster.cel.syntax.tree import Expr
    from muster.placement.lint.fleet_facts import Vocabulary
    from muster.selectors.paths import Path

_SCHEMA: Final = MANAGED_CLUSTER.versions[0].schema


def unknown_fields(program: Program, where: str, known: Vocabulary, *, selects: bool) -> Iterator[Finding]:
    """Names that no cluster has. One that is asked for carefully is no mistake as long as clusters are selected."""
    for path in sorted({path_of(read) for read in program.reads}, key=repr):
        found = _unknown(path, known)
        if found is None:
            continue
        code, name, message, fix = found
        place = _place(program, name)
        if place is None or (selects and not _is_taken(program, name) and code != "no-such-field"):
            continue
        yield Finding(code, where, message, fix, program.text, program.tree.tree.offsets.get(place.id))


def _unknown(path: Path, known: Vocabulary) -> tuple[str, str, str, str] | None:
    """The rule, the name, what is wrong and how to fix it."""
    match path:
        case (str(step), str(name), *_) if step == SCORES:
            if name not in known.scores:
                return "no-such-score", name, f"no cluster has the score {name!r}", meant(name, known.scores)
        case ("metadata", step, str(key), *_) if step == LABELS:
            if key not in known.labels:
                return "no-such-label", key, f"no cluster has the label {key!r}", meant(key, known.labels)
        case ("status", "clusterClaims", Where(value=name), *_):
            if name not in known.claims:
                return "no-such-claim", name, f"no cluster has the claim {name!r}", meant(name, known.claims)
        case _:
            return _unknown_field(path)
    return None


def _unknown_field(path: Path) -> tuple[str, str, str, str] | None:
    """A step that the schema of clusters does not have."""
    schema: JsonMapping = _SCHEMA
    walked = "managedCluster"
    for step in path:
        if step is PRESENT or not isinstance(step, str) or step == SCORES:
            return None
        properties = OBJECT_META["properties"] if walked.endswith(".metadata") else property_names(schema)
        if properties is None or "items" in schema:
            return None
        if step not in properties:
            message = f"clusters have no field {step!r} in {walked}"
            return "no-such-field", step, message, meant(step, list(properties))
        schema = properties[step]
        walked += f".{step}"
    return None


def _place(program: Program, name: str) -> Expr | None:
    """Where a name stands in the expression."""
    for node in descendants(program.tree.expr):
        match node:
            case Select(field=field) if field == name:
                return node
            case Literal(value=value) if value == name:
                return node
    return None


def _is_taken(program: Program, name: str) -> bool:
    """Whether the expression takes it without asking whether it is there, or asks a list for it."""
    for node in descendants(program.tree.expr):
        match node:
            case Select(field=field, test_only=False) if field == name:
                return True
            case Call(function=function, args=(_, Literal(value=value))) if value == name:
                return function not in ("_[?_]", "_?._", "@in")
            case Call(args=(Literal(value=value),), target=target) if value == name and target is not None:
                return True
    return False
