"""Where the answers of `muster classify` and `muster explain classification` come from: a server, an observer where
none answers, or the same function here over files."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

import msgspec

from muster.cli.inputs.askers import warn
from muster.cli.inputs.options import with_client
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterable

    from muster.api.agent_classification import AgentClassification
    from muster.api.fleet_classification import ClassificationPreviewSpec, ClassificationPreviewStatus
    from muster.client import Client

_PAGE: Final = 500


def asked_server(
    spec: ClassificationPreviewSpec, context: str | None, kubeconfig: str | None
) -> ClassificationPreviewStatus:
    """The answer of a server with all rows that are wanted, or of an observer where no server answers."""
    from muster.api.fleet_classification import CLASSIFICATION_PREVIEW, ClassificationPreviewStatus

    async def ask(client: Client) -> ClassificationPreviewStatus:
        from muster.questions.asking import commanding

        asker = commanding(client)

        async def page(offset: int) -> tuple[ClassificationPreviewStatus, tuple[str, ...]]:
            answer = await asker.ask(CLASSIFICATION_PREVIEW.kind, _from(spec, offset))
            return answer.read(ClassificationPreviewStatus), answer.notes

        found, notes = await page(0)
        for note in notes:
            warn(note)
        rows = list(found.rows)
        while spec.rows.limit and len(rows) < found.rows_in_all:
            more = (await page(len(rows)))[0].rows
            if not more:
                break  # hosts have gone meanwhile
            rows += more
        return msgspec.structs.replace(found, rows=tuple(rows))

    return with_client(ask, context, kubeconfig)


def _from(spec: ClassificationPreviewSpec, offset: int) -> ClassificationPreviewSpec:
    limit = _PAGE if spec.rows.limit else 0
    return msgspec.structs.replace(spec, rows=msgspec.structs.replace(spec.rows, offset=offset, limit=limit))


def tried_here(
    spec: ClassificationPreviewSpec,
    classifications: Iterable[JsonObject],
    agents: Iterable[JsonObject],
    *,
    trusting: bool,
) -> ClassificationPreviewStatus:
    """The same over these objects. Raises InvalidObjectError for a label that cannot be, unless it is trusted."""
    from muster.classification import read_applied, read_classification
    from muster.classification.one_shot import agent_read
    from muster.classification.trial import Host, Present, exhausted, tried

    saved = []
    for obj in classifications:
        found = checked(obj, trusting=trusting)
        saved.append((found.metadata.namespace, read_classification(found)))
    hosts: dict[tuple[str, str], Host] = {}
    for agent in map(agent_read, agents):
        metadata, inventory = agent.metadata, bytes(agent.status.inventory)
        if spec.namespace not in ("", metadata.namespace):
            continue
        hosts[metadata.namespace, metadata.name] = Host(
            metadata.namespace,
            metadata.name,
            metadata.labels,
            read_applied(metadata.annotations),
            None if inventory in (b"", b"null") else inventory,
        )
    wanted = msgspec.structs.replace(spec.rows, limit=len(hosts)) if spec.rows.limit else spec.rows
    asked = msgspec.structs.replace(spec, rows=wanted)
    return exhausted(tried(asked, Present(list(hosts.values()), saved), most_bytes=sys.maxsize))


def checked(obj: JsonObject, *, trusting: bool) -> AgentClassification:
    """A classification as people write it. Raises InvalidObjectError for one that cannot be saved, unless trusted."""
    from muster.classification import read_classification
    from muster.classification.one_shot import classification_read
    from muster.errors import InvalidObjectError

    found = classification_read(obj, trusting=trusting)
    fault = read_classification(found).fault
    if fault and not trusting:
        raise InvalidObjectError(f"AgentClassification {found.metadata.name}", fault)
    return found
