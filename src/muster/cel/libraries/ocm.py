"""What Open Cluster Management adds to CEL: a cluster's scores, JSON in claims, and whether an object has conditions.

The scores of a cluster stand under the key `@scores` of the cluster's map, by the name of the AddOnPlacementScore;
whoever evaluates puts them there. No expression can name that key, since it is not an identifier of a field.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from muster.cel.checking.types import BOOL, DYN, STRING, list_of
from muster.cel.costs.charge import OCM, Charge
from muster.cel.costs.meter import spend
from muster.cel.costs.operands import CallEstimate
from muster.cel.costs.ranges import UNKNOWN, Range, exactly
from muster.cel.costs.runtime import LIST, MAP, TRAVERSAL, Price, size_of, traversal
from muster.cel.declarations import Function, Library
from muster.cel.libraries.declare import call, method
from muster.cel.libraries.json_text import BrokenJsonError, InvalidJsonError, decode_json, fault_of
from muster.cel.traversals import json_tree
from muster.cel.values import MISSING
from muster.errors import EvaluationError, FailureKind
from muster.values.paths import PRESENT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.cel.costs.meter import Meter
    from muster.cel.costs.operands import Arguments, Operand
    from muster.cel.values.value import Value
    from muster.values.paths import Path

SCORES_KEY = "@scores"


def scores(cluster: Value, name: str) -> Value:
    """The items of the named score; a score that is not there is an error, never an empty list."""
    if not isinstance(cluster, (dict, Mapping)):  # dict first: to ask an abstract class takes longer
        raise EvaluationError("no such overload", FailureKind.NO_SUCH_OVERLOAD)
    metadata = cluster.get("metadata")
    if not isinstance(metadata, (dict, Mapping)):
        raise EvaluationError("failed to get cluster metadata")
    if "name" not in metadata:
        raise EvaluationError("failed to get cluster name")
    scores_of_cluster = cluster.get(SCORES_KEY)
    found = scores_of_cluster.get(name) if isinstance(scores_of_cluster, (dict, Mapping)) else None
    if found is None:
        raise EvaluationError(
            f'failed to get score: addonplacementscore.cluster.open-cluster-management.io "{name}" not found'
        )
    return found


def parse(meter: Meter, text: str) -> Value:
    spend(meter, len(text) // 2)  # there may be a value for every other character
    try:
        return decode_json(text)
    except BrokenJsonError:
        spend(meter, 2 * len(text))  # the fault is looked for character by character
        raise EvaluationError(f"failed to parse json: {fault_of(text)}", FailureKind.NOT_JSON) from None
    except InvalidJsonError as error:
        raise EvaluationError(f"failed to parse json: {error}", FailureKind.NOT_JSON) from None


def has_conditions(status: Value) -> bool:
    conditions = status.get("conditions") if isinstance(status, Mapping) else None
    return isinstance(conditions, (list, tuple)) and len(conditions) > 0


# --- costs


def _items(_: Sequence[Value], result: Value) -> int:
    return LIST + (MAP + 1) * size_of(result) if isinstance(result, (list, tuple)) else LIST


def _items_size(target: Operand | None, args: Arguments) -> CallEstimate:
    """A list with a map per score; how many there are is asked for under the path @scores."""
    owner = target or args[0]
    size = owner.hints((SCORES_KEY,), owner.type) or UNKNOWN
    return CallEstimate(exactly(LIST).plus(size.times(exactly(MAP + 1))), size)


def _document(meter: Meter, args: Sequence[Value], result: Value) -> int:
    return traversal(size_of(args[0])) + json_tree(meter, result) if args else 0


def _document_size(target: Operand | None, args: Arguments) -> CallEstimate:
    """A text of n characters holds at most n / 2 lists or maps."""
    size = (target or args[0]).size_or_hint()
    return CallEstimate(size.scaled(TRAVERSAL).plus(Range(0, size.scaled(0.5).max).scaled(MAP)), Range(0, size.max))


_COUNTED = f"({LIST} + {MAP + 1} * len({{result}}) if {{result}}.__class__ is list else {{otherwise}})"
_ITEMS = {OCM: Charge(Price(_items, needs_result=True, inline=_COUNTED), _items_size)}
_DOCUMENT = {OCM: Charge(Price(_document, needs_result=True, metered=True), _document_size)}

_SCORES_DOC = "The items of an AddOnPlacementScore of the cluster: maps with name and value."
_JSON_DOC = "The value of a JSON text; its numbers are doubles."


def _scores_read(args: tuple[Value, ...]) -> tuple[Path, ...]:
    """One score when its name is known, all of them otherwise; and that the cluster has a name."""
    score = (SCORES_KEY,) if args[1] is MISSING else (SCORES_KEY, args[1])
    return score, ("metadata", "name", PRESENT)


_SCORES = replace(method("cluster_scores", (DYN, STRING), list_of(DYN), scores), reads=_scores_read)
_SCORES_OF = replace(call("scores_of_cluster", (DYN, STRING), list_of(DYN), scores), reads=_scores_read)
_PARSE_JSON = method("parse_json_string", (STRING,), DYN, parse, metered=True)
_PARSE_JSON_EXAMPLES = {"'{\"a\": [1]}'.parseJSON().a[0]": 1.0}

CONDITIONS = Library(
    "open-cluster-management.conditions",
    (
        Function(
            "hasConditions",
            (call("has_conditions", (DYN,), BOOL, has_conditions),),
            doc="Whether a status has a list of conditions that is not empty.",
            examples={"hasConditions({'conditions': []})": False},
        ),
    ),
)
JSON = Library(
    "open-cluster-management.json",
    (Function("parseJSON", (_PARSE_JSON,), doc=_JSON_DOC, examples=_PARSE_JSON_EXAMPLES, charges=_DOCUMENT),),
)
MANAGED_CLUSTER = Library(
    "open-cluster-management.managedcluster", (Function("scores", (_SCORES,), doc=_SCORES_DOC, charges=_ITEMS),)
)
MUSTER = Library(
    "muster",
    (
        Function(
            "scores",
            (_SCORES, _SCORES_OF),
            doc=f"{_SCORES_DOC} Called on the cluster or with it.",
            charges=_ITEMS,
        ),
        Function(
            "parseJSON",
            (_PARSE_JSON, call("parse_json_of_string", (STRING,), DYN, parse, metered=True)),
            doc=f"{_JSON_DOC} Called on the text or with it.",
            examples={**_PARSE_JSON_EXAMPLES, "parseJSON('[true]')[0]": True},
            charges=_DOCUMENT,
        ),
    ),
)
