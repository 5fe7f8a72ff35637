"""What the solver's clauses mean to people and programs: each as a reason. Plans, stories and conflicts share them."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from muster.reasons import Code, Reason, Subject
from muster.resolution.constraints.reasons import what_is_asked
from muster.resolution.solving import reasons as r
from muster.resolution.solving.clauses import Kind
from muster.resolution.telling.versions import merged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.reasons import Parameter
    from muster.resolution.catalog.bundles import Entry
    from muster.resolution.catalog.properties import Api
    from muster.resolution.constraints.forms import Requirement
    from muster.resolution.request import Want
    from muster.resolution.solving.clauses import Clause
    from muster.resolution.solving.problem import Problem


def reason_of(clause: Clause, problem: Problem) -> Reason:
    """What a clause alone says. A story tells many of them as one."""
    reason: r.ClauseReason = clause.reason
    match reason:
        case r.Wanted(want=want, impossible=impossible):
            if impossible is not None:
                return want_impossible(want, impossible)
            if clause.kind is Kind.MANDATORY:
                return wanted(want)
            return want_possible(want, [problem.entry(other) for other in clause.others])
        case r.Needs(entry=entry, requirement=requirement):
            return needed(entry, requirement)
        case r.OnePackage(package=package):
            return one_version(package)
        case r.OneProvider(api=api):
            return one_provider(api)
        case r.TakesPlace(current=current):
            return Reason(Code.UPDATE_TAKES_PLACE, Subject(bundle=current.name))
        case r.Stays(entry=entry):
            return Reason(Code.INSTALLED_STAYS, Subject(bundle=entry.name))
        case r.Deprecated(entry=entry):
            return Reason(Code.BUNDLE_DEPRECATED, Subject(bundle=entry.name))
        case r.NotAllowed(entry=entry):
            return Reason(Code.PACKAGE_NOT_ALLOWED, Subject(package=entry.package))
        case r.Faulty(entry=entry, pointer=pointer, message=message):
            told = {"pointer": pointer, "message": message}
            return Reason(Code.BUNDLE_UNREADABLE, Subject(bundle=entry.name), told)
        case _:
            assert_never(reason)


def wanted(want: Want) -> Reason:
    return _of_want(Code.WANTED, want)


def want_impossible(want: Want, why: Reason) -> Reason:
    return _of_want(Code.WANT_IMPOSSIBLE, want, parts=(why,))


def want_possible(want: Want, candidates: Sequence[Entry]) -> Reason:
    """The want with the versions that could meet it; what is installed is the last of the candidates."""
    bundles = [entry.bundle for entry in candidates]
    installed = next((entry for entry in candidates if entry.installed), None)
    if installed is None:
        return _of_want(Code.WANT_POSSIBLE, want, versions=merged(bundles, bundles))
    updates = bundles[:-1]
    return _of_want(Code.WANT_POSSIBLE, want, versions=merged(updates, updates)).about(bundle=installed.name)


def _of_want(
    code: Code, want: Want, *, versions: tuple[str, ...] | None = None, parts: tuple[Reason, ...] = ()
) -> Reason:
    subject = Subject(package=want.package, channel=want.channel)
    told: dict[str, Parameter] = {"want": str(want)}
    if versions is not None:
        told["versions"] = versions
    return Reason(code, subject, told, parts=parts)


def needed(entry: Entry, requirement: Requirement) -> Reason:
    code = Code.OPERATOR_WISHED if requirement.optional else Code.OPERATOR_NEEDED
    return Reason(code, Subject(bundle=entry.name), parts=(what_is_asked(requirement.constraint),))


def one_version(package: str) -> Reason:
    return Reason(Code.ONE_VERSION_ONLY, Subject(package=package))


def one_provider(api: Api) -> Reason:
    return Reason(Code.ONE_PROVIDER_ONLY, parameters=api._asdict())
