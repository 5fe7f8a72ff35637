"""Hosts of other inventories: metal3's HardwareData and NFD's NodeFeature, projected to the inventory form of Agents.

Classifications query that form, whoever has reported the hardware: the controllers read these kinds where a server has
them, and `muster import hosts` makes Agents of them. What a source does not say is not there: a query that needs it
fails on that host and says so. docs/guides/classifying-hosts.md has the projection as a table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec

from muster.api.agent import GROUP
from muster.api.parts import Node, ObjectMeta, Part
from muster.api.reading import Reader
from muster.values.json import JsonMapping, JsonObject

if TYPE_CHECKING:
    from collections.abc import Mapping

NODE_NAME: Final = "nfd.node.kubernetes.io/node-name"
_MEBIBYTE: Final = 1024 * 1024
_MOST_NUMBER: Final = 2**63 - 1
_DISPLAY: Final = "03"  # the class of display controllers among PCI devices
_MOST_ITEMS: Final = 1000  # disks, interfaces or flags of one host


class ReportedHost(Node, frozen=True):
    """A host as another program has reported it."""

    metadata: ObjectMeta = ObjectMeta()

    def inventory(self) -> JsonObject:
        """As queries see it."""
        return {"hostname": self.metadata.name}


class _Cpu(Part, frozen=True):
    arch: str = ""
    clock_megahertz: float = 0
    count: int = 0
    flags: tuple[str, ...] = ()
    model: str = ""


class _Nic(Part, frozen=True):
    name: str = ""
    mac: str = ""
    ip: str = ""
    model: str = ""
    speed_gbps: int = msgspec.field(default=0, name="speedGbps")


class _Storage(Part, frozen=True):
    name: str = ""
    size_bytes: int = 0
    type: str = ""
    rotational: bool = False
    model: str = ""
    vendor: str = ""
    serial_number: str = ""
    wwn: str = ""
    hctl: str = ""


class _Vendor(Part, frozen=True):
    manufacturer: str = ""
    product_name: str = ""
    serial_number: str = ""


class _Hardware(Node, frozen=True):
    cpu: _Cpu = _Cpu()
    ram_mebibytes: int = 0
    hostname: str = ""
    nics: tuple[_Nic, ...] = ()
    storage: tuple[_Storage, ...] = ()
    system_vendor: _Vendor = _Vendor()


class _HardwareSpec(Node, frozen=True):
    hardware: _Hardware = _Hardware()


class _HardwareData(ReportedHost, frozen=True):
    spec: _HardwareSpec = _HardwareSpec()

    def inventory(self) -> JsonObject:
        return _of_hardware(self)


class _Flags(Part, frozen=True):
    elements: JsonObject = msgspec.field(default_factory=dict)


class _Attributes(Part, frozen=True):
    elements: dict[str, str] = msgspec.field(default_factory=dict)


class _Instance(Part, frozen=True):
    attributes: dict[str, str] = msgspec.field(default_factory=dict)


class _Instances(Node, frozen=True):
    elements: tuple[_Instance, ...] = ()


class _Features(Node, frozen=True):
    flags: dict[str, _Flags] = msgspec.field(default_factory=dict)
    attributes: dict[str, _Attributes] = msgspec.field(default_factory=dict)
    instances: dict[str, _Instances] = msgspec.field(default_factory=dict)

    def told(self, feature: str) -> dict[str, str]:
        found = self.attributes.get(feature)
        return {} if found is None else found.elements

    def each(self, feature: str) -> tuple[dict[str, str], ...]:
        found = self.instances.get(feature)
        return () if found is None else tuple(item.attributes for item in found.elements[:_MOST_ITEMS])


class _FeatureSpec(Node, frozen=True):
    features: _Features = _Features()
    labels: dict[str, str] = msgspec.field(default_factory=dict)


class _NodeFeature(ReportedHost, frozen=True):
    spec: _FeatureSpec = _FeatureSpec()

    def inventory(self) -> JsonObject:
        return _of_features(self)


@dataclass(frozen=True, slots=True)
class HostKind:
    """A kind of hosts beside Agents."""

    kind: str
    group: str
    plural: str
    reader: Reader[ReportedHost]
    version: str = "v1alpha1"

    @property
    def resource(self) -> str:
        return f"{self.plural}.{self.group}"

    def host(self, name: str) -> str:
        """What a host of this kind is called among others: Agents have names without a slash."""
        return f"{self.plural}/{name}"


OTHER_KINDS: Final[Mapping[str, HostKind]] = {
    each.plural: each
    for each in (
        HostKind("HardwareData", "metal3.io", "hardwaredata", Reader[ReportedHost](_HardwareData)),
        HostKind("NodeFeature", "nfd.k8s-sigs.io", "nodefeatures", Reader[ReportedHost](_NodeFeature)),
    )
}
_BY_KIND: Final = {each.kind: each for each in OTHER_KINDS.values()}


def named_host(host: str) -> tuple[HostKind | None, str]:
    """The kind of a host and its own name; None for an Agent.

    >>> named_host("n1"), named_host("nodefeatures/n1")[1]
    ((None, 'n1'), 'n1')
    """
    plural, _, name = host.partition("/")
    return (OTHER_KINDS.get(plural), name) if name else (None, host)


def agent_of(obj: JsonMapping) -> JsonObject | None:
    """The Agent that an import makes of a host of another inventory; None for objects of other kinds."""
    kind = _BY_KIND.get(str(obj.get("kind")))
    if kind is None:
        return None
    found = kind.reader.of(obj)
    from muster.importing.found import SOURCE  # brings the rules of imports, which others do without

    labels = {SOURCE: kind.kind.lower()}
    return _agent(found, found.metadata.name, {"labels": labels})


def host_of(obj: JsonMapping) -> JsonObject | None:
    """A host of another inventory as it is classified where it is: in the form of an Agent, with its own labels."""
    kind = _BY_KIND.get(str(obj.get("kind")))
    if kind is None:
        return None
    found = kind.reader.of(obj)
    metadata = found.metadata
    own = {"labels": dict(metadata.labels), "annotations": dict(metadata.annotations)}
    return _agent(found, kind.host(metadata.name), own)


def _agent(found: ReportedHost, name: str, more: JsonObject) -> JsonObject:
    metadata = {"name": name, "namespace": found.metadata.namespace, **more}
    return {
        "apiVersion": f"{GROUP}/v1beta1",
        "kind": "Agent",
        "metadata": {key: value for key, value in metadata.items() if value},
        "status": {"inventory": found.inventory()},
    }


def _of_hardware(data: _HardwareData) -> JsonObject:
    hardware = data.spec.hardware
    cpu, vendor = hardware.cpu, hardware.system_vendor
    inventory = {
        "hostname": hardware.hostname or data.metadata.name,
        "cpu": _said(
            architecture=cpu.arch,
            count=_number(cpu.count),
            modelName=cpu.model,
            clockMegahertz=_number(cpu.clock_megahertz),
            flags=list(cpu.flags[:_MOST_ITEMS]),
        ),
        "memory": _said(physicalBytes=_number(hardware.ram_mebibytes * _MEBIBYTE)),
        "disks": [_disk(each) for each in hardware.storage[:_MOST_ITEMS]],
        "interfaces": [_interface(each) for each in hardware.nics[:_MOST_ITEMS]],
        "systemVendor": _said(
            manufacturer=vendor.manufacturer, productName=vendor.product_name, serialNumber=vendor.serial_number
        ),
    }
    return _said(**inventory)


def _disk(given: _Storage) -> JsonObject:
    kind = {"NVME": "NVMe", "SSD": "SSD", "HDD": "HDD"}.get(given.type, "HDD" if given.rotational else "SSD")
    return {
        "id": given.wwn or given.serial_number or given.name or "unknown",
        **_said(
            path=given.name,
            name=given.name.rpartition("/")[2],
            driveType=kind,
            sizeBytes=_number(given.size_bytes),
            model=given.model,
            vendor=given.vendor,
            serial=given.serial_number,
            wwn=given.wwn,
            hctl=given.hctl,
        ),
    }


def _interface(given: _Nic) -> JsonObject:
    addresses = [given.ip] if given.ip else []
    return {
        "flags": [],
        "ipV4Addresses": [each for each in addresses if ":" not in each],
        "ipV6Addresses": [each for each in addresses if ":" in each],
        **_said(name=given.name, macAddress=given.mac, product=given.model, speedMbps=_number(given.speed_gbps * 1000)),
    }


def _of_features(data: _NodeFeature) -> JsonObject:
    features = data.spec.features
    maker = features.told("system.dmiid")
    flags = features.flags.get("cpu.cpuid")
    model = features.told("cpu.model")
    inventory = {
        "hostname": data.metadata.labels.get(NODE_NAME, data.metadata.name),
        "cpu": _said(
            architecture=data.spec.labels.get("kubernetes.io/arch", ""),
            modelName=" ".join(text for text in (model.get("vendor_id", ""), model.get("family", "")) if text),
            flags=sorted(flags.elements)[:_MOST_ITEMS] if flags is not None else [],
        ),
        "disks": [
            {
                "id": each.get("name", "unknown"),
                **_said(name=each.get("name", ""), driveType="HDD" if each.get("rotational") == "1" else "SSD"),
            }
            for each in features.each("storage.block")
        ],
        "interfaces": [
            {
                "flags": [],
                "ipV4Addresses": [],
                "ipV6Addresses": [],
                "hasCarrier": each.get("operstate") == "up",
                **_said(name=each.get("name", ""), speedMbps=_parsed(each.get("speed", ""))),
            }
            for each in features.each("network.device")
        ],
        "gpus": [
            _said(vendorID=each.get("vendor", ""), deviceID=each.get("device", ""))
            for each in features.each("pci.device")
            if each.get("class", "").startswith(_DISPLAY)
        ],
        "systemVendor": _said(manufacturer=maker.get("sys_vendor", ""), productName=maker.get("product_name", "")),
    }
    return _said(**inventory)


def _said(**parts: object) -> JsonObject:
    """Without what the source does not say."""
    return {key: value for key, value in parts.items() if value not in ("", 0, None, [], {})}


def _number(value: float) -> int:
    """As an inventory can carry it; nothing for what no host has."""
    return int(value) if 0 < value <= _MOST_NUMBER else 0


def _parsed(text: str) -> int:
    return _number(int(text)) if text.isdecimal() and len(text) < 19 else 0
