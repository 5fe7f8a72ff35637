"""Bare-metal hosts: Agents with the inventory that a discovery image reports, and classifications over it."""

from __future__ import annotations

import random

from muster.values.json import JsonObject

GROUP = "agent-install.openshift.io"
NAMESPACE = "hosts"
_GIB = 1024**3
_SIZES = ((2, 4), (4, 16), (8, 32), (32, 128), (64, 512), (128, 1024))
_MODELS = (
    ("Dell Inc.", "PowerEdge R650", "Intel(R) Xeon(R) Gold 6338N CPU @ 2.20GHz"),
    ("HPE", "ProLiant DL380 Gen11", "Intel(R) Xeon(R) Platinum 8480+"),
    ("Supermicro", "AS-2125HS", "AMD EPYC 9354 32-Core Processor"),
)
_TAKEN = (
    ("edge-fra", "master", "Done"),
    ("edge-fra", "worker", "Done"),
    ("edge-ams", "worker", "Writing image to disk"),
    ("edge-ams", "master", "Rebooting"),
)
_FLAGS = (
    "fpu",
    "vme",
    "de",
    "pse",
    "tsc",
    "msr",
    "pae",
    "mce",
    "cx8",
    "apic",
    "sep",
    "mmx",
    "sse",
    "sse2",
    "ht",
    "nx",
    "lm",
)


def an_agent(seed: int, index: int) -> JsonObject:
    """The host with this index."""
    chance = random.Random(f"{seed}/host/{index}")  # noqa: S311 - made-up data, not a secret
    cores, memory = chance.choice(_SIZES)
    maker, product, processor = chance.choice(_MODELS)
    hostname = f"host-{index:05d}.lab.example.com"
    inventory = {
        "hostname": hostname,
        "bmcAddress": f"10.{index // 65536 % 256}.{index // 256 % 256}.{index % 256}",
        "cpu": {
            "architecture": "x86_64",
            "clockMegahertz": chance.choice((2200, 2600, 3200)),
            "count": cores,
            "flags": [*_FLAGS, *(["avx512f"] if chance.random() < 0.5 else [])],
            "modelName": processor,
        },
        "memory": {"physicalBytes": memory * _GIB, "usableBytes": memory * _GIB * 97 // 100},
        "disks": [_disk(chance, number) for number in range(chance.choice((1, 2, 4, 8)))],
        "interfaces": [_interface(chance, number) for number in range(chance.choice((1, 2, 4)))],
        "boot": {"currentBootMode": chance.choice(("uefi", "bios"))},
        "systemVendor": {
            "manufacturer": maker,
            "productName": product,
            "serialNumber": f"SN{chance.randrange(10**8):08d}",
            "virtual": chance.random() < 0.1,
        },
    }
    # A third of the hosts are part of a cluster already, each at its own stage.
    cluster, role, stage = chance.choice(_TAKEN) if chance.random() < 0.34 else ("", "auto-assign", "")
    bound = {"clusterDeploymentName": {"name": cluster, "namespace": NAMESPACE}} if cluster else {}
    progress = {"progress": {"currentStage": stage}} if stage else {}
    state = "added-to-existing-cluster" if stage == "Done" else "installing" if stage else "known-unbound"
    return {
        "apiVersion": f"{GROUP}/v1beta1",
        "kind": "Agent",
        "metadata": {
            "name": f"{chance.getrandbits(64):016x}",
            "namespace": NAMESPACE,
            "labels": {"infraenvs.agent-install.openshift.io": "lab"},
        },
        "spec": {"approved": bool(cluster) or chance.random() < 0.9, "hostname": hostname, "role": role, **bound},
        "status": {
            "inventory": inventory,
            "debugInfo": {"state": state},
            "bootstrap": False,
            "role": role,
            **progress,
        },
    }


def classifications() -> list[JsonObject]:
    """Queries in jq that put labels on hosts."""
    wanted = {
        "size-medium": ("size", "medium", ".cpu.count >= 8 and .memory.physicalBytes < 137438953472"),
        "size-large": ("size", "large", ".cpu.count >= 32 and .memory.physicalBytes >= 137438953472"),
        "storage-large": ("storage", "large", "[.disks[] | select(.sizeBytes > 1073741824000)] | length > 3"),
    }
    return [
        {
            "apiVersion": f"{GROUP}/v1beta1",
            "kind": "AgentClassification",
            "metadata": {"name": name, "namespace": NAMESPACE},
            "spec": {"labelKey": key, "labelValue": value, "query": query},
        }
        for name, (key, value, query) in wanted.items()
    ]


def _disk(chance: random.Random, number: int) -> JsonObject:
    size = chance.choice((480, 960, 1920, 3840)) * 10**9
    return {
        "id": f"/dev/disk/by-id/wwn-0x{chance.getrandbits(64):016x}",
        "driveType": chance.choice(("SSD", "HDD")),
        "name": f"nvme{number}n1",
        "path": f"/dev/nvme{number}n1",
        "model": chance.choice(("SAMSUNG MZQL2960", "INTEL SSDPE2KE016T8", "ST2000NX0463")),
        "serial": f"{chance.getrandbits(80):020X}",
        "sizeBytes": size,
        "installationEligibility": {
            "eligible": number == 0,
            "notEligibleReasons": [] if number == 0 else ["data disk"],
        },
        "ioPerf": {"syncDurationMilliseconds": chance.randrange(1, 9)},
    }


def _interface(chance: random.Random, number: int) -> JsonObject:
    return {
        "name": f"ens{number}f0",
        "macAddress": ":".join(f"{chance.getrandbits(8):02x}" for _ in range(6)),
        "ipV4Addresses": [f"192.168.{chance.randrange(256)}.{chance.randrange(1, 255)}/24"],
        "ipV6Addresses": [],
        "flags": ["up", "broadcast", "multicast"],
        "hasCarrier": True,
        "mtu": 1500,
        "speedMbps": chance.choice((1000, 10000, 25000)),
        "vendor": "0x8086",
        "product": "0x1572",
    }
