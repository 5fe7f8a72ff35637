"""What a kind of object is: its names, versions, schema, columns and rules. The registry holds one `Resource` per kind.

Read by the API machinery, by discovery and OpenAPI, by the Table renderer and by the CustomResourceDefinition objects.
A `Resource` is data and pure functions; it does not know how objects are stored, sent or authorized.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final, Protocol

from muster.values.json import JsonMapping, JsonObject
from muster.values.names import subdomain_problems

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime

    from muster.api.cel_rules import CelRule
    from muster.api.schema import CompiledSchema
    from muster.values.causes import Cause

    Object = JsonObject
    Rules = Callable[[Object, Object | None], Iterable[Cause]]
    Conversion = Callable[[Object, str], Object]
    Normalization = Callable[[Object], list[str] | None]
    Completion = Callable[[Object, Object | None], None]
    NameCheck = Callable[[str], list[str]]
    Cell = Callable[[Object, datetime], object]
    Selectable = Callable[[Object, str], str]
    Family = Callable[[], tuple["Resource", ...]]
    Composition = Callable[[str, Object, Object, str], None]

ALL_VERBS: Final = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")
BUILTIN_VERBS: Final = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
CREATE_ONLY: Final = ("create",)
READ_ONLY: Final = ("get", "list", "watch")
STATUS_VERBS: Final = ("get", "patch", "update")
_PART_VERBS: Final = {"finalize": ("update",)}


def part_verbs(subresource: str) -> tuple[str, ...]:
    """What can be done to a part of an object that has a path of its own."""
    return _PART_VERBS.get(subresource, STATUS_VERBS)


@dataclass(frozen=True, slots=True)
class PrinterColumn:
    """One column of `kubectl get`. `path` is a JSONPath as CustomResourceDefinitions write it, without braces.

    The columns of built-in kinds are computed instead: `cell` takes the object and the time.
    """

    name: str
    type: str
    path: str = ""
    description: str = ""
    format: str = ""
    priority: int = 0
    cell: Cell | None = None


class OwnChecks(Protocol):
    """What a version checks by itself instead of by its schema alone: those of custom kinds, with rules in CEL."""

    @property
    def compiled(self) -> CompiledSchema:
        """Its schema, for pruning and defaulting."""

    @property
    def heavy(self) -> bool:
        """Whether a check may take so long that nobody else should wait for it."""

    def warm(self) -> None:
        """Compile what every object needs, beside whoever waits for other things."""

    def embedded_problem(self, obj: Object) -> str | None:
        """Why the objects within an object cannot even be decoded."""

    def causes(self, obj: Object, old: Object | None, subresource: str, found: Sequence[Cause], /) -> Verdict:
        """What is wrong beside what was `found`."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is wrong with an object, and warnings about what was wrong before and is tolerated."""

    causes: tuple[Cause, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Scale:
    """Where a kind keeps what its scale subresource shows: paths such as `.spec.replicas`."""

    spec_replicas: str
    status_replicas: str
    selector: str = ""


@dataclass(frozen=True, eq=False)
class Version:
    """One served version of a kind. Compared by identity: the registry holds the only instance."""

    name: str
    schema: JsonMapping
    columns: tuple[PrinterColumn, ...] = ()
    status: bool = False
    selectable_fields: tuple[str, ...] = ()
    storage: bool = True
    served: bool = True
    deprecated: str = ""
    zero_items: bool = False  # null items of lists are zero values, as Go decodes the structs of built-in kinds
    scale: Scale | None = None
    checks: OwnChecks | None = None
    # Fields that objects of a built-in kind always show, with the value that says nothing; nobody owns that value.
    zero: JsonMapping = field(default_factory=dict)
    # What a field selector compares, given the stored object and the field; the value at its path if there is none.
    selectable: Selectable | None = None
    parts: tuple[str, ...] = ()  # more parts of the object that are written by themselves, such as `approval`

    @property
    def subresources(self) -> tuple[str, ...]:
        """Parts of the object that are read and written under a path of their own."""
        return (*self.parts, "status") if self.status else self.parts

    @cached_property
    def compiled(self) -> CompiledSchema:
        """The schema as closures; made at first use, so that starting a command costs nothing."""
        if self.checks is not None:
            return self.checks.compiled
        from muster.api.schema import compile_schema  # with all that schemas can say, for those who check objects

        return compile_schema(self.schema, zero_items=self.zero_items)


@dataclass(frozen=True, slots=True, eq=False)
class Resource:
    """A kind of object. `rules` are checks beyond the schema, on the stored form of the new and the old state;
    `cel_rules` are what a CustomResourceDefinition can say of these, for servers that are not ours;
    `convert` translates between versions; `normalize` fills in place what a schema's defaults cannot say, and names the
    fields it does not know; `complete` adds what the server sets on a new state, given the old one, in nobody's name.

    `builtin` kinds are those a Kubernetes server has without any CustomResourceDefinition: they take strategic merge
    patches and protobuf bodies, and their unknown fields and wrong types are worded differently. `virtual` kinds are
    created and answered, never stored. `generation` says whether metadata.generation is kept. `custom` kinds are those
    that somebody has defined while the hub ran; `stored_as_shown` says that all that is stored of a kind is in the form
    of its storage version. Checks of `heavy` kinds are never made where others would wait for them. `family` are kinds
    of several groups that show the same objects, this one among them; the first of them stores these.

    `compose` takes a subresource, a new state, the old one and the time, and puts back in place what a write there may
    not change; `reset` names these fields by subresource, as managedFields writes them: nobody comes to own them that
    way. `part_rules` stand in for `rules` where a write on a subresource is checked differently.
    """

    group: str
    kind: str
    plural: str
    singular: str
    list_kind: str
    namespaced: bool
    versions: tuple[Version, ...]
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    builtin: bool = False
    virtual: bool = False
    generation: bool = True
    custom: bool = False
    stored_as_shown: bool = True
    heavy: bool = False
    terminating: bool = False  # its definition is being deleted: nothing new is created
    verbs: tuple[str, ...] = ALL_VERBS
    rules: Rules | None = None
    cel_rules: tuple[CelRule, ...] = ()
    convert: Conversion | None = None
    normalize: Normalization | None = None
    complete: Completion | None = None
    name_problems: NameCheck = subdomain_problems
    family: Family | None = None
    compose: Composition | None = None
    reset: Mapping[str, JsonMapping] = field(default_factory=dict)
    part_rules: Mapping[str, Rules] = field(default_factory=dict)
    #: `plural.group`, or `plural` in the core group: the name RBAC knows the resource by, and mostly storage.
    key: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", f"{self.plural}.{self.group}" if self.group else self.plural)

    @property
    def home(self) -> Resource:
        """The kind under whose key the objects are stored: nearly always this one."""
        return self if self.family is None else self.family()[0]

    @property
    def storage_version(self) -> Version:
        return next(version for version in self.versions if version.storage)

    def version(self, name: str) -> Version | None:
        """The served version of this name."""
        return next((version for version in self.versions if version.name == name and version.served), None)

    def api_version(self, version: Version) -> str:
        """What objects of this version carry in `apiVersion`."""
        return f"{self.group}/{version.name}" if self.group else version.name

    def to_version(self, obj: Object, version: Version) -> Object:
        """The object as this version shows it. Kinds with one version return the object itself."""
        if self.convert is None:
            return obj
        return self.convert(obj, version.name)

    def to_storage(self, obj: Object) -> Object:
        """The object as it is stored."""
        home = self.home
        return obj if home.convert is None else home.convert(obj, home.storage_version.name)
