"""What is known of a request while it is answered, and what the audit log is told of it in the end.

`application` fills it in step by step; metrics and the audit log read it.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from muster.hub.audit import Entry, written_object
from muster.hub.rest import query as queries
from muster.values.json import JsonMapping

if TYPE_CHECKING:
    from muster.hub.requests import User
    from muster.hub.rest.answers import Reply
    from muster.hub.rest.verbs import Call


_WRITING = ("create", "update", "patch")


class RequestRecord(msgspec.Struct):
    """`known` is whose credentials a request carries, `user` whom it acts as, `what` its verb, group, version,
    resource and subresource. `entered` is what authentication has to be told when it leaves."""

    known: User | None = None
    user: User | None = None
    call: Call | None = None
    what: tuple[str, str, str, str, str] = ("", "", "", "", "")
    custom: bool = False  # about a kind that somebody has defined
    entered: int | None = None

    @property
    def counted(self) -> tuple[str, str, str, str, str]:
        """What metrics count it as: they are kept for ever, and the names of custom kinds are made up by clients."""
        return (self.what[0], "custom", "", "custom", self.what[4]) if self.custom else self.what

    @property
    def acting(self) -> bool:
        return self.user is not self.known


def audit_entry(scope: JsonMapping, record: RequestRecord, reply: Reply, seconds: float, audit: bytes) -> Entry:
    """The line of the audit log. Nothing of a body but the name and revision of what was written."""
    verb, group, version, resource, subresource = record.what
    call, code = record.call, reply.code
    client = scope.get("client")
    namespace = name = revision = agent = path = ""
    dry_run = False
    if call is None:
        path = scope["path"]
    else:
        route = call.route
        agent, subresource, namespace, name = call.user_agent, route.subresource, route.namespace, route.name
        dry_run = bool(call.query) and bool(queries.text(call.query, "dryRun"))
        if code < 300 and call.verb in _WRITING:
            written, revision = written_object(reply.body)
            name = name or written
    return Entry(
        time=datetime.now(UTC),
        id=audit.decode(),
        user="" if record.user is None else record.user.name,
        actor=record.known.name if record.acting and record.known is not None else "",
        source=str(client[0]) if client else "",
        agent=agent,
        verb=verb,
        group=group,
        version=version,
        resource=resource,
        subresource=subresource,
        namespace=namespace,
        name=name,
        path=path,
        dry_run=dry_run,
        code=code,
        decision="deny" if code in (401, 403) else "allow",
        revision=revision,
        milliseconds=round(seconds * 1000, 3),
    )
