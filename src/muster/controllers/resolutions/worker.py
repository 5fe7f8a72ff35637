"""The process that resolves: jobs come in on standard input, answers go out on standard output.

A process of its own, because a resolution is a long computation over other people's catalogs and rules: it must hold
up no other controller, and it can be ended when it takes too long or too much memory. `pool.py` starts it.
Catalogs that were read are kept, by what is in them, and shared by all resolutions that name them.
"""

from __future__ import annotations

import base64
import gc
import gzip
import hashlib
import io
import os
import resource
import sys
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

import msgspec

from muster.api.fleet_resolution import UNDECIDED, ResolutionPreviewStatus
from muster.api.reading import Reader
from muster.api.resolution import GROUP, RESOLUTION, ResolutionSpec
from muster.api.validation import validate_object
from muster.catalog_files import content_digest, is_catalog_file, read_path, read_stream
from muster.controllers.resolutions.jobs import LENGTH, CatalogInput, Job, PreviewOptions
from muster.errors import InvalidObjectError, MusterError
from muster.reasons import Code, Reason
from muster.resolution.catalog.blobs import CatalogBuilder
from muster.resolution.catalog.catalog import Catalog, Fault
from muster.resolution.from_object import request_of, spec_causes
from muster.resolution.preview import bounded, invalid_preview, previewed
from muster.resolution.resolve import resolve
from muster.resolution.telling.lock import Lock, locked_request, read_lock
from muster.resolution.to_status import CATALOG_PROBLEM, INVALID_SPEC, NOT_DECIDED, Answer, Verdict, answer, finished
from muster.values.causes import Cause, invalid_without_value, sentence
from muster.values.faults import Fault as Unreadable
from muster.values.json import Json, JsonObject

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MOST_MEMORY: Final = 3 * 1024**3  # bytes of the process
_MOST_KEPT: Final = 512 * 1024**2  # bytes of catalogs as they are written
_MOST_CATALOGS: Final = 64
_MOST_UNPACKED: Final = 64 * 1024**2  # bytes of one compressed value of a ConfigMap
_LOOK_EVERY: Final = 2.0  # seconds
_NICER: Final = 5  # the other controllers go first


_UNSAVED: Final = {
    "apiVersion": f"{GROUP}/{RESOLUTION.storage_version.name}",
    "kind": RESOLUTION.kind,
    "metadata": {"name": "preview", "namespace": "preview"},
}
_JOBS: Final = msgspec.json.Decoder(Job)
_SPECS: Final = Reader(ResolutionSpec)


class CatalogCache:
    """Catalogs that were read, newest use last, as many as fit."""

    def __init__(self, most_bytes: int = _MOST_KEPT) -> None:
        self._most = most_bytes
        self._kept: OrderedDict[tuple[str, str], tuple[Catalog, int]] = OrderedDict()
        self._contents: dict[str, str] = {}  # digests by fingerprint

    def catalog(self, name: str, digest: str, size: int, read: Callable[[CatalogBuilder], None]) -> Catalog:
        """The catalog of these contents under this name, read if it is not there."""
        key = (digest, name)
        kept = self._kept.get(key)
        if kept is None:
            builder = CatalogBuilder(name)
            read(builder)
            kept = self._kept[key] = (builder.build(), size)
            gc.freeze()  # catalogs stay; looking through them for garbage costs more than deciding
        self._kept.move_to_end(key)
        while len(self._kept) > 1 and (len(self._kept) > _MOST_CATALOGS or self._size() > self._most):
            self._kept.popitem(last=False)
        return kept[0]

    def _size(self) -> int:
        return sum(size for _, size in self._kept.values())

    def content(self, path: Path, fingerprint: str) -> str:
        """The digest of what is behind a path; computed once per fingerprint."""
        if fingerprint not in self._contents:
            if len(self._contents) > _MOST_CATALOGS:
                self._contents.clear()
            self._contents[fingerprint] = content_digest(path)
        return self._contents[fingerprint]


@dataclass(frozen=True, slots=True)
class _Given:
    """What a job is about, read: the spec, its catalogs, those that could not be read, and a digest of all of it."""

    spec: ResolutionSpec
    catalogs: tuple[Catalog, ...]
    unavailable: tuple[Fault, ...]
    digest: str


class _InvalidJobError(MusterError):
    """There is nothing to resolve: the reason of the condition, and why."""

    def __init__(self, reason: str, text: str, causes: Sequence[Cause] = ()) -> None:
        self.reason = reason
        self.text = text
        self.causes = causes
        super().__init__(reason, text, causes)

    def __str__(self) -> str:
        return self.text


def work_on(job: Job, cache: CatalogCache, clock: Callable[[], float] = time.monotonic) -> Answer:
    """Read the catalogs, decide, and put the outcome into a status."""
    try:
        given = _given(job, cache)
    except _InvalidJobError as error:
        return finished(Verdict("False", error.reason, error.text))
    seconds = given.spec.time_limit_seconds
    deadline = clock() + seconds
    outcome = resolve(request_of(given.spec, given.catalogs), lambda: clock() < deadline)
    explained = clock() + seconds
    found = answer(outcome, given.unavailable, lambda: clock() < explained, seconds)
    return found._replace(status=msgspec.structs.replace(found.status, input_digest=given.digest))


def preview_of(
    job: Job, options: PreviewOptions, cache: CatalogCache, clock: Callable[[], float] = time.monotonic
) -> ResolutionPreviewStatus:
    """The same as an answer to whoever asks what would come of it."""
    lock: Lock | None = None
    if causes := validate_object(RESOLUTION, RESOLUTION.storage_version, {**_UNSAVED, "spec": _decoded(job.spec)}):
        return bounded(invalid_preview(sentence(causes), causes))
    try:
        given = _given(job, cache)
        request = request_of(given.spec, given.catalogs)
        if options.lock is not None:
            lock = read_lock(options.lock)
            request = locked_request(request, lock) if options.locked else request
    except _InvalidJobError as error:
        return bounded(invalid_preview(error.text, error.causes))
    except InvalidObjectError as error:
        return bounded(invalid_preview(str(error), [invalid_without_value("spec.lock", error.reason)]))
    seconds = min(float(given.spec.time_limit_seconds), options.seconds)
    deadline = clock() + seconds
    outcome = resolve(request, lambda: clock() < deadline)
    explained = clock() + seconds
    found = previewed(
        outcome,
        go_on=lambda: clock() < explained,
        seconds=seconds,
        explain=options.explain,
        lock=lock,
        unavailable=given.unavailable,
    )
    return msgspec.structs.replace(bounded(found), input_digest=given.digest)


def _decoded(spec: bytes) -> Json:
    return msgspec.json.decode(spec)


def _given(job: Job, cache: CatalogCache) -> _Given:
    """What the job says, and the catalogs that it names. Raises _InvalidJobError."""
    read = _SPECS.read(bytes(job.spec))
    if isinstance(read, Unreadable) or read.faults:
        fault = read if isinstance(read, Unreadable) else read.faults[0]
        where = f"spec.{fault.path}" if fault.path else "spec"
        raise _InvalidJobError(INVALID_SPEC, f"{where}: {fault.message}", [invalid_without_value(where, fault.message)])
    spec = read.obj
    if causes := spec_causes(spec):
        raise _InvalidJobError(INVALID_SPEC, sentence(causes), causes)
    if not job.catalogs:
        text = "there is no catalog to choose from: name one in spec.catalogs"
        raise _InvalidJobError(CATALOG_PROBLEM, text)
    digest = hashlib.sha256(job.spec)
    catalogs: list[Catalog] = []
    unavailable: list[Fault] = []
    for given in job.catalogs:
        try:
            catalog, content = _catalog(given, spec, cache)
        except (InvalidObjectError, OSError) as error:
            told = {"message": _without_path(error, given) if isinstance(error, OSError) else str(error)}
            unavailable.append(Fault(f"catalog {given.name}", Reason(Code.CATALOG_UNAVAILABLE, parameters=told)))
            digest.update(f"\0{given.name}\0".encode())
            continue
        catalogs.append(replace(catalog, priority=given.priority))
        digest.update(f"\0{given.name}\0{content}".encode())
    return _Given(spec, tuple(catalogs), tuple(unavailable), f"sha256:{digest.hexdigest()}")


def _catalog(given: CatalogInput, spec: ResolutionSpec, cache: CatalogCache) -> tuple[Catalog, str]:
    """The catalog, and a digest of what is in it."""
    if given.missing:
        raise InvalidObjectError("", given.missing)
    if given.path:
        path = Path(given.path)
        if not path.exists():
            raise InvalidObjectError("", "the hub's settings name a file or directory that is not there")
        digest = cache.content(path, given.fingerprint)
        size = sum(file.stat().st_size for file in path.rglob("*")) if path.is_dir() else path.stat().st_size
        # Where things are on the server is not the business of those who may read the status.
        return cache.catalog(
            given.name, digest, size, lambda builder: read_path(path, builder, name=given.name)
        ), digest
    if given.inline:
        written = next(each.inline for each in spec.catalogs if each.name == given.name)
        blobs = msgspec.json.decode(written, type=tuple[JsonObject, ...])
        text = msgspec.json.encode(blobs)
        digest = hashlib.sha256(text).hexdigest()
        return cache.catalog(given.name, digest, len(text), lambda builder: _read_inline(blobs, builder)), digest
    text = msgspec.json.encode((given.texts, given.binaries), order="sorted")
    digest = hashlib.sha256(text).hexdigest()
    return cache.catalog(given.name, digest, len(text), lambda builder: _read_values(given, builder)), digest


def _read_inline(blobs: tuple[JsonObject, ...], builder: CatalogBuilder) -> None:
    for place, blob in enumerate(blobs):
        builder.add_object(blob, f"{builder.name}#/inline/{place}")


def _read_values(given: CatalogInput, builder: CatalogBuilder) -> None:
    """The values of a ConfigMap are files."""
    values = {name: text.encode() for name, text in given.texts.items()}
    values |= {name: base64.b64decode(text) for name, text in given.binaries.items()}
    for name, value in sorted(values.items()):
        where = f"{given.name}/{name}"
        if not is_catalog_file(name):
            builder.fault(where, Reason(Code.FILE_NAME_UNKNOWN))
            continue
        if name.endswith(".gz"):
            try:
                with gzip.GzipFile(fileobj=io.BytesIO(value)) as packed:
                    value = packed.read(_MOST_UNPACKED + 1)
            except (OSError, EOFError) as error:
                builder.fault(where, Reason(Code.GZIP_INVALID, parameters={"message": str(error)}))
                continue
            if len(value) > _MOST_UNPACKED:
                builder.fault(where, Reason(Code.UNPACKED_TOO_LARGE, parameters={"most": _MOST_UNPACKED}))
                continue
        read_stream(where.removesuffix(".gz"), io.BytesIO(value), builder)


def _without_path(error: OSError, given: CatalogInput) -> str:
    """What the system says of a file of the server, which is called by its place in the catalog."""
    file = str(error.filename) if error.filename else given.path
    return f"[Errno {error.errno}] {error.strerror}: '{given.name}{file.removeprefix(given.path)}'"


def main() -> None:
    """Work until standard input ends."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, hard))
    os.nice(_NICER)
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    cache = CatalogCache()
    while (frame := _read_frame(sys.stdin.buffer)) is not None:
        job = _JOBS.decode(frame)
        found: Answer | ResolutionPreviewStatus
        try:
            found = work_on(job, cache) if job.preview is None else preview_of(job, job.preview, cache)
        except MemoryError:
            del cache
            cache = CatalogCache()
            text = f"the catalogs take more than the {MOST_MEMORY // 1024**2} MB that resolving may use"
            found = finished(Verdict("Unknown", NOT_DECIDED, text))
            if job.preview is not None:
                found = ResolutionPreviewStatus(UNDECIDED, text)
        encoded = msgspec.json.encode(found)
        sys.stdout.buffer.write(LENGTH.pack(len(encoded)) + encoded)
        sys.stdout.buffer.flush()


def _end_with(parent: int) -> None:
    """End when the controllers are gone, however that happened and whatever we are doing."""
    while os.getppid() == parent:
        time.sleep(_LOOK_EVERY)
    os._exit(0)


def _read_frame(stream: IO[bytes]) -> bytes | None:
    length = stream.read(LENGTH.size)
    if len(length) < LENGTH.size:
        return None
    (size,) = LENGTH.unpack(length)
    frame = stream.read(size)
    return frame if len(frame) == size else None


if __name__ == "__main__":
    main()
