"""Data classes that cost little until the first one is made: `dataclass`, `field`, `replace` as those of `dataclasses`.

A frozen data class with slots is six texts compiled when its module is imported, which takes a millisecond; a command
imports hundreds of them, and makes some. Here one text is compiled, when the first object of the class is made, and
`dataclasses` itself, which brings `inspect`, is imported when somebody asks for `fields` and the like. What is not
ordinary (an order, `InitVar`, a base that is no record) is left to the original, whose rules are the ones that count; a
property compares both. Type checkers see the original. It knows nothing of what the classes are for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from dataclasses import dataclass as dataclass
    from dataclasses import field as field
    from dataclasses import replace as replace


class _Made:
    """Stands for what a factory makes."""

    def __repr__(self) -> str:
        return "<factory>"


_MISSING: Final = object()
_NEW: Final = _Made()
_FIELDS: Final = "__record_fields__"
_OURS: Final = frozenset({"frozen", "slots", "eq", "repr", "kw_only"})
_NOT_ORDINARY: Final = ("InitVar", "KW_ONLY", "dataclasses.")


class _Field:
    """What is said of one field in the body of a class."""

    __slots__ = ("annotation", "compare", "default", "factory", "given", "init", "kw_only", "name", "repr")

    def __init__(self, default: Any = _MISSING, default_factory: Any = _MISSING, **given: Any) -> None:
        self.default, self.factory, self.given = default, default_factory, given
        self.init, self.repr, self.compare = (given.get(each, True) for each in ("init", "repr", "compare"))
        self.kw_only: bool | None = given.get("kw_only")
        self.name = self.annotation = ""

    def original(self) -> Any:
        import dataclasses

        given = {**self.given, "kw_only": bool(self.kw_only)}
        if self.default is not _MISSING:
            given["default"] = self.default
        elif self.factory is not _MISSING:
            given["default_factory"] = self.factory
        found: Any = dataclasses.field(**given)
        found.name, found.type = self.name, self.annotation
        found._field_type = dataclasses._FIELD  # type: ignore[attr-defined]  # noqa: SLF001 - what `fields` looks for
        return found


class _AskedFor:
    """An attribute of a class that is worked out when somebody asks for it."""

    def __init__(self, make: Callable[[], Any], only: type | None = None) -> None:
        self._make = make
        self._only = only  # of this class, and neither of those below nor of what it makes

    def __get__(self, instance: object, owner: type) -> Any:
        if self._only is not None and (instance is not None or owner is not self._only):
            raise AttributeError
        return self._make()


def _record(cls: type | None = None, /, **options: Any) -> Any:
    if cls is None:
        return lambda decorated: _record(decorated, **options)
    fields = _fields_of(cls, kw_only=options.get("kw_only", False)) if options.keys() <= _OURS else None
    if fields is None:
        import dataclasses

        return dataclasses.dataclass(**options)(_with_original_fields(cls))
    return _made(cls, fields, options)


def _fields_of(cls: type, *, kw_only: bool) -> dict[str, _Field] | None:
    """All fields, those of its bases first; None where this is for `dataclasses` to say."""
    fields: dict[str, _Field] = {}
    for base in reversed(cls.__mro__[1:]):
        if _FIELDS in base.__dict__:
            fields.update(base.__dict__[_FIELDS])
        elif "__dataclass_fields__" in base.__dict__:
            return None
    for name, annotation in _own_annotations(cls).items():
        if not isinstance(annotation, str) or annotation.startswith(_NOT_ORDINARY):
            return None
        if annotation.startswith(("ClassVar", "typing.ClassVar")):
            continue
        default = cls.__dict__.get(name, _MISSING)
        found = default if isinstance(default, _Field) else _Field(default)
        if type(default).__module__ == "dataclasses" or found.given.keys() & {"hash", "metadata"}:
            return None
        if type(found.default).__hash__ is None:
            return None  # a mistake, which is told by the original
        found.name, found.annotation = name, annotation
        found.kw_only = kw_only if found.kw_only is None else found.kw_only
        fields[name] = found
    return fields


def _own_annotations(cls: type) -> dict[str, Any]:
    found: dict[str, Any] = vars(cls).get("__annotations__", {})
    return found


def _with_original_fields(cls: type) -> type:
    for name, value in list(cls.__dict__.items()):
        if isinstance(value, _Field):
            import dataclasses

            given = dict(value.given)
            if value.default is not _MISSING:
                given["default"] = value.default
            if value.factory is not _MISSING:
                given["default_factory"] = value.factory
            setattr(cls, name, dataclasses.field(**given))
    return cls


def _made(cls: type, fields: dict[str, _Field], options: dict[str, Any]) -> type:
    own = dict(cls.__dict__)
    said = set(own)
    for name in _own_annotations(cls):
        each = fields.get(name)
        if each is not None and name in own and (options.get("slots") or each.default is _MISSING):
            del own[name]
        elif each is not None and name in own:
            own[name] = each.default
    own[_FIELDS] = fields
    own["__dataclass_fields__"] = _AskedFor(lambda: {name: each.original() for name, each in fields.items()})
    own["__dataclass_params__"] = _AskedFor(lambda: _params(options))
    if "__match_args__" not in said:
        own["__match_args__"] = tuple(name for name, each in fields.items() if each.init and not each.kw_only)
    if options.get("slots"):
        inherited = {slot for base in cls.__mro__[1:-1] for slot in _slots_of(base)}
        own["__slots__"] = tuple(name for name in fields if name not in inherited)
        own.pop("__dict__", None)
        own.pop("__weakref__", None)
        made = type(cls)(cls.__name__, cls.__bases__, own)
        made.__qualname__ = cls.__qualname__
    else:
        made = cls
        for name in _own_annotations(cls):
            if name not in own and name in cls.__dict__:
                delattr(cls, name)
        for name, value in own.items():
            if name not in {"__dict__", "__weakref__"} and cls.__dict__.get(name, _MISSING) is not value:
                setattr(cls, name, value)
    _add_methods(made, fields, options, said, is_equal_said="__eq__" in said)
    return made


def _slots_of(base: type) -> Iterable[str]:
    slots = base.__dict__.get("__slots__", ())
    return (slots,) if isinstance(slots, str) else slots


def _params(options: dict[str, Any]) -> Any:
    import dataclasses

    @dataclasses.dataclass(**{name: value for name, value in options.items() if name in {"frozen", "eq", "repr"}})
    class Same:
        pass

    return Same.__dataclass_params__  # type: ignore[attr-defined]  # every data class has it


def _add_methods(
    cls: Any, fields: dict[str, _Field], options: dict[str, Any], said: set[str], *, is_equal_said: bool
) -> None:
    """What the class has not said itself. Methods compile themselves when they are first called."""
    eq, frozen = options.get("eq", True), options.get("frozen", False)
    if "__init__" not in said:

        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807 - it becomes one
            _compile(cls, fields, frozen=frozen, eq=eq and not is_equal_said)
            cls.__init__(self, *args, **kwargs)

        cls.__init__ = __init__
    elif eq:
        _compile(cls, fields, frozen=frozen, eq=not is_equal_said, init=False)
    _add_signature(cls, fields, frozen=frozen, said=said)
    if options.get("repr", True) and "__repr__" not in said:
        cls.__repr__ = _repr
    if eq:
        has_hash = "__hash__" in said and not (cls.__dict__["__hash__"] is None and is_equal_said)
        if not has_hash:
            cls.__hash__ = _first_hash(cls, fields) if frozen else None
    if frozen:
        _freeze(cls, frozenset(fields))
        if options.get("slots"):
            for method in (_getstate, _setstate):
                if method.__name__.replace("_", "__", 1) + "__" not in said:
                    setattr(cls, method.__name__.replace("_", "__", 1) + "__", method)


def _add_signature(cls: Any, fields: dict[str, _Field], *, frozen: bool, said: set[str]) -> None:
    """How it is made, for those who look, and as its documentation where it has none."""

    def signature() -> Any:
        import inspect

        made: dict[str, Any] = {"__init__": cls.__init__}
        if "__init__" not in said:
            known = {"_set": object.__setattr__, "_new": _NEW}
            exec(_init_text(cls, fields, known, frozen=frozen), known, made)  # noqa: S102 - of the names of fields
            made["__init__"].__annotations__ = _hints(fields)
        found = inspect.signature(made["__init__"])
        return found.replace(parameters=list(found.parameters.values())[1:])

    def text() -> str:
        return str(cls.__name__) + str(signature()).replace(" -> None", "")

    cls.__signature__ = _AskedFor(signature, cls)
    if cls.__doc__ is None:
        cls.__doc__ = _AskedFor(text)


def _hints(fields: dict[str, _Field]) -> dict[str, Any]:
    return {**{name: each.annotation for name, each in fields.items() if each.init}, "return": None}


def _first_hash(cls: Any, fields: dict[str, _Field]) -> Callable[[Any], int]:
    def __hash__(self: Any) -> int:  # noqa: N807 - it becomes one
        names = [name for name, each in fields.items() if each.compare]
        text = f"def __hash__(self):\n return hash(({''.join(f'self.{name},' for name in names)}))\n"
        made: dict[str, Any] = {}
        exec(text, {}, made)  # noqa: S102 - of the names of fields
        cls.__hash__ = made["__hash__"]
        return int(cls.__hash__(self))

    return __hash__


def _compile(cls: Any, fields: dict[str, _Field], *, frozen: bool, eq: bool, init: bool = True) -> None:
    text, known = [], {"_set": object.__setattr__, "_new": _NEW}
    if init:
        text.append(_init_text(cls, fields, known, frozen=frozen))
    if eq:
        names = [name for name, each in fields.items() if each.compare]
        ours, theirs = ("".join(f"{whose}.{name}," for name in names) for whose in ("self", "other"))
        text.append(
            f"def __eq__(self, other):\n if other.__class__ is self.__class__:\n  return ({ours}) == ({theirs})\n"
            " return NotImplemented\n"
        )
    made: dict[str, Any] = {}
    exec("".join(text), known, made)  # noqa: S102 - of the names of fields
    hashed = cls.__dict__.get("__hash__")
    if init:
        made["__init__"].__annotations__ = _hints(fields)
    for name, method in made.items():
        method.__qualname__ = f"{cls.__qualname__}.{name}"
        setattr(cls, name, method)
    if cls.__dict__.get("__hash__") is not hashed:
        cls.__hash__ = hashed


def _init_text(cls: Any, fields: dict[str, _Field], known: dict[str, Any], *, frozen: bool) -> str:
    positional, body = ["self"], list[str]()
    named: list[str] = []
    for name, each in fields.items():
        value = name
        if each.default is not _MISSING:
            known[f"_d_{name}"] = each.default
        if each.factory is not _MISSING:
            known[f"_f_{name}"] = each.factory
        if each.init:
            given = f"=_d_{name}" if each.default is not _MISSING else "=_new" if each.factory is not _MISSING else ""
            (named if each.kw_only else positional).append(f"{name}{given}")
            if each.factory is not _MISSING:
                value = f"_f_{name}() if {name} is _new else {name}"
        elif each.factory is not _MISSING:
            value = f"_f_{name}()"
        elif each.default is not _MISSING:
            value = f"_d_{name}"
        else:
            continue
        body.append(f" _set(self, {name!r}, {value})\n" if frozen else f" self.{name} = {value}\n")
    if hasattr(cls, "__post_init__"):
        body.append(" self.__post_init__()\n")
    parameters = ", ".join([*positional, *(["*", *named] if named else [])])
    return f"def __init__({parameters}):\n" + ("".join(body) or " pass\n")


def _repr(self: Any) -> str:
    import reprlib

    def told(record: Any) -> str:
        fields = getattr(type(record), _FIELDS)
        return f"{type(record).__qualname__}(%s)" % ", ".join(
            f"{name}={getattr(record, name)!r}" for name, each in fields.items() if each.repr
        )

    return reprlib.recursive_repr()(told)(self)


def _freeze(cls: Any, names: frozenset[str]) -> None:
    def refuse(verb: str, name: str) -> None:
        import dataclasses

        raise dataclasses.FrozenInstanceError(f"cannot {verb} field {name!r}")

    def __setattr__(self: Any, name: str, value: object) -> None:  # noqa: N807 - it becomes one
        if type(self) is cls or name in names:
            refuse("assign to", name)
        super(cls, self).__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:  # noqa: N807 - it becomes one
        if type(self) is cls or name in names:
            refuse("delete", name)
        super(cls, self).__delattr__(name)

    cls.__setattr__, cls.__delattr__ = __setattr__, __delattr__


def _getstate(self: Any) -> list[Any]:
    return [getattr(self, name) for name in getattr(type(self), _FIELDS)]


def _setstate(self: Any, state: list[Any]) -> None:
    for name, value in zip(getattr(type(self), _FIELDS), state, strict=True):
        object.__setattr__(self, name, value)


def _replace(obj: Any, /, **changes: Any) -> Any:
    fields = getattr(type(obj), _FIELDS, None)
    if fields is None or not all(each.init for each in fields.values()):
        import dataclasses

        return dataclasses.replace(obj, **changes)
    return type(obj)(**{name: getattr(obj, name) for name in fields if name not in changes}, **changes)


if not TYPE_CHECKING:
    dataclass, field, replace = _record, _Field, _replace
