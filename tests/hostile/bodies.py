"""Request bodies that a tenant could send to break the hub: of every content type and patch type, for every kind.

`bodies(seed, count)` yields (method, path, content type, body), the same for the same seed. Objects are named `h-0` to
`h-9`, so that a long run does not fill the hub; now and then a good object comes, so that patches find something. Most
bodies are small, so that many can be tried; one in forty has up to three megabytes. The shapes are those of findings
and their variants: where a body was once slow, large or deadly, its cousins are here.
"""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any, Final

from muster.api import RESOURCES
from tests.hostile.mutations import VALUES, address, mutable_object, places, replaced
from tests.hostile.whole_objects import whole_object

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from muster.api.resource import Resource, Version

Hostile = tuple[str, str, str, bytes]

JSON: Final = "application/json"
YAML: Final = "application/yaml"
PROTOBUF: Final = "application/vnd.kubernetes.protobuf"
MERGE: Final = "application/merge-patch+json"
STRATEGIC: Final = "application/strategic-merge-patch+json"
JSON_PATCH: Final = "application/json-patch+json"
APPLY: Final = "application/apply-patch+yaml"
PATCHES: Final = (MERGE, STRATEGIC, JSON_PATCH, APPLY)
GARBAGE_TYPES: Final = (
    "",
    "text/plain",
    "application/json; charset=utf-16",
    "application/json;" + "x" * 2000,
    "multipart/form-data; boundary=x",
    "application/cbor",
    "application/vnd.kubernetes.protobuf;type=watch",
    "*/*",
    "é",
)
QUERIES: Final = ("", "", "?dryRun=All", "?fieldValidation=Ignore&fieldManager=m")
ODD_QUERIES: Final = (
    "?fieldValidation=Strict",
    "?fieldManager=m&force=true",
    "?fieldManager=" + "m" * 129,
    "?fieldManager=%00&dryRun=None",
    "?dryRun=All&dryRun=x&pretty=true&timeout=0s",
    "?resourceVersion=" + "9" * 400,
)
_MOST: Final = 3 * 1024 * 1024 - 4096  # the largest body that is taken
_KINDS: Final = tuple(
    (resource, version)
    for resource in RESOURCES.values()
    for version in resource.versions
    if "create" in resource.verbs and version.served
)


def bodies(seed: int, count: int) -> Iterator[Hostile]:
    """So many requests."""
    made = _Bodies(random.Random(seed))
    for number in range(count):
        yield made.good() if number < 2 * len(_KINDS) or number % 20 == 0 else made.one()


class _Bodies:
    def __init__(self, source: random.Random) -> None:
        self._random = source
        self._shapes: tuple[tuple[int, Callable[[], Hostile]], ...] = (
            (30, self._mutation),
            (10, self._mutations),
            (14, self._yaml_text),
            (10, self._json_text),
            (8, self._protobuf),
            (10, self._json_patch),
            (6, self._strategic),
            (6, self._apply),
            (8, self._long_lists),
            (4, self._expressions),
            (4, self._deletion),
        )

    def one(self) -> Hostile:
        shapes = [shape for _, shape in self._shapes]
        (shape,) = self._random.choices(shapes, [weight for weight, _ in self._shapes])
        method, path, content_type, body = shape()
        if self._random.random() < 0.02:
            content_type = self._random.choice(GARBAGE_TYPES)
        if self._random.random() < 0.02:
            body = body[: self._random.randrange(len(body) + 1)]
        if self._random.random() < 0.02 and body:
            spoiled = bytearray(body)
            for _ in range(self._random.randrange(1, 4)):
                spoiled[self._random.randrange(len(spoiled))] = self._random.randrange(256)
            body = bytes(spoiled)
        query = self._random.choice(QUERIES if self._random.random() < 0.9 else ODD_QUERIES)
        if content_type == APPLY and "fieldManager" not in query:
            query = self._random.choice(("?fieldManager=m", "?fieldManager=n&force=true"))
        return method, path + query, content_type, body[:_MOST]

    def good(self) -> Hostile:
        """An object that the hub takes, for others to be tried on."""
        resource, version = self._kind(stored=True)
        obj = whole_object(resource, version)
        obj["metadata"] = {**obj["metadata"], "name": self._name()}
        obj["metadata"].pop("finalizers")
        return "POST", address(resource, version), JSON, json.dumps(obj).encode()

    # --- where to, and how much -----------------------------------------------------------------------------------

    def _kind(self, *, stored: bool = False, builtin: bool = False) -> tuple[Resource, Version]:
        fitting = [
            (resource, version)
            for resource, version in _KINDS
            if not (stored and resource.virtual) and (resource.builtin or not builtin)
        ]
        return self._random.choice(fitting)

    def _name(self) -> str:
        return f"h-{self._random.choice((0, 0, 0, 0, 0, *range(10)))}"

    def _size(self, small: int) -> int:
        """How many of something: mostly few, now and then as many as fit."""
        large = self._random.random() < 0.025
        return self._random.randrange(1, small * (100 if large else 1) + 1)

    def _place(self, resource: Resource, version: Version, name: str) -> str:
        subresource = "status" if version.status and self._random.random() < 0.3 else ""
        return address(resource, version, name, subresource)

    def _object(self, resource: Resource, version: Version, name: str) -> dict[str, Any]:
        obj = mutable_object(resource, version)
        metadata = {**obj["metadata"], "name": name}
        for field in ("uid", "resourceVersion", "deletionTimestamp", "managedFields", "generateName", "finalizers"):
            if self._random.random() < 0.8:
                metadata.pop(field, None)
        return {**obj, "metadata": metadata}

    def _sent(self, resource: Resource, version: Version, obj: dict[str, Any], name: str) -> Hostile:
        """A whole object, by one of the verbs that take one."""
        body = json.dumps(obj).encode()
        choice = self._random.random()
        if choice < 0.4 or resource.virtual:
            content_type = self._random.choice((JSON, JSON, YAML))
            return "POST", address(resource, version), content_type, body
        place = self._place(resource, version, name)
        if choice < 0.6:
            return "PUT", place, self._random.choice((JSON, YAML)), body
        if choice < 0.8:
            return "PATCH", place, self._random.choice((MERGE, STRATEGIC)), body
        return "PATCH", place, APPLY, body

    # --- shapes -----------------------------------------------------------------------------------------------------

    def _mutation(self, times: int = 1) -> Hostile:
        """A good object with wrong values at a few places."""
        resource, version = self._kind()
        name = self._name()
        obj: Any = self._object(resource, version, name)
        for _ in range(times):
            obj = replaced(obj, self._random.choice(list(places(obj)) or [("spec",)]), self._value())
        return self._sent(resource, version, obj, name)

    def _mutations(self) -> Hostile:
        return self._mutation(self._random.randrange(2, 6))

    def _value(self) -> Any:
        value = self._random.choice(VALUES)
        count = min(self._size(50), 1 + _MOST // (8 + len(json.dumps(value))))
        if self._random.random() < 0.1:
            return [value] * count
        if self._random.random() < 0.1:
            return {f"k{number}": value for number in range(count)}
        return value

    def _yaml_text(self) -> Hostile:
        resource, version = self._kind()
        name = self._name()
        head = f"apiVersion: {resource.api_version(version)}\nkind: {resource.kind}\nmetadata: {{name: {name}}}\n"
        body = self._random.choice(_YAML_SHAPES)(self._size(1000)).encode("utf-8", "surrogatepass")
        if self._random.random() < 0.5:
            body = head.encode() + b"spec: " + body
        if self._random.random() < 0.05:
            body = body.decode("utf-8", "replace").encode("utf-16")
        if self._random.random() < 0.5 and not resource.virtual:
            return "PATCH", self._place(resource, version, name), APPLY, body
        return "POST", address(resource, version), YAML, body

    def _json_text(self) -> Hostile:
        resource, version = self._kind()
        name = self._name()
        meta = f'"apiVersion":"{resource.api_version(version)}","kind":"{resource.kind}","metadata":{{"name":"{name}"}}'
        body = self._random.choice(_JSON_SHAPES)(self._size(1000))
        if self._random.random() < 0.6:
            body = b"{" + meta.encode() + b',"spec":' + body + b',"data":' + body + b"}"
        if self._random.random() < 0.3 and not resource.virtual:
            return "PATCH", self._place(resource, version, name), self._random.choice(PATCHES), body
        return "POST", address(resource, version), JSON, body

    def _protobuf(self) -> Hostile:
        resource, version = self._kind(builtin=True)
        kind = _field(1, _field(1, resource.api_version(version).encode()) + _field(2, resource.kind.encode()))
        body = b"k8s\x00" + kind + _field(2, self._wire(0))
        if self._random.random() < 0.3:
            body = b"k8s\x00" + self._random.randbytes(self._size(200))
        if self._random.random() < 0.6 or resource.virtual:
            return "POST", address(resource, version), PROTOBUF, body
        return "PUT", address(resource, version, self._name()), PROTOBUF, body

    def _wire(self, depth: int) -> bytes:
        parts = [_field(1, _field(1, self._name().encode()))] if not depth else []
        for _ in range(self._random.randrange(5)):
            number = self._random.choice((1, 2, 3, 4, 5, 7, 11, 12, 13, 17, 536870911))
            match self._random.randrange(6):
                case 0:
                    parts.append(_number(number << 3) + _number(self._random.getrandbits(64)))
                case 1:
                    parts.append(_number(number << 3 | 2) + _number(2**40))  # a length that is not there
                case 2:
                    parts.append(_field(number, self._random.randbytes(self._random.randrange(20))))
                case 3 if depth < 5:
                    nested = _field(number, self._wire(depth + 1))
                    parts.append(nested * min(self._size(20), 1 + _MOST // 8 // len(nested)))
                case 4:
                    parts.append(_field(number, b"x" * self._size(1000)))
                case _:
                    parts.append(b"\xff" * self._random.randrange(12))
        if self._random.random() < 0.05:
            nested = b""
            for _ in range(300):
                nested = _field(self._random.choice((1, 2)), nested)
            parts.append(nested)
        return b"".join(parts)

    def _json_patch(self) -> Hostile:
        resource, version = self._kind(stored=True)
        path = self._place(resource, version, self._name())
        count = self._size(80)
        listed = self._random.choice(("/x", "/metadata/finalizers", "/metadata/labels", "/spec", "/data", ""))
        start: list[Any] = [{"op": "add", "path": "/x", "value": self._value()}]
        match self._random.randrange(8):
            case 0:  # doubles each time
                operations = start + [{"op": "copy", "from": "/x", "path": "/x/-"}] * min(count, 9000)
            case 1:
                operations = [{"op": "add", "path": "/metadata/finalizers", "value": ["example.com/a"] * 200}]
                operations += [{"op": "add", "path": "/metadata/finalizers/0", "value": "x.com/a"}] * min(count, 9000)
            case 2:  # as deep as one likes
                operations = [{"op": "add", "path": "/x", "value": []}]
                for _ in range(min(count, 3000)):
                    operations += [
                        {"op": "add", "path": "/y", "value": []},
                        {"op": "move", "from": "/x", "path": "/y/0"},
                        {"op": "move", "from": "/y", "path": "/x"},
                    ]
                operations.append({"op": self._random.choice(("copy", "move")), "from": "/x", "path": ""})
            case 3:
                operations = [
                    {"op": "copy", "from": "", "path": f"/x{number % 7}"} for number in range(min(count, 9000))
                ]
            case 4:
                operations = [{"op": "test", "path": listed, "value": self._value()} for _ in range(min(count, 20))]
            case 5:
                pointer = self._random.choice(
                    ("/" * count, "/~2", "x", "/metadata/labels/~1~0", "/-", "/0", "/" + "9" * 5000)
                )
                operations = [{"op": "replace", "path": pointer, "value": self._value()}]
            case 6:
                operations = [{"op": "remove", "path": listed}, {"op": "add", "path": listed, "value": self._value()}]
            case _:
                operations = [self._value() for _ in range(min(count, 10))]
        return "PATCH", path, JSON_PATCH, json.dumps(operations).encode()

    def _strategic(self) -> Hostile:
        resource, version = self._kind(stored=True, builtin=True)
        count = self._size(200)
        items = [{"name": f"s{number}", "uid": f"u{number}"} for number in range(count)]
        field = self._random.choice(("secrets", "imagePullSecrets", "rules", "subjects", "related", "data"))
        patch: Any = self._random.choice(
            (
                {field: items},
                {field: [{**each, "$patch": "delete"} for each in items]},
                {field: [{"$patch": "replace"}, *items]},
                {f"$setElementOrder/{field}": items, field: items[::-1]},
                {"metadata": {"finalizers": [f"x.com/{number}" for number in range(count)]}},
                {"metadata": {"$deleteFromPrimitiveList/finalizers": [f"x.com/{number}" for number in range(count)]}},
                {
                    "metadata": {
                        "$deleteFromPrimitiveList/finalizers": [self._value()],
                        "$retainKeys": ["name", "finalizers"],
                    }
                },
                {"metadata": {"ownerReferences": items}},
                {"$retainKeys": self._value()},
                {"$patch": self._value()},
                {f"$x{number}": None for number in range(count)},
                {field: self._value(), "$setElementOrder/" + field: self._value()},
            )
        )
        return "PATCH", self._place(resource, version, self._name()), STRATEGIC, json.dumps(patch).encode()

    def _apply(self) -> Hostile:
        resource, version = self._kind(stored=True)
        name = self._name()
        obj: Any = self._object(resource, version, name)
        obj["metadata"].pop("managedFields", None)
        count = self._size(150)
        entry = {
            "operation": self._random.choice(("Apply", "Update", "x")),
            "fieldsType": "FieldsV1",
            "apiVersion": "v1",
        }
        owners = [
            {**entry, "manager": f"m{number}", "fieldsV1": {"f:data": {f"f:k{number}": {}}}} for number in range(count)
        ]
        match self._random.randrange(5):
            case 0:
                obj["status"] = {"conditions": _conditions(count)}
            case 1:
                obj["metadata"]["finalizers"] = [f"x.com/{number}" for number in range(count)]
            case 2:
                obj["metadata"]["managedFields"] = owners
            case 3:
                obj["data"] = {f"k{number}": "v" for number in range(count)}
            case _:
                obj = replaced(obj, self._random.choice(list(places(obj))), self._value())
        body = json.dumps(obj).encode()
        if self._random.random() < 0.2:
            return "PUT", address(resource, version, name), JSON, body
        return "PATCH", self._place(resource, version, name), APPLY, body

    def _long_lists(self) -> Hostile:
        """Lists whose items are compared with each other, or each found wrong."""
        resource, version = self._kind(stored=True)
        name = self._name()
        obj: Any = self._object(resource, version, name)
        count = self._size(300)
        owner = {"apiVersion": "v1", "kind": "Pod", "name": "p", "controller": self._random.random() < 0.5}
        lists: tuple[tuple[str, Any], ...] = (
            ("ownerReferences", [{**owner, "uid": f"u{number}"} for number in range(count)]),
            ("ownerReferences", [{**owner, "uid": "u"}] * count),
            ("ownerReferences", [None] * count),
            ("finalizers", [f"x.com/{number}" for number in range(count)]),
            ("finalizers", ["! "] * count),
            ("labels", {f"l {number}": "! " for number in range(count)}),
            ("labels", {f"x.com/l{number}": "v" for number in range(count)}),
            ("annotations", {f"a {number}": "x" * 100 for number in range(count)}),
        )
        field, value = self._random.choice(lists)
        if self._random.random() < 0.5:
            obj["metadata"][field] = value
        else:
            values: tuple[Any, ...] = (
                {"taints": [{"key": f"k{number}", "effect": "NoSelect"} for number in range(count)]},
                {"taints": [{}] * count},
                {"predicates": [{"requiredClusterSelector": {"labelSelector": {"matchLabels": {"a": "b"}}}}] * count},
                {"tolerations": [{"key": "!", "effect": "x"}] * count},
                {"clusterSets": ["x"] * count},
                {f"f{number}": 1 for number in range(count)},
            )
            obj["spec"] = self._random.choice(values)
            obj["status"] = {"conditions": _conditions(count) * self._random.randrange(1, 3)}
            obj["data"] = {f"k {number}": "v" for number in range(count)}
            obj["rules"] = [
                {"verbs": ["get"], "apiGroups": [""], "resources": [f"r{number}"]} for number in range(count)
            ]
            obj["subjects"] = [{"kind": "User", "name": f"u{number}"} for number in range(count)]
        return self._sent(resource, version, obj, name)

    def _expressions(self) -> Hostile:
        plural = self._random.choice(("placements", "agentclassifications", "resolutions", "managedclustersets"))
        resource, version = next(each for each in _KINDS if each[0].plural == plural)
        name = self._name()
        obj = self._object(resource, version, name)
        count = self._size(12)
        text = self._random.choice(_EXPRESSIONS)(count)
        match plural:
            case "placements":
                selector = {"celSelector": {"celExpressions": [f"{text} || {number} == 0" for number in range(count)]}}
                obj["spec"] = {"predicates": [{"requiredClusterSelector": selector}] * self._random.randrange(1, 5)}
            case "agentclassifications":
                obj["spec"]["query"] = self._random.choice(_QUERIES)(count)
            case "resolutions":
                rule = {"type": "olm.constraint", "value": {"failureMessage": "x", "cel": {"rule": text}}}
                obj["spec"] = {"installed": [{"name": "a.v1", "version": "1.0.0", "properties": [rule] * count}]}
            case _:
                expression = {
                    "key": self._random.choice(("a", "!", "")),
                    "operator": self._random.choice(("Inn", "In", "Exists")),
                }
                labels: Any = {"matchExpressions": [expression] * count}
                obj["spec"] = {"clusterSelector": {"selectorType": "LabelSelector", "labelSelector": labels}}
        return self._sent(resource, version, obj, name)

    def _deletion(self) -> Hostile:
        resource, version = self._kind(stored=True)
        options: Any = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": self._value()}
        options |= {"preconditions": self._value(), "dryRun": self._value(), "gracePeriodSeconds": self._value()}
        for field in tuple(options):
            if self._random.random() < 0.5:
                del options[field]
        body = json.dumps(self._value() if self._random.random() < 0.2 else options).encode()
        path = address(resource, version, self._name())
        return "DELETE", path, self._random.choice((JSON, YAML, PROTOBUF)), body


def _conditions(count: int) -> list[dict[str, Any]]:
    common = {"status": "True", "reason": "R", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    return [{"type": f"T{number}", **common} for number in range(count)]


def _number(value: int) -> bytes:
    """A protobuf varint."""
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*found, value))


def _field(number: int, content: bytes) -> bytes:
    return _number(number << 3 | 2) + _number(len(content)) + content


_YAML_SHAPES: Final[tuple[Callable[[int], str], ...]] = (
    lambda n: "[" * n * 40,
    lambda n: "{a: " * n,
    lambda n: "- " * n,
    lambda n: "? " * n,
    lambda n: "[" + "a," * n + "]",
    lambda n: "\n".join(f"{' ' * level}a:" for level in range(min(n, 2000))),
    lambda n: "".join(f"%TAG !a{number}! x\n" for number in range(n * 3)) + "--- a",
    lambda n: (
        "a0: &a0 [x, x]\n" + "".join(f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 9)}]\n" for k in range(1, min(n, 40)))
    ),
    lambda n: (
        "a0: &a0 {k: v}\n"
        + "".join(f"a{k}: &a{k} {{<<: [{', '.join([f'*a{k - 1}'] * 9)}]}}\n" for k in range(1, min(n, 40)))
    ),
    lambda n: f"a: &a {'x' * n * 10}\nb: [{', '.join(['*a'] * n)}]",
    lambda _: "a: &a [*a]",
    lambda _: "a: *b",
    lambda n: "".join(f"k{number}: v\n" for number in range(n)),
    lambda n: "k: v\n" * n,
    lambda n: "".join(f"&a{number} k{number}: v\n" for number in range(n)),
    lambda n: "1" * n,
    lambda n: "0x" + "f" * n,
    lambda n: "1e" + "9" * min(n, 1000),
    lambda _: "[.nan, .inf, 0b_, 0o, 1__0, 0x, ~, =, <<]",
    lambda _: "!!python/object/apply:os.system [x]",
    lambda _: "!!set {a, b}",
    lambda n: "!" + "a" * n + " b",
    lambda n: "---\n" * n,
    lambda n: "\u2028".join(["a: b"] * n),
    lambda n: '"' + "\\u0000\\ud800" * n + '"',
    lambda n: "|\n" + " x\n" * n,
    lambda n: ">\n" + "\n" * n,
    lambda n: "# " + "x" * n * 20,
    lambda _: "\x00\x07",
    lambda _: "\ufeff{}",
    lambda _: "\ud800",
    lambda _: "yes: {true: 1, null: 2, 1.5: 3, [a]: 4}",
    lambda n: "{a: 1, a: 2, " * n,
    lambda n: "'" + "''" * n + "'",
)

_JSON_SHAPES: Final[tuple[Callable[[int], bytes], ...]] = (
    lambda n: b"[" * n * 40,
    lambda n: b'{"a":' * n * 10,
    lambda _: b"[" * 90 + b"]" * 90,
    lambda n: b"[" + b"[]," * n + b"[]]",
    lambda n: b"[" + b"1," * n + b"1]",
    lambda n: b"{" + b'"a":1,' * n + b'"a":1}',
    lambda n: b"{" + b",".join(b'"k%d":{"a":1,"a":2}' % number for number in range(n)) + b"}",
    lambda _: b"1e999999",
    lambda n: b"1" * n * 10,
    lambda n: b"-0." + b"1" * n,
    lambda n: b"[" + b"9223372036854775808," * n + b"1]",
    lambda _: b'"\xff\xfe"',
    lambda _: b'"\\ud800"',
    lambda _: b'"\\u0000"',
    lambda _: b"\xef\xbb\xbf{}",
    lambda _: b"{}\x00",
    lambda _: b"NaN",
    lambda _: b"[Infinity,-Infinity]",
    lambda n: b'"' + b"x" * n * 10,
    lambda n: b'"' + b"\\" * n,
    lambda n: b'{"' + b"k" * n * 10 + b'":1}',
    lambda n: b" " * n,
    lambda _: b"",
    lambda _: b"null",
    lambda _: b"tru",
    lambda _: b"[1,]",
    lambda _: b"{} {}",
)

_EXPRESSIONS: Final[tuple[Callable[[int], str], ...]] = (
    lambda n: "optional.of(1)" + ".optMap(x, x + x)" * n + ".hasValue()",
    lambda n: "(" * n * 20 + "true" + ")" * n * 20,
    lambda n: "!" * n * 100 + "true",
    lambda n: " || ".join(["true"] * n * 50),
    lambda n: "[" * n * 30 + "]" * n * 30 + " == []",
    lambda n: "managedCluster.metadata.name.matches('" + "(a|b)*" * n * 5 + "c{900}')",
    lambda n: "[[1]]" + ".map(a,[a,a])" * n + " == []",
    lambda n: "managedCluster" + ".a" * n * 100 + " == 1",
    lambda n: "'" + "é" * n * 100 + "' == ''",
    lambda n: "a+" * n * 100,
    lambda _: "\x00",
)

_QUERIES: Final[tuple[Callable[[int], str], ...]] = (
    lambda n: "(" * n * 50 + "." + ")" * n * 50,
    lambda n: "[" * n * 50,
    lambda n: ". | " * n * 100 + ".",
    lambda n: "def f: f; " * n * 20 + "f",
    lambda _: "error(reduce range(60) as $i ([1];[.,.]))",
    lambda n: '"' + "\\(1)" * n * 50 + '"',
    lambda n: "." + "a" * n * 5000,
    lambda n: "if true then " * n * 20,
)
