"""Which exclusive key may go with which set name, as the ConfigMap `clusterset-validation` says.

Permission for a key and permission for a name are two grants. Somebody with two of each could create four sets where
two were meant. The ConfigMap names the pairs that make sense:

    data:
      region: apac, us                  a key, and the names of its sets
      vendor: aws, gcp
      pairs.yaml: |                     keys with a slash, which a ConfigMap cannot have
        example.com/tier: [gold, silver]

A set whose key or whose name is listed must be a whole pair; all others are free. Admission asks before a set is
created, the controllers tell of sets that were there before. Pure: who reads the ConfigMap is their matter.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import yaml

from muster.api.config_map import ConfigMap
from muster.api.reading import Reader
from muster.errors import InvalidObjectError
from muster.selectors.membership import DEFAULT_SET, GLOBAL_SET, ExclusiveMembership, membership_of
from muster.values.faults import Fault
from muster.values.json import JsonMapping
from muster.values.names import qualified_name_problems, subdomain_problems
from muster.values.yaml_reading import YamlError, YamlLimits
from muster.values.yaml_reading import events as yaml_events

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from muster.api.managed_cluster_set import ManagedClusterSet

NAMESPACE: Final = "open-cluster-management-hub"
NAME: Final = "clusterset-validation"
STRUCTURED: Final = "pairs.yaml"  # the entry for keys that cannot be keys of a ConfigMap
_WHAT: Final = f"ConfigMap {NAMESPACE}/{NAME}"
_EXEMPT: Final = frozenset({DEFAULT_SET, GLOBAL_SET})  # every hub has them
_CONFIG_MAPS: Final = Reader(ConfigMap)
_MOST_SHOWN: Final = 8
_MOST_LETTERS: Final = 80


@dataclass(frozen=True, slots=True)
class PairRules:
    """The pairs of a ConfigMap, both ways. `problems` says what is wrong with it, if anything."""

    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by key, in the order in which they are listed
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by name
    problems: tuple[str, ...] = ()

    @classmethod
    def parse(cls, config_map: JsonMapping | None) -> PairRules:
        """The rules of a ConfigMap as it is stored; no ConfigMap has none. Never raises: faults are in `problems`."""
        if config_map is None:
            return cls()
        found = _CONFIG_MAPS.fitted(config_map)
        return cls(problems=(str(found),)) if isinstance(found, Fault) else cls.of(found.obj, found.faults)

    @classmethod
    def of(cls, config_map: ConfigMap, unread: Iterable[Fault] = ()) -> PairRules:
        """The rules of a ConfigMap, and what of it could not be read: that is a problem too."""
        pairs: dict[str, dict[str, None]] = {}
        problems = [_unread(each) for each in unread if not each.path.startswith("metadata")]
        for where, key, listed in _entries(config_map, problems):
            problems += [
                f"{where}: {_short(key)} is not a label key: {each}" for each in qualified_name_problems(key)[:1]
            ]
            names = pairs.setdefault(key, {})
            for name in listed:
                if subdomain_problems(name):
                    problems.append(f"{where}: {_short(name)} cannot be the name of a set; commas separate names")
                names[name] = None
        keys: dict[str, list[str]] = {}
        for key, listed_names in pairs.items():
            for name in listed_names:
                keys.setdefault(name, []).append(key)
        return cls(
            {key: tuple(names) for key, names in pairs.items()},
            {name: tuple(sorted(each)) for name, each in keys.items()},
            tuple(problems),
        )

    def refusal(self, key: str, name: str) -> str | None:
        """Why a set of this name may not have this effective exclusive key; None if it may. No key: not exclusive."""
        if name in _EXEMPT:
            return None
        if self.problems:
            # Half understood, it would let through what it was written to keep out.
            return f"{_WHAT} cannot be read, so it allows no set: {_shown(self.problems, '; ')}"
        names, keys = self.names.get(key), self.keys.get(name, ())
        if key in keys:
            return None
        causes = []
        if names is not None:
            only = f"only the names {_shown(names)}" if names else "no name"
            causes.append(f"exclusiveKey {key!r} allows {only}")
        if keys:
            causes.append(f"the name {name!r} goes only with exclusiveKey {_shown(keys, ' or ')}")
        if not causes:
            return None
        pair = f"{key}={name}" if key else f"{name} without an exclusiveKey"
        return f"{_WHAT} does not allow {pair}: {'; '.join(causes)}"

    def refusal_of(self, cluster_set: ManagedClusterSet) -> str | None:
        """Why a set may not be as it is. A set without an exclusive key has no pair: its name must be free."""
        name = cluster_set.metadata.name
        try:
            rule = membership_of(cluster_set)
        except InvalidObjectError:
            return self.refusal("", name)
        return self.refusal(rule.key if isinstance(rule, ExclusiveMembership) else "", name)


def _entries(config_map: ConfigMap, problems: list[str]) -> Iterator[tuple[str, str, Iterable[str]]]:
    """Where, key and names of every entry."""
    if config_map.binary_data:
        problems.append("binaryData is not read; write the pairs as text into data")
    for key, value in config_map.data.items():
        where = f"data[{key}]"
        if key == STRUCTURED:
            try:
                yield from [(where, each, names) for each, names in _structured(value)]
            except (YamlError, _ShapeError) as error:
                problems.append(f"{where} {_fault(error)}")
        else:
            yield where, key, _comma_list(value)


def _unread(fault: Fault) -> str:
    field, _, key = fault.path.partition(".")
    return f"{field}[{key}] is not text" if key else f"{field} is not a mapping"


def _comma_list(text: str) -> list[str]:
    return [name for each in text.split(",") if (name := each.strip())]


class _ShapeError(Exception):
    """YAML, but not keys with lists of names."""


def _structured(text: str) -> Iterator[tuple[str, list[str]]]:
    """document = { key ":" ( comma list | "[" name* "]" ) }

    Read event by event: nothing is built that the text does not spell out, words such as `no` stay words, and of two
    entries for one key neither is lost.
    """
    read = yaml_events(text.encode("utf-8", "surrogatepass"), YamlLimits())
    events = (event for event in read if not isinstance(event, _FRAME))
    first = next(events, None)
    if first is None or (isinstance(first, yaml.ScalarEvent) and not first.value):
        return
    if not isinstance(first, yaml.MappingStartEvent):
        raise _ShapeError(_place(first))
    while not isinstance(key := next(events), yaml.MappingEndEvent):
        value = next(events)
        if not isinstance(key, yaml.ScalarEvent):
            raise _ShapeError(_place(key))
        if isinstance(value, yaml.ScalarEvent):
            yield key.value, _comma_list(value.value)
        elif isinstance(value, yaml.SequenceStartEvent):
            yield key.value, list(_names(events))
        else:
            raise _ShapeError(_place(value))
    if (more := next(events, None)) is not None:
        raise _ShapeError(_place(more))


def _names(events: Iterator[yaml.Event]) -> Iterator[str]:
    while not isinstance(event := next(events), yaml.SequenceEndEvent):
        if not isinstance(event, yaml.ScalarEvent):
            raise _ShapeError(_place(event))
        if name := event.value.strip():
            yield name


_FRAME: Final = (yaml.StreamStartEvent, yaml.StreamEndEvent, yaml.DocumentStartEvent, yaml.DocumentEndEvent)


def _place(event: yaml.Event) -> str:
    line = event.start_mark.line + 1 if event.start_mark is not None else 1
    return f"line {line}: expected one mapping of keys to lists of names, without anchors"


def _fault(error: YamlError | _ShapeError) -> str:
    if isinstance(error, _ShapeError):
        return str(error)
    return f"{f'line {error.line}: ' if error.line else ''}not valid YAML: {error.problem}"


def _short(text: str) -> str:
    return repr(text if len(text) <= _MOST_LETTERS else f"{text[:_MOST_LETTERS]}…")


def _shown(values: Iterable[str], separator: str = ", ") -> str:
    listed = list(values)
    more = len(listed) - _MOST_SHOWN
    return separator.join(listed[:_MOST_SHOWN]) + (f"{separator}{more} more" if more > 0 else "")
