"""Kubernetes' URL functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.cel.checking.types import BOOL, STRING, list_of, map_of, struct
from muster.cel.costs.charge import KUBERNETES, Charge
from muster.cel.costs.formulas import PARSED_PRICE
from muster.cel.costs.operands import CallEstimate
from muster.cel.costs.runtime import TRAVERSAL
from muster.cel.declarations import Function, Library
from muster.cel.libraries.declare import call, method
from muster.cel.libraries.kubernetes.opaque import Wrapped
from muster.errors import EvaluationError, FailureKind
from muster.values.urls import InvalidUrlError, Url, parse_request_uri, parse_url

if TYPE_CHECKING:
    from muster.cel.costs.operands import Arguments, Operand

URL = struct("kubernetes.URL")


class UrlValue(Wrapped[Url]):
    __slots__ = ()
    cel_type = URL


def url(text: str) -> UrlValue:
    try:
        parse_request_uri(text)
        return UrlValue(parse_url(text))
    except InvalidUrlError as error:
        raise EvaluationError(
            f"URL parse error during conversion from string: {error}", FailureKind.NOT_A_URL
        ) from None


def is_url(text: str) -> bool:
    try:
        parse_request_uri(text)
    except InvalidUrlError:
        return False
    return True


def _as_long_as_its_text(_: Operand | None, args: Arguments) -> CallEstimate | None:
    if not args:
        return None
    size = args[0].size_or_hint()
    return CallEstimate(size.scaled(TRAVERSAL), size)


_EXAMPLE = "url('https://example.com:80/a%20b?k=1&k=2')"

URLS = Library(
    "kubernetes.urls",
    (
        Function(
            "url",
            (call("string_to_url", (STRING,), URL, url),),
            doc="Reads an absolute URI or an absolute path.",
            examples={"url('https://example.com/').getHost()": "example.com"},
            charges={KUBERNETES: Charge(PARSED_PRICE, _as_long_as_its_text)},
        ),
        Function(
            "isURL",
            (call("is_url_string", (STRING,), BOOL, is_url),),
            doc="Whether the text is an absolute URI or an absolute path.",
            examples={"isURL('https://example.com')": True, "isURL('../up')": False},
        ),
        Function(
            "getScheme",
            (method("url_get_scheme", (URL,), STRING, lambda value: value.content.scheme),),
            doc="The scheme in small letters; empty if there is none.",
            examples={f"{_EXAMPLE}.getScheme()": "https"},
        ),
        Function(
            "getHost",
            (method("url_get_host", (URL,), STRING, lambda value: value.content.host),),
            doc="The host with its port. IPv6 addresses keep their brackets.",
            examples={f"{_EXAMPLE}.getHost()": "example.com:80"},
        ),
        Function(
            "getHostname",
            (method("url_get_hostname", (URL,), STRING, lambda value: value.content.hostname),),
            doc="The host without port and brackets.",
            examples={f"{_EXAMPLE}.getHostname()": "example.com"},
        ),
        Function(
            "getPort",
            (method("url_get_port", (URL,), STRING, lambda value: value.content.port),),
            doc="The port; empty if there is none.",
            examples={f"{_EXAMPLE}.getPort()": "80"},
        ),
        Function(
            "getEscapedPath",
            (method("url_get_escaped_path", (URL,), STRING, lambda value: value.content.escaped_path),),
            doc="The path, escaped.",
            examples={f"{_EXAMPLE}.getEscapedPath()": "/a%20b"},
        ),
        Function(
            "getQuery",
            (method("url_get_query", (URL,), map_of(STRING, list_of(STRING)), lambda value: value.content.query),),
            doc="The parameters, each with the list of its values.",
            examples={f"{_EXAMPLE}.getQuery()": {"k": ["1", "2"]}},
        ),
    ),
)
