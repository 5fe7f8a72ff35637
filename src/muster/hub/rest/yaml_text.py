"""YAML request bodies and answers, read as Kubernetes reads YAML: plain data, bounded, with text dates.

Called by `bodies` and `answers`. The C parser builds the node tree; this module turns nodes into values itself, so
that no tag of the document can choose a Python type, aliases are counted at their expanded size, and duplicate keys
are seen.
"""

from __future__ import annotations

import re
from typing import Any

import yaml

from muster.hub import status
from muster.hub.requests import MalformedBodyError
from muster.hub.rest.limits import MAX_DEPTH, MAX_YAML_NODES, check_depth

_TAG = "tag:yaml.org,2002:"


class _Loader(yaml.CSafeLoader):
    """The C parser with the scalar forms that Kubernetes' YAML knows: no dates, no base-60 numbers, no `=`."""

    yaml_implicit_resolvers = {}  # noqa: RUF012 - PyYAML's own declaration; filled right below


_Loader.add_implicit_resolver(
    f"{_TAG}bool",
    re.compile(r"^(?:yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)$"),
    list("yYnNtTfFoO"),
)
_Loader.add_implicit_resolver(
    f"{_TAG}int",
    re.compile(r"^(?:[-+]?0b[0-1_]+|[-+]?0o?[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+)$"),
    list("-+0123456789"),
)
_Loader.add_implicit_resolver(
    f"{_TAG}float",
    re.compile(
        r"^(?:[-+]?(?:[0-9][0-9_]*)\.[0-9_]*(?:[eE][-+]?[0-9]+)?|[-+]?[0-9][0-9_]*[eE][-+]?[0-9]+"
        r"|\.[0-9][0-9_]*(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"
    ),
    list("-+0123456789."),
)
_Loader.add_implicit_resolver(f"{_TAG}merge", re.compile(r"^<<$"), ["<"])
_Loader.add_implicit_resolver(f"{_TAG}null", re.compile(r"^(?:~|null|Null|NULL|)$"), ["~", "n", "N", ""])


def decode_yaml(text: bytes) -> tuple[Any, tuple[str, ...]]:
    """The value and what a strict reader says of duplicate keys. Raises MalformedBodyError, StatusError for a limit."""
    try:
        loader = _Loader(text)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise MalformedBodyError(f"yaml: {_one_line(error)}") from None
    try:
        node = loader.get_single_node()
        if node is None:
            return None, ()
        _check_size(node)
        duplicates: list[str] = []
        value = _construct(node, duplicates)
    except (yaml.YAMLError, UnicodeDecodeError, ValueError) as error:
        raise MalformedBodyError(f"yaml: {_one_line(error)}") from None
    except RecursionError:
        check_depth(None, unbounded=True)
        raise
    finally:
        loader.dispose()
    if duplicates:
        return value, ("\n  ".join(["yaml: unmarshal errors:", *duplicates]),)
    return value, ()


def encode_yaml(value: Any) -> bytes:
    """A value as YAML in block style, keys sorted."""
    text: bytes = yaml.dump(
        value,
        Dumper=_Dumper,
        default_flow_style=False,
        sort_keys=True,
        allow_unicode=True,
        encoding="utf-8",
        width=1 << 30,
    )
    return text


class _Dumper(yaml.CSafeDumper):
    """Writes every occurrence in full: answers have no anchors."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - PyYAML's signature
        return True


def _one_line(error: Exception) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        return f"line {error.problem_mark.line + 1}: {error.problem or error.context}"
    return str(error).replace("\n", " ")


def _check_size(root: yaml.Node) -> None:
    """Refuse a document that is too large once its aliases are expanded, too deep, or contains itself."""
    sizes: dict[int, int] = {}
    depths: dict[int, int] = {}
    open_nodes: set[int] = set()
    pending: list[tuple[yaml.Node, bool]] = [(root, False)]
    while pending:
        node, children_done = pending.pop()
        key = id(node)
        if key in sizes:
            continue
        children = _children(node)
        if not children_done:
            if key in open_nodes:
                raise status.bad_request("yaml: a value contains itself through an alias")
            open_nodes.add(key)
            pending.append((node, True))
            pending.extend((child, False) for child in children)
            continue
        open_nodes.discard(key)
        sizes[key] = 1 + sum(sizes[id(child)] for child in children)
        depths[key] = 1 + max((depths[id(child)] for child in children), default=0)
        if sizes[key] > MAX_YAML_NODES:
            raise status.bad_request(
                f"yaml: the document has more than {MAX_YAML_NODES} values once aliases are expanded"
            )
        if depths[key] > MAX_DEPTH:
            raise status.bad_request(f"the body nests deeper than {MAX_DEPTH} levels")


def _children(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [part for pair in node.value for part in pair]
    if isinstance(node, yaml.SequenceNode):
        return list(node.value)
    return []


def _construct(node: yaml.Node, duplicates: list[str]) -> Any:
    if isinstance(node, yaml.ScalarNode):
        return _scalar(node)
    if isinstance(node, yaml.SequenceNode):
        if node.tag != f"{_TAG}seq":
            raise _unknown_tag(node)
        return [_construct(item, duplicates) for item in node.value]
    if node.tag != f"{_TAG}map":
        raise _unknown_tag(node)
    found: dict[str, Any] = {}
    merged: dict[str, Any] = {}
    for key_node, value_node in node.value:
        if key_node.tag == f"{_TAG}merge":
            for source in value_node.value if isinstance(value_node, yaml.SequenceNode) else [value_node]:
                if not isinstance(source, yaml.MappingNode):
                    raise _unreadable(source, "map merge requires map or sequence of maps as the value")
                for key, item in _construct(source, duplicates).items():
                    merged.setdefault(key, item)
            continue
        key = _key(key_node)
        if key in found:
            duplicates.append(f'line {key_node.start_mark.line + 1}: key "{key}" already set in map')
        found[key] = _construct(value_node, duplicates)
    return {**merged, **found} if merged else found


def _key(node: yaml.Node) -> str:
    if not isinstance(node, yaml.ScalarNode):
        raise _unreadable(node, "a key must be a scalar")
    value = _scalar(node)
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value)


def _scalar(node: yaml.ScalarNode) -> Any:
    text: str = node.value
    match node.tag.removeprefix(_TAG):
        case "str" | "merge":
            return text
        case "null":
            return None
        case "bool":
            return text.lower() in ("yes", "true", "on")
        case "int":
            return _integer(text)
        case "float":
            return _float(node, text)
        case _:
            raise _unknown_tag(node)


def _integer(text: str) -> int | float:
    digits = text.replace("_", "")
    sign = -1 if digits.startswith("-") else 1
    digits = digits.lstrip("+-")
    if digits.lower().startswith(("0b", "0x", "0o")):
        value = int(digits, 0)
    elif len(digits) > 1 and digits.startswith("0"):
        value = int(digits, 8)
    elif len(digits) > 400:  # far beyond any number; Python would take its time
        raise ValueError(f"number too long: {digits[:20]}…")
    else:
        value = int(digits)
    value *= sign
    return value if -(1 << 63) <= value < 1 << 63 else float(value)


def _float(node: yaml.ScalarNode, text: str) -> float:
    cleaned = text.replace("_", "").lower()
    if cleaned.endswith(("inf", "nan")):
        raise _unreadable(node, f"{text} is not a JSON number")
    value = float(cleaned)
    if value in (float("inf"), float("-inf")):
        raise _unreadable(node, f"{text} is out of range")
    return value


def _unknown_tag(node: yaml.Node) -> ValueError:
    return _unreadable(node, f"cannot read a value with the tag {node.tag}")


def _unreadable(node: yaml.Node, why: str) -> ValueError:
    return ValueError(f"line {node.start_mark.line + 1}: {why}")
