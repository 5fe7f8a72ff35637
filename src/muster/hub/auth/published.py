"""The ConfigMap `extension-apiserver-authentication`: whose client certificates this server believes, for programs that
serve kinds of their own and check requests as this server does. `access` has it written at every start.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.api.config_map import CONFIG_MAP, read_config_map
from muster.hub.auth.certificates import nobodys_authority
from muster.hub.auth.tokens import ADMINISTRATOR
from muster.hub.namespaces import SERVER
from muster.hub.objects import decode
from muster.hub.requests import ObjectBody, PatchType, Target, WriteOptions
from muster.hub.status import StatusError
from muster.hub.storage import Key

if TYPE_CHECKING:
    from datetime import datetime

    from muster.hub.api import Api
    from muster.hub.storage import Store

NAMESPACE, NAME, FIELD = "kube-system", "extension-apiserver-authentication", "client-ca-file"
PROXY = "requestheader-client-ca-file"
# Who vouches for others in front of such a program. Nobody does here; programs want to be told all the same.
PROXIES = {
    "requestheader-allowed-names": '["front-proxy-client"]',
    "requestheader-extra-headers-prefix": '["X-Remote-Extra-"]',
    "requestheader-group-headers": '["X-Remote-Group"]',
    "requestheader-uid-headers": '["X-Remote-Uid"]',
    "requestheader-username-headers": '["X-Remote-User"]',
}
_OPTIONS = WriteOptions(field_manager=SERVER)


async def publish_authority(api: Api, store: Store, authority: str, now: datetime) -> None:
    """Make sure that the ConfigMap names this authority, in PEM, and one for proxies. What else is in it stays."""
    record = store.get(Key(CONFIG_MAP.key, NAMESPACE, NAME))
    present = {} if record is None else read_config_map(decode(record.value)).data
    wanted = {FIELD: authority}
    if PROXY not in present:
        wanted |= {PROXY: nobodys_authority(now), **PROXIES}
    target = Target(CONFIG_MAP, CONFIG_MAP.storage_version, NAMESPACE)
    try:
        if record is None:
            obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": NAME}, "data": wanted}
            await api.create(ADMINISTRATOR, target, ObjectBody(obj), _OPTIONS)
        elif any(present.get(key) != value for key, value in wanted.items()):
            there = Target(CONFIG_MAP, CONFIG_MAP.storage_version, NAMESPACE, NAME)
            await api.patch(ADMINISTRATOR, there, PatchType.MERGE, ObjectBody({"data": wanted}), _OPTIONS)
    except StatusError as error:
        if error.code != 409:  # somebody else has written it meanwhile
            raise
