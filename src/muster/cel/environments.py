"""The environments by name: kubernetes-1.28 to kubernetes-1.37, ocm, olm, muster, and standard.

The first three families offer exactly what the programs they are named after offer. `muster` is Placement's: it
accepts whatever `ocm` accepts and has every library. `standard` is cel-go with all of its extensions.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from muster.cel.checking.types import ANY, DYN, STRING, list_of, map_of
from muster.cel.checking.validators import duration_literals, homogeneous_literals, regex_literals, timestamp_literals
from muster.cel.declarations import Library, Variable
from muster.cel.environment import Env, Options
from muster.cel.libraries import ocm, olm
from muster.cel.libraries.bindings import bindings_library
from muster.cel.libraries.comprehensions import TWO_VARIABLE_COMPREHENSIONS
from muster.cel.libraries.encoders import encoders_library
from muster.cel.libraries.kubernetes.formats import FORMATS_LIBRARY
from muster.cel.libraries.kubernetes.lists import lists_library as kubernetes_lists_library
from muster.cel.libraries.kubernetes.quantity import QUANTITIES
from muster.cel.libraries.kubernetes.regex import REGEX as KUBERNETES_REGEX
from muster.cel.libraries.kubernetes.semver import semver_library
from muster.cel.libraries.kubernetes.urls import URLS
from muster.cel.libraries.lists import lists_library
from muster.cel.libraries.math import math_library
from muster.cel.libraries.network import EXT_NETWORK, KUBERNETES_CIDR, KUBERNETES_IP, NETWORK
from muster.cel.libraries.optionals import optional_library
from muster.cel.libraries.regex import REGEX
from muster.cel.libraries.sets import SETS
from muster.cel.libraries.standard import STANDARD
from muster.cel.libraries.strings import strings_library
from muster.cel.syntax.macros import STANDARD_MACROS
from muster.errors import InvalidObjectError

if TYPE_CHECKING:
    from collections.abc import Callable

FIRST_MINOR = 28
LATEST_MINOR = 37
MANAGED_CLUSTER = Variable("managedCluster", map_of(STRING, DYN), "The cluster that is looked at.")
PROPERTIES = Variable(
    "properties", list_of(map_of(STRING, ANY)), "The properties of a bundle: maps with type and value."
)


class UnknownEnvironmentError(InvalidObjectError):
    """No environment has that name."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(name, "is not the name of a CEL environment")

    def __str__(self) -> str:
        return f"unknown CEL environment '{self.name}': choose one of {', '.join(NAMES)}"


def _kubernetes(minor: int) -> Env:
    """What the API server of that version offers to new expressions, without variables."""
    literals = (duration_literals, timestamp_literals, regex_literals) if minor >= 29 else ()
    # Each line: the minor version that brought it, and what it brought.
    history: tuple[tuple[int, Library], ...] = (
        (0, STANDARD),
        (0, URLS),
        (0, KUBERNETES_REGEX),
        (0, kubernetes_lists_library(1 if minor >= 37 else 0)),
        (28, optional_library()),
        (28, QUANTITIES),
        (0, Library("kubernetes.literals", validators=(*literals, homogeneous_literals))),
        (0, strings_library(2 if minor >= 29 else 0)),
        (29, SETS),
        (30, KUBERNETES_IP),
        (30, KUBERNETES_CIDR),
        (31, FORMATS_LIBRARY),
        (32, TWO_VARIABLE_COMPREHENSIONS),
        (33, semver_library()),
        (34, lists_library()),
    )
    options = Options(optional_syntax=True, identifier_escapes=True, cross_type_comparisons=True, optimize=True)
    libraries = tuple(library for since, library in history if since <= minor)
    return Env(name=f"kubernetes-1.{minor}", options=options).extend(*libraries)


def _ocm() -> Env:
    """What OCM's placement controller offers to celSelector."""
    return Env(name="ocm", options=Options(optional_syntax=True, identifier_escapes=True)).extend(
        STANDARD,
        optional_library(),
        strings_library(),
        kubernetes_lists_library(0),
        KUBERNETES_REGEX,
        URLS,
        QUANTITIES,
        KUBERNETES_IP,
        KUBERNETES_CIDR,
        FORMATS_LIBRARY,
        semver_library(0),
        ocm.JSON,
        ocm.MANAGED_CLUSTER,
        variables=(MANAGED_CLUSTER,),
    )


def _olm() -> Env:
    """What the Operator Lifecycle Manager offers to olm.constraint."""
    return Env(name="olm", options=Options(identifier_escapes=True)).extend(
        STANDARD, olm.SEMVER_COMPARE, variables=(PROPERTIES,)
    )


def _muster() -> Env:
    """Every library; literals are not validated, because OCM does not."""
    return Env(
        name="muster", options=Options(optional_syntax=True, identifier_escapes=True, cross_type_comparisons=True)
    ).extend(
        STANDARD,
        optional_library(),
        strings_library(charged=False),
        math_library(),
        lists_library(),
        SETS,
        encoders_library(),
        bindings_library(),
        REGEX,
        TWO_VARIABLE_COMPREHENSIONS,
        kubernetes_lists_library(),
        KUBERNETES_REGEX,
        URLS,
        QUANTITIES,
        replace(NETWORK, validators=()),
        FORMATS_LIBRARY,
        semver_library(),
        ocm.CONDITIONS,
        ocm.MUSTER,
        olm.SEMVER_COMPARE,
        variables=(MANAGED_CLUSTER,),
        macros=STANDARD_MACROS,
    )


def _standard() -> Env:
    """cel-go with all of its extensions, as its conformance tests use it."""
    return Env(
        name="standard",
        options=Options(optional_syntax=True, identifier_escapes=True, error_on_bad_presence_test=True),
    ).extend(
        STANDARD,
        optional_library(),
        strings_library(),
        math_library(),
        lists_library(),
        SETS,
        encoders_library(),
        bindings_library(),
        REGEX,
        EXT_NETWORK,
        TWO_VARIABLE_COMPREHENSIONS,
    )


_OTHERS: dict[str, Callable[[], Env]] = {"ocm": _ocm, "olm": _olm, "muster": _muster, "standard": _standard}
NAMES = (
    *(f"kubernetes-1.{minor}" for minor in range(FIRST_MINOR, LATEST_MINOR + 1)),
    *_OTHERS,
)


@lru_cache(maxsize=len(NAMES))
def environment(name: str) -> Env:
    """The environment of that name; built when it is first asked for."""
    if name not in NAMES:
        raise UnknownEnvironmentError(name)
    if name in _OTHERS:
        return _OTHERS[name]()
    return _kubernetes(int(name.removeprefix("kubernetes-1.")))
