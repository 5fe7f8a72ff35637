"""The same objects for kustomize: the kinds by themselves, our home by itself, and both together.

Whoever has the kinds of somebody else takes the home alone. Image, replicas and namespace are what kustomize changes by
itself.
"""

from __future__ import annotations

from typing import Final

from muster.kubernetes.manifests import objects
from muster.kubernetes.objects.crds import CRD
from muster.kubernetes.packaging.templates import yaml_lines
from muster.kubernetes.settings import DEFAULTS
from muster.values.json import JsonObject

_HEAD: Final = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization"}
_WRITTEN: Final = "# Written by `python -m muster.kubernetes.packaging`; do not edit.\n"


def kustomizations() -> dict[str, str]:
    """Every file, by its path."""
    found = objects(DEFAULTS)
    kinds = [each for each in found if each["kind"] == CRD]
    home = [each for each in found if each["kind"] != CRD]
    return {
        "kinds/kustomization.yaml": _kustomization("kinds.yaml"),
        "kinds/kinds.yaml": _documents(kinds),
        "home/kustomization.yaml": _kustomization("home.yaml"),
        "home/home.yaml": _documents(home),
        "default/kustomization.yaml": _kustomization("../kinds", "../home"),
    }


def _kustomization(*resources: str) -> str:
    return _WRITTEN + "\n".join(yaml_lines({**_HEAD, "resources": list(resources)})) + "\n"


def _documents(found: list[JsonObject]) -> str:
    return _WRITTEN + "---\n".join("\n".join(yaml_lines(each)) + "\n" for each in found)
