"""Rules between an object's old and new state, written in schemas as `x-kubernetes-validations`.

The schemas carry the CEL text, so that the CustomResourceDefinition objects show it; what runs is the Python function
listed here for that text. A schema with a rule that has no function does not compile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.values.causes import Cause, invalid, invalid_without_value
from muster.values.json import Json, JsonMapping

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Transition = Callable[[Json, Json, str, list[Cause]], None]

RULES: Final[Mapping[str, Callable[[Json, Json], bool]]] = {
    "self == oldSelf": lambda new, old: bool(new == old),
    "!has(oldSelf.cluster) || has(self.cluster)": lambda new, old: "cluster" not in old or "cluster" in new,
}


def compile_transitions(schema: JsonMapping) -> Transition | None:
    """The rules of a node and below; None when there are none. Only what exists before and after is compared."""
    own = [(RULES[rule["rule"]], rule["message"]) for rule in schema.get("x-kubernetes-validations", ())]
    properties: JsonMapping = schema.get("properties", {})
    nested = {name: rules for name, child in properties.items() if (rules := compile_transitions(child)) is not None}
    if not own and not nested:
        return None

    def check_transition(new: Json, old: Json, path: str, causes: list[Cause]) -> None:
        for holds, message in own:
            if not holds(new, old):
                whole = isinstance(new, dict | list)
                causes.append(invalid_without_value(path, message) if whole else invalid(path, new, message))
        if type(new) is dict and type(old) is dict:
            for name, rules in nested.items():
                if name in new and name in old:
                    rules(new[name], old[name], f"{path}.{name}" if path else name, causes)

    return check_transition
