"""Reasons in words, for people: one function per code. Nothing reads these sentences back.

Where a value or a name was taken out of a reason, its sentence says the same without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.reasons.codes import Code
from muster.reasons.guard_words import GUARD_WORDS, held, would_go
from muster.reasons.operator_words import OPERATOR_WORDS
from muster.reasons.redaction import HIDDEN
from muster.reasons.selector_words import (
    actual,
    all_of_it,
    condition,
    does_not_hold,
    has_failed,
    is_false,
    is_no_boolean,
    purposes,
)
from muster.reasons.templates import about, always, either, filled, names
from muster.values.messages import condition_message, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from muster.reasons.reason import Reason

_REASONS_ROOM: Final = 16_384  # bytes


def sentence(reason: Reason) -> str:
    """What people are told. A code that is none of ours says itself."""
    words = _WORDS.get(reason.code)
    return reason.code if words is None else words(reason)


# ------------------------------------------------------------------------------------------------------- cluster sets


def _set_label(reason: Reason) -> str:
    key, name = reason.parameters["key"], reason.subject.cluster_set
    if "actual" not in reason.values:
        return f"not labelled {key}={name}"
    return f"label {key} is {actual(reason)}; members of {name} carry {name!r}"


def _bound_set(reason: Reason) -> str:
    binding = f"bound by ManagedClusterSetBinding {reason.parameters['namespace']}/{reason.subject.cluster_set}"
    if "fault" in reason.parameters:
        last_good = "it cannot be evaluated as it is now, and its last good rule holds"
        binding += f"; {last_good}: {reason.parameters['fault']}"
    return f"{sentence(reason.parts[0])} ({binding})"


def _unusable(reason: Reason) -> str:
    stays = "; it is decided already, and stays" if reason.parameters.get("stays") else ""
    return f"cannot be evaluated: {reason.parameters['fault']}{stays}"


def _no_set_bound(reason: Reason) -> str:
    if _is_of_one(reason):
        return "no cluster set is bound to the placement's namespace"
    return f"no cluster set is bound to namespace {reason.parameters['namespace']}"


def _named_sets_not_bound(reason: Reason) -> str:
    if _is_of_one(reason):
        return "none of the cluster sets that the placement names is bound to its namespace"
    wanted, namespace = listed(names(reason, "sets")), reason.parameters["namespace"]
    return f"none of the cluster sets that the placement names ({wanted}) is bound to {namespace}"


def _in_no_set(reason: Reason) -> str:
    if not _is_of_one(reason):
        return f"in none of the cluster sets {listed(names(reason, 'sets'))}"
    reasons = [f"{each.subject.cluster_set}: {sentence(each)}" for each in reason.parts]
    return f"it is in none of the placement's cluster sets ({listed(reasons, '; ')})"


def _deleting(reason: Reason) -> str:
    return "the cluster is being deleted" if _is_of_one(reason) else "being deleted"


def _is_of_one(reason: Reason) -> bool:
    """Whether it is said of one cluster, and not of many or below the name of a check."""
    return bool(reason.subject.cluster) and not reason.subject.check


# ------------------------------------------------------------------------------------------------------------ filters


def _staged(reason: Reason, text: str) -> str:
    return f"{reason.subject.stage}: {text}" if reason.subject.stage else text


def _no_predicate(reason: Reason) -> str:
    single = _is_of_one(reason)
    return _staged(reason, "; ".join(_predicate(each, single=single) for each in reason.parts))


def _predicate(part: Reason, *, single: bool) -> str:
    failed = single and part.code in (Code.EXPRESSION_FAILED, Code.EXPRESSION_NOT_BOOLEAN)
    return f"predicate {part.subject.predicate}: {'cannot be evaluated: ' if failed else ''}{sentence(part)}"


def _taint(reason: Reason) -> str:
    taint = reason.parameters.get("taint", reason.values.get("taint"))
    if taint is None:
        return _staged(reason, "a taint is not tolerated")
    return f"{taint} is not tolerated" if reason.subject.check else _staged(reason, f"taint {taint} is not tolerated")


def _taints(template: str) -> Callable[[Reason], str]:
    return lambda reason: template.format(taints=reason.values.get("taints", HIDDEN), **reason.parameters)


def _filter_objects(reason: Reason) -> str:
    text = reason.values.get("text")
    return _staged(reason, f"removed by {reason.parameters['filter']}" if text is None else text)


# ----------------------------------------------------------------------------------------------------------- the pick


def _not_picked(reason: Reason) -> str:
    taken, fitting = reason.parameters["taken"], reason.parameters["fitting"]
    behind, *more = reason.parts
    # That it fits has just been said.
    first = f"it {_no_topology(behind)}" if behind.code == Code.TOPOLOGY_MISSING else sentence(behind)
    return "; ".join((f"it fits, but {taken} of {fitting} fitting clusters are wanted", first, *map(sentence, more)))


def _no_topology(reason: Reason) -> str:
    return f"has no {reason.parameters['topology']}, over which the placement must be spread"


def _score(reason: Reason) -> str:
    score, better = reason.parameters["score"], reason.parameters["better"]
    also = " with a PreferNoSelect taint" if reason.parameters.get("disliked") else ""
    return f"its score is {score}, {better} clusters{also} have more"


def _wanted(reason: Reason) -> str:
    wanted = reason.parameters.get("wanted")
    return "all are wanted" if wanted is None else f"{wanted} wanted"


def _all_taken(reason: Reason) -> str:
    return f"above the cut: all {reason.parameters['fitting']} that fit are taken ({_wanted(reason)})"


def _none_taken(reason: Reason) -> str:
    return f"below the cut: none of {reason.parameters['fitting']} that fit is taken ({_wanted(reason)})"


def _taken(reason: Reason) -> str:
    return "{taken} of {fitting} that fit are taken".format(**reason.parameters) + f" ({_wanted(reason)})"


def _spread(reason: Reason) -> str:
    deed = sentence(reason.parts[0]) if reason.parts else "taken"
    return f"{deed}: {_taken(reason)}, spread over {_joined(reason, 'topologies')}"


def _above(reason: Reason) -> str:
    return f"above the cut: {_taken(reason)}; the first that is not taken is {_other(reason)}"


def _below(reason: Reason) -> str:
    tie = _TIES[str(reason.parameters.get("tie", ""))]
    return f"below the cut: {_taken(reason)}; the last one taken is {_other(reason)}{tie}"


_TIES: Final = {
    "": "",
    "name": "; equal scores go by name",
    "taint": "; a cluster with a PreferNoSelect taint ranks after all without one",
}


def _other(reason: Reason) -> str:
    return f"{reason.clusters.get('other', HIDDEN)} with {reason.parameters['score']}"


# --------------------------------------------------------------------------------------------------------- conditions


def _no_intersection(reason: Reason) -> str:
    return f"None of ManagedClusterSets [{listed(names(reason, 'sets'), ',')}] is bound to placement namespace"


def _all_empty(reason: Reason) -> str:
    return f"All ManagedClusterSets [{listed(names(reason, 'sets'), ',')}] have no member ManagedCluster"


def _broken_sets(reason: Reason) -> str:
    skipped = [each for each in reason.parts if not each.parameters.get("stays")]
    kept = [each for each in reason.parts if each.parameters.get("stays")]
    parts = []
    if skipped:
        parts.append(f"left out because they cannot be evaluated: {_faults(skipped)}")
        parts.append("no cluster joins by them, and clusters that are decided already stay")
    if kept:
        parts.append(f"kept with their last good members because they cannot be evaluated: {_faults(kept)}")
    return "; ".join(parts)


def _faults(parts: list[Reason]) -> str:
    return listed([f"{each.subject.cluster_set}: {each.parameters['fault']}" for each in parts], "; ")


def _evaluation_errors(reason: Reason) -> str:
    """Whoever reads the placement reads this, so it names no cluster and has no values of any."""
    text = f"{reason.parameters['failing']} clusters are not selected because an expression failed"
    if not reason.parts:
        return text
    told = listed(list(dict.fromkeys(sentence(each) for each in reason.parts)), "; ", room=_REASONS_ROOM)
    command = "muster explain placement {name} -n {namespace}".format(**reason.parameters)
    return f"{text}: reasons: {told}; `{command}` shows those clusters that you may read"


# -------------------------------------------------------------------------------------------------------------- notes


def _joined(reason: Reason, name: str) -> str:
    return ", ".join(names(reason, name))


_WORDS: Final[Mapping[str, Callable[[Reason], str]]] = {
    Code.EXPRESSIONS_TRUE: always("every expression is true"),
    Code.EXPRESSION_TRUE: lambda reason: f"{condition(reason)} is true",
    Code.EXPRESSION_FALSE: is_false,
    Code.EXPRESSION_FAILED: has_failed,
    Code.EXPRESSION_NOT_BOOLEAN: is_no_boolean,
    Code.REQUIREMENTS_HOLD: filled("every {noun} requirement holds"),
    Code.REQUIREMENT_HOLDS: condition,
    Code.REQUIREMENT_FAILS: does_not_hold,
    Code.SELECTOR_NULL: filled("the {noun} selector is null, which selects nothing"),
    Code.SELECTOR_FAILS: filled("{selector} does not hold"),
    Code.SELECTOR_HOLDS: all_of_it,
    Code.SELECTOR_SAYS: either("{}", "does not match", "text"),
    Code.IDENTITY_LISTED: always("its identity is listed"),
    Code.IDENTITY_NOT_LISTED: either("{} is not among the identities listed", "does not match", "identity"),
    Code.PURPOSES_DIFFER: purposes,
    Code.SET_LABEL_MATCHES: filled("label {key} names the set"),
    Code.SET_LABEL_DIFFERS: _set_label,
    Code.IN_BOUND_SET: _bound_set,
    Code.NOT_IN_BOUND_SET: _bound_set,
    Code.SET_UNUSABLE: _unusable,
    Code.SET_NOT_NAMED: always("has the cluster and is bound, but spec.clusterSets does not name it"),
    Code.SET_NOT_BOUND: about(
        "has the cluster, but no ManagedClusterSetBinding {namespace}/{subject.cluster_set} lets the placement see it"
    ),
    Code.NO_SET_BOUND: _no_set_bound,
    Code.NAMED_SETS_NOT_BOUND: _named_sets_not_bound,
    Code.IN_NO_SET: _in_no_set,
    Code.NOT_BY_RULE: filled("without {rule}"),
    Code.CLUSTER_DELETING: _deleting,
    Code.NO_PREDICATE_HOLDS: _no_predicate,
    Code.TAINT_NOT_TOLERATED: _taint,
    Code.TAINTS_TOLERATED: _taints("{taints}, tolerated"),
    Code.TAINTS_TOLERATED_UNTIL: _taints("{taints}, tolerated until {until}"),
    Code.TAINTS_DISLIKED: _taints("{taints}: ranks after clusters without it"),
    Code.NO_TAINTS: always("none"),
    Code.FILTER_OBJECTS: _filter_objects,
    Code.FILTER_PASSES: always("passes"),
    Code.FILTER_NOT_ASKED: filled("removed by {filter}, which was not asked why for each of so many"),
    Code.FILTER_NOT_INSTALLED: always("removed by a filter that is not installed here"),
    Code.SELECTED: always("selected"),
    Code.NOT_PICKED: _not_picked,
    Code.TOPOLOGY_MISSING: lambda reason: f"fits, but {_no_topology(reason)}",
    Code.SPREAD_OVER: lambda reason: f"they are spread over {_joined(reason, 'topologies')}",
    Code.SPREAD_UNEVENLY: lambda reason: (
        f"fits and scores high enough, but would spread the placement unevenly over {_joined(reason, 'topologies')}"
    ),
    Code.TAINT_DISLIKED: filled(
        "it has a PreferNoSelect taint that is not tolerated, and the {others} without one come first"
    ),
    Code.SCORE_TOO_LOW: _score,
    Code.RANK_TOO_LOW: filled("fits, but ranks below the {wanted} that are wanted"),
    Code.ALL_TAKEN: _all_taken,
    Code.NONE_TAKEN: _none_taken,
    Code.ABOVE_THE_CUT: _above,
    Code.BELOW_THE_CUT: _below,
    Code.TAKEN_IN_SPREAD: _spread,
    Code.LEFT_OUT_OF_SPREAD: _spread,
    Code.PLACEMENT_MISCONFIGURED: filled("the placement is misconfigured: {fault}"),
    Code.NO_SUCH_CLUSTER: always("there is no such cluster"),
    Code.FITS: always("fits"),
    Code.FITS_NOT_PICKED: always("fits, not picked"),
    Code.PICKED: always("picked"),
    Code.NOT_KNOWN: always("not known"),
    Code.MATCHES_PREDICATE: about("matches predicate {subject.predicate}"),
    Code.MATCHES_ALWAYS: always("matches: no predicate restricts the placement"),
    Code.WAS_SELECTED: always("was selected until now"),
    Code.SCORER_WARNS: either("{}", "a scorer warns of some clusters; those who may get them are told", "text"),
    Code.EXPRESSIONS_TAKE_LONG: always(
        "its expressions take long: near misses, failures and single clusters are not explained"
    ),
    Code.PLACEMENT_DELETING: always("the placement is being deleted: its decisions go with it"),
    Code.SCHEDULING_DISABLED: filled(
        "scheduling is disabled by the annotation {annotation}: the decisions stay as they are"
    ),
    Code.NO_BINDINGS: always("No valid ManagedClusterSetBindings found in placement namespace"),
    Code.NO_INTERSECTION: _no_intersection,
    Code.ALL_SETS_EMPTY: _all_empty,
    Code.NO_CLUSTER_MATCHED: always("No ManagedCluster matches any of the cluster predicate"),
    Code.NOT_ALL_SCHEDULED: filled("{unscheduled} cluster decisions unscheduled"),
    Code.ALL_SCHEDULED: always("All cluster decisions scheduled"),
    Code.CONFIGURED: always("Placement configurations check pass"),
    Code.MISCONFIGURED: lambda reason: condition_message(str(reason.parameters["fault"])),
    Code.SETS_SKIPPED: _broken_sets,
    Code.MEMBERS_KEPT: _broken_sets,
    Code.EVALUATION_ERRORS: _evaluation_errors,
    Code.QUERY_MATCHES: always("the query says true"),
    Code.QUERY_DOES_NOT_MATCH: always("the query says false"),
    Code.QUERY_INVALID: filled("{message}"),
    Code.QUERY_FAILED: either("{}", "the query failed", "message"),
    Code.QUERY_BUDGET_EXCEEDED: either("{}", "the query ran into a limit", "message"),
    Code.QUERY_NOT_BOOLEAN: either("{}", "the query gave something else than true or false", "message"),
    Code.QUERY_PAUSED: either("{}", "the query is paused", "message"),
    Code.REMOVALS_HELD: lambda reason: held(reason, sentence),
    Code.WOULD_GO: lambda reason: would_go(reason, sentence),
    **GUARD_WORDS,
    **OPERATOR_WORDS,
}
