"""Whatever happens in whatever order, behind a bad network and with hands in our objects: guards keep their promise.

Sequences of events are random. Clusters lose labels, the placement is edited, misconfigured and put right, its binding
goes and comes back, approvals are outdated, in time or repeated; somebody deletes pages and records, edits them, and
sets the clock back; answers are lost, writes conflict, the controllers restart, and once two of them lead at a time.
`MUSTER_SEQUENCES` sets how many there are of each (`make faults` tries many).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import time
from dataclasses import dataclass, field, replace
from datetime import timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from muster.errors import ApiError
from tests.builders import a_binding, a_cluster
from tests.controllers.faulty import Faults, faulty
from tests.controllers.placements.test_guards import (
    BINDINGS,
    P1,
    PREFIX,
    RECORD,
    TEN,
    Clock,
    approve,
    guarded,
    held,
    look_again,
    relabel,
)
from tests.controllers.running import APPS, Driver, controllers, driven_hub, eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.controllers.manager import Manager

SEQUENCES = int(os.environ.get("MUSTER_SEQUENCES", "1"))
pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(120 + 60 * SEQUENCES)]
PAGE = f"{APPS}/placementdecisions/p1-decision-1"
MOST = 3
STEPS = 14
FAULTS = Faults(refuse=0.03, lose=0.05, conflict=0.05, dawdle=0.1)


@dataclass
class Sequence:
    """A hub, controllers behind a bad network, and what happens to them."""

    hub: Driver
    order: random.Random
    clock: Clock
    by_hand: set[str] = field(default_factory=set)  # versions of pages that we have written ourselves
    approved: list[str] = field(default_factory=list)
    loops: list[asyncio.AbstractEventLoop] = field(default_factory=list)
    managers: list[Manager] = field(default_factory=list)

    def settled(self) -> None:
        quiet, deadline = 0, time.monotonic() + 60
        while quiet < 4:
            quiet = quiet + 1 if all(each.idle for each in self.managers) else 0
            assert time.monotonic() < deadline
            time.sleep(0.03)

    @contextlib.contextmanager
    def leading(self, url: str, leaders: int) -> Iterator[None]:
        """So many controllers that all believe to lead."""
        with contextlib.ExitStack() as stack:
            self.loops = [asyncio.new_event_loop() for _ in range(leaders)]
            self.managers = [
                stack.enter_context(controllers(replace(self.hub.hub, url=url), clock=self.clock, loop=loop))
                for loop in self.loops
            ]
            yield

    def heal(self) -> None:
        """What the controllers do every few minutes."""
        for loop, manager in zip(self.loops, self.managers, strict=True):
            guards = manager.placements.guards
            for _ in range(50):
                with contextlib.suppress(Exception):  # the network is bad
                    asyncio.run_coroutine_threadsafe(guards.look_after_records(), loop).result(10)
                    break

    # ------------------------------------------------------------------------------------------------ what happens

    def step(self) -> None:
        deeds = [self.label] * 4 + [self.edit, self.misconfigure, self.unbind, self.outdate, self.put_clock_back]
        if len(self.managers) == 1:  # two who lead at once undo each other's approvals, and what others have done
            deeds += [self.take_page, self.edit_page, self.spoil_record, self.approve_what_waits]
        self.order.choice(deeds)()

    def label(self) -> None:
        relabel(self.hub, self.order.sample(TEN, 2), self.order.choice(("prod", "test", None)))

    def edit(self) -> None:
        self.hub.patch(P1, {"spec": {"numberOfClusters": self.order.choice((2, 5, None))}})

    def misconfigure(self) -> None:
        self.hub.patch(P1, {"spec": {"clusterSets": self.order.choice((["nowhere"], None, None))}})

    def unbind(self) -> None:
        if self.hub.get(f"{BINDINGS}/global") is None:
            self.hub.create(a_binding("global"))
        else:
            self.hub.send("DELETE", f"{BINDINGS}/global")

    def outdate(self) -> None:
        approve(self.hub, self.order.choice(("0" * 20, "f" * 20)))

    def take_page(self) -> None:
        """Somebody deletes a page."""
        if self.hub.get(PAGE) is not None:
            self.hub.hub.request("DELETE", PAGE)

    def edit_page(self) -> None:
        """Somebody takes clusters out of a page."""
        page = self.hub.get(PAGE)
        if page is None:
            return
        left = page.get("status", {}).get("decisions", [])[::2]
        body = json.dumps({"metadata": {"resourceVersion": page["metadata"]["resourceVersion"]}, "status": {}})
        plain = json.loads(body) | {"status": {"decisions": left}}
        code, _, answer = self.hub.hub.request(
            "PATCH", f"{PAGE}/status", json.dumps(plain).encode(), {"Content-Type": "application/merge-patch+json"}
        )
        if code == 200:
            self.by_hand.add(json.loads(answer)["metadata"]["resourceVersion"])

    def spoil_record(self) -> None:
        """Somebody deletes what is remembered, or writes that nothing has gone and everything may."""
        if self.hub.get(RECORD) is None:
            return
        if self.order.random() < 0.5:
            self.hub.hub.request("DELETE", RECORD)
        else:
            everything = {"time": "2026-11-16T12:00:00Z", "digest": "x", "counted": 0, "clusters": TEN}
            self.hub.patch(RECORD, {"removed": [], "approvalsUsed": 0, "passing": everything, "held": None})

    def put_clock_back(self) -> None:
        self.clock.advance(hours=self.order.choice((-3, -1, -2)))
        look_again(self.hub)

    def approve_what_waits(self) -> None:
        """Also twice: an approval is used once."""
        self.settled()
        waiting = held(self.hub)
        if waiting is None:
            return
        used = self.used()
        approve(self.hub, waiting["digest"])
        self.settled()
        if self.used() > used:
            self.approved += waiting["clusters"]
        approve(self.hub, "0" * 20)
        approve(self.hub, waiting["digest"])

    def used(self) -> int:
        return int((self.hub.get(RECORD) or {}).get("approvalsUsed", 0))

    # ------------------------------------------------------------------------------------------------- what is seen

    def removed(self, since: str, decided: list[str]) -> list[str]:
        """Every cluster that the controllers have taken out of the page since a version; not what others have."""
        path = f"{APPS}/placementdecisions?watch=true&resourceVersion={since}&timeoutSeconds=1"
        _, _, answer = self.hub.hub.request("GET", path)
        gone: list[str] = []
        before = set(decided)
        for line in answer.splitlines():
            event: dict[str, Any] = json.loads(line)
            page = event["object"]
            now = {each["clusterName"] for each in page.get("status", {}).get("decisions", [])}
            if event["type"] == "DELETED":
                now = set()
            elif event["type"] == "BOOKMARK":
                continue
            elif page["metadata"]["resourceVersion"] not in self.by_hand:
                gone += sorted(before - now)
            before = now
        return gone


def story(seed: int, leaders: int) -> None:
    order, clock = random.Random(seed), Clock()
    faults = replace(FAULTS, random=random.Random(seed), counts={})
    with driven_hub() as hub:
        hub.create(a_binding("global"), *(a_cluster(name, {"env": "prod"}) for name in TEN))
        hub.create(guarded(max_removals=str(MOST), removal_window="1h"))
        at = Sequence(hub, order, clock)
        with controllers(hub.hub, clock=clock):
            eventually(hub.decided, TEN)
        for _ in range(2):
            start, since = clock.now, hub.get(f"{APPS}/placementdecisions")["metadata"]["resourceVersion"]
            decided, at.approved = hub.decided(), []
            for _ in range(2):
                with faulty(hub.hub.url, faults) as url, at.leading(url, leaders):
                    for _ in range(STEPS // 2):
                        at.step()
                        clock.now = min(clock.now + timedelta(minutes=order.choice((0, 1, 30))), start + HALF)
                        time.sleep(order.choice((0.0, 0.02, 0.2)))
                    at.settled()
                    at.heal()  # a record that is gone when they start is beyond what they promise
                    at.settled()
            clock.now = start + HALF
            gone = at.removed(since, decided)
            for name in at.approved:
                if name in gone:  # somebody else may have been first
                    gone.remove(name)
            if leaders > 1:
                # Who has not seen a change yet puts back what the other took: that it goes again is no other removal.
                gone = sorted(set(gone))
            assert len(gone) <= MOST, (seed, gone)
            # Everything is put right again: what comes is not late, whatever waits.
            if hub.get(f"{BINDINGS}/global") is None:
                hub.create(a_binding("global"))
            hub.patch(P1, {"spec": {"numberOfClusters": None, "clusterSets": None}})
            relabel(hub, TEN, "prod")
            with controllers(hub.hub, clock=clock):
                eventually(hub.decided, TEN)
                eventually(lambda: held(hub), None)
            clock.advance(minutes=61)


HALF = timedelta(minutes=45)


@pytest.mark.parametrize("seed", range(1, SEQUENCES + 1))
def test_nothing_goes_that_the_guard_does_not_allow(seed: int) -> None:
    story(seed, leaders=1)


@pytest.mark.parametrize("seed", range(101, 101 + SEQUENCES))
def test_nothing_goes_that_the_guard_does_not_allow_though_two_lead(seed: int) -> None:
    story(seed, leaders=2)


def test_a_freeze_holds_what_was_let_go_before_it_and_has_not_gone() -> None:
    """The page cannot be written at first, and the freeze comes before it can."""
    clock = Clock()
    with driven_hub() as hub:
        hub.create(a_binding("global"), *(a_cluster(name, {"env": "prod"}) for name in TEN))
        hub.create(guarded(max_removals="3", removal_window="1h"))
        with controllers(hub.hub, clock=clock):
            eventually(hub.decided, TEN)
        record = {
            "apiVersion": "placement.muster.dev/v1alpha1",
            "kind": "PlacementGuardRecord",
            "metadata": {"name": "p1", "namespace": "apps", "ownerReferences": [_owner(hub)]},
            "removed": [{"time": "2026-11-16T12:00:00Z", "count": 2}],
            "passing": {"time": "2026-11-16T12:00:00Z", "digest": "x", "counted": 2, "clusters": TEN[:2]},
            "approvalsUsed": 0,
        }
        # As a process leaves it that is killed before the page is written.
        hub.send("POST", RECORD.rpartition("/")[0], record)
        relabel(hub, TEN[:2], None)
        hub.patch(P1, {"metadata": {"annotations": {f"{PREFIX}/freeze-removals": "true"}}})
        with controllers(hub.hub, clock=clock):
            eventually(lambda: hub.condition(P1, "RemovalsHeld"), ("True", "RemovalsFrozen"))
            assert hub.decided() == TEN
            # When it is over they go, and count once: one more may.
            hub.patch(P1, {"metadata": {"annotations": {f"{PREFIX}/freeze-removals": None}}})
            eventually(hub.decided, TEN[2:])
            relabel(hub, TEN[2:3], None)
            eventually(hub.decided, TEN[3:])
            relabel(hub, TEN[3:4], None)
            eventually(lambda: hub.condition(P1, "RemovalsHeld"), ("True", "TooManyRemovals"))
            assert hub.decided() == TEN[3:]


def test_a_record_that_somebody_has_edited_is_not_believed_when_a_write_conflicts() -> None:
    """Neither that nothing has gone, nor that everything is on its way: not even if putting it right is refused."""
    clock, loop = Clock(), asyncio.new_event_loop()
    with driven_hub() as hub:
        hub.create(a_binding("global"), *(a_cluster(name, {"env": "prod"}) for name in TEN))
        hub.create(guarded(max_removals=str(MOST), removal_window="1h"))
        with controllers(hub.hub, clock=clock, loop=loop) as manager:
            eventually(hub.decided, TEN)
            for number in range(MOST):
                relabel(hub, TEN[number : number + 1], None)
                eventually(hub.decided, TEN[number + 1 :])
            relabel(hub, TEN[MOST:6], None)
            eventually(lambda: (held(hub) or {}).get("clusters"), TEN[MOST:6])
            everything = {"time": "2026-11-16T12:00:00Z", "digest": "x", "counted": 0, "clusters": TEN}
            hub.patch(RECORD, {"removed": [], "approvalsUsed": 0, "passing": everything, "held": None})
            guards, refused = manager.placements.guards, list[str]()
            request = guards.client.request

            async def conflicting(method: str, path: str, **given: Any) -> Any:
                if method == "PUT" and path == RECORD and len(refused) < 2:
                    refused.append(path)
                    raise ApiError(409, "Conflict", "somebody was faster")
                return await request(method, path, **given)

            # A client whose writes conflict, and nothing else of it is used.
            guards.client = SimpleNamespace(request=conflicting, pages=guards.client.pages)  # type: ignore[assignment]
            asyncio.run_coroutine_threadsafe(guards.look_after_records(), loop).result(10)
            eventually(lambda: len(refused), 2)
            eventually(lambda: (held(hub) or {}).get("clusters"), TEN[MOST:6])
            assert hub.decided() == TEN[MOST:]
            assert sum(each["count"] for each in hub.get(RECORD)["removed"]) == MOST


def _owner(hub: Driver) -> dict[str, Any]:
    metadata = hub.get(P1)["metadata"]
    api_version = "cluster.open-cluster-management.io/v1beta1"
    return {"apiVersion": api_version, "kind": "Placement", "name": "p1", "uid": metadata["uid"], "controller": True}
