"""Between a process and its supervisor: signs of life, what is being evaluated, and who is to blame for a death.

It knows nothing of hubs, placements or APIs. Children write, supervisors and whoever answers for them read.
"""

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
