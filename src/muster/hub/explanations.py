"""placements/explain: why a placement selects what it does, and what one that is not saved would select.

The REST layer hands requests over. What the controllers know is asked from them, what the user may see is decided here.
Nothing is written.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from muster.controllers.questions.asking import UnansweredError
from muster.controllers.questions.kinds import ExplainQuestion, Refusal
from muster.hub import bodies, namespaces, options, status
from muster.hub.heavy_work import HeavyWork
from muster.hub.objects import decode, key_of
from muster.hub.redaction import GROUP, Redaction
from muster.hub.requests import Attributes
from muster.hub.write_checks import WriteChecks, refuse_invalid, require
from muster.values.json import JsonObject
from muster.values.json_members import object_at

if TYPE_CHECKING:
    from muster.controllers.questions.asking import Controllers
    from muster.hub.requests import Admission, Authorizer, Body, Target, User, WriteOptions
    from muster.hub.storage.reading import StoredObjects
    from muster.placement.explain.report import PlacementReport, Window

_RETRY_AFTER: Final = 2  # seconds: a supervisor starts controllers that died within this time


@dataclass(frozen=True, slots=True)
class ExplainOptions:
    """What a request wants to know beside which placement: the page of clusters, and one of them in full."""

    window: Window
    cluster: str = ""


class Explanations:
    """Answers for users who have been authorized for the subresource. `target` is the placement itself."""

    def __init__(
        self,
        store: StoredObjects,
        authorizer: Authorizer,
        admission: tuple[Admission, ...],
        controllers: Controllers,
        heavy_work: HeavyWork | None = None,
    ) -> None:
        self._heavy = heavy_work or HeavyWork()
        self._store = store
        self._authorizer = authorizer
        self._write_checks = WriteChecks(authorizer, admission)
        self._controllers = controllers
        self._redaction = Redaction(store, authorizer)

    async def explain(self, user: User, target: Target, wanted: ExplainOptions) -> PlacementReport:
        """The stored placement. Raises 404, 403 for the cluster, and 503 when nobody answers."""
        record = self._store.get(key_of(target))
        if record is None:
            raise status.not_found(target.resource.group, target.resource.plural, target.name)
        return await self._explained(user, decode(record.value), wanted, dry_run=False)

    async def dry_run(
        self, user: User, target: Target, body: Body, given: WriteOptions, wanted: ExplainOptions
    ) -> tuple[PlacementReport, tuple[str, ...]]:
        """A placement that is not saved, refused as a create would refuse it; and the warnings a create would give.

        Unknown fields are refused unless the client says otherwise: who asks what a text means should not be told what
        part of it means.
        """
        checked = options.write_options("CreateOptions", given)
        validation = checked.validation if given.field_validation else options.STRICT
        reading = partial(bodies.read_object, target, body, validation)
        obj, warnings = await self._heavy.done(user.name, body.weight, reading)
        obj["metadata"].setdefault("name", target.name)
        obj["metadata"].pop("deletionTimestamp", None)  # nobody creates what is being deleted
        bodies.check_address(target, obj)
        namespaces.admitting_namespace(self._store, target, target.name)
        obj, mutated = await self._write_checks.mutated(
            "CREATE", target, user, None, obj, dry_run=True, weight=body.weight
        )
        await self._heavy.done(user.name, body.weight, partial(refuse_invalid, target, obj))
        passed = await self._write_checks.validated("CREATE", target, user, None, obj, dry_run=True, weight=body.weight)
        advice = await self._write_checks.advice("CREATE", target, user, None, obj, dry_run=True)
        report = await self._explained(user, obj, wanted, dry_run=True)
        return report, (*warnings, *mutated.warnings, *passed.warnings, *advice)

    async def _explained(
        self, user: User, placement: JsonObject, wanted: ExplainOptions, *, dry_run: bool
    ) -> PlacementReport:
        if wanted.cluster:
            await self._authorize_cluster(user, wanted.cluster)
        sent = {"metadata": placement["metadata"], "spec": object_at(placement, "spec")}
        all_sets = await self._redaction.may(user, "list", "managedclustersets")
        values = await self._redaction.may(user, "get")
        question = ExplainQuestion(sent, dry_run, wanted.window, wanted.cluster, all_sets, values)
        try:
            report = await self._controllers.explain(question)
        except UnansweredError as error:
            why = f"{self._controllers.whose}, which explain placements, do not answer: {error}"
            raise _unavailable(why, self._controllers.remedy) from None
        except Refusal as refusal:
            raise _refused(refusal, wanted.cluster, self._controllers.remedy) from None
        return await self._redaction.over(user, placement, report)

    async def _authorize_cluster(self, user: User, name: str) -> None:
        """A cluster that the user may not get is refused whether it exists or not."""
        await require(self._authorizer, user, Attributes("get", GROUP, "v1", "managedclusters", name=name))


def _refused(refusal: Refusal, cluster: str, remedy: str) -> status.StatusError:
    match refusal.code:
        case 404:
            return status.not_found(GROUP, "managedclusters", cluster)
        case 500:
            return status.internal_error(refusal.message)
        case 504:
            return status.StatusError(504, "Timeout", f"Timeout: {refusal.message}", {})
        case _:
            return _unavailable(refusal.message, remedy)


def _unavailable(why: str, remedy: str) -> status.StatusError:
    hint = f"{remedy}. `muster explain` computes the same from a list of the objects"
    return status.unavailable(f"{why}. {hint}", _RETRY_AFTER)
