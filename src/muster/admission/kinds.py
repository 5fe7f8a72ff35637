"""Which kind has which checks, and the two questions asked for a write: what to change, and whether it may happen."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Protocol

from msgspec import structs

from muster.admission.agent_classification import query_checked
from muster.admission.cluster_set import key_taken, long_name
from muster.admission.cluster_set import permitted as set_permitted
from muster.admission.cluster_set_binding import permitted as binding_permitted
from muster.admission.cluster_set_binding import same_name
from muster.admission.managed_cluster import client_configs, default_set, joining_taint, namespace_stays, taint_times
from muster.admission.managed_cluster import permitted as cluster_permitted
from muster.admission.owners import permitted as owners_permitted
from muster.admission.placement import checked as placement_checked
from muster.admission.placement_guards import permitted as guards_permitted
from muster.admission.placement_guards import readable as guards_readable
from muster.admission.resolution import spec_checked
from muster.admission.write import Finding, World, Write
from muster.api.agent import GROUP as AGENTS
from muster.api.managed_cluster import GROUP as OCM
from muster.api.resolution import GROUP as RESOLUTIONS
from muster.selectors.cel import CelLimits

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Looks at the write alone.
Check = Callable[[Write], Finding]
#: Looks at other objects and at permissions as well.
Inquiry = Callable[[Write, World], Awaitable[Finding]]


@dataclass(frozen=True, slots=True)
class Settings:
    """What administrators decide: whether what cannot work is refused, not warned of; what expressions may cost;
    whether clusters without a set are in the set `default`; which exclusive keys no set may have; whether new clusters
    get no work until they are ready."""

    refuse_placements: bool = False
    refuse_queries: bool = False
    cel_limits: CelLimits = field(default_factory=CelLimits)
    default_cluster_set: bool = True
    denied_keys: tuple[str, ...] = ()
    taint_on_join: bool = False


class CheckRunner(Protocol):
    """Carries out checks: those that are heavy, or look at a large object, where they hold nobody up."""

    async def __call__(self, work: Callable[[], Finding], *, heavy: bool) -> Finding: ...


async def at_once(work: Callable[[], Finding], *, heavy: bool) -> Finding:  # noqa: ARG001 - the protocol
    """For callers whom nobody else waits for."""
    return work()


@dataclass(frozen=True, slots=True)
class KindChecks:
    """The checks of one kind, in the order in which they are asked. `compiling` ones read expressions, which can take
    a second; `looking` ones read other objects, and `inquiring` ones permissions as well."""

    mutating: tuple[Check, ...] = ()
    validating: tuple[Check, ...] = ()
    compiling: tuple[Check, ...] = ()
    looking: tuple[Inquiry, ...] = ()
    inquiring: tuple[Inquiry, ...] = ()


def kinds(settings: Settings) -> Mapping[str, KindChecks]:
    """The checks of every kind that has some, by resource."""
    placement = partial(placement_checked, limits=settings.cel_limits, refuse=settings.refuse_placements)
    query = partial(query_checked, refuse=settings.refuse_queries)
    key = partial(key_taken, denied=settings.denied_keys)
    filled_in: tuple[Check, ...] = (joining_taint, taint_times) if settings.taint_on_join else (taint_times,)
    filled_in += (default_set,) if settings.default_cluster_set else ()
    return {
        f"managedclusters.{OCM}": KindChecks(
            filled_in, (client_configs,), looking=(namespace_stays,), inquiring=(cluster_permitted,)
        ),
        f"managedclustersets.{OCM}": KindChecks(validating=(key, long_name), inquiring=(set_permitted,)),
        f"managedclustersetbindings.{OCM}": KindChecks(validating=(same_name,), inquiring=(binding_permitted,)),
        f"placements.{OCM}": KindChecks(
            validating=(guards_readable,), compiling=(placement,), inquiring=(guards_permitted,)
        ),
        f"resolutions.{RESOLUTIONS}": KindChecks(compiling=(spec_checked,)),
        f"agentclassifications.{AGENTS}": KindChecks(compiling=(query,)),
    }


KINDS: Mapping[str, KindChecks] = kinds(Settings())


def mutate(write: Write, checks: Mapping[str, KindChecks] = KINDS) -> Finding:
    """The state to go on with, if it is another one. Stops at the first refusal."""
    found = checks.get(write.resource)
    if found is None or not found.mutating:
        return Finding()
    warnings: Sequence[str] = ()
    changed = None
    for check in found.mutating:
        finding = check(write)
        warnings = (*warnings, *finding.warnings)
        if finding.refusal is not None:
            return structs.replace(finding, warnings=tuple(warnings))
        if finding.object is not None:
            changed = finding.object
            write = structs.replace(write, new=changed)
    return Finding(changed, tuple(warnings))


async def validate(
    write: Write, world: World, checks: Mapping[str, KindChecks] = KINDS, run_check: CheckRunner = at_once
) -> Finding:
    """Whether the write may happen. Stops at the first refusal. What every kind must pass comes first.

    `run_check` carries out what may take long.
    """
    finding = await owners_permitted(write, world)
    if finding.refusal is not None:
        return finding
    found = checks.get(write.resource)
    if found is None:
        return Finding()
    warnings: tuple[str, ...] = ()
    for check in found.validating:
        finding = await run_check(partial(check, write), heavy=False)
        warnings += finding.warnings
        if finding.refusal is not None:
            return structs.replace(finding, warnings=warnings)
    for check in found.compiling:
        finding = await run_check(partial(check, write), heavy=True)
        warnings += finding.warnings
        if finding.refusal is not None:
            return structs.replace(finding, warnings=warnings)
    for inquiry in (*found.looking, *found.inquiring):
        finding = await inquiry(write, world)
        warnings += finding.warnings
        if finding.refusal is not None:
            return structs.replace(finding, warnings=warnings)
    return Finding(warnings=warnings)
