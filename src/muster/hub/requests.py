"""What a request asks and what an answer holds: the vocabulary between the REST layer and the API machinery.

The REST layer builds these from HTTP, controllers inside the hub build them directly, `api.Api` answers.
Option texts stay as the client wrote them; `Api` checks them, so that every caller gets the same refusals.
Nothing here knows HTTP, storage or a kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import msgspec

from muster.access.attributes import Attributes as Attributes  # noqa: TC001 - the hub has both from here
from muster.access.attributes import User as User  # noqa: TC001
from muster.values.json import Json, JsonObject

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from muster.api.resource import Resource, Version
    from muster.hub.storage import Guard


# --- Who asks, and for what ---------------------------------------------------------------------------


class Target(msgspec.Struct, frozen=True):
    """The collection or object a request is about. No name: the collection; no namespace: all, or cluster-scoped."""

    resource: Resource
    version: Version
    namespace: str = ""
    name: str = ""
    subresource: str = ""

    @property
    def api_version(self) -> str:
        return f"{self.resource.group}/{self.version.name}" if self.resource.group else self.version.name


# --- What is sent -------------------------------------------------------------------------------------


class MalformedBodyError(Exception):
    """Raised by `Body.read`: the text is not JSON or YAML. `reason` is the real server's wording of the parse error
    (`unexpected end of JSON input`); `Api` wraps it as the verb demands."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class Decoded(msgspec.Struct, frozen=True):
    """A decoded body: the value, the paths of duplicate keys in it (`spec.hubAcceptsClient`), and the text as sent.

    `unknown` is what is to be said of fields of a JSON patch that mean nothing.
    """

    value: Json
    duplicates: tuple[str, ...] = ()
    text: str = ""
    unknown: tuple[str, ...] = ()


class Body(Protocol):
    """What the client sent. It is read only after the request has been authorized."""

    @property
    def text(self) -> str:
        """The text as sent, for error messages; empty when there is none."""

    @property
    def weight(self) -> int:
        """What reading it may cost, as bytes of JSON that cost the same."""

    def name(self) -> str:
        """The name of the object in it, if that can be found out cheaply; for users whose roles name objects."""

    def read(self) -> Decoded:
        """The decoded body. Raises MalformedBodyError, or StatusError for a limit or a media type."""


@dataclass(frozen=True, slots=True)
class ObjectBody:
    """A body that is already an object: for callers inside the hub, and tests."""

    value: Json

    @property
    def text(self) -> str:
        return msgspec.json.encode(self.value).decode()

    @property
    def weight(self) -> int:
        return 0  # made in this process, not sent

    def name(self) -> str:
        return name_in(self.value)

    def read(self) -> Decoded:
        # Decoding an encoded copy keeps the caller's object apart from the hub's.
        encoded = msgspec.json.encode(self.value)
        return Decoded(msgspec.json.decode(encoded), text=encoded.decode())


def name_in(obj: Json) -> str:
    """The name of an object that nobody has checked; empty if it has none."""
    metadata = obj.get("metadata") if isinstance(obj, dict) else None
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return name if isinstance(name, str) else ""


class PatchType(Enum):
    """The media types of a patch."""

    JSON = "application/json-patch+json"
    MERGE = "application/merge-patch+json"
    STRATEGIC = "application/strategic-merge-patch+json"
    APPLY = "application/apply-patch+yaml"


# --- Options, as the client wrote them ------------------------------------------------------------------


class WriteOptions(msgspec.Struct, frozen=True):
    """Of create, update and patch. Without a field manager the first part of the user agent stands in for it."""

    dry_run: tuple[str, ...] = ()
    field_manager: str = ""
    field_validation: str = ""
    force: bool | None = None
    user_agent: str = ""


@dataclass(frozen=True, slots=True)
class DeleteOptions:
    """Of delete and deletecollection; a body of kind DeleteOptions overrides what the query said."""

    dry_run: tuple[str, ...] = ()
    grace_period_seconds: int | None = None
    propagation_policy: str | None = None
    orphan_dependents: bool | None = None
    uid: str | None = None
    resource_version: str | None = None


@dataclass(frozen=True, slots=True)
class ListOptions:
    """Of list and deletecollection. A negative or zero limit means no limit."""

    label_selector: str = ""
    field_selector: str = ""
    limit: int = 0
    continue_token: str = ""
    resource_version: str = ""
    resource_version_match: str = ""
    send_initial_events: bool | None = None


@dataclass(frozen=True, slots=True)
class WatchOptions:
    """Of watch. `timeout` is in seconds; None lets the hub choose."""

    label_selector: str = ""
    field_selector: str = ""
    resource_version: str = ""
    resource_version_match: str = ""
    continue_token: str = ""
    bookmarks: bool = False
    send_initial_events: bool | None = None
    timeout: float | None = None


# --- What is answered -------------------------------------------------------------------------------------


class Answer(msgspec.Struct, frozen=True):
    """One object: its JSON, ready to send in the version that was asked for, and the texts of Warning headers."""

    code: int
    object: bytes
    warnings: tuple[str, ...] = ()

    def decoded(self) -> JsonObject:
        value: JsonObject = msgspec.json.decode(self.object)
        return value


@dataclass(frozen=True, slots=True)
class ListAnswer:
    """A list, its items as JSON in the version that was asked for. `size` is what they have in the store."""

    target: Target
    resource_version: str
    items: Sequence[bytes]
    size: int
    continue_token: str = ""
    remaining: int | None = None
    warnings: tuple[str, ...] = ()

    def metadata(self) -> JsonObject:
        """ListMeta: lists of custom kinds always carry `continue`, lists of built-in kinds only when there is more."""
        meta: JsonObject = {}
        if self.continue_token or not self.target.resource.builtin:
            meta["continue"] = self.continue_token
        if self.remaining is not None:
            meta["remainingItemCount"] = self.remaining
        meta["resourceVersion"] = self.resource_version
        return meta

    def head(self) -> JsonObject:
        """Everything of the list but its items."""
        return {
            "apiVersion": self.target.api_version,
            "kind": self.target.resource.list_kind,
            "metadata": self.metadata(),
        }

    def encode(self) -> bytes:
        """The whole list object, for those who have no reader to wait for."""
        return b"".join((msgspec.json.encode(self.head())[:-1], b',"items":[', b",".join(self.items), b"]}\n"))


class WatchEvent:
    """One event of a watch, shared by every watcher that is to get the same: encode a form once, keep it in `forms`."""

    __slots__ = ("forms", "object", "revision", "type")

    def __init__(self, type_: str, object_: bytes, revision: int) -> None:
        self.type = type_  # ADDED, MODIFIED, DELETED, BOOKMARK or ERROR
        self.object = object_
        self.revision = revision
        self.forms: dict[str, bytes] = {}

    @property
    def line(self) -> bytes:
        """The event as one line of a JSON watch stream."""
        line = self.forms.get("json")
        if line is None:
            line = b"".join(self.around(self.object))
            self.forms["json"] = line
        return line

    def around(self, shown: bytes) -> tuple[bytes, bytes, bytes]:
        """The parts of a line that shows the object so."""
        return (b'{"type":"%b","object":' % self.type.encode(), shown, b"}\n")

    def __repr__(self) -> str:
        return f"WatchEvent({self.type!r}, {self.object!r}, {self.revision})"


class Served(Protocol):
    """What has something to send, and waits for its turn."""

    def serve(self) -> None: ...


class WatchStream(Protocol):
    """A running watch: batches of events, each with everything that was ready, until timeout, error or `close`.

    After an ERROR event the stream ends. Close it when the client goes away; closing twice is fine. `holds` is what the
    events it begins with keep alive in the store; it calls `begun` once they have been taken.
    """

    holds: int
    begun: Callable[[], None]

    def __aiter__(self) -> AsyncIterator[Sequence[WatchEvent]]: ...

    def divert(self, take: Callable[[Sequence[WatchEvent]], bool], join: Callable[[Served], None]) -> None:
        """While its reader waits, events go to `take` and wake nobody; what that refuses is for the reader.

        `join` is told when there is something to take, and whoever is told has it served when it is its turn.
        """

    def close(self) -> None: ...


# --- Authorization and admission ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Decision:
    allowed: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class AccessRules:
    """What a user may do in a namespace, as SelfSubjectRulesReview states it."""

    resource_rules: tuple[JsonObject, ...] = ()
    non_resource_rules: tuple[JsonObject, ...] = ()
    incomplete: bool = False
    error: str = ""  # what went wrong while they were gathered


class Authorizer(Protocol):
    """Decides who may do what."""

    async def authorize(self, user: User, attributes: Attributes) -> Decision: ...

    async def missing(
        self, user: User, verb: str, resource: str, names: Sequence[str], namespace: str = ""
    ) -> list[str]:
        """Those of `names` the user may not `verb`; `resource` is `plural.group`, or `plural/subresource.group`."""

    async def rules(self, user: User, namespace: str) -> AccessRules: ...


API_AUDIENCE = "https://kubernetes.default.svc"  # whom tokens for this API are meant for


class Authenticator(Protocol):
    """Answers who a bearer token belongs to; TokenReview asks it, for other audiences too."""

    async def authenticate(self, token: str, audience: str = API_AUDIENCE) -> User | None: ...


class AdmissionRequest(msgspec.Struct, frozen=True):
    """A write about to happen. `operation` is CREATE, UPDATE or DELETE; `new` is None for DELETE, `old` for CREATE."""

    operation: str
    target: Target
    user: User
    old: JsonObject | None
    new: JsonObject | None
    dry_run: bool
    weight: int = 0  # what looking at all of it may cost, as bytes of JSON


class Admitted(msgspec.Struct, frozen=True):
    """What admission says: the object to go on with (None: as it was), warnings, and what it looked at.

    The write commits only if nothing in `read` has changed since; otherwise admission is asked again.
    """

    object: JsonObject | None = None
    warnings: tuple[str, ...] = ()
    read: tuple[Guard, ...] = ()


@runtime_checkable
class Adviser(Protocol):
    """An admission plugin that has something to say about a write that has been carried out. It never raises."""

    async def advise(self, request: AdmissionRequest) -> tuple[str, ...]: ...


@runtime_checkable
class Concerned(Protocol):
    """An admission plugin that looks at writes of some kinds only, by their keys: nobody asks it about others."""

    @property
    def kinds(self) -> frozenset[str]: ...


class Admission(Protocol):
    """A check on writes beyond the schema. Refusal is a StatusError. See `Concerned` for one of a few kinds."""

    async def mutate(self, request: AdmissionRequest) -> Admitted: ...

    async def validate(self, request: AdmissionRequest) -> Admitted: ...
