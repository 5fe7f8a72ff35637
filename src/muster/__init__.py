"""Muster: which of my clusters, hosts and operators fit, and why?

>>> import muster
>>> fleet = [{"kind": "ManagedCluster", "metadata": {"name": "a", "labels": {"cloud": "Amazon"}}}]
>>> muster.select(fleet, "managedCluster.metadata.labels.cloud == 'Amazon'").names
('a',)
>>> placement = {"metadata": {"name": "shop"}, "spec": {"predicates": [
...     {"requiredClusterSelector": {"labelSelector": {"matchLabels": {"cloud": "Azure"}}}}]}}
>>> muster.explain(fleet, placement, cluster="a").stage
'Predicate'
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from muster.selection import Selection, explain, select
    from muster.values.json import Json

__all__ = ["Selection", "__version__", "explain", "select"]

__version__ = "0.1.0"


def __getattr__(name: str) -> Json:
    """The library is loaded when it is used: the command must start fast."""
    if name in ("Selection", "explain", "select"):
        from muster import selection

        return getattr(selection, name)
    raise AttributeError(f"module 'muster' has no attribute {name!r}")
