"""Which kinds there are now: the hub's own, and those that somebody has defined.

A mapping like the registry, which it extends; `changes` counts, so that routes, discovery and OpenAPI are made anew
when they are asked for and something has changed; who shows a kind over time is told when it has another form
(`outdated`). Only `lifecycle` changes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from muster.api.crds import KEY
from muster.hub.custom.reading import DefinitionChecks, completed, normalized

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from muster.api.resource import Resource


class Kinds(Mapping[str, "Resource"]):
    """The kinds by key, `plural.group`."""

    def __init__(self, own: Mapping[str, Resource]) -> None:
        self._own = {key: _checked(resource) if key == KEY else resource for key, resource in own.items()}
        self._custom: dict[str, Resource] = {}
        self._all: dict[str, Resource] = dict(self._own)
        self.changes = 0
        #: Called with the key of a custom kind that is no longer served as it was.
        self.outdated: Callable[[str], None] = lambda _: None

    def __getitem__(self, key: str) -> Resource:
        return self._all[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def is_own(self, key: str) -> bool:
        """Whether the hub brings the kind."""
        return key in self._own

    @property
    def custom(self) -> Mapping[str, Resource]:
        return self._custom

    def put(self, resource: Resource) -> None:
        """Serve a custom kind, or serve it in a new form."""
        before = self._custom.get(resource.key)
        self._change({**self._custom, resource.key: resource})
        # That a kind begins to go changes nothing of its form: whoever follows it is to see its objects go.
        if before is not None and before.terminating == resource.terminating:
            self.outdated(resource.key)

    def remove(self, key: str) -> None:
        if key in self._custom:
            self._change({name: each for name, each in self._custom.items() if name != key})
            self.outdated(key)

    def _change(self, custom: dict[str, Resource]) -> None:
        # New mappings: whoever goes over the old ones is not disturbed.
        self._custom = custom
        self._all = {**self._own, **custom}
        self.changes += 1


def _checked(resource: Resource) -> Resource:
    """CustomResourceDefinition with the checks that its schema cannot state."""
    (version,) = resource.versions
    checked = replace(version, checks=DefinitionChecks(version.compiled))
    return replace(resource, versions=(checked,), normalize=normalized, complete=completed)
