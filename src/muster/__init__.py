"""Muster: which of my clusters, hosts and operators fit, and why?

    load(path)                  objects from files and directories
    select(fleet, ...)          clusters by CEL, labels, a selector or a Placement, each with its reason
    explain(fleet, ...)         why a placement chose as it did, of one cluster or of a set
    plan(fleet, objects)        what writing objects would change, before it is written
    lint(objects, fleet)        mistakes in placements, sets and bindings
    classify(hosts)             labels of hosts by jq queries over their inventories
    resolve(catalogs, want)     operators that work together, or why there are none
    muster.cel, muster.jq       the two languages, as libraries of their own
    muster.selectors            selectors over names, labels and purposes, to embed in types of your own
    muster.errors               every error that is raised on purpose; MusterError is the root

Objects are plain mappings as YAML and JSON have them. Results print as tables, and notebooks show them as tables. No
server is asked, nothing is written. Parts are imported when they are first used. docs/reference/python has everything.

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

from muster.lazy import lazy_names

if TYPE_CHECKING:
    from muster import cel, errors, jq, selectors
    from muster.errors import MusterError
    from muster.library.classifying import HostLabels, classify
    from muster.library.linting import Findings, lint
    from muster.library.loading import Objects, load
    from muster.library.planning import PlannedChange, plan
    from muster.library.resolving import Resolution, resolve
    from muster.selection import Selection, explain, select

__all__ = [
    "Findings",
    "HostLabels",
    "MusterError",
    "Objects",
    "PlannedChange",
    "Resolution",
    "Selection",
    "__version__",
    "cel",
    "classify",
    "errors",
    "explain",
    "jq",
    "lint",
    "load",
    "plan",
    "resolve",
    "select",
    "selectors",
]

__version__ = "0.1.0"

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "muster.errors": ("MusterError",),
        "muster.library.classifying": ("HostLabels", "classify"),
        "muster.library.linting": ("Findings", "lint"),
        "muster.library.loading": ("Objects", "load"),
        "muster.library.planning": ("PlannedChange", "plan"),
        "muster.library.resolving": ("Resolution", "resolve"),
        "muster.selection": ("Selection", "explain", "select"),
    },
    modules=("cel", "errors", "jq", "selectors"),
)
