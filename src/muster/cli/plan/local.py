"""A plan over files, computed here: `muster.library.planning` with the progress of a command."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from muster.cli.inputs.fleets import counted
from muster.cli.inputs.host_objects import host_objects
from muster.cli.terminal.progress import under_way
from muster.hub.applied_in_memory import changes_in
from muster.library.planning import is_loose, planned_over, present_of
from muster.questions.plans.hosts import KINDS as HOSTS
from muster.questions.plans.work import Hosts

if TYPE_CHECKING:
    from muster.api.fleet_plan import PlanSpec, PlanStatus


def planned_in_files(spec: PlanSpec, fleet: list[str]) -> PlanStatus:
    """The status of a Plan, computed from files."""
    now = datetime.now(UTC)
    changes, _ = changes_in(spec)
    objects = [document.object for document in counted(fleet)]
    hosts = None
    if any(each.target.resource.kind in HOSTS for each in changes):
        found = host_objects(fleet)
        hosts = Hosts((*found.agents, *found.classifications), trusting=False)
    firm = [each for each in changes if not is_loose(each)]
    present = present_of((*objects, *(hosts.present if hosts is not None else ())), firm)
    namespaces = {each.target.namespace for each in firm} - {""}
    with under_way(f"trying it with {len(objects):,} objects", len(objects)):
        return planned_over(spec, objects, hosts, present, namespaces, now)
