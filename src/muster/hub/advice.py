"""What the fleet has to say about a placement that is being written, as warnings for the writer.

Asked after the write has been carried out, and for dry runs too, with little patience: a write never fails for want of
advice and never waits long for it. Only a new spec is looked at. What clusters have, their labels, claims, taints and
scores, is told to those who may list them; everybody hears what can be said without.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from muster.admission.placement import shortened
from muster.admission.write import spec_of
from muster.controllers.questions.asking import UnansweredError
from muster.controllers.questions.kinds import AdviceQuestion, Refusal
from muster.hub.redaction import GROUP, Redaction
from muster.hub.requests import Admitted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.controllers.questions.asking import Controllers
    from muster.hub.requests import AdmissionRequest, Authorizer, User
    from muster.hub.storage.reading import StoredObjects
    from muster.placement.lint.placements import Finding

_log = logging.getLogger(__name__)
_PLACEMENTS: Final = f"placements.{GROUP}"
PATIENCE: Final = 0.1  # seconds
MOST_BYTES: Final = 4096  # of all warnings together, as a Kubernetes server sends at most
# Findings that tell nothing of what clusters have, by the codes of lint's rules.
FOR_EVERYBODY: Final = frozenset(
    {
        "contradiction",
        "costly-expression",
        "duplicate-predicate",
        "empty-sets",
        "matches-everything",
        "no-binding",
        "set-not-bound",
        "shadowed-predicate",
    }
)
# Findings whose message repeats what was written, and whose advice how to fix it tells what clusters have.
WITHOUT_FIX: Final = frozenset({"no-such-claim", "no-such-label", "no-such-score"})
_NOTHING: Final = Admitted()


class FleetAdvice:
    """An admission plugin that changes and refuses nothing."""

    kinds = frozenset({_PLACEMENTS})

    def __init__(self, store: StoredObjects, authorizer: Authorizer, controllers: Controllers) -> None:
        self._controllers = controllers
        self._redaction = Redaction(store, authorizer)

    async def mutate(self, request: AdmissionRequest) -> Admitted:  # noqa: ARG002 - the protocol
        return _NOTHING

    async def validate(self, request: AdmissionRequest) -> Admitted:  # noqa: ARG002 - the protocol
        return _NOTHING

    async def advise(self, request: AdmissionRequest) -> tuple[str, ...]:
        """Warnings about the new state of a placement."""
        new = request.new
        if request.target.resource.key != _PLACEMENTS or request.target.subresource or new is None:
            return ()
        if "deletionTimestamp" in new["metadata"] or (request.old is not None and spec_of(new) == spec_of(request.old)):
            return ()
        metadata = {"namespace": request.target.namespace, "name": new["metadata"]["name"]}
        try:
            question = AdviceQuestion({"metadata": metadata, "spec": spec_of(new)}, PATIENCE)
            advice = await self._controllers.advise(question)
            findings: Sequence[Finding] = advice.findings
            if findings and not await self._may_know_clusters(request.user):
                findings = told_to_everybody(findings)
            return bounded([str(each) for each in findings])
        except (UnansweredError, Refusal):
            return ()
        except Exception:
            # A bug of ours. The write has been carried out and must be acknowledged.
            _log.exception("no advice for placement %s/%s", metadata["namespace"], metadata["name"])
            return ()

    async def _may_know_clusters(self, user: User) -> bool:
        """Whether nothing that any cluster has is hidden from the user."""
        return await self._redaction.may(user, "list") and await self._redaction.may(user, "get")


def told_to_everybody(findings: Sequence[Finding]) -> list[Finding]:
    """What those hear who may not list clusters."""
    bare = [replace(each, fix="") if each.code in WITHOUT_FIX else each for each in findings]
    return [each for each in bare if each.code in FOR_EVERYBODY | WITHOUT_FIX]


def bounded(texts: Sequence[str]) -> tuple[str, ...]:
    """As many warnings as fit into an answer, and how many did not."""
    shown: list[str] = []
    left = MOST_BYTES
    for number, text in enumerate(map(shortened, texts)):
        left -= len(text.encode())
        if left < 0:
            return (*shown, f"and {len(texts) - number} more findings, which `muster lint` shows")
        shown.append(text)
    return tuple(shown)
