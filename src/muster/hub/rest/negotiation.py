"""Which form of an answer a client wants: JSON or YAML, the object itself, a Table, or its metadata only.

Called for every request on resources. The order of preference, the forms and the refusal are those of a real server.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from muster.hub import status
from muster.hub.rest.bodies import JSON, MEDIA_TYPES, PROTOBUF, YAML

if TYPE_CHECKING:
    from collections.abc import Iterable

_TRANSFORMS = frozenset({"Table", "PartialObjectMetadata", "PartialObjectMetadataList"})
_META = "meta.k8s.io"


@dataclass(frozen=True, slots=True)
class Form:
    """The form of an answer. `transform` is empty, Table, PartialObjectMetadata or PartialObjectMetadataList."""

    media_type: str = JSON
    transform: str = ""
    version: str = "v1"  # of meta.k8s.io, for transforms
    pretty: bool = False

    @property
    def table(self) -> bool:
        return self.transform == "Table"

    @property
    def plain(self) -> bool:
        """The stored bytes can be sent as they are."""
        return not self.transform and not self.pretty and self.media_type == JSON


PLAIN = Form()


STREAM_TYPES = tuple(f"{media_type};stream=watch" for media_type in (JSON, PROTOBUF))


class NotAcceptableError(status.StatusError):
    """406; sent as protobuf when the client accepts nothing else."""

    def __init__(self, media_types: Iterable[str] = MEDIA_TYPES, *, protobuf: bool = False) -> None:
        refusal = status.not_acceptable(media_types)
        super().__init__(refusal.code, refusal.reason, refusal.message)
        self.protobuf = protobuf


@dataclass(frozen=True, slots=True)
class _Clause:
    type: str
    subtype: str
    quality: float
    parameters: dict[str, str]


def form_of(accept: str, *, protobuf: bool = False, tables: bool = True) -> Form:
    """The best form for an Accept header; protobuf, for what can be sent so, if the client takes nothing else.

    Answers to questions, which are no stored objects, have no tables and no metadata. Raises NotAcceptableError (406).
    """
    if accept in ("", JSON, "*/*"):
        return PLAIN
    return _negotiated(accept[:8192], protobuf, tables)


def takes_only_protobuf(accept: bytes) -> bool:
    """Whether a client can read nothing else, so that even refusals have to be in that form."""
    if PROTOBUF.encode() not in accept:
        return False
    return all(each.subtype == PROTOBUF.partition("/")[2] for each in clauses_of(accept[:8192].decode("latin-1")))


def prettier(form: Form, wanted: str, user_agent: str) -> Form:
    """The form, indented if the query says so, or if it says nothing and a person seems to be reading."""
    if wanted:
        pretty = wanted in ("1", "t", "T", "true", "TRUE", "True")
    else:
        pretty = user_agent.startswith(("curl", "Wget", "Mozilla/5.0"))
    return replace(form, pretty=True) if pretty and not form.pretty else form


@lru_cache(maxsize=256)
def _negotiated(accept: str, protobuf: bool, tables: bool) -> Form:
    clauses = clauses_of(accept)
    for media_types in ((JSON, YAML), (PROTOBUF,) if protobuf else ()):
        for clause in clauses:
            for media_type in media_types:
                if _matches(clause, media_type):
                    form = _form(media_type, clause.parameters)
                    if form is None or (form.transform and not tables):
                        continue
                    if not (form.table and media_type == PROTOBUF):
                        return form
    if not clauses:
        return PLAIN
    raise NotAcceptableError(protobuf=all(_matches(clause, PROTOBUF) for clause in clauses))


def clauses_of(accept: str) -> list[_Clause]:
    """The clauses of an Accept header, best first: by quality, then by how specific they are, then as written."""
    clauses = []
    for part in accept.split(","):
        fields = [field.strip() for field in part.split(";")]
        type_, _, subtype = fields[0].lower().partition("/")
        if not type_:
            continue
        parameters = dict(field.split("=", 1) for field in fields[1:] if "=" in field)
        try:
            quality = float(parameters.pop("q", "1"))
        except ValueError:
            quality = 1.0
        clauses.append(_Clause(type_, subtype or "*", quality, parameters))
    return sorted(clauses, key=lambda clause: (-clause.quality, clause.type == "*", clause.subtype == "*"))


def _matches(clause: _Clause, media_type: str) -> bool:
    type_, _, subtype = media_type.partition("/")
    return clause.type in ("*", type_) and clause.subtype in ("*", subtype)


def _form(media_type: str, parameters: dict[str, str]) -> Form | None:
    transform = parameters.get("as", "")
    version = parameters.get("v", "v1")
    if transform and (
        transform not in _TRANSFORMS or parameters.get("g", _META) != _META or version not in ("v1", "v1beta1")
    ):
        return None
    return Form(media_type, transform, version if transform else "v1", parameters.get("pretty") == "1")
