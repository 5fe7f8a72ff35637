"""One look at a cluster, within limits: bytes, items, time; no redirects; certificates are verified by the connection.

The first request is for /livez, as OCM's agent does it; a short look ends there. Then come the version, nodes, the id
of kube-system, ClusterClaims, ClusterProperties, and what OpenShift says. What may not be read is noted, nothing else
suffers. What was sent is never repeated in a text: whoever reads the condition need not be allowed to see it.
"""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar
from urllib.parse import urlencode

import aiohttp
import msgspec

from muster.api.parts import Node, ObjectMeta, Part
from muster.api.reading import Reader
from muster.client.errors import CredentialsError, UnreachableError
from muster.collecting.troubles import Trouble, TroubleError, words_of
from muster.collecting.wire import Answer, Wire
from muster.importing.facts import ClusterFacts, NodeFacts, OpenShift, node_page
from muster.importing.rules import LONGEST_NAME, LONGEST_VALUE
from muster.values.api_paths import collection_path, object_path
from muster.values.faults import Fault
from muster.values.limits import Unit, limit

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from muster.client import Client

Result = TypeVar("Result")
Kind = TypeVar("Kind")
HEADERS: Final = {"Accept": "application/json", "Accept-Encoding": "identity"}
_PAGE: Final = 250
_LONGEST_TOKEN: Final = 16 * 1024  # of a continuation
_LIVE, _HEALTHY, _VERSION = "/livez", "/healthz", "/version"
_NODES: Final = collection_path("", "v1", "nodes")
_SYSTEM: Final = object_path("", "v1", "namespaces", "", "kube-system")
_CLAIMS: Final = collection_path("cluster.open-cluster-management.io", "v1alpha1", "clusterclaims")
_PROPERTIES: Final = collection_path("about.k8s.io", "v1alpha1", "clusterproperties")
_OPENSHIFT: Final = object_path("config.openshift.io", "v1", "clusterversions", "", "version")
_SPOKE_ONLY: Final = "open-cluster-management.io/spoke-only"  # such claims stay on the cluster
_OK, _UNAUTHORIZED, _FORBIDDEN, _NOT_FOUND = 200, 401, 403, 404


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """What one look at a cluster may take."""

    seconds: float = limit(
        10.0,
        "look request time",
        "one request to a managed cluster",
        "the condition Synced says TimedOut",
        Unit.SECONDS,
    )
    total_seconds: float = limit(
        30.0, "look time", "one look at a managed cluster", "the condition Synced says TimedOut", Unit.SECONDS
    )
    answer_bytes: int = limit(
        16 * 2**20, "look answer bytes", "one answer of a managed cluster", "TooLarge", Unit.BYTES
    )
    total_bytes: int = limit(128 * 2**20, "look bytes", "all answers of one look", "TooLarge", Unit.BYTES)
    nodes: int = limit(10_000, "look nodes", "nodes of one cluster", "TooLarge")
    claims: int = limit(1_000, "look claims", "ClusterClaims or ClusterProperties of one cluster", "TooLarge")


@dataclass(frozen=True, slots=True)
class Seen:
    """What a look brought, and what may not be read."""

    facts: ClusterFacts
    unread: tuple[str, ...] = ()


class _Version(Part, frozen=True):
    git_version: str = ""


class _Uid(Part, frozen=True):
    uid: str = ""


class _Namespace(Node, frozen=True):
    metadata: _Uid = _Uid()


class _ClaimSpec(Part, frozen=True):
    value: str = ""


class _Claim(Node, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: _ClaimSpec = _ClaimSpec()


class _Claims(Node, frozen=True):
    items: tuple[_Claim, ...] = ()


class _History(Part, frozen=True):
    state: str = ""
    version: str = ""


class _ClusterVersionSpec(Part, frozen=True):
    cluster_id: str = msgspec.field(default="", name="clusterID")


class _ClusterVersionStatus(Node, frozen=True):
    history: tuple[_History, ...] = ()


class _ClusterVersion(Node, frozen=True):
    spec: _ClusterVersionSpec = _ClusterVersionSpec()
    status: _ClusterVersionStatus = _ClusterVersionStatus()


_VERSIONS: Final = Reader(_Version)
_NAMESPACES: Final = Reader(_Namespace)
_CLAIM_LISTS: Final = Reader(_Claims)
_CLUSTER_VERSIONS: Final = Reader(_ClusterVersion)


async def is_alive(client: Client | Wire, limits: ReadLimits) -> None:
    """Ask whether the API server lives, and nothing else. Raises TroubleError."""
    await _in_time(_Look(client, limits).health(), limits)


async def look_at(client: Client | Wire, limits: ReadLimits) -> Seen:
    """Everything that can be known. Raises TroubleError."""
    look = _Look(client, limits)
    return await _in_time(look.everything(), limits)


async def _in_time(deed: Awaitable[Result], limits: ReadLimits) -> Result:
    try:
        async with asyncio.timeout(limits.total_seconds):
            return await deed
    except TimeoutError:
        raise TroubleError(Trouble.TIMED_OUT, f"a look took more than {limits.total_seconds:g} s") from None


class _Look:
    """One look: what it has read so far, and what it may not read."""

    def __init__(self, client: Client | Wire, limits: ReadLimits) -> None:
        self._client = client
        self._limits = limits
        self._bytes = 0
        self._unread: list[str] = []

    async def health(self) -> None:
        code, _ = await self._get(_LIVE)
        if code in (_NOT_FOUND, _FORBIDDEN):  # servers before 1.16, and those that hide it
            code, _ = await self._get(_HEALTHY)
        if code == _UNAUTHORIZED:
            raise TroubleError(Trouble.UNAUTHORIZED, "the cluster does not take the credentials")
        if code not in (_OK, _FORBIDDEN, _NOT_FOUND):
            raise TroubleError(Trouble.UNHEALTHY, f"the API server says that it is not well: {_LIVE} answers {code}")

    async def version(self) -> str:
        code, body = await self._get(_VERSION)
        if code in (_UNAUTHORIZED, _FORBIDDEN):
            trouble = Trouble.FORBIDDEN if code == _FORBIDDEN else Trouble.UNAUTHORIZED
            raise TroubleError(trouble, f"the credentials may not even read {_VERSION}")
        found = _VERSIONS.read(body) if code == _OK else Fault("")
        text = "" if isinstance(found, Fault) else found.obj.git_version
        if not text or len(text) > LONGEST_NAME or not text.isprintable():
            raise TroubleError(Trouble.MALFORMED, f"{_VERSION} answers with no version (code {code})")
        return text

    async def everything(self) -> Seen:
        await self.health()
        version = await self.version()
        system = await self._one("the namespace kube-system", _SYSTEM, _NAMESPACES)
        openshift = await self._one("the version of OpenShift", _OPENSHIFT, _CLUSTER_VERSIONS)
        facts = ClusterFacts(
            version=version,
            id=None if system is None else system.metadata.uid or None,
            nodes=await self._nodes(),
            openshift=None if openshift is None else _openshift(openshift),
            claims=await self._own_claims("ClusterClaims", _CLAIMS),
            properties=await self._own_claims("ClusterProperties", _PROPERTIES),
        )
        return Seen(facts, tuple(self._unread))

    async def _nodes(self) -> tuple[NodeFacts, ...] | None:
        """All of them, page by page; None if they may not be read."""
        found: list[NodeFacts] = []
        query = {"limit": str(_PAGE)}
        while True:
            code, body = await self._get(_NODES, urlencode(query))
            if code != _OK:
                self._note("nodes", code)
                return None
            page = node_page(body)
            if isinstance(page, Fault):
                raise TroubleError(Trouble.MALFORMED, "the answer about nodes is no list of nodes")
            found += page.nodes
            if len(found) > self._limits.nodes:
                raise TroubleError(Trouble.TOO_LARGE, f"it tells of more than {self._limits.nodes:,} nodes")
            if not page.following:
                return tuple(found)
            if not page.nodes or len(page.following) > _LONGEST_TOKEN or page.following == query.get("continue"):
                raise TroubleError(Trouble.MALFORMED, "the list of nodes does not end")
            query["continue"] = page.following

    async def _one(self, what: str, path: str, reader: Reader[Kind]) -> Kind | None:
        code, body = await self._get(path)
        if code == _NOT_FOUND:
            return None
        found = reader.read(body) if code == _OK else None
        if found is None or isinstance(found, Fault):
            self._note(what, code)
            return None
        return found.obj

    async def _own_claims(self, what: str, path: str) -> dict[str, str] | None:
        """What the cluster says of itself, but for what is to stay there. A server without the kind says nothing."""
        code, body = await self._get(path, urlencode({"limit": str(self._limits.claims + 1)}))
        if code == _NOT_FOUND:
            return {}
        found = _CLAIM_LISTS.read(body) if code == _OK else None
        if found is None or isinstance(found, Fault):
            self._note(what, code)
            return None
        if len(found.obj.items) > self._limits.claims:
            self._unread.append(f"{what}: there are more than {self._limits.claims:,}")
            return None
        return {
            each.metadata.name[: LONGEST_NAME + 1]: each.spec.value[: LONGEST_VALUE + 1]
            for each in found.obj.items
            if _SPOKE_ONLY not in each.metadata.labels
        }

    def _note(self, what: str, code: int) -> None:
        why = {_FORBIDDEN: "not permitted", _UNAUTHORIZED: "not permitted", _OK: "the answer cannot be read"}
        self._unread.append(f"{what}: {why.get(code, f'the server answers {code}')}")

    async def _get(self, path: str, query: str = "") -> tuple[int, bytes]:
        """One answer. Raises TroubleError for none, for a redirect and for one that is too large."""
        limits = self._limits
        most = min(limits.answer_bytes, limits.total_bytes - self._bytes)
        if isinstance(self._client, Wire):
            answer = await self._client.get(path, query, limits.seconds, most)
        else:
            answer = await _exchanged(self._client, path, query, limits.seconds, most)
        self._bytes += len(answer.body)
        if 300 <= answer.code < 400:
            raise TroubleError(Trouble.REDIRECTED, f"{path} answers with a redirect ({answer.code})")
        if answer.encoded:
            raise TroubleError(Trouble.MALFORMED, f"{path} answers in an encoding that was not asked for")
        return answer.code, answer.body


async def _exchanged(client: Client, path: str, query: str, seconds: float, most: int) -> Answer:
    """The same by a client whose credentials have to be renewed now and then."""
    try:
        async with client.exchange("GET", path, query=query, headers=HEADERS, seconds=seconds) as response:
            encoded = response.headers.get("Content-Encoding", "identity") != "identity"
            parts: list[bytes] = []
            size = 0
            async for part in response.content.iter_any():
                size += len(part)
                if size > most:
                    raise TroubleError(Trouble.TOO_LARGE, f"{path} answers with more than {most:,} bytes")
                parts.append(part)
            return Answer(response.status, b"".join(parts), encoded)
    except CredentialsError as error:
        raise TroubleError(Trouble.NO_ACCESS, f"no credentials: {error.cause}") from error
    except UnreachableError as error:
        raise _trouble(error) from error


def _trouble(error: UnreachableError) -> TroubleError:
    """What kept an answer from coming. The words are ours or the system's, never the cluster's."""
    cause = error.__cause__
    match cause:
        case TimeoutError():
            return TroubleError(Trouble.TIMED_OUT, f"no answer in time from {error.server}")
        case aiohttp.ClientConnectorCertificateError() | ssl.SSLCertVerificationError():
            return TroubleError(Trouble.BAD_CERTIFICATE, f"the certificate of {error.server} is not trusted")
        case aiohttp.ClientSSLError() | ssl.SSLError():
            return TroubleError(Trouble.BAD_CERTIFICATE, f"no secure connection to {error.server} comes about")
        case aiohttp.ClientConnectorError():
            return TroubleError(Trouble.UNREACHABLE, f"no connection to {error.server}: {words_of(cause.os_error)}")
        case aiohttp.ClientHttpProxyError():
            return TroubleError(Trouble.UNREACHABLE, f"the proxy to {error.server} refuses (code {cause.status})")
        case aiohttp.ClientPayloadError() | aiohttp.ClientResponseError():
            return TroubleError(Trouble.MALFORMED, f"{error.server} does not speak HTTP as it should")
        case _:
            return TroubleError(Trouble.UNREACHABLE, f"the connection to {error.server} broke")


def _openshift(found: _ClusterVersion) -> OpenShift:
    done = next((each.version for each in found.status.history if each.state == "Completed"), "")
    return OpenShift(done[:LONGEST_NAME], found.spec.cluster_id[:LONGEST_NAME])
