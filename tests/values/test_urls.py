"""URLs with the rules and words of Go's net/url."""

from __future__ import annotations

import pytest

from muster.values.urls import InvalidUrlError, parse_request_uri, parse_url


def test_a_url_comes_apart() -> None:
    url = parse_request_uri("HTTPS://user:pw@Example.com:8080/a%20b?k=1&k=2&e=a+b#x")
    assert (url.scheme, url.user, url.host, url.hostname, url.port) == (
        "https",
        "user:pw",
        "Example.com:8080",
        "Example.com",
        "8080",
    )
    assert (url.path, url.escaped_path) == ("/a b", "/a%20b")
    assert url.query == {"k": ["1", "2"], "e": ["a b#x"]}


@pytest.mark.parametrize(
    ("text", "again"),
    [
        ("https://example.com/a?b#c", "https://example.com/a?b#c"),
        ("http://h/é", "http://h/%C3%A9"),
        ("http://h/a%2Fb", "http://h/a%2Fb"),
        ("mailto:someone", "mailto:someone"),
        ("/only/path?x=1", "/only/path?x=1"),
        ("http://[::1]:80/", "http://[::1]:80/"),
        ("http://h?", "http://h?"),
        ("http://[fe80::1%25en0]/", "http://[fe80::1%25en0]/"),
    ],
)
def test_a_url_is_written_again(text: str, again: str) -> None:
    assert str(parse_url(text)) == again


@pytest.mark.parametrize(
    ("query", "parameters"),
    [("a=1;b=2", {}), ("a=%zz&b=1", {"b": ["1"]}), ("&&a", {"a": [""]}), ("%zz=1", {}), ("a=b=c", {"a": ["b=c"]})],
)
def test_parameters_that_cannot_be_read_are_left_out(query: str, parameters: dict[str, list[str]]) -> None:
    assert parse_request_uri(f"http://h/?{query}").query == parameters


def test_an_absurd_number_of_parameters_is_not_read() -> None:
    assert parse_request_uri("/?" + "a&" * 20_000).query == {}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "empty url"),
        ("example.com", "invalid URI for request"),
        ("../up", "invalid URI for request"),
        (":x", "missing protocol scheme"),
        ("http://h:1a/", 'invalid port ":1a" after host'),
        ("http://a:b:c/", 'invalid port ":b:c" after host'),
        ("http://%zz/", 'invalid URL escape "%zz"'),
        ("http://%41/", 'invalid URL escape "%41"'),
        ("http://h/%", 'invalid URL escape "%"'),
        ("http://a b/", 'invalid character " " in host name'),
        ("http://[::1", "missing ']' in host"),
        ("http://us er@h/", "net/url: invalid userinfo"),
        ("http://x[::1]/", "invalid IP-literal"),
    ],
)
def test_what_is_no_url_is_refused_in_the_words_of_go(text: str, problem: str) -> None:
    with pytest.raises(InvalidUrlError) as caught:
        parse_request_uri(text)
    assert str(caught.value) == f'parse "{text}": {problem}'


def test_a_control_character_is_refused() -> None:
    with pytest.raises(InvalidUrlError, match="invalid control character in URL"):
        parse_url("http://h/\n")


def test_a_relative_reference_is_a_url_but_no_request() -> None:
    assert parse_url("a/b").path == "a/b"
    with pytest.raises(InvalidUrlError, match="first path segment in URL cannot contain colon"):
        parse_url("1a:b/c")
    with pytest.raises(InvalidUrlError, match="invalid URL escape"):
        parse_url("/a#%zz")


def test_zones_of_ipv6_hosts_are_unescaped() -> None:
    assert parse_url("http://[fe80::1%25en0]:80/").hostname == "fe80::1%en0"
