"""Records are what data classes are: both are made of the same texts, and compared."""

from __future__ import annotations

import dataclasses
import inspect
import pickle
from itertools import product
from typing import Any, ClassVar  # noqa: F401 - data classes look for it here

import pytest

from muster import records

BODIES = {
    "plain": "a: int\nb: str = 'x'\n",
    "factory": "a: int\nb: list[int] = field(default_factory=list)\n",
    "left out": "a: int\nb: int = field(default=5, compare=False, repr=False)\nc: int = field(default=3, init=False)\n",
    "class variable": "a: int\nb: int = 1\nMOST: ClassVar[int] = 9\n",
    "own methods": "a: int\nb: int = 2\ndef __repr__(self):\n    return 'mine'\ndef __hash__(self):\n    return 7\n",
    "own equality": "a: int\nb: int = 2\ndef __eq__(self, other):\n    return True\n",
    "after": "a: int\nb: int = 2\ndef __post_init__(self):\n    if self.a == 9:\n        raise ValueError('nine')\n",
    "named only": "a: int\nb: int = field(default=4, kw_only=True)\n",
    "ordered": "a: int\nb: int = 4\n",
    "nothing": "",
    "default that changes": "a: int\nb: list = []\n",
}
OPTIONS = [
    {name: value for name, value in zip(("frozen", "slots", "eq", "kw_only"), values, strict=True) if value is not None}
    for values in product((None, True), (None, True), (None, False), (None, True))
]
CALLS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((), {}),
    ((1,), {}),
    ((1, 2), {}),
    ((1, 2, 3), {}),
    ((), {"a": 1}),
    ((), {"a": 9, "b": 8}),
    ((1,), {"nix": 2}),
]


def made(module: Any, body: str, options: dict[str, Any]) -> Any:
    """A class, and one below it."""
    indented = "".join(f"    {line}\n" for line in (body or "pass\n").splitlines())
    text = (
        "from __future__ import annotations\nfrom typing import ClassVar\n"
        f"@dataclass(**options)\nclass Base:\n{indented}\n"
        "@dataclass(**options)\nclass Below(Base):\n    z: int = 0\n"
    )
    space: dict[str, Any] = {"dataclass": module.dataclass, "field": module.field, "options": options}
    space["__name__"] = __name__
    exec(text, space)
    return space["Base"], space["Below"]


def outcome(work: Any) -> object:
    try:
        return work()
    except Exception as error:
        text = str(error).replace("Base.", "").replace("Below.", "")
        return type(error), text


def told(module: Any, body: str, options: dict[str, Any]) -> list[object]:
    """All that can be seen of the classes and what they make."""
    try:
        classes = made(module, body, options)
    except Exception as error:
        return [type(error), str(error)]
    seen: list[object] = []
    for cls in classes:
        seen += [cls.__match_args__, getattr(cls, "__slots__", None), "__dict__" in dir(cls), cls.__qualname__]
        objects = []
        for args, named in CALLS:
            found = outcome(lambda args=args, named=named, cls=cls: cls(*args, **named))
            if isinstance(found, tuple):
                seen.append(found)
            else:
                objects.append(found)
        for each in objects:
            seen += [repr(each), outcome(lambda each=each: hash(each) if options.get("eq", True) else 0)]
            if "a" in cls.__match_args__:
                seen += [outcome(lambda each=each: setattr(each, "a", 5)), repr(each)]
            if not (options.get("slots") and options.get("frozen")):  # the original stumbles over itself there
                seen += [
                    outcome(lambda each=each: setattr(each, "q", 5)),
                    outcome(lambda each=each: delattr(each, "q")),
                ]
            seen += [each == other for other in objects] if options.get("eq", True) else []
            seen += [outcome(lambda each=each: repr(dataclasses.replace(each, a=6)))]
            seen += [outcome(lambda each=each: repr(module.replace(each, a=6)))]
            seen += [outcome(lambda each=each: dataclasses.asdict(each)), each == 5]
        seen += [cls.__doc__, str(inspect.signature(cls)), inspect.get_annotations(cls.__init__)]
        seen.append([(each.name, each.type, each.init, each.kw_only) for each in dataclasses.fields(cls)])
    return seen


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_record_is_what_a_data_class_is(body: str, options: dict[str, Any]) -> None:
    if body == "ordered":
        options = {**options, "eq": True, "order": True}
    assert told(records, BODIES[body], options) == told(dataclasses, BODIES[body], options)


@records.dataclass(frozen=True, slots=True)
class Kept:
    a: int
    b: str = "x"


def test_a_record_survives_a_way_through_another_process() -> None:
    assert pickle.loads(pickle.dumps(Kept(3))) == Kept(3)


def test_the_other_ways_to_see_a_data_class_work() -> None:
    @dataclasses.dataclass(frozen=True)
    class Below(Kept):
        c: int = 1

    assert Below(1, "y", 2).c == 2
    assert dataclasses.is_dataclass(Kept)
    match Kept(1):
        case Kept(1, b=text):
            assert text == "x"
        case _:
            pytest.fail("it does not match")
