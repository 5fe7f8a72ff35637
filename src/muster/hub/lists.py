"""Lists: of now, of a revision, in pages that belong to one revision. Items are stored bytes wherever they can be.

Called by `Api.list` and by deletecollection, after authorization.
"""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from muster.hub import options as checks
from muster.hub import status
from muster.hub.objects import ShownObjects
from muster.hub.pace import Pace
from muster.hub.requests import ListAnswer
from muster.hub.selection import selection
from muster.hub.storage import CompactedError, FutureRevisionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.hub.requests import ListOptions, Target
    from muster.hub.selection import Selection
    from muster.hub.storage import Record, Store

_TOKEN_VERSION = "meta.k8s.io/v1"  # noqa: S105 - the format of a continue token
_INCONSISTENT = -1  # the revision in a token that goes on from whatever is current
_TOO_OLD = "The resourceVersion for the provided list is too old."
_TOKEN_TOO_OLD = (
    "The provided continue parameter is too old to display a consistent list result. "  # noqa: S105
    "You can start a new list without the continue parameter, or use the continue token in this response to retrieve "
    "the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that "
    "were created, modified, or deleted between the time the first chunk was returned and now may show up in the list."
)


class Page(NamedTuple):
    """Where a page begins: behind a key, at a revision."""

    revision: int
    start: str


class _Token(msgspec.Struct):
    v: str = ""
    rv: int = 0
    start: str = ""


async def listed(
    store: Store, target: Target, options: ListOptions, warnings: tuple[str, ...] = (), most: int = 0
) -> ListAnswer:
    """Answer a list with `most` objects, if that is not 0. Raises 400, 410, 422 and 504 as the real server does."""
    selected = selection(target, options.label_selector, options.field_selector)
    checks.list_options(options)
    page = _page(options)
    wanted = _INCONSISTENT if page is not None else checks.revision(options.resource_version)
    limit = max(options.limit, 0)
    if page is None and options.resource_version == "0":
        limit = 0  # such lists come from memory in any case; the real server ignores the limit too
    if most:
        limit = min(limit or most, most)
    revision = store.revision
    if wanted > revision:
        raise status.future_revision(wanted, revision)

    exact = options.resource_version_match == checks.EXACT or (
        bool(limit) and wanted > 0 and not options.resource_version_match
    )
    namespace = target.namespace or None
    after = _key_behind(page.start, namespace) if page is not None else None
    records: Sequence[Record]
    present: Sequence[Record] | None = None
    if page is not None and page.revision != _INCONSISTENT:
        revision = page.revision
        try:
            records = await store.scan_at(target.resource.home.key, namespace, revision, after)
        except CompactedError:
            token = _encoded(Page(_INCONSISTENT, page.start))
            raise status.expired(_TOKEN_TOO_OLD, continue_token=token) from None
        except FutureRevisionError as error:
            raise status.future_revision(revision, error.newest) from None
    elif exact:
        revision = wanted
        try:
            records = await store.scan_at(target.resource.home.key, namespace, revision)
        except CompactedError:
            raise status.expired(_TOO_OLD) from None
    else:
        records = store.rows(target.resource.home.key, namespace, after)
        present = records if after is None else None
    found: Sequence[Record] = records if selected.everything else await _matching(records, selected, limit)
    if not limit or len(found) <= limit:
        size = store.size(target.resource.home.key, namespace) if found is present else _size(found)
        return ListAnswer(target, str(revision), ShownObjects(found, target), size, warnings=warnings)
    found = found[:limit]
    last = found[-1].key
    start = f"/{last.name}\0" if target.namespace or not last.namespace else f"/{last.namespace}/{last.name}\0"
    remaining = len(records) - limit if selected.everything else None  # else every object would need a look
    token = _encoded(Page(revision, start))
    return ListAnswer(target, str(revision), ShownObjects(found, target), _size(found), token, remaining, warnings)


def _size(records: Sequence[Record]) -> int:
    return sum([len(record.value) for record in records])


async def _matching(records: Sequence[Record], selected: Selection, limit: int) -> list[Record]:
    """Those the selectors let through: all of them, or one more than the limit if there are as many."""
    found: list[Record] = []
    pace = Pace()
    for record in records:
        if selected.matches(record):
            found.append(record)
            if limit and len(found) > limit:
                break
        if pace.is_due():
            await pace.pause()
    return found


def _page(options: ListOptions) -> Page | None:
    """Where the client's token says to go on."""
    if not options.continue_token:
        return None
    token = _decoded(options.continue_token)
    if options.resource_version not in ("", "0"):
        raise status.bad_request("specifying resource version is not allowed when using continue")
    return token


def _encoded(page: Page) -> str:
    token = msgspec.json.encode(_Token(_TOKEN_VERSION, page.revision, page.start))
    return base64.urlsafe_b64encode(token).rstrip(b"=").decode()


def _decoded(text: str) -> Page:
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        bad = next((at for at, char in enumerate(text) if not (char.isascii() and (char.isalnum() or char in "-_"))), 0)
        raise _bad_token(f"illegal base64 data at input byte {bad}") from None
    try:
        token = msgspec.json.decode(raw, type=_Token)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise _bad_token(_json_complaint(raw)) from None
    if token.v != _TOKEN_VERSION:
        raise _bad_token(f'server does not recognize this encoded version "{token.v}"')
    if token.rv == 0:
        raise _bad_token("incorrect encoded start resourceVersion (version meta.k8s.io/v1)")
    if not token.start:
        raise _bad_token("encoded start key empty (version meta.k8s.io/v1)")
    return Page(max(token.rv, _INCONSISTENT), token.start)


def _bad_token(why: str) -> status.StatusError:
    return status.bad_request(f"invalid continue token: continue key is not valid: {why}")


def _json_complaint(raw: bytes) -> str:
    """The words of Go's decoder, which looks at bytes."""
    stripped = raw.lstrip(b" \t\r\n")
    if not stripped:
        return "unexpected end of JSON input"
    first = chr(stripped[0])
    if first in '{["-tfn' or first.isdigit():
        return "unexpected end of JSON input"
    return f"invalid character '{first}' looking for beginning of value"


def _key_behind(start: str, namespace: str | None) -> tuple[str, str]:
    """The key a page begins behind: the token's start is the first string behind it."""
    path = start.removeprefix("/").removesuffix("\0")
    if namespace is not None:
        return namespace, path
    left, slash, right = path.partition("/")
    return (left, right) if slash else ("", left)
