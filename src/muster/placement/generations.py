"""Generations of decisions: how a reader tells a whole set of pages from one that is being written. Pure.

The first page carries, as annotations that are written last, the generation that is finished, how many pages it has,
which generation changed each of them last, and a digest of all clusters in all pages. The marks stand on one page
because servers do not take metadata together with a status: on every page they would cost a third write.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

GENERATION: Final = "placement.muster.dev/generation"
PAGES: Final = "placement.muster.dev/pages"
PAGE_GENERATIONS: Final = "placement.muster.dev/page-generations"
DIGEST: Final = "placement.muster.dev/digest"


@dataclass(frozen=True, slots=True)
class Marks:
    """What the first page says of all."""

    generation: int
    pages: int
    page_generations: tuple[int, ...]
    digest: str

    @classmethod
    def read(cls, annotations: Mapping[str, str]) -> Marks | None:
        """None where they are not there, or are not what we write."""
        texts = [annotations.get(name, "") for name in (GENERATION, PAGES)]
        of_pages = annotations.get(PAGE_GENERATIONS, "").split(",")
        if not all(_is_number(text) for text in (*texts, *of_pages)):
            return None
        return cls(int(texts[0]), int(texts[1]), tuple(map(int, of_pages)), annotations.get(DIGEST, ""))

    def annotations(self) -> dict[str, str]:
        return {
            GENERATION: str(self.generation),
            PAGES: str(self.pages),
            PAGE_GENERATIONS: ",".join(map(str, self.page_generations)),
            DIGEST: self.digest,
        }

    def fits(self, pages: Sequence[Sequence[str]]) -> bool:
        """Whether these are the pages of the generation, given as their clusters."""
        return len(pages) == self.pages and digest_of(name for page in pages for name in page) == self.digest


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 19


def digest_of(clusters: Iterable[str]) -> str:
    """SHA-256 of the sorted names, each on a line of its own: what `sort | sha256sum` says."""
    return hashlib.sha256("\n".join([*sorted(clusters), ""]).encode()).hexdigest()


def next_marks(before: Marks | None, names: Sequence[str], changed: Collection[str], clusters: Iterable[str]) -> Marks:
    """The marks of pages by their names, in order, of which some were changed."""
    generation = 1 if before is None else before.generation + 1
    known = () if before is None else before.page_generations
    of_pages = tuple(generation if name in changed or at >= len(known) else known[at] for at, name in enumerate(names))
    return Marks(generation, len(names), of_pages, digest_of(clusters))
