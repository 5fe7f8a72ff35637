"""Claims from facts, by rules that anybody can read and extend: a name and a jq query over what is known of a cluster.

The well-known claims of OCM are such rules too. Queries have budgets; one that fails costs its own claim and is told.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from muster.errors import EvaluationError, InvalidExpressionError, InvalidObjectError
from muster.importing.platforms import PLATFORM, PRODUCT
from muster.jq import Limits, compile_query
from muster.values.json import Json

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from muster.importing.facts import ClusterFacts
    from muster.jq import Program

KEY: Final = "rules.yaml"  # of the ConfigMap that rules are kept in
MOST_RULES: Final = 100
LONGEST_QUERY: Final = 10 * 1024  # characters
LONGEST_NAME: Final = 253
LONGEST_VALUE: Final = 1024
MOST_CLAIMS: Final = 200
#: Enough for sums and groups over 5,000 nodes; a second of one core at most, whatever the query.
LIMITS: Final = Limits(steps=5_000_000, cells=10_000_000, outputs=10, seconds=1.0)
_REGION: Final = "topology.kubernetes.io/region"
_ZONE: Final = "topology.kubernetes.io/zone"
_GPUS: Final = (
    "def gpus: [to_entries[] "
    '| select(.key | test("^(nvidia\\\\.com/gpu|amd\\\\.com/gpu|gpu\\\\.intel\\\\.com/[a-z0-9]+)$")) '
    "| .value | tonumber? // 0] | add // 0; "
)
_MODEL: Final = (
    '(.labels["nvidia.com/gpu.product"] // .labels["amd.com/gpu.product-name"] // .labels["gpu.intel.com/product"])'
)

#: What is claimed of every cluster, unless a rule of the same name says otherwise.
BUILT_IN: Final[Mapping[str, str]] = {
    "id.k8s.io": ".id",
    "kubeversion.open-cluster-management.io": ".version",
    "platform.open-cluster-management.io": PLATFORM,
    "product.open-cluster-management.io": PRODUCT,
    "region.open-cluster-management.io": f'[.nodes[]?.labels["{_REGION}"] // empty] | unique',
    "version.openshift.io": ".openshift.version?",
    "id.openshift.io": ".openshift.id?",
    "architectures.muster.dev": '[.nodes[]?.architecture | select(. != "")] | unique',
    "zones.muster.dev": f'[.nodes[]?.labels["{_ZONE}"] // empty] | unique',
    "gpus.muster.dev": f"{_GPUS}[.nodes[]?.capacity | gpus] | add // 0 | select(. > 0)",
    "gpu-models.muster.dev": f"{_GPUS}[.nodes[]? | {{model: {_MODEL}, count: (.capacity | gpus)}} "
    '| select(.model != null and .count > 0)] | group_by(.model) | map("\\(.[0].model)=\\(map(.count) | add)")',
}


@dataclass(frozen=True, slots=True)
class Claims:
    """What rules say of one cluster, and which of them could not."""

    values: Mapping[str, str]
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rules:
    """Compiled rules. Make them once; `faults` are of those that cannot run."""

    programs: Mapping[str, Program]
    faults: tuple[str, ...] = ()

    def claims(self, facts: ClusterFacts) -> Claims:
        """What the rules say. A rule without an output claims nothing."""
        seen = facts.plain()
        values: dict[str, str] = {}
        faults: list[str] = []
        for name, program in self.programs.items():
            try:
                text = _text(program.run(seen, limits=LIMITS))
            except EvaluationError as error:
                faults.append(f"rule {name}: {str(error)[:200]}")
                continue
            except InvalidObjectError as error:
                faults.append(f"rule {name}: {error}")
                continue
            if text:
                values[name] = text
        return Claims(values, tuple(faults))


def built_in() -> Rules:
    return Rules({name: compile_query(text) for name, text in BUILT_IN.items()})


def extended(document: Json) -> Rules:
    """The built-in rules and those of a document `claims: [{name, jq}]`. One that cannot be used is told, and left out.

    >>> sorted(extended({"claims": [{"name": "nodes.example.com", "jq": ".nodes | length"}]}).programs)[-2:]
    ['version.openshift.io', 'zones.muster.dev']
    """
    programs = dict(built_in().programs)
    faults: list[str] = []
    rules = document.get("claims") if isinstance(document, dict) else None
    if not isinstance(rules, list):
        return Rules(programs, ("rules are a list under `claims`, of `name` and `jq`",))
    if len(rules) > MOST_RULES:
        faults.append(f"there are {len(rules)} rules: those after the first {MOST_RULES} do not count")
    for at, rule in enumerate(rules[:MOST_RULES]):
        try:
            name, text = _rule(rule)
            programs[name] = compile_query(text)
        except InvalidObjectError as error:
            faults.append(f"claims[{at}]: {error}")
        except InvalidExpressionError as error:
            faults.append(f"claims[{at}] ({name}): {error.diagnostics[0].message}")
    return Rules(programs, tuple(faults))


def _rule(rule: Json) -> tuple[str, str]:
    if not isinstance(rule, dict) or set(rule) != {"name", "jq"}:
        raise InvalidObjectError("", "a rule has a `name` and a query `jq`, nothing else")
    name, text = rule["name"], rule["jq"]
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME:
        raise InvalidObjectError("name", f"the claim's name is a text of 1 to {LONGEST_NAME} characters")
    if not isinstance(text, str) or len(text) > LONGEST_QUERY:
        raise InvalidObjectError("jq", f"the query is a text of at most {LONGEST_QUERY} characters")
    return name, text


def _text(outputs: list[Json]) -> str:
    """The value of a claim: a text, a number, true or false; texts of a list with commas between."""
    if not outputs:
        return ""
    value = outputs[0]
    match value:
        case None:
            return ""
        case bool():
            text = str(value).lower()
        case int() | float():
            text = f"{value:.15g}"
        case str():
            text = value
        case list() if all(isinstance(each, str | int) for each in value):
            text = ",".join(str(each) for each in value)
        case _:
            raise InvalidObjectError("", "it gives neither a text, a number, true or false, nor a list of texts")
    if len(text.encode("utf-8", "replace")) > LONGEST_VALUE:
        raise InvalidObjectError("", f"its value has more than {LONGEST_VALUE} bytes")
    return text


@dataclass(frozen=True, slots=True)
class Merged:
    """All claims of a cluster, by name, and what was left out."""

    values: Mapping[str, str]
    faults: tuple[str, ...] = ()


def merged(own: Iterable[Mapping[str, str] | None], derived: Mapping[str, str]) -> Merged:
    """Claims of the cluster itself before those of rules; of the cluster's own, the first that says one counts.

    Names and values that no ManagedCluster can carry are left out; so is what is too much.
    """
    faults: list[str] = []
    found: dict[str, str] = {}
    for claims in (*own, derived):
        for name, value in sorted((claims or {}).items()):
            if name in found:
                continue
            if not 0 < len(name) <= LONGEST_NAME or not 0 < len(value.encode("utf-8", "replace")) <= LONGEST_VALUE:
                faults.append(f"claim {name[:60]!r} has a name or value that is empty or too long")
                continue
            found[name] = value
    kept = sorted(found, key=lambda name: (name not in BUILT_IN, name))[:MOST_CLAIMS]
    if len(found) > len(kept):
        faults.append(f"{len(found)} claims: {len(found) - len(kept)} beyond the first {MOST_CLAIMS} are left out")
    return Merged({name: found[name] for name in sorted(kept)}, tuple(faults[:10]))
