"""GET and POST placements/NAME/explain over HTTP: `application` hands such calls over, `hub.explanations` answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from muster.hub import status
from muster.hub.explanations import ExplainOptions
from muster.hub.requests import Target
from muster.hub.rest import query as queries
from muster.hub.rest.answers import object_reply
from muster.hub.rest.bodies import body_of, receive_body
from muster.hub.rest.subresources import SubresourceDescription, query_parameter, schemas_of
from muster.hub.write_checks import require
from muster.placement.explain.report import GROUP, KIND, MOST_NAMES, USUAL_NAMES, VERSION, PlacementReport, Window

if TYPE_CHECKING:
    from muster.hub.explanations import Explanations
    from muster.hub.requests import Authorizer
    from muster.hub.rest.answers import Reply
    from muster.hub.rest.limits import Limits
    from muster.hub.rest.query import Query
    from muster.hub.rest.verbs import Call

ADDRESS: Final = ("placements.cluster.open-cluster-management.io", "explain")
_MOST_OFFSET: Final = 10_000_000


class PlacementExplaining:
    """The subresource."""

    described = SubresourceDescription(
        "explain",
        GROUP,
        VERSION,
        KIND,
        ("create", "get"),
        schemas_of(PlacementReport, GROUP, VERSION, KIND),
        (
            query_parameter("cluster", "string", "The cluster to explain in full."),
            query_parameter("limit", "integer", f"Clusters to name, at most {MOST_NAMES}; {USUAL_NAMES} if not given."),
            query_parameter("continue", "string", "Go on from here: metadata.continue of the answer before."),
        ),
    )

    def __init__(self, explanations: Explanations, authorizer: Authorizer) -> None:
        self._explanations = explanations
        self._authorizer = authorizer

    async def answer(self, call: Call, limits: Limits) -> Reply:
        await require(self._authorizer, call.user, call.attributes())
        resource = call.route.resource
        if call.verb not in ("get", "create"):
            raise status.method_not_allowed(call.verb, resource.group, f"{resource.plural}/explain")
        target = Target(resource, call.route.version, call.route.namespace, call.route.name)
        options = _options(call.query)
        warnings: tuple[str, ...] = ()
        if call.verb == "get":
            report = await self._explanations.explain(call.user, target, options)
        else:
            body = body_of(call.content_type, await receive_body(call.receive, limits), resource)
            given = queries.write_options(call.query, call.user_agent)
            report, warnings = await self._explanations.dry_run(call.user, target, body, given, options)
        return object_reply(200, msgspec.json.encode(report), call.form, warnings)


def _options(query: Query) -> ExplainOptions:
    limit = queries.number(query, "limit") or USUAL_NAMES
    token = queries.text(query, "continue")
    if token and not (token.isascii() and token.isdigit() and len(token) < 10 and int(token) <= _MOST_OFFSET):
        raise status.bad_request("continue is not a token that an explanation has given")
    return ExplainOptions(Window(int(token or 0), min(max(limit, 1), MOST_NAMES)), queries.text(query, "cluster"))
