"""IP addresses and networks with the rules and the words of Go's net/netip: no leading zeros, no netmasks."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import TypeAlias

from muster.errors import MusterError
from muster.values.quoting import go_quote
from muster.values.remembering import remembered

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
_HEX = re.compile("[0-9a-fA-F]*")


class InvalidAddressError(MusterError):
    """A text that is no address or network, in the words of net/netip."""


@dataclass(frozen=True, slots=True)
class Network:
    """An address with the length of its network's prefix; the bits behind the prefix are kept."""

    address: Address
    bits: int

    def __str__(self) -> str:
        return f"{format_address(self.address)}/{self.bits}"

    def _prefix(self, address: Address, bits: int) -> int:
        return int(address) >> (address.max_prefixlen - bits)

    def contains(self, address: Address) -> bool:
        return address.version == self.address.version and self._prefix(address, self.bits) == self._prefix(
            self.address, self.bits
        )

    def contains_network(self, other: Network) -> bool:
        return self.bits <= other.bits and self.contains(other.address)

    def masked(self) -> Network:
        space = self.address.max_prefixlen - self.bits
        return Network(type(self.address)(int(self.address) >> space << space), self.bits)


@remembered(4096)
def parse_address(text: str) -> tuple[Address, str]:
    """The address and its zone ("" for most); raises InvalidAddressError."""
    first = re.search("[.:%]", text)
    if first is None:
        raise _unreadable(text, "unable to parse IP")
    if first[0] == "%":
        raise _unreadable(text, "missing IPv6 address")
    if first[0] == ".":
        return ipaddress.IPv4Address(bytes(_ipv4_fields(text, text))), ""
    return _parse_ipv6(text)


def parse_network(text: str) -> Network:
    """An address, a slash and the length of the prefix; raises InvalidAddressError."""
    address_text, slash, bits_text = text.rpartition("/")
    if not slash:
        raise _bad_prefix(text, "no '/'")
    try:
        address, zone = parse_address(address_text)
    except InvalidAddressError as error:
        raise _bad_prefix(text, str(error)) from None
    if zone:
        raise _bad_prefix(text, "IPv6 zones cannot be present in a prefix")
    if not re.fullmatch("0|[1-9][0-9]{0,17}", bits_text):
        raise _bad_prefix(text, f"bad bits after slash: {go_quote(bits_text)}")
    bits = int(bits_text)
    if bits > address.max_prefixlen:
        raise _bad_prefix(text, "prefix length out of range")
    return Network(address, bits)


def is_ipv4_mapped(address: Address) -> bool:
    return isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None


def is_global_unicast(address: Address) -> bool:
    """As Go counts: private addresses are included, broadcast, loopback, multicast and link-local ones are not."""
    if address.is_unspecified or (int(address) == 2**32 - 1 and address.version == 4):
        return False
    return not (address.is_loopback or address.is_multicast or address.is_link_local)


def is_link_local_multicast(address: Address) -> bool:
    if address.version == 4:
        return int(address) >> 8 == 0xE00000  # 224.0.0.0/24
    return int(address) >> 112 & 0xFF0F == 0xFF02  # ff02::/16, whatever its flags


def format_address(address: Address) -> str:
    """The shortest form; 4-in-6 addresses with dots, as Go writes them."""
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return f"::ffff:{address.ipv4_mapped}"
    return str(address)


def _unreadable(text: str, reason: str, at: str = "") -> InvalidAddressError:
    place = f" (at {go_quote(at)})" if at else ""
    return InvalidAddressError(f"ParseAddr({go_quote(text)}): {reason}{place}")


def _bad_prefix(text: str, reason: str) -> InvalidAddressError:
    return InvalidAddressError(f"netip.ParsePrefix({go_quote(text)}): {reason}")


def _ipv4_fields(text: str, dotted: str) -> list[int]:
    """The four numbers of a dotted address, which may be the end of a longer text."""
    fields: list[int] = []
    value = 0
    digits = 0
    for index, char in enumerate(dotted):
        if "0" <= char <= "9":
            if digits == 1 and value == 0:
                raise _unreadable(text, "IPv4 field has octet with leading zero")
            value = value * 10 + int(char)
            digits += 1
            if value > 255:
                raise _unreadable(text, "IPv4 field has value >255")
        elif char == ".":
            if index == 0 or index == len(dotted) - 1 or dotted[index - 1] == ".":
                raise _unreadable(text, "IPv4 field must have at least one digit", dotted[index:])
            if len(fields) == 3:
                raise _unreadable(text, "IPv4 address too long")
            fields.append(value)
            value = digits = 0
        else:
            raise _unreadable(text, "unexpected character", dotted[index:])
    if len(fields) < 3:
        raise _unreadable(text, "IPv4 address too short")
    return [*fields, value]


def _parse_ipv6(text: str) -> tuple[Address, str]:
    """Groups of hexadecimal digits from left to right; `::` once, where zeros are missing."""
    rest, percent, zone = text.partition("%")
    if percent and not zone:
        raise _unreadable(text, "zone must be a non-empty string")
    data = bytearray()
    ellipsis = -1
    if rest.startswith("::"):
        ellipsis = 0
        rest = rest[2:]
        if not rest:
            return ipaddress.IPv6Address(0), zone
    while len(data) < 16:
        found = _HEX.match(rest)
        group = found[0] if found else ""
        if len(group) > 4:
            raise _unreadable(text, "each group must have 4 or less digits", rest)
        if not group:
            raise _unreadable(text, "each colon-separated field must have at least one digit", rest)
        if rest[len(group) : len(group) + 1] == ".":
            if ellipsis < 0 and len(data) != 12:
                raise _unreadable(text, "embedded IPv4 address must replace the final 2 fields of the address", rest)
            if len(data) > 12:
                raise _unreadable(text, "too many hex fields to fit an embedded IPv4 at the end of the address", rest)
            data += bytes(_ipv4_fields(text, rest))
            rest = ""
            break
        data += int(group, 16).to_bytes(2, "big")
        rest = rest[len(group) :]
        if not rest:
            break
        if rest[0] != ":":
            raise _unreadable(text, "unexpected character, want colon", rest)
        if len(rest) == 1:
            raise _unreadable(text, "colon must be followed by more characters", rest)
        rest = rest[1:]
        if rest[0] == ":":
            if ellipsis >= 0:
                raise _unreadable(text, "multiple :: in address", rest)
            ellipsis = len(data)
            rest = rest[1:]
            if not rest:
                break
    if rest:
        raise _unreadable(text, "trailing garbage after address", rest)
    return _completed(text, data, ellipsis), zone


def _completed(text: str, data: bytearray, ellipsis: int) -> ipaddress.IPv6Address:
    missing = 16 - len(data)
    if missing and ellipsis < 0:
        raise _unreadable(text, "address string too short")
    if not missing and ellipsis >= 0:
        raise _unreadable(text, "the :: must expand to at least one field of zeros")
    at = max(ellipsis, 0)
    return ipaddress.IPv6Address(bytes(data[:at] + bytes(missing) + data[at:]))
