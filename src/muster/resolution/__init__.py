"""Operator resolution: which operators to install so that everything asked for works together, and why.

`resolve(Request(...))` is where to begin; its outcome is Resolved (with a plan), Impossible (with a story and fixes),
Undecided, or, in the dialect of OLM v0, Refused. Catalogs come from `CatalogBuilder`. Pure: reading files, clocks and
printing belong to the callers.
"""

from __future__ import annotations

from muster.resolution.catalog.blobs import CatalogBuilder, catalog_from_blobs
from muster.resolution.catalog.bundles import Bundle, CatalogKey, Entry, make_bundle
from muster.resolution.catalog.catalog import Catalog, Fault, index_catalog
from muster.resolution.catalog.properties import Property, property_from
from muster.resolution.constraints.forms import InvalidConstraintError, Requirement, normal_form, shipped_form
from muster.resolution.constraints.spellings import read_any_spelling, read_requirement
from muster.resolution.request import Dialect, Installed, OptionalPolicy, Request, UpgradeStrategy, Want, parse_want
from muster.resolution.resolve import Impossible, Outcome, Refused, Resolved, Undecided, resolve
from muster.resolution.telling.fixes import Fix, suggested_fixes
from muster.resolution.telling.plan import Action, PassedOver, Plan, Step
from muster.resolution.telling.story import Story, tell

__all__ = [
    "Action",
    "Bundle",
    "Catalog",
    "CatalogBuilder",
    "CatalogKey",
    "Dialect",
    "Entry",
    "Fault",
    "Fix",
    "Impossible",
    "Installed",
    "InvalidConstraintError",
    "OptionalPolicy",
    "Outcome",
    "PassedOver",
    "Plan",
    "Property",
    "Refused",
    "Request",
    "Requirement",
    "Resolved",
    "Step",
    "Story",
    "Undecided",
    "UpgradeStrategy",
    "Want",
    "catalog_from_blobs",
    "index_catalog",
    "make_bundle",
    "normal_form",
    "parse_want",
    "property_from",
    "read_any_spelling",
    "read_requirement",
    "resolve",
    "shipped_form",
    "suggested_fixes",
    "tell",
]
