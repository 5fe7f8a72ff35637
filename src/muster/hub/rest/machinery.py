"""What the REST layer needs of whoever carries out verbs: the hub's `Api`, or one that answers questions only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from muster.hub.custom.live import Kinds
    from muster.hub.requests import (
        Answer,
        Body,
        DeleteOptions,
        ListAnswer,
        ListOptions,
        PatchType,
        Target,
        User,
        WatchOptions,
        WatchStream,
        WriteOptions,
    )
    from muster.values.json import JsonObject


class Machinery(Protocol):
    """The verbs, without HTTP. All methods raise StatusError."""

    kinds: Kinds

    async def get(self, user: User, target: Target, resource_version: str = "") -> Answer: ...

    async def list(self, user: User, target: Target, selected: ListOptions) -> ListAnswer: ...

    async def watch(self, user: User, target: Target, selected: WatchOptions) -> WatchStream: ...

    async def create(self, user: User, target: Target, body: Body, given: WriteOptions) -> Answer: ...

    async def update(self, user: User, target: Target, body: Body, given: WriteOptions) -> Answer: ...

    async def patch(self, user: User, target: Target, kind: PatchType, body: Body, given: WriteOptions) -> Answer: ...

    async def rescale(
        self,
        user: User,
        target: Target,
        verb: str,
        change: Callable[[JsonObject], JsonObject],
        given: WriteOptions,
        body: Body,
    ) -> Answer: ...

    async def delete(self, user: User, target: Target, given: DeleteOptions, body: Body | None = None) -> Answer: ...

    async def delete_collection(
        self, user: User, target: Target, selected: ListOptions, given: DeleteOptions, body: Body | None = None
    ) -> ListAnswer: ...
