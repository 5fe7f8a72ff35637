"""Who can be asked about the fleet: an `Asker`, what it answers, and the one that is a server.

`muster.questions.asking` has the others: an observer in this process, and the choice between both. Knows no kind of
question by name, and imports little: commands wait for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol, TypeVar

import msgspec

from muster.api.fleet_parts import GROUP, VERSION, plural_of
from muster.errors import ApiError
from muster.values.api_paths import collection_path
from muster.values.json import Json, JsonMapping

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muster.client.client import Client
    from muster.client.kubeconfig import Connection
    from muster.client.replies import Reply

_NOT_OURS: Final = 502  # of another version, or something in between
_OTHERWISE: Final = "the server answers in another way than this client knows"
SERVER: Final = "server"
LOCAL: Final = "local"
Status = TypeVar("Status", bound=msgspec.Struct)


class Answer(msgspec.Struct, frozen=True):
    """The answer to a question.

    `status` is the status of the kind, as JSON, in the same form whoever answered. `warnings` are about what was asked:
    those that a create would get. `home` is who answered: SERVER, or LOCAL for an observer in this process. `notes` are
    what one has to know of its answer: what of the fleet could not be read and is missing in it.
    """

    status: msgspec.Raw
    warnings: tuple[str, ...] = ()
    home: str = SERVER
    notes: tuple[str, ...] = ()

    def read(self, status: type[Status]) -> Status:
        """The status as its struct. Raises ApiError when it has another form."""
        try:
            return msgspec.json.decode(self.status, type=status)
        except msgspec.MsgspecError as error:
            raise ApiError(_NOT_OURS, "", f"{_OTHERWISE}: {error}") from None


class Requests(Protocol):
    """What questions need of a client: `Client` and `QuickClient` have it."""

    connection: Connection

    async def request(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        body: Json = None,
        content_type: str = "application/json",
        accept: str = "application/json",
        waits_for_others: bool = True,
    ) -> Reply:
        """Raises ApiError for a refusal and UnreachableError when no answer comes."""

    def whole(self) -> Client:
        """The client that can do everything there is."""


class Asker(Protocol):
    """Whoever answers questions of `fleet.muster.dev`."""

    async def ask(self, kind: str, spec: msgspec.Struct | JsonMapping) -> Answer:
        """The answer to one question: `kind` such as FleetEvaluation, and the spec of it.

        Raises ApiError as a server refuses: 403 and 404 for what may not be asked or is not there, 422 for what does
        not make sense, 429, 503 and 504 for what may be asked again; UnreachableError when no server answers. May be
        called any number of times at once; cancelling the call ends the work.
        """


class ServerAsker:
    """Asks a server that knows the kinds. Any other answers 404."""

    def __init__(self, client: Requests) -> None:
        self._client = client

    async def ask(self, kind: str, spec: msgspec.Struct | JsonMapping) -> Answer:
        asked = msgspec.to_builtins(spec) if isinstance(spec, msgspec.Struct) else spec
        body = {"apiVersion": f"{GROUP}/{VERSION}", "kind": kind, "spec": asked}
        path = collection_path(GROUP, VERSION, plural_of(kind))
        # Where nobody answers now, an observer does.
        reply = await self._client.request("POST", path, body=body, waits_for_others=False)
        try:
            answer = msgspec.json.decode(reply.body, type=dict[str, msgspec.Raw])
            return Answer(answer["status"], reply.warnings)
        except (msgspec.MsgspecError, KeyError) as error:
            raise ApiError(_NOT_OURS, "", f"{_OTHERWISE}: {error}") from None


def is_unanswered(error: ApiError, kind: str) -> bool:
    """Whether it is the question that a server does not take, and not what it is about that is not there.

    Who may not ask it, or not about placements of a namespace, may still read what the answer is made of.
    """
    match error.code:
        case 403:
            return error.kind in (plural_of(kind), "placements")
        case 404:
            return error.kind in ("", plural_of(kind)) and not error.name
        case 503:
            return True
        case _:
            return False
