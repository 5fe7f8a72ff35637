"""The answers to ClassificationPreview and ResolutionPreview: what would come of hosts' labels and of operators.

The observer calls it. Queries are asked in slices, on rosters of their own, as the controllers ask them; operators are
resolved in a worker process of its own, so that neither the loop nor the controllers' own resolutions wait for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

import msgspec

from muster.classification.trial import Host, Present, tried
from muster.client.heads import Place
from muster.controllers.questions.kinds import Refusal
from muster.controllers.resolutions.jobs import Job, PreviewOptions
from muster.controllers.resolutions.pool import WorkerPool
from muster.controllers.resolutions.world import is_named
from muster.importing.hosts import named_host
from muster.questions.asked import Scope
from muster.values.json_members import object_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from muster.api.fleet_classification import ClassificationPreviewSpec, ClassificationPreviewStatus
    from muster.api.fleet_resolution import ResolutionPreviewSpec, ResolutionPreviewStatus
    from muster.api.resolution import CatalogSource
    from muster.classification import Classification
    from muster.controllers.hosts.world import AgentWorld
    from muster.controllers.resolutions.world import ResolutionWorld
    from muster.questions.sharing import Share, Work

_FORBIDDEN: Final = 403
_NOT_FOUND: Final = 404
_CONFLICT: Final = 409
_NOT_READY: Final = 503
_AT_ONCE: Final = 512  # hosts that are collected without a pause
_AGENTS: Final = "agents"
_NOTHING: Final = Scope()
_DECIDING: Final = 15.0  # seconds; once more for saying why


class Resolver(Protocol):
    """Whoever resolves."""

    async def preview(self, job: Job, limit: float) -> ResolutionPreviewStatus: ...

    async def close(self) -> None: ...


class Previews:
    """Answers from what the controllers know of hosts and resolutions."""

    def __init__(self, hosts: AgentWorld | None, resolutions: ResolutionWorld | None, share: Share) -> None:
        self._hosts = hosts
        self._resolutions = resolutions
        self._share = share
        self.pool: Resolver = WorkerPool(workers=1)

    async def close(self) -> None:
        await self.pool.close()

    # ---------------------------------------------------------------------------------------------- classifications

    async def classification(
        self, spec: ClassificationPreviewSpec, hosts: Scope, classifications: Scope, others: Mapping[str, Scope]
    ) -> ClassificationPreviewStatus:
        """Over the hosts, and beside the classifications, that the asker may get. Raises Refusal.

        `others`: what he may be told of hosts that are no Agents, by resource.
        """
        if self._hosts is None:
            raise Refusal(_NOT_READY, "nobody here knows hosts")
        return await self._share.done(self._tried(self._hosts, spec, {**others, _AGENTS: hosts}, classifications))

    def _tried(
        self, world: AgentWorld, spec: ClassificationPreviewSpec, hosts: Mapping[str, Scope], classifications: Scope
    ) -> Work[ClassificationPreviewStatus]:
        known = list(_classifications(world, spec.namespace))
        saved = [(place, each) for place, each in known if _may_tell(classifications, place, each.name)]
        self._refuse_set_aside(world, spec)
        if spec.name and not any(each.name == spec.name for _, each in saved):
            raise Refusal(_NOT_FOUND, f"agentclassifications/{spec.name}")
        there: list[Host] = []
        hidden = 0
        for number, (place, name) in enumerate(_places(world, spec.namespace)):
            if number % _AT_ONCE == 0:
                yield False
            roster = world.roster(place)
            if not roster.has_agent(name):
                continue  # it has gone in a pause
            kind, own = named_host(name)
            scope = hosts.get(_AGENTS if kind is None else kind.plural, _NOTHING)
            if not _may_tell(scope, place, own):
                hidden += 1
                continue
            there.append(Host(place, name, roster.labels(name), roster.applied(name), roster.inventory(name)))
        if spec.host and not any(each.name == spec.host for each in there):
            raise Refusal(_NOT_FOUND, spec.host if "/" in spec.host else f"{_AGENTS}/{spec.host}")
        return (yield from tried(spec, Present(there, saved, hidden, len(known) - len(saved))))

    @staticmethod
    def _refuse_set_aside(world: AgentWorld, spec: ClassificationPreviewSpec) -> None:
        """A query that has brought down the controllers before is not asked again, whoever it was of."""
        held = {each.query for _, each in _classifications(world, "") if each.held}
        if not held:
            return
        given = [spec.classification] if spec.classification is not None else []
        texts = {spec.query, *(object_at(each, "spec").get("query") for each in (*given, *(spec.among or ())))}
        texts |= {each.query for _, each in _classifications(world, spec.namespace) if each.name == spec.name}
        if texts & held:
            raise Refusal(_CONFLICT, "this query is set aside, because evaluating it has ended the controllers before")

    # -------------------------------------------------------------------------------------------------- resolutions

    async def resolution(self, spec: ResolutionPreviewSpec, maps: Scope, own: Scope) -> ResolutionPreviewStatus:
        """With catalogs from the ConfigMaps that the asker may get, and the server's own if he may. Raises Refusal."""
        world = self._resolutions
        if world is None:
            raise Refusal(_NOT_READY, "nobody here resolves")
        if spec.resolution is not None:
            written = msgspec.json.encode(object_at(spec.resolution, "spec"), order="sorted")
        else:
            saved = world.saved_spec(Place(spec.namespace, spec.name))
            if saved is None:
                raise Refusal(_NOT_FOUND, f"resolutions/{spec.name}")
            written = msgspec.json.encode(msgspec.json.decode(saved), order="sorted")
        sources = world.sources(written)
        for source in sources:
            _refuse_hidden(spec.namespace, source, maps, own)
        options = PreviewOptions(_DECIDING, spec.lock, spec.locked, spec.explain)
        job = Job(msgspec.Raw(written), world.inputs(spec.namespace, sources), options)
        return await self.pool.preview(job, _DECIDING)


def _refuse_hidden(namespace: str, source: CatalogSource, maps: Scope, own: Scope) -> None:
    """A catalog that the asker may not read is refused, whether it is there or not."""
    if is_named(source) and not own.everything:
        raise Refusal(
            _FORBIDDEN,
            f"catalog {source.name!r} is the server's own: those resolve with it who may create and get resolutions "
            f"in namespace {namespace!r}",
        )
    if source.config_map is not None and not _may_tell(maps, namespace, source.config_map.name):
        raise Refusal(
            _FORBIDDEN,
            f"catalog {source.name!r} is ConfigMap {source.config_map.name!r}, which you may not get in namespace "
            f"{namespace!r}",
        )


def _may_tell(scope: Scope, namespace: str, name: str) -> bool:
    return scope.everything or namespace in scope.namespaces or f"{namespace}/{name}" in scope.names


def _classifications(world: AgentWorld, namespace: str) -> Iterator[tuple[str, Classification]]:
    """Of one namespace, or of all."""
    for place in world.namespaces() if not namespace else (namespace,):
        roster = world.roster(place)
        for name in sorted(roster.classifications()):
            found = roster.classification(name)
            if found is not None:
                yield place, found


def _places(world: AgentWorld, namespace: str) -> Iterator[tuple[str, str]]:
    """The names of hosts as they are now, in one namespace or in all."""
    for place in world.namespaces() if not namespace else (namespace,):
        for name in sorted(world.roster(place).agents()):
            yield place, name
