"""How one classification fares over many agents, in few words: the agents by outcome, counted, with some names.

`muster explain classification` prints it. Failures are kept apart by their text, because each text is another mistake.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from muster.classification.outcomes import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.classification.one_shot import ClassifiedAgent
    from muster.classification.outcomes import Outcome

_EXAMPLES: Final = 5
_ORDER: Final = (Verdict.MATCH, Verdict.FAILED, Verdict.NO_MATCH)


@dataclass(frozen=True, slots=True)
class OutcomeGroup:
    """The agents of which the query says the same."""

    outcome: Outcome
    count: int
    examples: tuple[str, ...]


def outcome_groups(agents: Sequence[ClassifiedAgent], classification: str) -> tuple[OutcomeGroup, ...]:
    """Matches first, then failures, the most frequent first, then the rest."""
    names: dict[Outcome, list[str]] = {}
    for agent in agents:
        names.setdefault(agent.outcomes[classification], []).append(agent.name)
    groups = [OutcomeGroup(outcome, len(found), tuple(found[:_EXAMPLES])) for outcome, found in names.items()]
    return tuple(sorted(groups, key=lambda each: (_ORDER.index(each.outcome.verdict), -each.count, each.outcome.text)))
