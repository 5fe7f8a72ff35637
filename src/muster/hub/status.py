"""Refusals as Kubernetes Status objects: the reasons, causes and sentences of a real API server.

`Api` and the REST layer raise them; the REST layer sends `StatusError.status` with `StatusError.code`.
One function per kind of refusal, named by it. Nothing here knows HTTP or storage.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.errors import ApiError
from muster.values.causes import Cause, bounded
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from muster.hub.requests import Attributes, User


MOST_TEXT = 8 * 1024  # characters that a message repeats of what was sent
MOST_MESSAGE = 128 * 1024  # characters of a whole message, whoever makes it
MOST_LISTED = 100  # things that a message lists


def shortened(text: str, most: int = MOST_TEXT) -> str:
    """What a message repeats of a text that was sent."""
    return text if len(text) <= most else f"{text[:most]}…"


def listed(texts: Sequence[str], separator: str = ", ") -> str:
    """The first of many texts, and how many more there are."""
    shown = separator.join(texts[:MOST_LISTED])
    more = len(texts) - MOST_LISTED
    return f"{shown}{separator}and {more} more" if more > 0 else shown


class StatusError(ApiError):
    """A refusal with its whole Status object. `warnings` go out as Warning headers beside it."""

    def __init__(
        self,
        code: int,
        reason: str,
        message: str,
        details: JsonObject | None = None,
        *,
        metadata: JsonObject | None = None,
        warnings: tuple[str, ...] = (),
    ) -> None:
        super().__init__(code, reason, shortened(message, MOST_MESSAGE))
        self.details = details
        self.metadata = metadata or {}
        self.warnings = warnings

    @property
    def retry_after(self) -> int | None:
        """Seconds for a Retry-After header, if the client should come back."""
        return (self.details or {}).get("retryAfterSeconds")

    @property
    def status(self) -> JsonObject:
        """The Status object."""
        status: JsonObject = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": self.metadata,
            "status": "Failure",
            "message": self.message,
        }
        if self.reason:
            status["reason"] = self.reason
        if self.details is not None:
            status["details"] = self.details
        status["code"] = self.code
        return status


def success(details: JsonObject) -> JsonObject:
    """The Status that answers a finished delete."""
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}


def qualified(name: str, group: str) -> str:
    """`managedclusters.cluster.open-cluster-management.io`, or the bare name in the core group."""
    return f"{name}.{group}" if group else name


def details_of(group: str, kind: str, name: str = "") -> JsonObject:
    """Status details; empty members are left out, as the real server does."""
    members = {"name": name, "group": group, "kind": kind}
    return {key: value for key, value in members.items() if value}


def bad_request(message: str) -> StatusError:
    return StatusError(400, "BadRequest", message)


def unauthorized() -> StatusError:
    return StatusError(401, "Unauthorized", "Unauthorized")


def forbidden(user: User, attributes: Attributes, reason: str = "") -> StatusError:
    """The authorizer said no."""
    because = f": {reason}" if reason else ""
    if attributes.path:
        message = f'forbidden: User "{user.name}" cannot {attributes.verb} path "{attributes.path}"{because}'
        return StatusError(403, "Forbidden", message, {})
    what = f"{attributes.resource}/{attributes.subresource}" if attributes.subresource else attributes.resource
    where = f'in the namespace "{attributes.namespace}"' if attributes.namespace else "at the cluster scope"
    sentence = (
        f'User "{user.name}" cannot {attributes.verb} resource "{what}" '
        f'in API group "{attributes.group}" {where}{because}'
    )
    return refused(attributes.group, attributes.resource, attributes.name, sentence)


def refused(group: str, resource: str, name: str, sentence: str) -> StatusError:
    """403: a rule rather than a role forbids it (admission, a terminating namespace)."""
    subject = f'{qualified(resource, group)} "{name}"' if name else qualified(resource, group)
    return StatusError(403, "Forbidden", f"{subject} is forbidden: {sentence}", details_of(group, resource, name))


def not_found(group: str, resource: str, name: str) -> StatusError:
    message = f'{qualified(resource, group)} "{name}" not found'
    return StatusError(404, "NotFound", message, details_of(group, resource, name))


def method_not_allowed(verb: str, group: str, resource: str) -> StatusError:
    message = f'{verb} is not supported on resources of kind "{qualified(resource, group)}"'
    return StatusError(405, "MethodNotAllowed", message, details_of(group, resource))


def no_such_method() -> StatusError:
    """405 where a built-in kind has no such route at all."""
    message = "the server does not allow this method on the requested resource"
    return StatusError(405, "MethodNotAllowed", message, {})


def not_acceptable(media_types: Iterable[str]) -> StatusError:
    message = f"only the following media types are accepted: {', '.join(media_types)}"
    return StatusError(406, "NotAcceptable", message)


def already_exists(group: str, resource: str, name: str, *, terminating: bool = False) -> StatusError:
    message = f'{qualified(resource, group)} "{name}" already exists'
    if terminating:
        message = f"object is being deleted: {message}"
    return StatusError(409, "AlreadyExists", message, details_of(group, resource, name))


def conflict(group: str, resource: str, name: str, why: str) -> StatusError:
    message = f'Operation cannot be fulfilled on {qualified(resource, group)} "{name}": {why}'
    return StatusError(409, "Conflict", message, details_of(group, resource, name))


def stale(group: str, resource: str, name: str) -> StatusError:
    """The optimistic lock failed."""
    why = "the object has been modified; please apply your changes to the latest version and try again"
    return conflict(group, resource, name, why)


def expired(message: str, *, continue_token: str = "") -> StatusError:
    """410: the revision is below the compaction point; a token that goes on from now may come along."""
    return StatusError(410, "Expired", message, metadata={"continue": continue_token} if continue_token else None)


def too_large(limit: int) -> StatusError:
    """413: the body is over its limit."""
    return StatusError(413, "RequestEntityTooLarge", f"Request entity too large: limit is {limit}")


def unsupported_media_type(media_types: Iterable[str]) -> StatusError:
    message = (
        f"the body of the request was in an unknown format - accepted media types include: {', '.join(media_types)}"
    )
    return StatusError(415, "UnsupportedMediaType", message)


def invalid(group: str, kind: str, name: str, causes: Iterable[Cause]) -> StatusError:
    """422 with every cause. Field and message make the sentence; equal sentences are said once."""
    named, more = bounded(causes)
    # dict keeps the first of equal sentences in order.
    sentences = [*dict.fromkeys(str(cause) for cause in named), *([more] if more else [])]
    text = sentences[0] if len(sentences) == 1 else f"[{', '.join(sentences)}]"
    name = shortened(name)
    message = f'{qualified(kind, group)} "{name}" is invalid: {text}'
    shown = [cause.to_status() for cause in named] + ([{"message": more}] if more else [])
    details = details_of(group, kind, name) | {"causes": shown}
    return StatusError(422, "Invalid", message, details)


def unprocessable_patch() -> StatusError:
    """A JSON patch that cannot be carried out; the real server does not say why."""
    return StatusError(422, "Invalid", "the server rejected our request due to an error in our request", {})


def internal(message: str) -> StatusError:
    """500 with a bare sentence, as the real server answers a few client mistakes."""
    return StatusError(500, "", message)


def internal_error(message: str) -> StatusError:
    """500: something that should not happen did."""
    details = {"causes": [{"message": message}]}
    return StatusError(500, "InternalError", f"Internal error occurred: {message}", details)


def unavailable(message: str, retry_after: int = 1) -> StatusError:
    """503: storage cannot take the write now."""
    return StatusError(503, "ServiceUnavailable", message, {"retryAfterSeconds": retry_after})


def future_revision(revision: int, current: int) -> StatusError:
    """504: the client is ahead of the store."""
    cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
    message = f"Timeout: Too large resource version: {revision}, current: {current}"
    return StatusError(504, "Timeout", message, {"causes": [cause], "retryAfterSeconds": 1})
