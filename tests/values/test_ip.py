"""IP addresses and networks with the rules and words of Go's netip."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muster.values.ip import (
    InvalidAddressError,
    Network,
    format_address,
    is_global_unicast,
    is_ipv4_mapped,
    is_link_local_multicast,
    parse_address,
    parse_network,
)


@given(st.ip_addresses())
def test_a_printed_address_reads_back_as_itself(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> None:
    assert parse_address(format_address(address)) == (address, "")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("x", "unable to parse IP"),
        ("", "unable to parse IP"),
        ("%eth0", "missing IPv6 address"),
        ("010.0.0.1", "IPv4 field has octet with leading zero"),
        ("1.2.3.256", "IPv4 field has value >255"),
        ("1.2.3", "IPv4 address too short"),
        ("1.2.3.4.5", "IPv4 address too long"),
        ("1..2.3", 'IPv4 field must have at least one digit (at ".2.3")'),
        ("1.2.3.4x", 'unexpected character (at "x")'),
        (":::1", 'each colon-separated field must have at least one digit (at ":1")'),
        ("12345::", 'each group must have 4 or less digits (at "12345::")'),
        ("1::2::3", 'multiple :: in address (at ":3")'),
        ("1:", 'colon must be followed by more characters (at ":")'),
        ("::1x", 'unexpected character, want colon (at "x")'),
        ("1:2:3", "address string too short"),
        ("1:2:3:4:5:6:7:8:9", 'trailing garbage after address (at "9")'),
        ("1:2:3:4::5:6:7:8", "the :: must expand to at least one field of zeros"),
        ("fe80::1%", "zone must be a non-empty string"),
        ("1:2:3:1.2.3.4", 'embedded IPv4 address must replace the final 2 fields of the address (at "1.2.3.4")'),
    ],
)
def test_what_is_no_address_is_refused_in_the_words_of_netip(text: str, problem: str) -> None:
    with pytest.raises(InvalidAddressError) as caught:
        parse_address(text)
    assert str(caught.value) == f'ParseAddr("{text}"): {problem}'


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("10.0.0.0", "no '/'"),
        ("10.0.0.0/", 'bad bits after slash: ""'),
        ("10.0.0.0/08", 'bad bits after slash: "08"'),
        ("10.0.0.0/33", "prefix length out of range"),
        ("fe80::1%eth0/64", "IPv6 zones cannot be present in a prefix"),
        ("1.2.3/8", 'ParseAddr("1.2.3"): IPv4 address too short'),
    ],
)
def test_what_is_no_network_is_refused_in_the_words_of_netip(text: str, problem: str) -> None:
    with pytest.raises(InvalidAddressError) as caught:
        parse_network(text)
    assert str(caught.value) == f'netip.ParsePrefix("{text}"): {problem}'


def test_a_zone_is_handed_back() -> None:
    assert parse_address("fe80::1%eth0") == (ipaddress.ip_address("fe80::1"), "eth0")


def test_a_network_contains_its_addresses_and_parts() -> None:
    network = parse_network("10.1.2.3/8")
    assert str(network) == "10.1.2.3/8"
    assert network.masked() == Network(ipaddress.ip_address("10.0.0.0"), 8)
    assert network.contains(ipaddress.ip_address("10.255.0.1"))
    assert not network.contains(ipaddress.ip_address("11.0.0.1"))
    assert not network.contains(ipaddress.ip_address("::1"))
    assert network.contains_network(parse_network("10.0.0.0/16"))
    assert not network.contains_network(parse_network("10.0.0.0/4"))


def test_kinds_of_addresses_are_told_apart() -> None:
    def those(check: object, *texts: str) -> list[str]:
        assert callable(check)
        return [text for text in texts if check(ipaddress.ip_address(text))]

    addresses = ("8.8.8.8", "192.168.0.1", "255.255.255.255", "0.0.0.0", "127.0.0.1", "224.0.0.1", "fe80::1", "2001::1")
    assert those(is_global_unicast, *addresses) == ["8.8.8.8", "192.168.0.1", "2001::1"]
    multicast = ("224.0.0.1", "224.0.1.1", "ff02::1", "ff12::1", "ff05::1")
    assert those(is_link_local_multicast, *multicast) == ["224.0.0.1", "ff02::1", "ff12::1"]
    assert those(is_ipv4_mapped, "::ffff:1.2.3.4", "::1", "1.2.3.4") == ["::ffff:1.2.3.4"]
    assert format_address(ipaddress.ip_address("::ffff:1.2.3.4")) == "::ffff:1.2.3.4"
