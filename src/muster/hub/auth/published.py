"""The ConfigMap `extension-apiserver-authentication`: whose client certificates this server believes, for programs that
serve kinds of their own and check requests as this server does. `access` has it written at every start.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.api.config_map import CONFIG_MAP, read_config_map
from muster.hub.auth.tokens import ADMINISTRATOR
from muster.hub.namespaces import SERVER
from muster.hub.objects import decode
from muster.hub.requests import ObjectBody, PatchType, Target, WriteOptions
from muster.hub.status import StatusError
from muster.hub.storage import Key

if TYPE_CHECKING:
    from muster.hub.api import Api
    from muster.hub.storage import Store

NAMESPACE, NAME, FIELD = "kube-system", "extension-apiserver-authentication", "client-ca-file"
_OPTIONS = WriteOptions(field_manager=SERVER)


async def publish_authority(api: Api, store: Store, authority: str) -> None:
    """Make sure that the ConfigMap names this authority, in PEM. What else is in it stays."""
    record = store.get(Key(CONFIG_MAP.key, NAMESPACE, NAME))
    data = {FIELD: authority}
    target = Target(CONFIG_MAP, CONFIG_MAP.storage_version, NAMESPACE)
    try:
        if record is None:
            obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": NAME}, "data": data}
            await api.create(ADMINISTRATOR, target, ObjectBody(obj), _OPTIONS)
        elif read_config_map(decode(record.value)).data.get(FIELD) != authority:
            there = Target(CONFIG_MAP, CONFIG_MAP.storage_version, NAMESPACE, NAME)
            await api.patch(ADMINISTRATOR, there, PatchType.MERGE, ObjectBody({"data": data}), _OPTIONS)
    except StatusError as error:
        if error.code != 409:  # somebody else has written it meanwhile
            raise
