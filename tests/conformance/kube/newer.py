"""The rules under which the recorded exchanges about certificates, events and the server's surface are judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from muster.hub.auth.published import NAME, PROXIES, PROXY
from tests.conformance.kube.exchanges import run_exchanges, same_but_for, shape

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conformance.kube.exchanges import Answered, Transcript
    from tests.conformance.results import CaseResult


def _own_column_texts(transcript: Transcript, answered: Answered) -> bool:
    """A table in which nothing differs but what the columns say of themselves."""

    def without_texts(body: Any) -> Any:
        columns = [column | {"description": ""} for column in body["columnDefinitions"]]
        return body | {"columnDefinitions": columns}

    return transcript["response"]["body"]["kind"] == "Table" and same_but_for(transcript, answered, without_texts)


def _own_key(transcript: Transcript, answered: Answered) -> bool:
    """Our tokens are signed on an elliptic curve: the documents say so, and say nothing else differently."""
    if answered.status != 200:
        return False
    match transcript["request"]["path"]:
        case "/.well-known/openid-configuration":
            body = {**transcript["response"]["body"], "id_token_signing_alg_values_supported": ["ES256"]}
            ours = {**answered.body, "jwks_uri": body["jwks_uri"]}
            return ours == body and answered.body["jwks_uri"].endswith("/openid/v1/jwks")
        case "/openid/v1/jwks":
            (key,) = answered.body["keys"]
            named = (key["use"], key["kty"], key["crv"], key["alg"])
            return named == ("sig", "EC", "P-256", "ES256") and all(len(key[name]) == 43 for name in ("kid", "x", "y"))
        case _:
            return False


def _own_texts(transcript: Transcript, answered: Answered) -> bool:
    """OpenAPI documents with other titles and descriptions, and nothing else."""

    def without_texts(value: Any) -> Any:
        if isinstance(value, dict):
            plain = {name: without_texts(item) for name, item in value.items()}
            named = ("description", "info", "default", "security", "securityDefinitions", "securitySchemes")
            return {name: item for name, item in plain.items() if name not in named}
        return [without_texts(item) for item in value] if isinstance(value, list) else value

    return transcript["request"]["path"].startswith("/openapi/") and same_but_for(transcript, answered, without_texts)


def _proxies(transcript: Transcript, answered: Answered) -> bool:
    """The ConfigMap tells programs of proxies too, as that of a server which is told of some; nothing else differs."""
    if not transcript["request"]["path"].endswith(f"/configmaps/{NAME}") or answered.status != 200:
        return False
    added = {PROXY, *PROXIES}

    def without_proxies(value: Any) -> Any:
        if isinstance(value, dict):
            told = {name: without_proxies(item) for name, item in value.items()}
            return {name: item for name, item in told.items() if name.removeprefix("f:") not in added}
        return [without_proxies(item) for item in value] if isinstance(value, list) else value

    all_told = added <= set(answered.body["data"])
    return all_told and same_but_for(transcript, answered, lambda body: shape(without_proxies(body)))


RULES: Final = {
    "An authority for proxies is published": _proxies,
    "Column texts are ours": _own_column_texts,
    "Tokens are signed on an elliptic curve": _own_key,
    "OpenAPI texts are ours": _own_texts,
}


def run_certificates(data: Any) -> Iterator[CaseResult]:
    return run_exchanges(data, rules=RULES)


def run_events(data: Any) -> Iterator[CaseResult]:
    return run_exchanges(data, rules=RULES)


def run_surface(data: Any) -> Iterator[CaseResult]:
    return run_exchanges(data, rules=RULES)
