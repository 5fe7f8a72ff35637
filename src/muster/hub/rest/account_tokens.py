"""POST serviceaccounts/NAME/token over HTTP: `application` hands such calls over, `auth.token_requests` answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.hub import status
from muster.hub.rest import query as queries
from muster.hub.rest.answers import Reply, object_reply
from muster.hub.rest.bodies import body_of, receive_body
from muster.hub.rest.protobuf_kinds import KINDS
from muster.hub.write_checks import require

if TYPE_CHECKING:
    from muster.hub.auth.token_requests import TokenRequests
    from muster.hub.requests import Authorizer
    from muster.hub.rest.limits import Limits
    from muster.hub.rest.verbs import Call

ADDRESS = ("serviceaccounts", "token")
_MOST_BYTES = 16 * 1024  # of a request, which names an account and a few audiences
_KIND = ("authentication.k8s.io", "TokenRequest")


class AccountTokens:
    """The subresource."""

    described = None  # kubectl knows it by heart

    def __init__(self, requests: TokenRequests, authorizer: Authorizer) -> None:
        self._requests = requests
        self._authorizer = authorizer

    async def answer(self, call: Call, limits: Limits) -> Reply:
        await require(self._authorizer, call.user, call.attributes())
        if call.verb != "create" or not call.route.name:
            raise status.method_not_allowed(call.verb, "", "serviceaccounts/token")
        raw = await receive_body(call.receive, limits)
        if len(raw) > _MOST_BYTES:
            raise status.too_large(_MOST_BYTES)
        body = body_of(call.content_type, raw, call.route.resource, message=KINDS[_KIND])
        dry_run = bool(queries.text(call.query, "dryRun"))
        return object_reply(201, await self._requests.create(call.target(), body, dry_run=dry_run), call.form)
