"""What an expression may use: variables, functions, macros, object types and the options of the language.

Libraries are assembled into an `Env`; the parser takes its macros and limits from it, the checker its
declarations, the back ends its implementations. An Env is never changed: `extend` makes a new one.
It does not know how anything is evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from muster.cel.checking.types import Type, struct
from muster.cel.declarations import Constant, Function, Library, Macro, Overload, Variable
from muster.errors import InvalidObjectError
from muster.values.arguments import expected, several, text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from muster.cel.syntax.tree import CheckedTree
    from muster.source import Diagnostic

    Validator = Callable[[CheckedTree, "Env"], Iterable[Diagnostic]]

Named = TypeVar("Named", Variable, Constant, Function)


class TypeProvider(Protocol):
    """Object types that are declared outside of the language, by name."""

    def find_struct(self, name: str) -> Type | None:
        """The type called `name`, or None when there is none."""

    def find_field(self, struct_name: str, name: str) -> Type | None:
        """The type of a field, or None when the type has no such field."""


@dataclass(frozen=True, slots=True)
class ObjectTypes:
    """A type provider over a table: type name -> field name -> field type."""

    fields: Mapping[str, Mapping[str, Type]] = field(default_factory=dict)

    def find_struct(self, name: str) -> Type | None:
        return struct(name) if name in self.fields else None

    def find_field(self, struct_name: str, name: str) -> Type | None:
        return self.fields.get(struct_name, {}).get(name)


@dataclass(frozen=True, slots=True)
class Limits:
    """The parser's limits, cel-go's by default."""

    recursion: int = 250
    code_points: int = 100_000
    recovery_attempts: int = 30
    recovery_lookahead: int = 256
    errors: int = 100


@dataclass(frozen=True, slots=True)
class Options:
    """Switches of the language, named after what they allow."""

    optional_syntax: bool = False  # a.?b, a[?b], [?a], {?k: v}
    identifier_escapes: bool = False  # a.`b-c`
    homogeneous_literals: bool = False  # [1, 'a'] is an error instead of list(dyn)
    cross_type_comparisons: bool = False  # 1 < 1.5 type-checks
    variadic_logic: bool = False  # keep a && b && c as one call instead of a balanced tree
    optimize: bool = False  # constants are folded before running, as Kubernetes does; only back ends look at it
    error_on_bad_presence_test: bool = False  # has() of a field the type does not have is an error, not false


def _by_name(items: Iterable[Named]) -> dict[str, Named]:
    return {item.name: item for item in items}


def _merged(known: Function, more: Function) -> Function:
    """One function from two declarations; an overload id that comes again replaces the earlier one."""
    overloads = {overload.id: overload for overload in known.overloads}
    overloads.update((overload.id, overload) for overload in more.overloads)
    return Function(
        known.name,
        tuple(overloads.values()),
        doc=known.doc or more.doc,
        examples={**known.examples, **more.examples},
        charges={**known.charges, **more.charges},
    )


AN_ENVIRONMENT = "an environment: environment('standard'), or one that is made of it"
_REPLACED: Mapping[str, type] = {
    "name": str,
    "container": str,
    "abbreviations": Mapping,
    "types": object,
    "options": Options,
    "limits": Limits,
}


def _known(changes: Mapping[str, object], names: AbstractSet[str], of_what: str) -> None:
    if unknown := sorted(changes.keys() - names):
        raise InvalidObjectError(unknown[0], f"no such field of {of_what}: {', '.join(sorted(names))}")


@dataclass(frozen=True, repr=False)
class Env:
    """Everything an expression can refer to. Build with `Env().extend(library, …)`."""

    name: str = ""
    container: str = ""
    abbreviations: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, Variable] = field(default_factory=dict)
    constants: Mapping[str, Constant] = field(default_factory=dict)
    functions: Mapping[str, Function] = field(default_factory=dict)
    macros: Mapping[tuple[str, bool, int | None], Macro] = field(default_factory=dict)
    libraries: tuple[str, ...] = ()
    types: TypeProvider = field(default_factory=ObjectTypes)
    validators: tuple[Validator, ...] = ()
    options: Options = Options()
    limits: Limits = Limits()

    def extend(
        self,
        *libraries: Library,
        variables: Iterable[Variable] = (),
        functions: Iterable[Function] = (),
        macros: Iterable[Macro] = (),
        constants: Iterable[Constant] = (),
        validators: Iterable[Validator] = (),
        **changes: Any,
    ) -> Env:
        """A new environment with more in it. `changes` replaces other fields, such as container or options.

        Raises InvalidObjectError for what is no declaration, and for a field that environments do not have.
        """
        several(libraries, Library, "libraries", "a Library")
        variables = several(variables, Variable, "variables", "a Variable")
        functions = several(functions, Function, "functions", "a Function")
        for function in functions:
            text(function.name, "functions: name")
            several(
                function.overloads, Overload, f"functions: overloads of {function.name}", "what call or method gives"
            )
        macros = several(macros, Macro, "macros", "a Macro")
        constants = several(constants, Constant, "constants", "a Constant")
        # isinstance() takes Callable, which mypy does not hold for a class.
        validators = several(validators, Callable, "validators", "a function")  # type: ignore[arg-type]
        _known(changes, _REPLACED.keys(), "an environment")
        for name, each in changes.items():
            expected(each, _REPLACED[name], name, f"a value of type {_REPLACED[name].__name__}")
        all_functions = dict(self.functions)
        all_macros = dict(self.macros)
        all_constants = dict(self.constants)
        sources = (*libraries, Library("", functions, macros, constants))
        for library in sources:
            for function in library.functions:
                known = all_functions.get(function.name)
                all_functions[function.name] = function if known is None else _merged(known, function)
            all_macros.update(((macro.name, macro.receiver, macro.arg_count), macro) for macro in library.macros)
            all_constants.update(_by_name(library.constants))
        return replace(
            self,
            variables=MappingProxyType({**self.variables, **_by_name(variables)}),
            constants=MappingProxyType(all_constants),
            functions=MappingProxyType(all_functions),
            macros=MappingProxyType(all_macros),
            libraries=(*self.libraries, *(library.name for library in libraries)),
            validators=(
                *self.validators,
                *(validator for library in libraries for validator in library.validators),
                *validators,
            ),
            **changes,
        )

    def __repr__(self) -> str:
        return f"<CEL environment {self.name}: {len(self.functions)} functions, variables {', '.join(self.variables)}>"

    def with_variables(self, **types: Type) -> Env:
        """A new environment with these variables: `env.with_variables(cluster=DYN, wanted=INT)`."""
        for name, each in types.items():
            expected(each, Type, name, "a type such as DYN or list_of(STRING)")
        return self.extend(variables=[Variable(name, each) for name, each in types.items()])

    def with_options(self, **changes: bool) -> Env:
        """A new environment with other options: `env.with_options(optional_syntax=True)`."""
        from dataclasses import fields

        _known(changes, {each.name for each in fields(Options)}, "Options")
        for name, each in changes.items():
            expected(each, bool, name, "True or False")
        return replace(self, options=replace(self.options, **changes))

    def macro(self, name: str, receiver: bool, arg_count: int) -> Macro | None:
        """The macro that a call of this shape means; one with any number of arguments comes last."""
        return self.macros.get((name, receiver, arg_count)) or self.macros.get((name, receiver, None))

    @cached_property
    def overloads(self) -> Mapping[str, Overload]:
        """Every overload by its id: what the back ends look up."""
        return MappingProxyType(
            {overload.id: overload for function in self.functions.values() for overload in function.overloads}
        )
