"""Agent: a host that has reported its hardware and waits to become part of a cluster."""

from __future__ import annotations

from typing import Final

import msgspec

from muster.api import parts
from muster.api.parts import Condition, Node, ObjectMeta, Part
from muster.api.resource import PrinterColumn, Resource, Version
from muster.values.json import Schema

GROUP: Final = "agent-install.openshift.io"


class ClusterReference(Part, frozen=True):
    name: str = ""
    namespace: str = ""


class AgentSpec(Node, frozen=True):
    approved: bool = False
    role: str = ""
    hostname: str = ""
    cluster_deployment_name: ClusterReference | None = None


class AgentStatus(Node, frozen=True):
    conditions: tuple[Condition, ...] = ()
    # Queries run on the inventory as it is stored, whatever that is, so it stays JSON.
    inventory: msgspec.Raw = msgspec.Raw(b"")


class Agent(Node, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: AgentSpec = AgentSpec()
    status: AgentStatus = AgentStatus()


def _fields(*names: str) -> Schema:
    return {name: parts.string() for name in names}


def _int64(description: str = "") -> Schema:
    return parts.integer(description, "int64")


_STRINGS = parts.array(parts.string())

_SPEC = parts.obj(
    "How the host is to be used.",
    ("approved", "role"),
    {
        "approved": parts.boolean("Whether the host may be installed."),
        "role": parts.string("What the host becomes: master, worker or auto-assign."),
        "hostname": parts.string("The name the host gets."),
        "clusterDeploymentName": parts.obj(
            "The cluster the host is bound to.", properties=_fields("name", "namespace")
        ),
        "machineConfigPool": parts.string("The pool the host joins."),
        "installation_disk_id": parts.string("The disk to install on."),
        "installerArgs": parts.string("JSON list of arguments for the installer."),
        "ignitionConfigOverrides": parts.string("JSON with overrides of the host's ignition."),
        "ignitionEndpointTokenReference": parts.reference("The secret with the token for the ignition endpoint."),
        "nodeLabels": parts.string_map("Labels the node gets."),
    },
)

_DISK = parts.obj(
    "A disk.",
    ("id",),
    {
        **_fields(
            "id", "byID", "byPath", "driveType", "hctl", "model", "name", "path", "serial", "smart", "vendor", "wwn"
        ),
        "bootable": parts.boolean(),
        "sizeBytes": _int64("Its size in bytes."),
        "installationEligibility": parts.obj(
            "Whether it can be installed on.",
            ("notEligibleReasons",),
            {"eligible": parts.boolean(), "notEligibleReasons": _STRINGS},
        ),
        "ioPerf": parts.obj("How fast it is.", properties={"syncDurationMilliseconds": _int64()}),
    },
)
_INTERFACE = parts.obj(
    "A network interface.",
    ("flags", "ipV4Addresses", "ipV6Addresses"),
    {
        **_fields("biosDevName", "clientID", "macAddress", "name", "product", "vendor"),
        "flags": _STRINGS,
        "hasCarrier": parts.boolean(),
        "ipV4Addresses": _STRINGS,
        "ipV6Addresses": _STRINGS,
        "mtu": _int64(),
        "speedMbps": _int64(),
    },
)
_INVENTORY = parts.obj(
    "The host's hardware. Classifications query it.",
    properties={
        **_fields("bmcAddress", "bmcV6Address", "hostname"),
        "boot": parts.obj("How it boots.", properties=_fields("currentBootMode", "deviceType", "pxeInterface")),
        "cpu": parts.obj(
            "Its processors.",
            properties={
                **_fields("architecture", "modelName"),
                "clockMegahertz": _int64(),
                "count": _int64(),
                "flags": _STRINGS,
            },
        ),
        "disks": parts.array(_DISK, "Its disks."),
        "gpus": parts.array(
            parts.obj("A graphics processor.", properties=_fields("address", "deviceID", "name", "vendor", "vendorID")),
            "Its graphics processors.",
        ),
        "interfaces": parts.array(_INTERFACE, "Its network interfaces."),
        "memory": parts.obj("Its memory.", properties={"physicalBytes": _int64(), "usableBytes": _int64()}),
        "reportTime": parts.time("When the host reported."),
        "systemVendor": parts.obj(
            "Who made it.",
            properties={**_fields("manufacturer", "productName", "serialNumber"), "virtual": parts.boolean()},
        ),
    },
)

_STATUS = parts.obj(
    "What is known of the host.",
    properties={
        "bootstrap": parts.boolean("Whether it bootstraps the cluster."),
        "conditions": parts.LOOSE_CONDITIONS,
        "debugInfo": parts.obj(
            "Where to look when something fails.", properties=_fields("eventsURL", "logsURL", "state", "stateInfo")
        ),
        "installation_disk_id": parts.string("The disk that is installed on."),
        "inventory": _INVENTORY,
        "ntpSources": parts.array(
            parts.obj("A time source.", properties=_fields("sourceName", "sourceState")), "Its time sources."
        ),
        "progress": parts.obj(
            "How far installation is.",
            properties={
                "currentStage": parts.string("The current stage."),
                "installationPercentage": _int64("The share that is done."),
                "progressInfo": parts.string("More about the stage."),
                "progressStages": _STRINGS,
                "stageStartTime": parts.time("When the stage began."),
                "stageUpdateTime": parts.time("When the stage last changed."),
            },
        ),
        "role": parts.string("The role the host has."),
        "validationsInfo": {
            "type": "object",
            "description": "Results of validations, by category.",
            "additionalProperties": parts.array(
                parts.obj("One result.", ("id", "message", "status"), _fields("id", "message", "status"))
            ),
        },
    },
)

AGENT: Final = Resource(
    group=GROUP,
    kind="Agent",
    plural="agents",
    singular="agent",
    list_kind="AgentList",
    namespaced=True,
    versions=(
        Version(
            "v1beta1",
            parts.kind("A host.", _SPEC, _STATUS),
            (
                PrinterColumn(
                    "Cluster", "string", ".spec.clusterDeploymentName.name", "The cluster the host is bound to."
                ),
                PrinterColumn("Approved", "boolean", ".spec.approved", "Whether the host may be installed."),
                PrinterColumn("Role", "string", ".status.role", "What the host becomes."),
                PrinterColumn("Stage", "string", ".status.progress.currentStage", "How far installation is."),
                PrinterColumn("Hostname", "string", ".status.inventory.hostname", "The name the host has.", priority=1),
                PrinterColumn("Requested Hostname", "string", ".spec.hostname", "The name the host gets.", priority=1),
            ),
            status=True,
        ),
    ),
)
