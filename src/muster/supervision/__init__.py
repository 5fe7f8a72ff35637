"""Between a process and its supervisor: signs of life, what is being evaluated, and who is to blame for a death.

It knows nothing of hubs, placements or APIs. Children write, supervisors and whoever answers for them read.
"""

from typing import TYPE_CHECKING

from muster.lazy import lazy_names

if TYPE_CHECKING:
    from muster.supervision.blame import Blame, Death, Suspect
    from muster.supervision.notes import Notes, Subject
    from muster.supervision.readiness import ReadinessLimits, progress_problem
    from muster.supervision.vitals import Note, ProcessStatus, SupervisorFacts, Vitals, VitalSigns, clock

__all__ = [
    "Blame",
    "Death",
    "Note",
    "Notes",
    "ProcessStatus",
    "ReadinessLimits",
    "Subject",
    "SupervisorFacts",
    "Suspect",
    "VitalSigns",
    "Vitals",
    "clock",
    "progress_problem",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "muster.supervision.blame": (
            "Blame",
            "Death",
            "Suspect",
        ),
        "muster.supervision.notes": (
            "Notes",
            "Subject",
        ),
        "muster.supervision.readiness": (
            "ReadinessLimits",
            "progress_problem",
        ),
        "muster.supervision.vitals": (
            "Note",
            "ProcessStatus",
            "SupervisorFacts",
            "Vitals",
            "VitalSigns",
            "clock",
        ),
    },
)
