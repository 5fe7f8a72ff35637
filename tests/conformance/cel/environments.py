"""The environment that a recorded case ran in, from what the case says about it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from muster.cel.checking import types
from muster.cel.checking.validators import duration_literals, homogeneous_literals, regex_literals, timestamp_literals
from muster.cel.costs.charge import KUBERNETES, OCM, Charge, Tariff
from muster.cel.costs.charging import KUBERNETES_CHARGING, Charging
from muster.cel.costs.operands import CallEstimate
from muster.cel.costs.ranges import exactly
from muster.cel.costs.runtime import fixed
from muster.cel.declarations import Function, Library, Macro, Overload, Variable
from muster.cel.environment import Env, ObjectTypes, Options
from muster.cel.environments import environment
from muster.cel.libraries import ocm
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
from muster.cel.libraries.network import KUBERNETES_CIDR, KUBERNETES_IP, NETWORK
from muster.cel.libraries.optionals import optional_library
from muster.cel.libraries.regex import REGEX
from muster.cel.libraries.sets import SETS
from muster.cel.libraries.standard import STANDARD
from muster.cel.libraries.strings import strings_library
from muster.cel.syntax.tree import Expr, Ident, Literal
from muster.cel.values import type_of
from tests.conformance.cel.calls import calls, words
from tests.conformance.cel.values import parse_type
from tests.conformance.suites import keys

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from muster.cel.checking.types import Type
    from muster.cel.costs.operands import Arguments, Operand
    from muster.cel.syntax.nodes import Builder

_LITERALS = Library(
    "kubernetes.validators",
    validators=(duration_literals, timestamp_literals, regex_literals, homogeneous_literals),
)
# Object types that Kubernetes generates for a schema; recorded by name only, so their fields are not known.
GENERATED = re.compile(r"\b\w*Type\d+[\w.@]*|\bkubernetes\.DRADevice\b")
_UNBUILT = frozenset({"kubernetes.authz", "kubernetes.authzSelectors", "kubernetes.jsonpatch"})


# A function that one of cel-go's tests declares for itself.
_GREATEST = Function("greatest", (Overload("int_greatest_int", (types.INT, types.INT), types.INT, max, member=True),))


def _seven(_: Operand | None, __: Arguments) -> CallEstimate:
    return CallEstimate(exactly(7))


# What the estimator of one of cel-go's tests says.
TESTS = Tariff("tests")
_YEARS = Function("getFullYear", (), charges={TESTS: Charge(fixed(7), _seven)})


def is_kubernetes(case: Mapping[str, Any]) -> bool:
    return str(case.get("source", "")).startswith("kubernetes/")


@lru_cache(maxsize=256)
def _assembled(libraries: tuple[str, ...], kubernetes: bool, version: int | None, formats: bool) -> Env:
    """`version` is that of cel-go's extensions, None for the latest."""
    chosen_version = () if version is None else (version,)
    known: dict[str, Library] = {
        "cel.lib.optional": optional_library(),
        "cel.lib.ext.strings": strings_library(3 if formats else 2)
        if kubernetes or formats
        else strings_library(*chosen_version),
        "cel.lib.ext.comprev2": TWO_VARIABLE_COMPREHENSIONS,
        "cel.lib.ext.sets": SETS,
        "cel.lib.ext.lists": lists_library(*chosen_version),
        "cel.lib.ext.cel.bindings": bindings_library(),
        "cel.lib.ext.math": math_library(*chosen_version),
        "cel.lib.ext.regex": REGEX,
        "cel.lib.ext.network": NETWORK,
        "cel.lib.ext.encoders": encoders_library(),
        "kubernetes.format": FORMATS_LIBRARY,
        "kubernetes.lists": kubernetes_lists_library(),
        "kubernetes.quantity": QUANTITIES,
        "kubernetes.regex": KUBERNETES_REGEX,
        "kubernetes.urls": URLS,
        "kubernetes.net.cidr": KUBERNETES_CIDR,
        "kubernetes.net.ip": KUBERNETES_IP,
        "kubernetes.Semver": semver_library(),
        "open-cluster-management.json": ocm.JSON,
        "open-cluster-management.managedcluster": ocm.MANAGED_CLUSTER,
        "open-cluster-management.conditions": ocm.CONDITIONS,
    }
    options = Options(
        optional_syntax="cel.lib.optional" in libraries,
        cross_type_comparisons=kubernetes,
    )
    chosen = [known[name] for name in libraries if name in known]
    if kubernetes:
        chosen.append(_LITERALS)
    return Env(name="recorded", options=options).extend(STANDARD, *chosen, functions=[_YEARS])


_OPTIONS_OF_TESTS = {
    "CrossType": ("cross_type_comparisons",),
    "TestQuotedFields": ("identifier_escapes",),
    "TestEnableErrorOnBadPresenceTest": ("error_on_bad_presence_test", "optional_syntax"),
}
_VALIDATORS_OF_TESTS = {
    "TestValidateDurationLiterals": duration_literals,
    "TestValidateTimestampLiterals": timestamp_literals,
    "TestValidateRegexLiterals": regex_literals,
    "TestValidateHomogeneousAggregateLiterals": homogeneous_literals,
}


# The version of its library in which a function came, by cel-go's documentation of its extensions.
_INTRODUCED = {
    "cel.lib.ext.strings": {"format": 1, "quote": 1, "reverse": 3},
    "cel.lib.ext.math": {
        **dict.fromkeys(
            keys(
                "abs bitAnd bitNot bitOr bitShiftLeft bitShiftRight bitXor ceil floor isFinite isInf isNaN "
                "round sign trunc"
            ),
            1,
        ),
        "sqrt": 2,
    },
    "cel.lib.ext.lists": {
        "flatten": 1,
        **dict.fromkeys(
            keys("distinct range reverse sort sortBy"),
            2,
        ),
        "first": 3,
        "last": 3,
    },
}
_VERSIONS = range(6)


def versions_of(case: Mapping[str, Any]) -> tuple[int | None, ...]:
    """A case about the versions of a library: all those that have its functions, or, where the record is an error, all
    that lack one of them. None is the newest."""
    source = case.get("source", "")
    if "Version" not in source or "ext.Test" not in source:
        return (None,)
    introduced = {name: since for library in case["libs"] for name, since in _INTRODUCED.get(library, {}).items()}
    since = max((introduced.get(each.name, 0) for each in calls(case["expr"])), default=0)
    return tuple(version for version in _VERSIONS if (version < since) == bool(case.get("error")))


def case_environment(case: Mapping[str, Any], version: int | None = None) -> Env:
    source = case.get("source", "")
    kubernetes = is_kubernetes(case) and "library:library.TestSets" not in source
    formats = source.endswith(
        ("ext.TestStringFormat", "ext.TestStringFormatHeterogeneousLiterals", "ext.TestLiteralOutput")
    )
    env = _assembled(tuple(case.get("libs", ())), kubernetes, version, formats)
    if source.endswith("TestMathNonMatch"):
        env = env.extend(functions=[_GREATEST])
    variables = [Variable(name, _declared(text)) for name, text in case.get("decls", {}).items()]
    env = env.extend(variables=variables, container=case.get("container", ""))
    for test, options in _OPTIONS_OF_TESTS.items():
        if test in source:
            env = env.with_options(**dict.fromkeys(options, True))
    for test, validator in _VALIDATORS_OF_TESTS.items():
        if test in source:
            env = env.extend(validators=[validator])
    return env


def _declared(text: str) -> Type:
    return parse_type(GENERATED.sub("dyn", text))


def has_generated_types(case: Mapping[str, Any]) -> bool:
    return any(GENERATED.search(text) for text in case.get("decls", {}).values())


def inferred_environment(case: Mapping[str, Any], variables: Mapping[str, Any]) -> Env:
    """The environment with object types made up from the recorded values, since the schema was not recorded."""
    fields: dict[str, dict[str, Type]] = {}

    def inferred(value: Any, name: str) -> Type:
        match value:
            case dict() if value and all(isinstance(key, str) for key in value):
                fields[name] = {key: inferred(item, f"{name}.{key}") for key, item in value.items()}
                return types.struct(name)
            case list() if value:
                kinds = {inferred(item, f"{name}.@idx") for item in value}
                return types.list_of(kinds.pop() if len(kinds) == 1 else types.DYN)
            case list():
                return types.list_of(types.DYN)
            case dict() | None:
                return types.DYN
            case _:
                return type_of(value)

    declared = [
        Variable(name, inferred(variables[name], f"inferred.{name}") if name in variables else types.DYN)
        for name, text in case["decls"].items()
        if GENERATED.search(text)
    ]
    return case_environment(case).extend(variables=declared, types=ObjectTypes(fields))


def needs_unbuilt(case: Mapping[str, Any]) -> bool:
    """Whether the case is about a Kubernetes library that Muster does not offer: authorization checks, JSON patches."""
    expr = case["expr"]
    names = {each.partition(".")[0] for each in words(expr)}
    return bool(names & {"authorizer", "jsonpatch", "JSONPatch", "Object"}) or any(
        name in _UNBUILT for name in case.get("libs", ()) if "authorizer" in expr
    )


def case_charging(case: Mapping[str, Any]) -> Charging:
    """How the case charged: the estimator it used, and whether constants were folded."""
    estimator = case.get("call_estimator")
    estimators = (KUBERNETES,) if is_kubernetes(case) and estimator == "*library.CostEstimator" else ()
    presence = 0 if is_kubernetes(case) else 1
    if case.get("presence_test_has_cost") is not None:
        presence = 1 if case["presence_test_has_cost"] else 0
    if any(name.startswith("open-cluster") for name in case.get("libs", ())):
        estimators, presence = (OCM,), 1
    if "timestamp_to_year" in case.get("test_estimator", "") or estimator == "cel.testRuntimeCostEstimator":
        estimators = (TESTS,)
    if case.get("name", "").endswith("no has() cost"):
        presence = 0
    return Charging(estimators, presence, optimize=bool(case.get("optimize")))


def oracle_environment(case: Mapping[str, Any]) -> Env:
    if case["env"] == "ocm":
        return environment("ocm")
    env = environment(f"kubernetes-{case['k8s_version']}")
    cluster = Variable("managedCluster", types.map_of(types.STRING, types.DYN))
    return env.extend(ocm.JSON, ocm.MANAGED_CLUSTER, variables=(cluster,))


# The recorder ran OCM's environment with Kubernetes' program options, which OCM itself does not use.
_RECORDED_OCM = Charging((KUBERNETES,), optimize=True)


def oracle_charging(case: Mapping[str, Any]) -> Charging:
    return _RECORDED_OCM if case["env"] == "ocm" else KUBERNETES_CHARGING


# --- cel-spec's conformance tests


def conformance_environment(case: Mapping[str, Any]) -> Env:
    env = environment("standard").extend(container=case.get("container", ""))
    if case["file"] == "block_ext":
        env = env.extend(BLOCKS, variables=SLOTS)
    variables: list[Variable] = []
    functions: list[Function] = []
    for declared in case.get("type_env", ()):
        if "ident" in declared:
            variables.append(Variable(declared["name"], _spec_type(declared["ident"])))
        else:
            overloads = tuple(_spec_overload(overload) for overload in declared["function"])
            functions.append(Function(declared["name"], overloads))
    return env.extend(variables=variables, functions=functions)


def declared_types(type_env: Any) -> dict[str, str]:
    """The variables of a case, with the names of their types."""
    return {each["name"]: str(each["ident"]) for each in type_env if "ident" in each}


def _spec_overload(recorded: dict[str, Any]) -> Overload:
    return Overload(
        recorded["id"],
        tuple(map(_spec_type, recorded["params"])),
        _spec_type(recorded["result"]),
        member=recorded["member"],
    )


def _spec_type(recorded: Any) -> Type:
    match recorded:
        case str():
            return parse_type(recorded)
        case {"map": [key, value]}:
            return types.map_of(_spec_type(key), _spec_type(value))
        case {"list": element}:
            return types.list_of(_spec_type(element))
        case {"param": name}:
            return types.type_param(name)
        case {"abstract": name, **rest}:
            params: Any = rest.get("params", ())
            return types.opaque(str(name), *map(_spec_type, params))
        case {"type": described}:
            return types.type_of_type(_spec_type(described))
        case {"wrapper": primitive}:
            return types.wrapper(_spec_type(primitive))
        case {"message": name}:
            return parse_type(str(name))
        case _:
            return types.DYN


# The macros that cel-spec's block tests are written with.


def _numbered(prefix: str) -> Callable[[Builder, Expr | None, tuple[Expr, ...]], Expr | None]:
    """`cel.index(1)` is the name @index1, `cel.iterVar(0, 1)` the name @it:0:1."""

    def expand(make: Builder, target: Expr | None, args: tuple[Expr, ...]) -> Expr | None:
        if not isinstance(target, Ident) or target.name != "cel":
            return None
        numbers = [str(arg.value) for arg in args if isinstance(arg, Literal)]
        return make.new_ident(prefix + ":".join(numbers))

    return expand


def _block(make: Builder, target: Expr | None, args: tuple[Expr, ...]) -> Expr | None:
    is_cel = isinstance(target, Ident) and target.name == "cel"
    return make.new_call("cel.@block", *args) if is_cel else None


BLOCKS = Library(
    "conformance.blocks",
    macros=(
        Macro("block", True, 2, _block),
        Macro("index", True, 1, _numbered("@index")),
        Macro("iterVar", True, 2, _numbered("@it:")),
        Macro("accuVar", True, 2, _numbered("@ac:")),
    ),
)
SLOTS = tuple(Variable(f"@index{number}", types.DYN) for number in range(32))
