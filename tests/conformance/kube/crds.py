"""Recorded exchanges about custom kinds, and the rules under which ours may differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.conformance.kube.exchanges import run_exchanges
from tests.conformance.kube.replay import masked

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.conformance.kube.exchanges import Answered, Rule, Transcript
    from tests.conformance.results import CaseResult


def run_definitions(data: Any) -> Iterator[CaseResult]:
    return run_exchanges(data, rules=RULES)


def _own_texts(transcript: Transcript, answered: Answered) -> bool:
    """Our OpenAPI documents have the same operations and schemas; titles and descriptions are ours."""
    if not transcript["request"]["path"].startswith("/openapi/v3/apis/") or answered.status != 200:
        return False
    recorded, ours = transcript["response"]["body"], answered.body
    names = set(recorded["components"]["schemas"])
    same_schemas = all(
        _without_texts(recorded["components"]["schemas"][name]) == _without_texts(ours["components"]["schemas"][name])
        for name in names
    )
    operations = ("get", "put", "post", "patch", "delete")
    same_paths = all(
        {name for name in path if name in operations} == {name for name in ours["paths"][address] if name in operations}
        for address, path in recorded["paths"].items()
    )
    return same_schemas and same_paths and bool(names)


def _without_texts(value: Any) -> Any:
    if isinstance(value, dict):
        # An empty default of metadata says nothing to anybody.
        return {
            key: _without_texts(item)
            for key, item in value.items()
            if key != "description" and not (key == "default" and item == {} and "allOf" in value)
        }
    return [_without_texts(item) for item in value] if isinstance(value, list) else value


def _kept_owners(transcript: Transcript, answered: Answered) -> bool:
    """After a write in another version the recorded server has lost managedFields; ours still has them."""
    recorded, ours = transcript["response"]["body"], answered.body
    if answered.status != 200 or "managedFields" in recorded["metadata"] or not ours["metadata"].get("managedFields"):
        return False
    managers = {(each["manager"], each["operation"]) for each in ours["metadata"]["managedFields"]}
    without = {**ours, "metadata": {k: v for k, v in ours["metadata"].items() if k != "managedFields"}}
    volatile = ("uid", "resourceVersion", "creationTimestamp")

    def shown(body: Mapping[str, Any]) -> Any:
        metadata = {key: value for key, value in body["metadata"].items() if key not in volatile}
        return masked({**body, "metadata": metadata})

    return shown(without) == shown(recorded) and all(operation == "Update" for _, operation in managers)


def _read_as_stored(transcript: Transcript, answered: Answered) -> bool:
    """An object in a version that is gone: the recorded server cannot convert it, ours does."""
    recorded = transcript["response"]["body"]
    cannot = "request to convert CR from an invalid group/version" in str(recorded.get("message"))
    wanted = transcript["request"]["path"].removeprefix("/apis/").split("/")
    return cannot and answered.status == 200 and answered.body["apiVersion"] == f"{wanted[0]}/{wanted[1]}"


RULES: Mapping[str, Rule] = {
    "OpenAPI texts are ours": _own_texts,
    "Ownership survives a write in another version": _kept_owners,
    "Objects of a version that is gone are read": _read_as_stored,
}
