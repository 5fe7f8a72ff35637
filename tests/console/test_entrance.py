"""Who gets in: other hosts, other origins, other programs of this machine, and links that were used do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from muster.console.entrance import SECRET_HEADER
from muster.console.sessions import Links, Sessions
from tests.console.stage import CLUSTERS, QUESTION, ApiServer, Browser, run

if TYPE_CHECKING:
    from collections.abc import Callable

FOREIGN_HOSTS: dict[str, Callable[[int], str]] = {
    "a name that resolves to this machine": lambda port: f"evil.example:{port}",
    "ours without the port": lambda _: "127.0.0.1",
    "another port": lambda port: f"127.0.0.1:{port + 1}",
    "ours as a part": lambda port: f"127.0.0.1:{port}.evil.example",
    "a trailing dot": lambda port: f"localhost.:{port}",
    "another address": lambda port: f"0.0.0.0:{port}",
}


@pytest.mark.parametrize("host", FOREIGN_HOSTS)
def test_a_request_for_another_host_gets_nothing(host: str) -> None:
    async def story(server: ApiServer, browser: Browser) -> None:
        named = {"Host": FOREIGN_HOSTS[host](browser.ready.port)}
        for method, path in (("GET", "/"), ("GET", "/static/main.js"), ("GET", CLUSTERS), ("POST", "/session")):
            assert await browser.code(method, path, headers=named) == 421
        assert server.requests == []

    run(story)


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"])
def test_every_name_of_loopback_is_ours(name: str) -> None:
    async def story(__: ApiServer, browser: Browser) -> None:
        host = f"{name}:{browser.ready.port}"
        assert await browser.code("GET", "/", headers={"Host": host}) == 200
        assert await browser.code("GET", CLUSTERS, headers={"Host": host, "Origin": f"http://{host.lower()}"}) == 200

    run(story)


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1", "http://localhost", ""])
@pytest.mark.parametrize(
    ("method", "path"), [("GET", CLUSTERS), ("POST", QUESTION), ("GET", "/session"), ("POST", "/yaml")]
)
def test_a_page_of_another_origin_is_refused_although_it_has_both_secrets(origin: str, method: str, path: str) -> None:
    async def story(server: ApiServer, browser: Browser) -> None:
        assert await browser.code(method, path, headers={"Origin": origin}) == 403
        assert server.requests == []

    run(story)


def test_what_does_something_must_say_its_origin() -> None:
    async def story(server: ApiServer, browser: Browser) -> None:
        for method, path in (
            ("POST", QUESTION),
            ("POST", "/session"),
            ("POST", "/session/link"),
            ("DELETE", "/session"),
        ):
            assert await browser.code(method, path, headers={"Origin": None}) == 403
        assert await browser.code("GET", CLUSTERS, headers={"Origin": None}) == 200
        assert len(server.requests) == 1

    run(story)


@pytest.mark.parametrize("site", ["same-site", "cross-site", "none"])
def test_another_port_of_this_machine_is_same_site_and_refused(site: str) -> None:
    async def story(server: ApiServer, browser: Browser) -> None:
        assert await browser.code("GET", CLUSTERS, headers={"Origin": None, "Sec-Fetch-Site": site}) == 403
        assert await browser.code("POST", "/session", headers={"Sec-Fetch-Site": site}) == 403
        assert server.requests == []

    run(story)


def test_the_cookie_alone_and_the_header_alone_are_nobody() -> None:
    async def story(server: ApiServer, browser: Browser) -> None:
        for missing in ("Cookie", SECRET_HEADER):
            for method, path in (
                ("GET", CLUSTERS),
                ("POST", QUESTION),
                ("GET", "/session"),
                ("POST", "/session/link"),
                ("POST", "/yaml"),
            ):
                assert await browser.code(method, path, headers={missing: None}) == 401
        assert await browser.code("GET", CLUSTERS, headers={SECRET_HEADER: browser.secret[:-1] + "x"}) == 401
        assert server.requests == []

    run(story)


def test_the_secrets_of_two_sessions_do_not_mix() -> None:
    async def story(__: ApiServer, browser: Browser) -> None:
        _, _, text = await browser.send("POST", "/session/link")
        other = browser.other()
        assert await other.enter(link=text.rpartition("=")[2].rstrip('"}')) == 200
        assert await other.code("GET", CLUSTERS) == 200
        assert await other.code("GET", CLUSTERS, headers={"Cookie": browser.cookie}) == 401

    run(story)


def test_a_link_works_once() -> None:
    async def story(__: ApiServer, browser: Browser) -> None:
        again = browser.other()
        assert await again.enter() == 403
        assert await again.enter(link="made-up") == 403
        assert await again.enter(link="") == 403
        assert await again.enter(token="the-token-of-the-kubeconfig") == 403
        assert await again.code("GET", CLUSTERS) == 401
        assert await browser.code("GET", CLUSTERS) == 200

    run(story)


def test_the_cookie_is_not_for_scripts_nor_for_other_sites() -> None:
    async def story(__: ApiServer, browser: Browser) -> None:
        _, _, text = await browser.send("POST", "/session/link")
        _, headers, _ = await browser.send("POST", "/session", json={"link": text.rpartition("=")[2].rstrip('"}')})
        attributes = {each.strip() for each in headers["Set-Cookie"].split(";")[1:]}
        assert attributes == {"HttpOnly", "SameSite=Strict", "Path=/"}

    run(story)


def test_leaving_takes_the_cookie_back() -> None:
    async def story(__: ApiServer, browser: Browser) -> None:
        status, headers, _ = await browser.send("DELETE", "/session")
        assert (status, "Max-Age=0" in headers["Set-Cookie"]) == (204, True)

    run(story)


def test_a_session_ends_when_nobody_uses_it_and_goes_on_when_somebody_does() -> None:
    now = [1000.0]
    sessions = Sessions(600, clock=lambda: now[0])
    begun = sessions.begin()
    assert begun is not None
    session = sessions.find(begun.cookie, begun.secret)
    assert session is not None
    assert sessions.renewed(session) is None  # it was used a moment ago
    now[0] += 500
    renewed = sessions.renewed(session)
    assert renewed is not None
    now[0] += 500
    assert sessions.find(begun.cookie, begun.secret) is None
    assert sessions.find(renewed, begun.secret) is not None
    now[0] += 101
    assert sessions.find(renewed, begun.secret) is None


def test_a_cookie_of_another_console_or_made_up_is_nobody() -> None:
    one, other = Sessions(600), Sessions(600)
    begun = one.begin()
    assert begun is not None
    assert other.find(begun.cookie, begun.secret) is None
    for cookie in ("", "x", "=", begun.cookie[:-2], begun.cookie + "A", "ä"):
        assert one.find(cookie, begun.secret) is None
    assert one.find(begun.cookie, "ä") is None


def test_replicas_that_share_a_key_share_sessions() -> None:
    one, other = Sessions(600, b"k" * 32), Sessions(600, b"k" * 32)
    begun = one.begin("somebody")
    assert begun is not None
    found = other.find(begun.cookie, begun.secret)
    assert found is not None
    assert found.bearer == "somebody"
    assert "somebody" not in begun.cookie


def test_links_are_forgotten_when_there_are_too_many() -> None:
    links = Links(most=2)
    first, second, third = links.new(), links.new(), links.new()
    assert [links.use(each) for each in (first, second, third, third)] == [False, True, True, False]
