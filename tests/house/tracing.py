"""Which functions of muster a run enters, and when. Used by the test of ways."""

from __future__ import annotations

import contextlib
import itertools
import sys
import threading
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

import muster

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

SOURCE: Final = Path(muster.__file__).parent
_FOLDER: Final = f"{SOURCE}/"


class Traced:
    """Every entry into a function, by module and name: the numbers of the calls, in order."""

    def __init__(self) -> None:
        self.entered: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        self._calls = itertools.count()
        self._recording = False

    @contextlib.contextmanager
    def recording(self) -> Iterator[None]:
        self._recording = True
        try:
            yield
        finally:
            self._recording = False

    def see(self, frame: FrameType, event: str, _: object) -> None:
        """What Python calls at every call and return."""
        code = frame.f_code
        if self._recording and event == "call" and code.co_filename.startswith(_FOLDER):
            self.entered[code.co_filename.removeprefix(_FOLDER), code.co_qualname].append(next(self._calls))


@contextlib.contextmanager
def tracing() -> Iterator[Traced]:
    """This thread and every thread that starts in here is traced, whenever it records."""
    traced = Traced()
    threading.setprofile(traced.see)
    sys.setprofile(traced.see)
    try:
        yield traced
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
