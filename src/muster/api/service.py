"""Service: what a program offers in a cluster. The hub runs no programs and has none; clients ask nevertheless.

`kubectl cluster-info` lists those of kube-system, `kubectl get all` those of a namespace. They can be read and watched,
and there are none; nobody can create one.
"""

from __future__ import annotations

from typing import Final

from muster.api import parts
from muster.api.builtin import AGE, builtin
from muster.api.resource import READ_ONLY

SERVICE: Final = builtin(
    "Service",
    "services",
    parts.kind("What a program offers.", parts.anything("How it is reached."), parts.anything("Where it is.")),
    (AGE,),
    short_names=("svc",),
    categories=("all",),
    verbs=READ_ONLY,
)
