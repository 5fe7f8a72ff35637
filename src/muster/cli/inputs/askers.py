"""Whom a command asks about the fleet: the server of the kubeconfig, an observer where none answers, or files.

One road for all of them: questions go to an asker, and commands show what it says. Nothing is computed here.
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec

from muster.cli.inputs.connecting import with_quick_client
from muster.cli.inputs.documents import Document
from muster.cli.inputs.reading import heads, staying
from muster.errors import ApiError
from muster.library.overlays import in_namespace
from muster.values.json import JsonMapping, JsonObject

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from muster.client import Client, QuickClient
    from muster.client.asking import Asker, Requests
    from muster.library.heads import Headed

Result = TypeVar("Result")
EVERYTHING: Final = "everything"  # the set that files without sets are taken to be in
_MANY: Final = ("ManagedCluster", "AddOnPlacementScore")  # are not decoded
_MOST_NAMES: Final = 10_000  # that a name is compared with
_KINDS: Final = {
    "managedclusters": "ManagedCluster",
    "managedclustersets": "ManagedClusterSet",
    "placements": "Placement",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """Who is asked. `namespace` is the one that is meant where none is given."""

    asker: Asker
    namespace: str
    client: Requests | None = None
    objects: Sequence[Headed] = ()  # of files
    is_bare: bool = False  # files without sets: every cluster counts as visible

    async def names(self, resource: str) -> list[tuple[str, str]]:
        """Namespaces and names of what there is, as far as it may be listed: for hints about names that are not."""
        if self.client is None:
            return [(each.namespace, each.name) for each in self.objects if each.kind == _KINDS[resource]]
        return await _listed(self.client.whole(), resource)


def ask(
    work: Callable[[Asked], Awaitable[Result]],
    files: list[str] | None,
    context: str | None,
    kubeconfig: str | None,
    unsaved: Sequence[JsonMapping] = (),
) -> Result:
    """What comes of asking. `unsaved` are objects that count more than those that are there."""
    if files:
        return asyncio.run(_ask_files(work, heads(files), unsaved))

    async def from_server(client: QuickClient) -> Result:
        from muster.questions.asking import commanding

        namespace = client.connection.namespace
        others = [in_namespace(dict(each), namespace) for each in unsaved if each["kind"] != "Placement"]
        asker = await _overlaid(client.whole(), others) if others else commanding(client)
        return await work(Asked(asker, namespace, client))

    return with_quick_client(from_server, context, kubeconfig)


def warn(sentence: str) -> None:
    """Said beside an answer, where it does not disturb who reads that."""
    sys.stderr.write(f"muster: {sentence}\n")


async def _overlaid(client: Client, objects: Sequence[JsonObject]) -> Asker:
    """Clusters, sets and bindings of a file count as if they were there, which only an observer can think of."""
    from muster.controllers.placements.preview import put
    from muster.questions.asked import PLACING
    from muster.questions.local import LocalAsker, utc_now
    from muster.questions.local_fleet import LocalFleet

    fleet = LocalFleet(client, utc_now)
    await fleet.read(PLACING)
    for each in objects:
        put(fleet.world, each)
    return LocalAsker(fleet)


async def _ask_files(
    work: Callable[[Asked], Awaitable[Result]], objects: Iterable[Headed], unsaved: Sequence[JsonMapping]
) -> Result:
    from muster.library.heads import headed, newest
    from muster.questions.local import PLACING_KINDS, FileFleet, LocalAsker, utc_now

    with staying():
        given = [*objects, *(headed(Document("", dict(each))) for each in unsaved)]
        every = newest([each for each in given if each.kind in PLACING_KINDS], "default")
        is_bare = not any(each.kind in ("ManagedClusterSet", "ManagedClusterSetBinding") for each in every)
        shown = [each.plain() for each in every if each.kind not in _MANY]
        if is_bare:
            shown += _sets_of_everything(shown)
        now = utc_now()
        clusters, scores = ([each for each in every if each.kind == kind] for kind in _MANY)
        encoded, reported = ([each.encoded() for each in some] for some in (clusters, scores))
        fleet = FileFleet(shown, now, encoded, reported, [each.shape for each in clusters])
        asker = LocalAsker(fleet, lambda: now)
    try:
        return await work(Asked(asker, "default", None, every, is_bare))
    except msgspec.MsgspecError:
        for each in given:
            each.plain()  # says whose fault it is: what is not decoded before has not been checked before either
        raise


def _sets_of_everything(objects: Iterable[JsonObject]) -> list[JsonObject]:
    """Without any sets and bindings every cluster counts as visible: a directory of clusters is a fleet."""
    selector = {"selectorType": "LabelSelector", "labelSelector": {}}
    found: dict[tuple[str, str], JsonObject] = {}
    for each in objects:
        if each["kind"] != "Placement":
            continue
        spec = each.get("spec")
        wanted = spec.get("clusterSets") if isinstance(spec, dict) else None
        for name in wanted if isinstance(wanted, list) and wanted else [EVERYTHING]:
            metadata = {"name": str(name)}
            found["", str(name)] = {
                "kind": "ManagedClusterSet",
                "metadata": metadata,
                "spec": {"clusterSelector": selector},
            }
            place = each["metadata"]["namespace"]
            found[place, str(name)] = {
                "kind": "ManagedClusterSetBinding",
                "metadata": {**metadata, "namespace": place},
                "spec": {"clusterSet": str(name)},
            }
    return list(found.values())


async def _listed(client: Client, resource: str) -> list[tuple[str, str]]:
    from muster.questions.asked import served

    found: list[tuple[str, str]] = []
    try:
        async for page in client.pages(served(resource).path()):
            found += [(each["metadata"].get("namespace", ""), each["metadata"]["name"]) for each in page["items"]]
            if len(found) >= _MOST_NAMES:
                break
    except ApiError:
        return []  # without a hint, then
    return found
