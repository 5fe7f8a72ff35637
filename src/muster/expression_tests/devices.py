"""Selectors of device classes and resource claims, asked about a device as a driver publishes it.

    device:
      driver: gpu.example.com
      attributes: {model: {string: a100}, driverVersion: {version: 1.2.3}}
      capacity: {memory: {value: 40Gi}}

A name without a domain is of the driver's own domain, as in a ResourceSlice.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from muster.cel import ObjectTypes, Variable
from muster.cel.checking.types import ANY, BOOL, STRING, map_of, struct
from muster.cel.libraries.kubernetes.quantity import QUANTITY, quantity
from muster.cel.libraries.kubernetes.semver import semver
from muster.errors import EvaluationError, InvalidObjectError
from muster.expression_tests.expressions import compiled
from muster.expression_tests.outcome import ALLOWED, DENIED, Outcome
from muster.values.json import Json, JsonMapping, JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.cel import Env
    from muster.cel.values.value import Value
    from muster.expression_tests.expressions import Expression

_DEVICE: Final = {
    "kubernetes.DRADevice": {
        "driver": STRING,
        "attributes": map_of(STRING, map_of(STRING, ANY)),
        "capacity": map_of(STRING, map_of(STRING, QUANTITY)),
        "allowMultipleAllocations": BOOL,
    }
}


class DeviceSelectors:
    """The selectors of a DeviceClass, or of one request of a claim: all must hold."""

    def __init__(self, manifest: JsonMapping, base: Env, request: str, place: str) -> None:
        env = base.extend(
            types=ObjectTypes(_DEVICE), variables=[Variable("device", struct("kubernetes.DRADevice"), "The device.")]
        )
        self.expressions: list[Expression] = [
            compiled(f"{place}: {where}", text, env, (BOOL,)) for where, text in _selectors(manifest, request)
        ]
        if not self.expressions:
            of = f"request {request!r}" if request else "manifest"
            raise InvalidObjectError(place, f"the {of} has no CEL selector")

    def judge(self, case: JsonMapping, place: str) -> Outcome:
        device = _device(case.get("device"), place)
        for each in self.expressions:
            found = each.ask({"device": device})
            if isinstance(found, EvaluationError):
                return Outcome(DENIED, str(found))
            if found is not True:
                return Outcome(DENIED, f"{each.program.text.strip()} is false")
        return Outcome(ALLOWED)


def _selectors(manifest: JsonMapping, request: str) -> Iterator[tuple[str, str]]:
    spec = manifest.get("spec")
    if manifest.get("kind") == "ResourceClaimTemplate" and isinstance(spec, dict):
        spec = spec.get("spec")
    if not isinstance(spec, dict):
        return
    if manifest.get("kind") == "DeviceClass":
        yield from _expressions(spec, "spec")
        return
    devices = spec.get("devices")
    requests = devices.get("requests") if isinstance(devices, dict) else None
    for number, each in enumerate(requests if isinstance(requests, list) else []):
        where = f"spec.devices.requests[{number}]"
        if request and each.get("name") != request:
            continue
        yield from _expressions(each, where)
        if isinstance(each.get("exactly"), dict):
            yield from _expressions(each["exactly"], f"{where}.exactly")


def _expressions(holder: JsonMapping, where: str) -> Iterator[tuple[str, str]]:
    selectors = holder.get("selectors")
    for number, each in enumerate(selectors if isinstance(selectors, list) else []):
        cel = each.get("cel") if isinstance(each, dict) else None
        if isinstance(cel, dict) and isinstance(cel.get("expression"), str):
            yield f"{where}.selectors[{number}].cel.expression", cel["expression"]


def _device(written: Json, place: str) -> JsonObject:
    if not isinstance(written, dict) or not isinstance(written.get("driver"), str):
        raise InvalidObjectError(place, "device is missing, with driver, attributes and capacity as in a ResourceSlice")
    driver: str = written["driver"]
    attributes: dict[str, dict[str, Value]] = defaultdict(dict)
    capacity: dict[str, dict[str, Value]] = defaultdict(dict)
    for name, value in _members(written, "attributes", place):
        domain, key = _domain(name, driver)
        attributes[domain][key] = _attribute(value, f"{place}: device.attributes.{name}")
    for name, value in _members(written, "capacity", place):
        domain, key = _domain(name, driver)
        given = value.get("value") if isinstance(value, dict) else value
        capacity[domain][key] = quantity(str(given))
    return {
        "driver": driver,
        "attributes": _Domains(attributes),
        "capacity": _Domains(capacity),
        "allowMultipleAllocations": bool(written.get("allowMultipleAllocations")),
    }


class _Domains(dict[str, dict[str, "Value"]]):
    """A domain that the driver says nothing of has no attributes, which is no error."""

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str)

    def __missing__(self, key: str) -> dict[str, Value]:
        return {}

    def get(self, key: str, default: Value = None) -> Value:
        return dict.get(self, key, {} if default is None else default)


def _members(written: JsonMapping, name: str, place: str) -> Iterator[tuple[str, Json]]:
    found = written.get(name)
    if found is None:
        return
    if not isinstance(found, dict):
        raise InvalidObjectError(place, f"device.{name} is an object")
    yield from found.items()


def _domain(name: str, driver: str) -> tuple[str, str]:
    domain, slash, key = name.partition("/")
    return (domain, key) if slash else (driver, name)


def _attribute(value: Json, place: str) -> Value:
    match value:
        case {"string": str() as text}:
            return text
        case {"int": int() as number}:
            return number
        case {"bool": bool() as yes}:
            return yes
        case {"version": str() as version}:
            return semver(version)
        case bool() | int() | str():
            return value
        case _:
            raise InvalidObjectError(place, "is one of {string: …}, {int: …}, {bool: …} and {version: …}")
