"""The API server over HTTPS beside a kube-apiserver: writes, heartbeats, leases, reads, lists, watchers, churn.

Durable (fsync before the answer), admission and audit on, 10,000 clusters of 2.7 KB in both. The same client, which is
not in Python, puts load on one server and then on the other, three times; tables give the median, and the least and the
most. CPU is what the server's processes took, etcd among them: on a machine that others use it says more than rates.
A kube-apiserver is built from its modules if it is not there yet; `MUSTER_PEERS=none` leaves it out, `MUSTER_OTHER=DIR`
puts another working tree beside this one, `MUSTER_ROUNDS` is how often (3), `MUSTER_CLUSTERS` how many (10000).
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from benchmarks.serving import jobs, placements
from benchmarks.serving.jobs import LEASES, Job, Run
from benchmarks.serving.peers import CLUSTERS, OURS, Peer, contestants
from benchmarks.serving.tables import Measure, cell, header, load, row

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_ROUNDS: Final = int(os.environ.get("MUSTER_ROUNDS", "3"))
_HELD: Final = int(os.environ.get("MUSTER_CLUSTERS", "10000"))
_LEASES: Final = 2_000
_AT_ONCE: Final = 16
_OURS_OF_THEIRS: Final = 0.8  # of the kube-apiserver's CPU, with 200 watchers


@dataclass(frozen=True, slots=True)
class Case:
    """A line of a table."""

    title: str
    job: Job
    measure: Measure


def _rate(least: float | None = None) -> Measure:
    return Measure("/s", lambda run: run.rate, least=least)


CPU: Final = Measure("CPU ms each", lambda run: run.per_thousand, 2)
_DELAY: Final = Measure("p99 ms", lambda run: run.outcome.delay_p99, 0, most=60)
_MEDIAN: Final = Measure("p50 ms", lambda run: run.outcome.delay_p50, 0)
_CORES: Final = Measure("cores", lambda run: run.cores, 2)

WRITES: Final = (
    *(
        Case(
            f"creates/s, {clients} client{'s' * (clients > 1)}",
            Job(work="create", path=CLUSTERS, prefix="", clients=clients),
            _rate(goal),
        )
        for clients, goal in ((1, None), (16, 1400), (64, None))
    ),
    Case("status patches/s, 16 clients", Job(work="status", path=CLUSTERS, prefix="a-"), _rate(1500)),
    Case(
        "lease renewals/s, 64 clients, one watcher",
        Job(work="renew", path=LEASES, prefix="a-", clients=64, watchers=1),
        _rate(2500),
    ),
    Case(
        "cores for 1,667 lease renewals/s (1,667 times the CPU of each, at up to that rate)",
        Job(work="renew", path=LEASES, prefix="a-", clients=64, watchers=1, rate=1667),
        Measure("", lambda run: run.per_thousand * 1.667, 2, most=0.6),
    ),
)
READS: Final = (
    Case("gets/s, 16 clients", Job(work="get", path=CLUSTERS, prefix="a-"), _rate(8000)),
    Case(
        f"list of {_HELD:,}: ms",
        Job(work="list", path=CLUSTERS, prefix="a-", clients=1, count=5),
        Measure("", lambda run: run.outcome.p50, 0, most=50),
    ),
)
WATCHERS: Final = (
    (Job(work="status", path=CLUSTERS, prefix="a-", clients=4, watchers=200, rate=50, seconds=4.0)),
    (Job(work="status", path=CLUSTERS, prefix="a-", clients=4, watchers=1000, rate=100, seconds=4.0)),
)
CHURN: Final = tuple(
    Job(work="churn", path=CLUSTERS, prefix="churn", clients=many, watchers=many, seconds=4.0, settle=30.0)
    for many in (100, 300)
)
Runs = dict[tuple[int, str], list[Run]]


def _fill(program: Path, peer: Peer) -> None:
    """What both servers hold before anything is measured."""
    clusters = Job(
        work="create",
        path=CLUSTERS,
        prefix="a",
        clients=_AT_ONCE,
        count=_HELD // _AT_ONCE,
        bodies=jobs.cluster_bodies(),
    )
    leases = Job(
        work="create", path=LEASES, prefix="a", clients=_AT_ONCE, count=_LEASES // _AT_ONCE, bodies=jobs.lease_bodies()
    )
    for job in (clusters, leases):
        outcome = jobs.ran(program, peer, job).outcome
        if outcome.errors:
            raise RuntimeError(f"{peer.name} refused {outcome.errors} objects: {outcome.problem}")
    print(f"{peer.name}: {peer.megabytes():,.0f} MB with {_HELD:,} clusters and {_LEASES:,} leases", flush=True)


def _all(program: Path, rivals: Sequence[Peer], wanted: Sequence[Job]) -> Runs:
    """Every job on every server in turn, so many times. Load is printed where it can be seen beside the figures."""
    runs: Runs = {}
    for each in range(_ROUNDS):
        for number, job in enumerate(wanted):
            for peer in rivals:
                known = job
                if job.work in ("create", "churn"):
                    prefix = f"{job.prefix or 'made'}{each}-{number}-"
                    known = _with_bodies(job, prefix)
                runs.setdefault((number, peer.name), []).append(jobs.ran(program, peer, known))
        print(f"round {each + 1} of {_ROUNDS}, load {load()}", flush=True)
    return runs


def _with_bodies(job: Job, prefix: str) -> Job:
    return Job(
        work=job.work,
        path=job.path,
        prefix=prefix,
        clients=job.clients,
        watchers=job.watchers,
        seconds=job.seconds,
        settle=job.settle,
        bodies=jobs.cluster_bodies(),
    )


def _requests(program: Path, rivals: Sequence[Peer]) -> None:
    # Reads first: what is created later would be listed too.
    lines = [(case, runs) for cases in (READS, WRITES) for case, runs in _by_case(program, rivals, cases)]
    names = [peer.name for peer in rivals]
    titles = [title for name in names for title in (name, "CPU ms each")]
    print(f"\n### Requests\n\n{header('', *titles, 'goal', 'errors')}")
    for case, runs in lines:
        cells, errors = [], []
        for name in names:
            mine = runs[name]
            cells += [cell(case.measure, mine, ours=name == OURS), cell(CPU, mine, ours=False)]
            lost = sum(run.outcome.lost + run.outcome.missing + run.outcome.disorder for run in mine)
            errors.append(f"{sum(run.outcome.errors for run in mine)}" + (f", {lost} lost" if lost else ""))
        print(row(case.title, *cells, case.measure.goal, " / ".join(errors)), flush=True)
    size = lines[len(READS) - 1][1][OURS][-1].outcome.bytes
    print(f"\nThe list had {size / 1e6:.0f} MB. Lost is a renewal that was acknowledged and that a list did not show")
    print("after it, or that the watcher was not told once and in order; it stands behind the errors if there is any.")


def _by_case(
    program: Path, rivals: Sequence[Peer], cases: Sequence[Case]
) -> Iterator[tuple[Case, dict[str, list[Run]]]]:
    runs = _all(program, rivals, [case.job for case in cases])
    for number, case in enumerate(cases):
        yield case, {peer.name: runs[number, peer.name] for peer in rivals}


def _per_event(runs: Sequence[Run]) -> float:
    return sum(run.cpu for run in runs) / max(1, sum(run.outcome.events for run in runs))


def _watched(program: Path, rivals: Sequence[Peer]) -> None:
    runs = _all(program, rivals, WATCHERS)
    titles = (
        "",
        "server",
        "p50 ms",
        "p99 ms",
        "server's cores",
        "CPU of an event, of the peer's",
        "writes/s",
        "events",
        "missing or out of order",
    )
    print(f"\n### Watchers\n\n{header(*titles)}")
    for number, job in enumerate(WATCHERS):
        theirs = [runs[number, peer.name] for peer in rivals if peer.name not in (OURS, "other")]
        for peer in rivals:
            mine = runs[number, peer.name]
            ours = peer.name == OURS
            share = ""
            if theirs and peer.name in (OURS, "other"):
                value = _per_event(mine) / _per_event(theirs[0])
                missed = ours and job.watchers == 200 and value > _OURS_OF_THEIRS
                share = f"**{value:.2f}**" if missed else f"{value:.2f}"
            wrong = sum(run.outcome.missing + run.outcome.disorder for run in mine)
            print(
                row(
                    f"{job.watchers:,} watchers, {job.rate:.0f} writes/s",
                    peer.name,
                    cell(_MEDIAN, mine, ours=ours),
                    cell(_DELAY, mine, ours=ours),
                    cell(_CORES, mine, ours=ours),
                    share,
                    cell(_rate(), mine, ours=False),
                    f"{sum(run.outcome.events for run in mine):,}",
                    str(wrong),
                ),
                flush=True,
            )
    print(f"\nGoals: p99 60 ms, and with 200 watchers {_OURS_OF_THEIRS} of the kube-apiserver's CPU.")


def _churned(program: Path, rivals: Sequence[Peer]) -> None:
    runs = _all(program, rivals, CHURN)
    titles = (
        "",
        "server",
        "writes/s",
        "write errors",
        "watch lag p50 ms",
        "p99 ms",
        "watches cut off",
        "missing events",
    )
    print(f"\n### Churn\n\n{header(*titles)}")
    for number, job in enumerate(CHURN):
        for peer in rivals:
            mine = runs[number, peer.name]
            errors = sum(run.outcome.errors for run in mine)
            print(
                row(
                    f"{job.clients} writers, {job.watchers} watchers",
                    peer.name,
                    cell(_rate(), mine, ours=False),
                    f"**{errors}**" if errors and peer.name == OURS else str(errors),
                    cell(_MEDIAN, mine, ours=False),
                    cell(Measure("", lambda run: run.outcome.delay_p99), mine, ours=False),
                    str(sum(run.outcome.again for run in mine)),
                    str(sum(run.outcome.missing for run in mine)),
                ),
                flush=True,
            )
    print(
        "\nEvery writer creates a cluster, labels it twice and deletes it, as fast as it is answered; all of it goes"
        "\nto every watcher. k0smotron published such a churn (etcd: no write errors, p99 7.5 s; SQLite behind kine:"
        "\n32 to 89 % write errors), over other objects, with more clients on more machines: only the errors compare."
    )


def main() -> None:
    print(__doc__)
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}, load {load()}", flush=True)
    program = jobs.client()
    with contestants() as rivals:
        for peer in rivals:
            _fill(program, peer)
        _requests(program, rivals)
        _watched(program, rivals)
        _churned(program, rivals)
        for peer in rivals:
            print(f"{peer.name}: {peer.megabytes():,.0f} MB at the end")
    placements.main()


if __name__ == "__main__":
    main()
