"""What a command asks for when it plans, and who answers: the server, an observer where none does, or files.

`muster plan`, `muster apply` and `muster undo` ask here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from muster.api.fleet_plan import MOST_OBJECTS, PLAN, ObjectReference, PlanSpec, PlanStatus, RefusedObject
from muster.cli.inputs.askers import warn
from muster.cli.inputs.documents import Document
from muster.cli.inputs.fields import text_in
from muster.cli.inputs.options import with_client
from muster.errors import InvalidObjectError
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from muster.api.fleet_plan import PlanGuards
    from muster.cli.apply import How
    from muster.client import Client

_MOST_BYTES: Final = 900_000  # of a question; a server takes a megabyte


def asked(
    documents: list[Document],
    how: How,
    fleet: list[str] | None,
    namespace: str | None,
    context: str | None,
    kubeconfig: str | None,
    *,
    guards: PlanGuards | None = None,
    most_names: int = 100,
    token: str = "",
) -> PlanStatus:
    """What writing the documents' objects would bring: on a live server, or to a fleet in files.

    Where an object would be refused, its place in the answer is where it was read.
    """
    default = "default" if fleet else with_client(_namespace, context, kubeconfig)
    named = [each for each in documents if text_in(each.object["metadata"], "name")]
    placed = [_placed(each, namespace, default, in_files=bool(fleet)) for each in named]
    objects = tuple(each.object for each in placed)
    spec = PlanSpec(
        objects=() if how.delete else objects,
        delete=tuple(map(_reference, objects)) if how.delete else (),
        field_manager=how.manager,
        # Objects in files rarely say who owns their fields: then nobody is in the way, and nothing is let go.
        force_conflicts=how.force or bool(fleet),
        with_status=how.with_status,
        most_names=most_names,
        token=token,
    )
    if guards is not None:
        spec = msgspec.structs.replace(spec, guards=guards)
    status = answered(spec, fleet, context, kubeconfig)
    nameless = [_nameless(each) for each in documents if each not in named]
    refused = (*nameless, *(_at(each, placed) for each in status.refused))
    return msgspec.structs.replace(status, refused=refused, allowed=status.allowed and not nameless)


def answered(spec: PlanSpec, fleet: list[str] | None, context: str | None, kubeconfig: str | None) -> PlanStatus:
    """The answer of the server, of an observer where none answers, or of a fleet in files."""
    if fleet:
        from muster.cli.plan.local import planned_in_files

        return planned_in_files(spec, fleet)
    return with_client(lambda client: _asked(client, spec), context, kubeconfig)


async def _asked(client: Client, spec: PlanSpec) -> PlanStatus:
    from muster.hub.local_plans import planned_locally
    from muster.questions.asking import commanding

    if not _fits(spec):  # a question has limits, which somebody's own process need not have
        from muster.questions.asked import GUARDS, PLACING
        from muster.questions.local import utc_now
        from muster.questions.local_fleet import LocalFleet

        own, needed = LocalFleet(client, utc_now), (*PLACING, *GUARDS)
        await own.read(needed)
        for note in own.why_not(needed):
            warn(note)
        return await planned_locally(spec, own)
    answer = await commanding(client, planned_locally).ask(PLAN.kind, spec)
    for note in answer.notes:
        warn(note)
    return answer.read(PlanStatus)


async def _namespace(client: Client) -> str:
    return client.connection.namespace


def _fits(spec: PlanSpec) -> bool:
    count = len(spec.objects) + len(spec.replace) + len(spec.delete) + len(spec.labels)
    return 0 < count <= MOST_OBJECTS and len(msgspec.json.encode(spec)) <= _MOST_BYTES


def _placed(document: Document, namespace: str | None, default: str, *, in_files: bool) -> Document:
    """The document with the namespace that apply would send it to. Hosts in files may be in none."""
    from muster.hub.applied_in_memory import target_of
    from muster.questions.plans.hosts import KINDS as HOSTS

    obj = document.object
    target = target_of(obj)
    if target is None or not target.resource.namespaced:
        return document
    named = text_in(obj["metadata"], "namespace")
    if namespace and named and named != namespace and obj["kind"] not in HOSTS:
        raise InvalidObjectError("metadata.namespace", f"the object is in {named!r}, but -n says {namespace!r}")
    if not named and not namespace and in_files and obj["kind"] in HOSTS:
        return document
    metadata = {**obj["metadata"], "namespace": named or namespace or default}
    return Document(document.origin, {**obj, "metadata": metadata})


def _reference(obj: JsonObject) -> ObjectReference:
    metadata = obj["metadata"]
    return ObjectReference(obj["apiVersion"], obj["kind"], text_in(metadata, "namespace"), text_in(metadata, "name"))


def _nameless(document: Document) -> RefusedObject:
    return RefusedObject(document.origin, document.object["kind"], "", "", "Invalid", "apply needs metadata.name")


def _at(refused: RefusedObject, documents: list[Document]) -> RefusedObject:
    number = int(refused.field.rpartition("[")[2].rstrip("]"))
    return msgspec.structs.replace(refused, field=documents[number].origin)
