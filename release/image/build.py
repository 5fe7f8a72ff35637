"""The image from the sources of a release and its wheel: three layers, Debian's, our dependencies', ours."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from release.image.compiling import add_compiled
from release.image.debian import add_debian
from release.image.layout import Layer, Layout
from release.image.wheels import SITE, add_wheel, fetched_wheels
from release.tarballs import Tree

if TYPE_CHECKING:
    from release.source import Source

USER: Final = "65532:65532"
_COMMAND: Final = """#!/usr/bin/python3.11 -I
from muster.cli.main import main

main()
"""
CONFIG: Final = {
    "User": USER,
    "Entrypoint": ["/usr/bin/muster"],
    "Cmd": ["--help"],
    "WorkingDir": "/",
    "Env": [
        "PATH=/usr/bin:/usr/sbin:/bin:/sbin",
        "LANG=C.UTF-8",
        "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt",
    ],
}


def cache() -> Path:
    """Where packages are kept from one time to the next."""
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(home) / "muster" / "release"


def build_image(source: Source, wheel: Path, into: Path) -> str:
    """An OCI layout in the folder `into`, which must not be there. Gives its digest. Raises ReleaseError."""
    base, site, own = (Tree(source.epoch) for _ in range(3))
    add_debian(base, cache() / "debian")
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary, "root")
        for each in fetched_wheels(source.folder / "requirements.lock", cache() / "wheels"):
            add_wheel(site, each)
        add_wheel(own, wheel)
        own.file("usr/bin/muster", _COMMAND, 0o755)
        own.link("placement", "usr/bin/muster")
        for name in ("LICENSE", "NOTICE"):
            own.file(f"usr/share/doc/muster/{name}", (source.folder / name).read_bytes())
        base.written_to(root)
        add_compiled(base, root, ["usr/lib/python3.11"])
        site.written_to(root)
        add_compiled(site, root, [SITE.rstrip("/")])
        own.written_to(root)
        add_compiled(own, root, [f"{SITE}muster"])
    layers = [
        Layer(base.tar(), "Debian 12 packages of release/image/debian.lock"),
        Layer(site.tar(), "wheels of requirements.lock"),
        Layer(own.tar(), f"muster {source.version}"),
    ]
    if into.exists():
        shutil.rmtree(into)
    into.mkdir(parents=True)
    return Layout(into).write(layers, CONFIG, labels_of(source), source.epoch, source.version)


def labels_of(source: Source) -> dict[str, str]:
    """What the image says of itself."""
    return {
        "org.opencontainers.image.title": "Muster",
        "org.opencontainers.image.description": "Which of my clusters, hosts and operators fit, and why?",
        "org.opencontainers.image.licenses": "Apache-2.0",
        "org.opencontainers.image.version": source.version,
        "org.opencontainers.image.revision": source.revision,
    }
