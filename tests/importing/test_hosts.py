"""Hosts that metal3 and NFD have found, as Agents: what queries see of them, on files and on a hub."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from muster.api import RESOURCES
from muster.cli.main import run
from muster.importing.hosts import agent_of
from tests.controllers.running import controllers, driven_hub, eventually

if TYPE_CHECKING:
    from pathlib import Path

HARDWARE: dict[str, Any] = {
    "apiVersion": "metal3.io/v1alpha1",
    "kind": "HardwareData",
    "metadata": {"name": "host-1", "namespace": "apps"},
    "spec": {
        "hardware": {
            "cpu": {"arch": "x86_64", "count": 64, "model": "Xeon", "clockMegahertz": 2400.5, "flags": ["avx2"]},
            "ramMebibytes": 262144,
            "hostname": "host-1.example.com",
            "nics": [{"name": "eth0", "mac": "00:11:22:33:44:55", "ip": "10.0.0.4", "speedGbps": 25}],
            "storage": [
                {"name": "/dev/nvme0n1", "type": "NVME", "sizeBytes": 960000000000, "serialNumber": "S1"},
                {"name": "/dev/sda", "rotational": True, "sizeBytes": 4000000000000, "wwn": "0x5000"},
            ],
            "systemVendor": {"manufacturer": "Dell", "productName": "R750", "serialNumber": "ABC"},
        }
    },
}
FEATURES: dict[str, Any] = {
    "apiVersion": "nfd.k8s-sigs.io/v1alpha1",
    "kind": "NodeFeature",
    "metadata": {"name": "worker-7", "namespace": "apps", "labels": {"nfd.node.kubernetes.io/node-name": "worker-7"}},
    "spec": {
        "features": {
            "flags": {"cpu.cpuid": {"elements": {"AVX512F": {}, "AVX": {}}}},
            "attributes": {"cpu.model": {"elements": {"vendor_id": "AMD", "family": "25"}}},
            "instances": {
                "pci.device": {
                    "elements": [
                        {"attributes": {"class": "0302", "vendor": "10de", "device": "20b0"}},
                        {"attributes": {"class": "0200", "vendor": "15b3", "device": "1017"}},
                    ]
                },
                "network.device": {"elements": [{"attributes": {"name": "eth0", "operstate": "up", "speed": "25000"}}]},
                "storage.block": {"elements": [{"attributes": {"name": "sda", "rotational": "1"}}]},
            },
        },
        "labels": {},
    },
}
CLASSIFICATION = {
    "apiVersion": "agent-install.openshift.io/v1beta1",
    "kind": "AgentClassification",
    "metadata": {"name": "large", "namespace": "apps"},
    "spec": {"labelKey": "size", "labelValue": "large", "query": "(.cpu.count // 0) >= 32"},
}


def inventory(obj: dict[str, Any]) -> dict[str, Any]:
    agent = agent_of(obj)
    assert agent is not None
    found: dict[str, Any] = agent["status"]["inventory"]
    return found


def test_hardware_of_metal3_is_an_inventory() -> None:
    assert inventory(HARDWARE) == {
        "hostname": "host-1.example.com",
        "cpu": {
            "architecture": "x86_64",
            "count": 64,
            "modelName": "Xeon",
            "clockMegahertz": 2400,
            "flags": ["avx2"],
        },
        "memory": {"physicalBytes": 274877906944},
        "disks": [
            {
                "id": "S1",
                "path": "/dev/nvme0n1",
                "name": "nvme0n1",
                "driveType": "NVMe",
                "sizeBytes": 960000000000,
                "serial": "S1",
            },
            {
                "id": "0x5000",
                "path": "/dev/sda",
                "name": "sda",
                "driveType": "HDD",
                "sizeBytes": 4000000000000,
                "wwn": "0x5000",
            },
        ],
        "interfaces": [
            {
                "flags": [],
                "ipV4Addresses": ["10.0.0.4"],
                "ipV6Addresses": [],
                "name": "eth0",
                "macAddress": "00:11:22:33:44:55",
                "speedMbps": 25000,
            }
        ],
        "systemVendor": {"manufacturer": "Dell", "productName": "R750", "serialNumber": "ABC"},
    }


def test_features_of_nfd_are_an_inventory() -> None:
    assert inventory(FEATURES) == {
        "hostname": "worker-7",
        "cpu": {"modelName": "AMD 25", "flags": ["AVX", "AVX512F"]},
        "disks": [{"id": "sda", "name": "sda", "driveType": "HDD"}],
        "interfaces": [
            {
                "flags": [],
                "ipV4Addresses": [],
                "ipV6Addresses": [],
                "hasCarrier": True,
                "name": "eth0",
                "speedMbps": 25000,
            }
        ],
        "gpus": [{"vendorID": "10de", "deviceID": "20b0"}],
    }


_NAMES = [
    "spec",
    "hardware",
    "cpu",
    "count",
    "nics",
    "storage",
    "sizeBytes",
    "features",
    "instances",
    "elements",
    "name",
]
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.text(max_size=5) | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_NAMES), inner, max_size=4),
    max_leaves=20,
)


@given(st.sampled_from(["HardwareData", "NodeFeature"]), _JSON, _JSON)
def test_whatever_a_server_sends_becomes_an_agent_that_the_schema_takes(kind: str, spec: Any, hardware: Any) -> None:
    body = {"hardware": hardware, "features": hardware} if isinstance(spec, dict) else spec
    agent = agent_of({"kind": kind, "metadata": {"name": "a", "namespace": "b"}, "spec": body})
    assert agent is not None
    resource = RESOURCES["agents.agent-install.openshift.io"]
    assert resource.storage_version.compiled.validate(agent) == []
    assert agent_of({"kind": "Agent"}) is None


def test_they_are_previewed_from_files_imported_and_labelled(tmp_path: Path) -> None:
    hosts, wanted = tmp_path / "hosts.yaml", tmp_path / "classification.yaml"
    hosts.write_text(yaml.safe_dump_all([HARDWARE, FEATURES]))
    wanted.write_text(yaml.safe_dump(CLASSIFICATION))
    out = io.StringIO()
    assert run(["classify", "-f", str(wanted), "--agents", str(hosts), "-o", "name"], io.StringIO(), out, out) == 0
    assert out.getvalue() == "host-1\n"
    with driven_hub() as hub, controllers(hub.hub):
        kubeconfig = str(hub.hub.kubeconfig(tmp_path / "hub.kubeconfig"))
        path = "/apis/agent-install.openshift.io/v1beta1/namespaces/apps"
        hub.send("POST", f"{path}/agentclassifications", CLASSIFICATION)

        def imported(*more: str) -> tuple[int, str]:
            out = io.StringIO()
            command = ["import", "hosts", "-f", str(hosts), "--hub-kubeconfig", kubeconfig, *more]
            return run(command, io.StringIO(), out, out), out.getvalue()

        said = "create apps/host-1: 64 cpu, 2 disks\ncreate apps/worker-7: 1 disk\n2 hosts: 2 to create\n"
        assert imported("--dry-run") == (0, said)
        assert imported("--yes") == (0, f"{said}imported 2 hosts\n")
        label = "inventoryclassification.agent-install.openshift.io/size"
        eventually(lambda: hub.get(f"{path}/agents/host-1")["metadata"]["labels"].get(label), "large")
        assert hub.get(f"{path}/agents/worker-7")["metadata"]["labels"] == {"import.muster.dev/source": "nodefeature"}
        code, said = imported("--yes")
        assert (code, said.splitlines()[-1]) == (0, "2 hosts: 2 the same")
