"""What a kube-apiserver's garbage collector was seen to do, done again to a running hub and its collector.

One story in the order of the recording. Durations were measured elsewhere: here it counts that a thing happens.
"""

from __future__ import annotations

import json
import re
import time
from typing import TYPE_CHECKING, Any, Final

from tests.conformance.results import CaseResult
from tests.conformance.suites import told
from tests.controllers.running import GROUP, Driver, controllers, driven_hub

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_PATIENCE: Final = 20.0
_SECONDS: Final = "seconds"  # stands for any duration
_UID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_OWN: Final = "garbage"
_OTHER: Final = "other"


def run_garbage(data: Any) -> Iterator[CaseResult]:
    observed = {name: value for each in data for name, value in each.items()}
    with driven_hub() as hub, controllers(hub.hub):
        for namespace in (_OWN, _OTHER):
            hub.send("POST", "/api/v1/namespaces", {"kind": "Namespace", "metadata": {"name": namespace}})
        ours: dict[str, Any] = {}
        try:
            ours.update(_Story(hub).told())
        except Exception as error:
            yield CaseResult("the story", ok=False, detail=told(error))
    for name, expected in observed.items():
        if name not in ours:
            yield CaseResult(name, ok=False, detail="the story does not make this observation")
            continue
        actual, wanted = _comparable(ours[name]), _comparable(expected)
        yield CaseResult(name, ok=_agree(actual, wanted), detail=f"{actual} instead of {wanted}")


def _agree(actual: Any, wanted: Any) -> bool:
    """The recording cuts long texts off."""
    if isinstance(actual, str) and isinstance(wanted, str) and len(wanted) > 100:
        return actual.startswith(wanted)
    if isinstance(actual, list) and isinstance(wanted, list):
        return len(actual) == len(wanted) and all(map(_agree, actual, wanted))
    return bool(actual == wanted)


def _comparable(value: Any) -> Any:
    """Without what differs from run to run."""
    if isinstance(value, float):
        return _SECONDS
    if isinstance(value, str):
        return _TIME.sub("<time>", _UID.sub("<uid>", value))
    if isinstance(value, list):
        return [_comparable(each) for each in value]
    return value


class _Story:
    """Owners are Placements, dependents are ConfigMaps."""

    def __init__(self, hub: Driver) -> None:
        self._hub = hub

    def told(self) -> Iterator[tuple[str, Any]]:
        yield from self._deleted("Background")
        yield from self._deleted("None")
        yield from self._in_foreground()
        yield from self._orphaned()
        yield from self._without_owner()
        yield from self._across_namespaces()
        yield from self._namespace()

    def _deleted(self, policy: str) -> Iterator[tuple[str, Any]]:
        owner = self._owner(f"owner-{policy.lower()}")
        dependent = self._dependent(f"of-{policy.lower()}", owner)
        answer = self._delete(owner, {} if policy == "None" else {"propagationPolicy": policy})
        yield f"delete policy={policy}: response kind", answer["kind"]
        yield (
            f"{policy}: owner gone after / dependent gone after",
            [self._gone_after(_path(owner)), self._gone_after(_path(dependent))],
        )

    def _in_foreground(self) -> Iterator[tuple[str, Any]]:
        owner = self._owner("waiting")
        held = self._dependent("held", owner, finalizers=["example.com/holds"])
        free = self._dependent("free", owner)
        metadata = (answer := self._delete(owner, {"propagationPolicy": "Foreground"}))["metadata"]
        yield (
            "foreground: response",
            [
                answer["kind"],
                metadata["deletionTimestamp"],
                metadata["finalizers"],
                metadata["deletionGracePeriodSeconds"],
            ],
        )
        self._gone_after(_path(free))
        self._until(lambda: self._object(_path(held))["metadata"].get("deletionTimestamp"))
        yield (
            "foreground, dependent with finalizer holds owner",
            [
                self._code(_path(owner)),
                self._code(_path(free)),
                self._object(_path(held))["metadata"]["deletionTimestamp"],
            ],
        )
        self._hub.patch(_path(held), {"metadata": {"finalizers": None}})
        yield "foreground: owner gone after dependents released", self._gone_after(_path(owner))

    def _orphaned(self) -> Iterator[tuple[str, Any]]:
        owner = self._owner("leaving")
        dependent = self._dependent("staying", owner)
        yield (
            "orphan: response finalizers",
            self._delete(owner, {"propagationPolicy": "Orphan"})["metadata"]["finalizers"],
        )
        yield "orphan: owner gone after", self._gone_after(_path(owner))
        kept = self._object(_path(dependent))["metadata"]
        yield "orphan: dependent kept, ownerReferences now", kept.get("ownerReferences")

    def _without_owner(self) -> Iterator[tuple[str, Any]]:
        ghost = {"kind": "Placement", "metadata": {"name": "ghost", "uid": "00000000-0000-0000-0000-000000000001"}}
        dependent = self._dependent("of-a-ghost", ghost)
        yield (
            "dependent whose owner uid does not exist: collected after",
            self._gone_after(_path(dependent)),
        )

    def _across_namespaces(self) -> Iterator[tuple[str, Any]]:
        owner = self._owner("xn")
        dependent = _dependent("abroad", owner, _OTHER)
        code, _, _ = self._hub.hub.request(
            "POST", f"/api/v1/namespaces/{_OTHER}/configmaps", json.dumps(dependent).encode()
        )
        yield "cross-namespace owner create", code
        yield "cross-namespace owner: collected after", self._gone_after(_path(dependent))
        path = f"/api/v1/namespaces/{_OTHER}/events"
        self._until(lambda: self._object(path)["items"])
        yield (
            "events in ns other",
            [[each["reason"], each["message"]] for each in self._object(path)["items"]],
        )

    def _namespace(self) -> Iterator[tuple[str, Any]]:
        path = f"/api/v1/namespaces/{_OWN}"
        answer = self._hub.send("DELETE", path)
        status = {"phase": answer["status"]["phase"]}
        yield "delete namespace: response", [answer["kind"], status, answer["spec"]]
        yield "namespace gone after", self._gone_after(path)

    # ------------------------------------------------------------------------------------------------------ parts

    def _owner(self, name: str) -> Any:
        body = {
            "apiVersion": f"{GROUP.removeprefix('/apis/')}/v1beta1",
            "kind": "Placement",
            "metadata": {"name": name, "namespace": _OWN},
            "spec": {},
        }
        return self._hub.send("POST", f"{GROUP}/v1beta1/namespaces/{_OWN}/placements", body)

    def _dependent(self, name: str, owner: Any, finalizers: list[str] | None = None) -> Any:
        body = _dependent(name, owner, _OWN)
        if finalizers:
            body["metadata"]["finalizers"] = finalizers
        return self._hub.send("POST", f"/api/v1/namespaces/{_OWN}/configmaps", body)

    def _delete(self, owner: Any, options: Any) -> Any:
        return self._hub.send("DELETE", _path(owner), options)

    def _object(self, path: str) -> Any:
        return self._hub.get(path)

    def _code(self, path: str) -> int:
        return self._hub.hub.request("GET", path)[0]

    def _gone_after(self, path: str) -> float:
        started = time.monotonic()
        self._until(lambda: self._code(path) == 404)
        return time.monotonic() - started

    def _until(self, question: Callable[[], Any]) -> None:
        deadline = time.monotonic() + _PATIENCE
        while not question():
            assert time.monotonic() < deadline, "it does not happen"
            time.sleep(0.01)


def _dependent(name: str, owner: Any, namespace: str) -> Any:
    reference = {
        "apiVersion": f"{GROUP.removeprefix('/apis/')}/v1beta1",
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "blockOwnerDeletion": True,
    }
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace, "ownerReferences": [reference]},
    }


def _path(obj: Any) -> str:
    metadata = obj["metadata"]
    if obj["kind"] == "Placement":
        return f"{GROUP}/v1beta1/namespaces/{metadata['namespace']}/placements/{metadata['name']}"
    return f"/api/v1/namespaces/{metadata['namespace']}/configmaps/{metadata['name']}"
