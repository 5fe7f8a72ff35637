"""Who issues the tokens of service accounts, and with which keys: what a program elsewhere needs to check such a token.

`/.well-known/openid-configuration` and `/openid/v1/jwks`, as a Kubernetes server has them. `application` asks for them
after the path was authorized; the keys come from the issuer of tokens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from muster.hub import status
from muster.hub.requests import API_AUDIENCE
from muster.hub.rest.answers import Reply
from muster.hub.rest.negotiation import clauses_of
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Sequence


CONFIGURATION = "/.well-known/openid-configuration"
KEYS = "/openid/v1/jwks"
_KEY_SET = "application/jwk-set+json"
_AN_HOUR = (b"cache-control", b"public, max-age=3600")


class Identity:
    """The two documents."""

    def __init__(self, keys: Sequence[JsonObject] = ()) -> None:
        """`keys` are the public keys, as JSON Web Keys."""
        self._keys = list(keys)

    def find(self, path: str, accept: str, server: str) -> Reply | None:
        """The document at a path; None when there is none. `server` is the address the client reached."""
        match path.rstrip("/"):
            case "/.well-known/openid-configuration" if self._keys:
                return Reply(200, msgspec.json.encode(self._configuration(server)), cache=_AN_HOUR)
            case "/openid/v1/jwks" if self._keys:
                if not _takes_keys(accept):
                    raise _unacceptable()
                return Reply(200, msgspec.json.encode({"keys": self._keys}), _KEY_SET.encode(), cache=_AN_HOUR)
            case _:
                return None

    def _configuration(self, server: str) -> JsonObject:
        return {
            "issuer": API_AUDIENCE,
            "jwks_uri": f"https://{server}{KEYS}",  # the hub speaks TLS, on loopback too
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": sorted({key["alg"] for key in self._keys}),
        }


def _takes_keys(accept: str) -> bool:
    clauses = clauses_of(accept[:8192])
    return not clauses or any(
        each.type == "*" or (each.type == "application" and each.subtype in ("*", "jwk-set+json")) for each in clauses
    )


def _unacceptable() -> status.StatusError:
    text = f"406: Not Acceptable\n\nAvailable representations: {_KEY_SET}"
    return status.StatusError(406, "NotAcceptable", text, {})
