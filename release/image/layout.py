"""An OCI image layout: blobs by their checksums, a manifest, an index. As the image specification 1.1 says, in JSON."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from release.tarballs import packed

if TYPE_CHECKING:
    from pathlib import Path

_TYPES: Final = "application/vnd.oci.image"


@dataclass(frozen=True, slots=True)
class Layer:
    """A part of the root file system, and why it is there."""

    tar: bytes
    created_by: str


class Layout:
    """The folder that is an image."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        (folder / "blobs" / "sha256").mkdir(parents=True)

    def write(self, layers: list[Layer], config: dict[str, Any], labels: dict[str, str], epoch: int, tag: str) -> str:
        """Everything; the digest of the manifest is the name of the image."""
        created = datetime.fromtimestamp(epoch, UTC).isoformat().replace("+00:00", "Z")
        descriptors = [self._blob(packed(layer.tar), f"{_TYPES}.layer.v1.tar+gzip") for layer in layers]
        image = {
            "created": created,
            "architecture": "amd64",
            "os": "linux",
            "config": {**config, "Labels": labels},
            "rootfs": {"type": "layers", "diff_ids": [_digest(layer.tar) for layer in layers]},
            "history": [{"created": created, "created_by": layer.created_by} for layer in layers],
        }
        manifest = {
            "schemaVersion": 2,
            "mediaType": f"{_TYPES}.manifest.v1+json",
            "config": self._blob(_encoded(image), f"{_TYPES}.config.v1+json"),
            "layers": descriptors,
            "annotations": labels,
        }
        described = self._blob(_encoded(manifest), f"{_TYPES}.manifest.v1+json")
        described["platform"] = {"architecture": "amd64", "os": "linux"}
        described["annotations"] = {"org.opencontainers.image.ref.name": tag}
        index = {"schemaVersion": 2, "mediaType": f"{_TYPES}.index.v1+json", "manifests": [described]}
        (self._folder / "index.json").write_bytes(_encoded(index))
        (self._folder / "oci-layout").write_bytes(_encoded({"imageLayoutVersion": "1.0.0"}))
        return str(described["digest"])

    def _blob(self, content: bytes, media_type: str) -> dict[str, Any]:
        digest = _digest(content)
        (self._folder / "blobs" / "sha256" / digest.removeprefix("sha256:")).write_bytes(content)
        return {"mediaType": media_type, "digest": digest, "size": len(content)}


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def _encoded(value: dict[str, Any]) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
