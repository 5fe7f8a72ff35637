"""The bill of materials of a release, in CycloneDX 1.6: every package of the lock with version, checksums and licence.

Made by ourselves from the lock and the wheels' own metadata: the format is a document, and what it says is known here.
"""

from __future__ import annotations

import email
import hashlib
import json
import re
import zipfile
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import NAMESPACE_URL, uuid5

from release.image.debian import ARCHITECTURE, locked

if TYPE_CHECKING:
    from collections.abc import Iterable
    from email.message import Message
    from pathlib import Path

    from release.source import Source

_SPDX: Final = re.compile(r"[A-Za-z0-9.+-]+( (AND|OR|WITH) [A-Za-z0-9.+-]+)*")
_CLASSIFIED: Final = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}


def bill_of_materials(source: Source, wheels: Iterable[Path], own: Path) -> str:
    """The document, as text. Its serial number follows from what it is about."""
    components = [_wheel(each) for each in sorted(wheels, key=lambda path: path.name.lower())]
    scripts = json.loads((source.folder / "src/muster/console/third_party/manifest.json").read_text(encoding="utf-8"))
    components += [_script(each) for file in scripts.values() for each in file["packages"]]
    components += [_debian(each.name, each.version, each.sha256) for each in locked()]
    subject = _wheel(own) | {"type": "application"}
    found = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid5(NAMESPACE_URL, f'muster {source.version} {source.revision}')}",
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(source.epoch, UTC).isoformat().replace("+00:00", "Z"),
            "component": subject,
        },
        "components": components,
        "dependencies": [{"ref": subject["bom-ref"], "dependsOn": sorted(each["bom-ref"] for each in components)}],
    }
    return json.dumps(found, indent=1, sort_keys=True) + "\n"


def _wheel(path: Path) -> dict[str, Any]:
    told = _metadata(path)
    name, version = str(told["Name"]), str(told["Version"])
    url = f"pkg:pypi/{re.sub(r'[-_.]+', '-', name).lower()}@{version}"
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return _component(name, version, url, _licences(told)) | {"hashes": [{"alg": "SHA-256", "content": digest}]}


def _metadata(path: Path) -> Message:
    with zipfile.ZipFile(path) as archive:
        name = next(each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        return email.message_from_bytes(archive.read(name))


def _licences(told: Message) -> list[dict[str, Any]]:
    expression = str(told.get("License-Expression") or "")
    if expression:
        return [{"expression": expression}]
    classified = [
        str(each).rpartition(" :: ")[2] for each in told.get_all("Classifier", []) if "License ::" in str(each)
    ]
    named = [_CLASSIFIED[each] for each in classified if each in _CLASSIFIED]
    if named:
        return [{"license": {"id": each}} for each in dict.fromkeys(named)]
    text = str(told.get("License") or "").strip()
    if _SPDX.fullmatch(text) and len(text) < 40:
        return [{"license": {"name": text}}]
    return [{"license": {"name": "see the package"}}]


def _script(package: dict[str, str]) -> dict[str, Any]:
    name, version = package["name"], package["version"]
    url = f"pkg:npm/{name.replace('@', '%40')}@{version}"
    return _component(name, version, url, [{"license": {"id": package["license"]}}])


def _debian(name: str, version: str, sha256: str) -> dict[str, Any]:
    url = (
        f"pkg:deb/debian/{name.replace('+', '%2B')}@{version.replace('+', '%2B')}?arch={ARCHITECTURE}&distro=debian-12"
    )
    found = _component(name, version, url, [{"license": {"name": f"see /usr/share/doc/{name}/copyright"}}])
    return found | {"hashes": [{"alg": "SHA-256", "content": sha256}]}


def _component(name: str, version: str, url: str, licences: list[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "library", "bom-ref": url, "name": name, "version": version, "purl": url, "licenses": licences}
