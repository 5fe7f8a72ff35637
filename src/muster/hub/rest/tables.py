"""Tables and metadata-only answers: what `kubectl get` and metadata clients ask for with an Accept header.

The cells come from `api.table`; this module wraps them, for objects, lists and watch events. The clock is given,
because ages count from now.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from muster.api.table import cells, column_definitions
from muster.hub import status
from muster.hub.requests import WatchEvent
from muster.hub.rest.bodies import PROTOBUF
from muster.hub.rest.parts import PART, Listing
from muster.hub.rest.protobuf_answers import frame
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from datetime import datetime

    from muster.hub.requests import ListAnswer, Target
    from muster.hub.rest.negotiation import Form

_INCLUDES = ("", "Metadata", "None", "Object")


class _Shallow(msgspec.Struct):
    """An object of which only the metadata matters; the rest is skipped, not decoded."""

    metadata: msgspec.Raw = msgspec.Raw(b"{}")
    kind: str = ""


_shallow = msgspec.json.Decoder(_Shallow)


class Tables:
    """Renders the forms other than the object itself."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock

    def object(self, target: Target, body: bytes, form: Form, include: str) -> bytes:
        """One object in the form. A Status stays as it is."""
        if not form.transform or _shallow.decode(body).kind == "Status":
            return body
        if form.transform == "PartialObjectMetadataList":
            raise _wrong_shape("you requested PartialObjectMetadataList, but the requested object is not a list type")
        if form.transform == "PartialObjectMetadata":
            return _partial(body, form.version)
        _check_include(include)
        version = msgspec.json.decode(body)["metadata"].get("resourceVersion")
        metadata = {"resourceVersion": version} if version else {}
        return b"".join(self._table(target, [body], metadata, form, include).json())

    def list(self, target: Target, answer: ListAnswer, form: Form, include: str) -> Listing:
        """A list in the form. Its items are made one by one, when they are sent."""
        if not form.transform:
            items = _untyped(target, answer.items) if target.resource.builtin else answer.items
            return Listing(answer.head(), "items", items)
        if form.transform == "PartialObjectMetadata":
            raise _wrong_shape("you requested PartialObjectMetadata, but the requested object is a list")
        metadata = {"resourceVersion": answer.resource_version}
        metadata |= {key: value for key, value in answer.metadata().items() if value not in ("", None)}
        if form.table:
            _check_include(include)
            return self._table(target, answer.items, metadata, form, include)
        head = {"kind": "PartialObjectMetadataList", "apiVersion": f"meta.k8s.io/{form.version}", "metadata": metadata}
        return Listing(head, "items", (_partial(item, form.version) for item in answer.items))

    def lines(self, target: Target, form: Form, include: str) -> Callable[[WatchEvent], Sequence[bytes]]:
        """What turns an event of one watch into pieces of its line. A Table watch names its columns in the first."""
        if form.media_type == PROTOBUF:
            return lambda event: (_frame(event, form),)
        if not form.transform:
            return plain_line
        if not form.table:
            return lambda event: (_partial_line(event, form.version),)
        _check_include(include)
        first = True

        def line(event: WatchEvent) -> Sequence[bytes]:
            nonlocal first
            if event.type == "ERROR":
                return event.around(event.object)
            version = str(event.revision)
            # Of a bookmark too: its row has the annotation that says where what existed has ended.
            rows = (event.object,)
            shown = self._table(target, rows, {"resourceVersion": version}, form, include, columns=first)
            first = False
            return event.around(b"".join(shown.json()).rstrip(b"\n"))

        return line

    def _table(
        self,
        target: Target,
        items: Iterable[bytes],
        metadata: JsonObject,
        form: Form,
        include: str,
        *,
        columns: bool = True,
    ) -> Listing:
        head = {
            "kind": "Table",
            "apiVersion": f"meta.k8s.io/{form.version}",
            "metadata": metadata,
            "columnDefinitions": column_definitions(target.resource, target.version) if columns else None,
        }
        return Listing(head, "rows", self._rows(target, items, form, include))

    def _rows(self, target: Target, items: Iterable[bytes], form: Form, include: str) -> Iterator[bytes]:
        now = self._clock()
        for item in items:
            obj = msgspec.json.decode(item)
            row: JsonObject = {"cells": cells(target.resource, target.version, obj, now)}
            if include == "None":
                row["object"] = None
            elif include == "Object":
                row["object"] = msgspec.Raw(item)
            else:
                row["object"] = {
                    "kind": "PartialObjectMetadata",
                    "apiVersion": f"meta.k8s.io/{form.version}",
                    "metadata": obj.get("metadata", {}),
                }
            yield msgspec.json.encode(row)


def _opening(target: Target) -> bytes:
    """What every stored object of a kind begins with."""
    return f'{{"apiVersion":"{target.api_version}","kind":"{target.resource.kind}",'.encode()


def untyped_bytes(target: Target) -> int:
    """By how much an item of a list is shorter than what is stored."""
    return len(_opening(target)) - 1 if target.resource.builtin else 0


def _untyped(target: Target, items: Iterable[bytes]) -> Iterator[bytes]:
    """The items of a list of a built-in kind: only the list says what they are, as on a real server."""
    opening = _opening(target)
    for item in items:
        if item.startswith(opening):
            yield b"{" + item[len(opening) :]
        else:
            obj = msgspec.json.decode(item)
            yield msgspec.json.encode({key: obj[key] for key in obj if key not in ("apiVersion", "kind")})


def plain_line(event: WatchEvent) -> Sequence[bytes]:
    """The event in plain JSON. A large object goes out as it is stored: a line of it would be a copy."""
    return (event.line,) if len(event.object) <= PART else event.around(event.object)


def _frame(event: WatchEvent, form: Form) -> bytes:
    if not form.transform or event.type == "ERROR":
        return frame(event)
    return frame(WatchEvent(event.type, _partial(event.object, form.version), event.revision))


def _partial(body: bytes, version: str) -> bytes:
    found = _shallow.decode(body)
    if found.kind == "Status":
        return body
    head = f'{{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/{version}","metadata":'.encode()
    return b"".join((head, bytes(found.metadata), b"}"))


def _partial_line(event: WatchEvent, version: str) -> bytes:
    """The event with metadata only; made once for all watchers that want it so."""
    form = f"PartialObjectMetadata/{version}"
    line = event.forms.get(form)
    if line is None:
        line = event.forms[form] = b"".join(event.around(_partial(event.object, version)))
    return line


def _check_include(include: str) -> None:
    if include not in _INCLUDES:
        raise status.bad_request(f'unrecognized includeObject value: "{include}"')


def _wrong_shape(message: str) -> status.StatusError:
    return status.StatusError(406, "NotAcceptable", message)
