"""Why a preferred candidate could not be chosen: the plain reason where there is one, else the facts in its way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.resolution.catalog.bundles import Entry
from muster.resolution.constraints.forms import described, messages
from muster.resolution.solving import reasons as r
from muster.resolution.solving.clauses import Kind

if TYPE_CHECKING:
    from muster.resolution.solving.clauses import Choice, Clause, Solution
    from muster.resolution.solving.problem import Problem


def why_passed_over(problem: Problem, solution: Solution, choice: Choice, candidate: int) -> str:
    """One sentence. Looks one step far; `explain_candidate` of `story.py` tells the whole of it."""
    standing = set(solution.chosen[: choice.standing])
    for clause in problem.about(candidate):
        text = _plain_reason(problem, clause, candidate, standing)
        if text:
            return text
    return "what it needs does not go together with the rest"


def _plain_reason(problem: Problem, clause: Clause, candidate: int, standing: set[int]) -> str:
    match clause.reason:
        case r.Deprecated():
            return "it is deprecated"
        case r.NotAllowed(entry=entry):
            return f"package {entry.package} is not among those allowed"
        case r.Faulty(fault=fault):
            return f"it cannot be read: {fault}"
        case r.Needs(requirement=requirement) if clause.kind is Kind.DEPENDENCY:
            said = "; ".join(messages(requirement.constraint))
            suffix = f" ({said})" if said else ""
            wanted = f"it needs an operator {described(requirement.constraint)}"
            if not clause.others:
                return f"{wanted}, and there is none{suffix}"
            blocked = _all_blocked(problem, clause, standing)
            return f"{wanted}, but {blocked}{suffix}" if blocked else ""
        case r.OnePackage(package=package):
            taken = _taken(problem, clause, candidate, standing)
            return f"{taken} of package {package} is chosen already" if taken else ""
        case r.OneProvider(api=api):
            taken = _taken(problem, clause, candidate, standing)
            return f"{taken} provides {api} already" if taken else ""
        case _:
            return ""


def _all_blocked(problem: Problem, clause: Clause, standing: set[int]) -> str:
    """Why none of those who could meet a requirement can be chosen; empty if one perhaps can."""
    if any(other in standing for other in clause.others):
        return ""
    reasons: dict[str, None] = {}
    for other in clause.others:
        found = (_in_the_way(problem, each, other, standing) for each in problem.about(other))
        reason = next((text for text in found if text), "")
        if not reason:
            return ""
        reasons[reason] = None
    return next(iter(reasons)) if len(reasons) == 1 else f"{next(iter(reasons))}, and so on"


def _in_the_way(problem: Problem, clause: Clause, candidate: int, standing: set[int]) -> str:
    """What a choice that stands already has against a candidate."""
    if clause.kind is not Kind.AT_MOST:
        return ""
    return _plain_reason(problem, clause, candidate, standing)


def _taken(problem: Problem, clause: Clause, candidate: int, standing: set[int]) -> str:
    for other in clause.others:
        variable = problem.variables[other]
        if other in standing and other != candidate and isinstance(variable, Entry):
            return variable.name
    return ""
