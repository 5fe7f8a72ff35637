"""How many custom kinds a hub takes."""

from __future__ import annotations

from typing import Any

from muster.hub.api import Api
from muster.hub.auth.administrators_only import AdministratorsOnlyAuthorizer
from muster.hub.limits import ObjectLimits
from muster.hub.requests import ObjectBody, Target, WriteOptions
from muster.hub.status import StatusError
from muster.hub.storage import Store
from tests.hub.a_hub import ADMIN, story
from tests.hub.custom.a_kind import definition


@story
async def test_a_hub_takes_so_many_custom_kinds() -> None:
    async with Store.open(None) as store:
        api = Api(store, AdministratorsOnlyAuthorizer(), limits=ObjectLimits(custom_kinds=1))
        await api.start()
        kind = api.kinds["customresourcedefinitions.apiextensions.k8s.io"]
        target = Target(kind, kind.storage_version)

        async def define(body: dict[str, Any]) -> None:
            await api.create(ADMIN, target, ObjectBody(body), WriteOptions())

        await define(definition())
        refusal = ""
        try:
            await define(definition(plural="games", kind="Game"))
        except StatusError as error:
            refusal = error.message
        assert "the hub has 1 custom kinds and takes no more (setting customKinds, option --custom-kinds)" in refusal
        assert set(api.kinds.custom) == {"toys.shop.example.com"}
        await api.close()
