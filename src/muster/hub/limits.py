"""What the API machinery keeps and reads, whoever asks over whatever: objects of a kind, events, selectors, pages.

`Api` is given them. The limits of HTTP are in `rest.limits`, those of users in `auth.fairness`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from muster.hub import status
from muster.values.limits import Unit, limit, named

if TYPE_CHECKING:
    from muster.hub.requests import ListOptions, WatchOptions

_IN_BRACKETS = re.compile(r"\([^()]*\)")


@dataclass(frozen=True, slots=True)
class ObjectLimits:
    """The settings; the defaults suit one hub on a small machine."""

    objects_per_kind: int = limit(
        1_000_000, "objects per kind", "Objects of one kind: all of them are kept in memory.", "403 `Forbidden`"
    )
    events_seconds: float = limit(
        3600.0,
        "events ttl",
        "How long an Event lives after it was last written; 0 is for ever.",
        "the hub deletes it",
        Unit.SECONDS,
        least=0,
    )
    list_page: int = limit(
        0,
        "list page",
        "Objects in one answer to a list, whatever its `limit` says; 0 is no bound.",
        "the answer is a page with `continue`",
        least=0,
    )
    custom_kinds: int = limit(
        500, "custom kinds", "Kinds that are defined by CustomResourceDefinitions.", "403 `Forbidden`", least=0
    )
    definition_bytes: int = limit(
        1536 * 1024, "definition bytes", "One CustomResourceDefinition, as JSON.", "413", Unit.BYTES
    )
    selector_bytes: int = limit(
        16 * 1024, "selector bytes", "A labelSelector or fieldSelector of a list or watch.", "400", Unit.BYTES
    )
    selector_requirements: int = limit(
        100, "selector requirements", "Requirements in such a selector: each is asked of every object.", "400"
    )
    selector_values: int = limit(
        1_000, "selector values", "Values in such a selector, of all its sets together.", "400"
    )

    def check_selectors(self, options: ListOptions | WatchOptions) -> None:
        """Refuse selectors that are too large to be read, before anybody reads them."""
        for name, text in (("labelSelector", options.label_selector), ("fieldSelector", options.field_selector)):
            if len(text) > self.selector_bytes:
                raise _too_large(name, f"{len(text)} bytes", self.selector_bytes, "selector bytes")
            if text.count(",") < min(self.selector_requirements, self.selector_values):
                continue
            requirements = _IN_BRACKETS.sub("", text).count(",") + 1
            if requirements > self.selector_requirements:
                raise _too_large(
                    name, f"{requirements} requirements", self.selector_requirements, "selector requirements"
                )
            if text.count(",") > self.selector_values:
                raise _too_large(name, f"{text.count(',')} values", self.selector_values, "selector values")


def _too_large(name: str, what: str, most: int, setting: str) -> status.StatusError:
    return status.bad_request(f"the {name} has {what}, more than {most} ({named(setting)})")
