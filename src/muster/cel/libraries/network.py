"""IP addresses and networks: Kubernetes' ip and cidr libraries, and cel-go's network library, which grew out of them.

They share types and overloads; only some error texts differ, and cel-go's has isMask.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from muster.cel.checking.types import BOOL, INT, STRING, opaque, type_of_type
from muster.cel.costs.charge import KUBERNETES, Charge
from muster.cel.costs.formulas import PARSED, WALKED_TWICE_PRICE
from muster.cel.costs.operands import CallEstimate
from muster.cel.costs.ranges import ONE, Range
from muster.cel.costs.runtime import ONE as ONE_PRICE
from muster.cel.costs.runtime import TRAVERSAL, Price, size_of, traversal
from muster.cel.declarations import Constant, Function, Library, Overload
from muster.cel.libraries.declare import call, method
from muster.cel.syntax.traversal import descendants
from muster.cel.syntax.tree import Call, Literal
from muster.cel.values import OpaqueValue, TypeValue
from muster.errors import EvaluationError, FailureKind
from muster.source import Diagnostic
from muster.values.ip import (
    Address,
    InvalidAddressError,
    Network,
    format_address,
    is_global_unicast,
    is_ipv4_mapped,
    is_link_local_multicast,
    parse_address,
    parse_network,
)
from muster.values.quoting import go_quote

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from muster.cel.costs.charge import Tariff
    from muster.cel.costs.operands import Arguments, Operand
    from muster.cel.environment import Env
    from muster.cel.syntax.tree import CheckedTree
    from muster.cel.values.value import Value

IP = opaque("net.IP")
CIDR = opaque("net.CIDR")


class IpValue(OpaqueValue):
    """An address. Comparing it with something else is an error to Kubernetes."""

    __slots__ = ("content",)
    cel_type = IP

    def __init__(self, content: Address) -> None:
        self.content = content

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, IpValue):
            raise EvaluationError("no such overload", FailureKind.NO_SUCH_OVERLOAD)
        return self.content == other.content

    def __hash__(self) -> int:
        return hash(self.content)

    def __str__(self) -> str:
        return format_address(self.content)

    @property
    def cel_size(self) -> int:
        """Bytes, which is what the cost of functions counts."""
        return self.content.max_prefixlen // 8


class CidrValue(OpaqueValue):
    """A network."""

    __slots__ = ("content",)
    cel_type = CIDR

    def __init__(self, content: Network) -> None:
        self.content = content

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CidrValue):
            raise EvaluationError("no such overload", FailureKind.NO_SUCH_OVERLOAD)
        return self.content == other.content

    def __hash__(self) -> int:
        return hash(self.content)

    def __str__(self) -> str:
        return str(self.content)

    @property
    def cel_size(self) -> int:
        """Bytes of the prefix, which is what the cost of functions counts."""
        return -(-self.content.bits // 8)


def parse_ip(text: str) -> IpValue:
    try:
        address, zone = parse_address(text)
    except InvalidAddressError as error:
        raise EvaluationError(
            f"IP Address {go_quote(text)} parse error during conversion from string: {error}",
            FailureKind.NOT_AN_ADDRESS,
        ) from None
    if zone:
        raise EvaluationError(f"IP address {go_quote(text)} with zone value is not allowed", FailureKind.NOT_AN_ADDRESS)
    if is_ipv4_mapped(address):
        raise _mapped(text)
    return IpValue(address)


def _mapped(text: str) -> EvaluationError:
    return EvaluationError(f"IPv4-mapped IPv6 address {go_quote(text)} is not allowed", FailureKind.NOT_AN_ADDRESS)


def parse_cidr(text: str) -> CidrValue:
    """A network, refused in the words of cel-go."""
    try:
        network = parse_network(text)
    except InvalidAddressError as error:
        raise EvaluationError(
            f"CIDR {go_quote(text)} parse error during conversion from string: {error}", FailureKind.NOT_A_NETWORK
        ) from None
    if is_ipv4_mapped(network.address):
        raise _mapped(text)
    return CidrValue(network)


def parse_kubernetes_cidr(text: str) -> CidrValue:
    """A network, refused in the words of Kubernetes, which repeats itself."""
    prefix = "network address parse error during conversion from string: "
    try:
        network = parse_network(text)
    except InvalidAddressError as error:
        raise EvaluationError(f"{prefix}{prefix}{error}") from None
    if is_ipv4_mapped(network.address):
        raise EvaluationError(f"{prefix}{_mapped(text).message}")
    return CidrValue(network)


def _succeeds(parse: Callable[[str], Value]) -> Callable[[str], bool]:
    def check(text: str) -> bool:
        try:
            parse(text)
        except EvaluationError:
            return False
        return True

    return check


def is_canonical(text: str) -> bool:
    return str(parse_ip(text)) == text


def contains_ip(network: CidrValue, address: IpValue) -> bool:
    return network.content.contains(address.content)


def contains_cidr(network: CidrValue, other: CidrValue) -> bool:
    return network.content.contains_network(other.content)


def _quietly(parse: Callable[[str], Value]) -> Callable[[str], Value]:
    """Kubernetes loses the reason when a text given to containsIP cannot be read."""

    def read(text: str) -> Value:
        try:
            return parse(text)
        except EvaluationError:
            raise EvaluationError("no such overload", FailureKind.NO_SUCH_OVERLOAD) from None

    return read


def _on_text(
    contains: Callable[[Value, Value], bool], parse: Callable[[str], Value]
) -> Callable[[CidrValue, str], bool]:
    def check(network: CidrValue, text: str) -> bool:
        return contains(network, parse(text))

    return check


# --- costs

_ADDRESS = Range(4, 16)  # bytes of an IPv4 and an IPv6 address


def _flat(_: Operand | None, __: Arguments) -> CallEstimate:
    return CallEstimate(ONE)


def _parse_twice_size(_: Operand | None, args: Arguments) -> CallEstimate | None:
    return CallEstimate(args[0].size_or_hint().scaled(2 * TRAVERSAL)) if args else None


def _containing(networks: bool, texts: bool = False) -> Mapping[Tariff, Charge]:
    """Of comparing with an address or a network. A text is parsed first: charged only where its type is known."""

    def cost(args: Sequence[Value], _: Value) -> int:
        if len(args) < 2:
            return 0
        own = size_of(args[0])
        compared = traversal(own + own) + (traversal(own) + 1 if networks else 0)
        return compared + (traversal(size_of(args[1])) if texts else 0)

    def estimate(_: Operand | None, args: Arguments) -> CallEstimate | None:
        if not args:
            return None
        cost = _ADDRESS.plus(_ADDRESS).scaled(TRAVERSAL)
        if networks:
            cost = cost.plus(_ADDRESS.scaled(TRAVERSAL)).plus(ONE)
        return CallEstimate(cost.plus(args[0].size_or_hint().scaled(TRAVERSAL)) if texts else cost)

    return {KUBERNETES: Charge(Price(cost), estimate)}


_PARSED = {KUBERNETES: PARSED}
_PARSED_TWICE = {
    KUBERNETES: Charge(WALKED_TWICE_PRICE, _parse_twice_size),
}
_TAKEN_OUT = {KUBERNETES: Charge(ONE_PRICE, _flat)}


def _question(name: str, overload_id: str, ask: Callable[[Address], bool], doc: str, example: str) -> Function:
    return Function(
        name,
        (method(overload_id, (IP,), BOOL, lambda value: ask(value.content)),),
        doc=doc,
        examples={f"ip('{example}').{name}()": True},
    )


_IP_FUNCTIONS = (
    Function(
        "ip",
        (call("string_to_ip", (STRING,), IP, parse_ip),),
        doc="Reads an IPv4 or IPv6 address; of a network, the address before the slash.",
        examples={"ip('127.0.0.1').family()": 4},
        charges=_PARSED,
    ),
    Function(
        "family",
        (method("ip_family", (IP,), INT, lambda value: value.content.version),),
        doc="4 or 6.",
        examples={"ip('::1').family()": 6},
    ),
    Function(
        "ip.isCanonical",
        (call("ip_is_canonical", (STRING,), BOOL, is_canonical),),
        doc="Whether the address is written in its one canonical form.",
        examples={"ip.isCanonical('2001:db8::abcd')": True, "ip.isCanonical('2001:DB8::ABCD')": False},
        charges=_PARSED_TWICE,
    ),
    _question("isUnspecified", "ip_is_unspecified", lambda a: a.is_unspecified, "Whether it is 0.0.0.0 or ::.", "::"),
    _question(
        "isLoopback", "ip_is_loopback", lambda a: a.is_loopback, "Whether it is a loopback address.", "127.0.0.1"
    ),
    _question(
        "isLinkLocalMulticast",
        "ip_is_link_local_multicast",
        is_link_local_multicast,
        "Whether it is a link-local multicast address.",
        "224.0.0.1",
    ),
    _question(
        "isLinkLocalUnicast",
        "ip_is_link_local_unicast",
        lambda a: a.is_link_local,
        "Whether it is a link-local unicast address.",
        "fe80::1",
    ),
    _question(
        "isGlobalUnicast",
        "ip_is_global_unicast",
        is_global_unicast,
        "Whether it is a global unicast address; private ones count.",
        "192.168.0.1",
    ),
    Function(
        "isIP",
        (call("is_ip", (STRING,), BOOL, _succeeds(parse_ip)),),
        doc="Whether the text is an IP address.",
        examples={"isIP('127.0.0.1')": True, "isIP('127.0.0.01')": False},
        charges=_PARSED,
    ),
    Function("string", (call("ip_to_string", (IP,), STRING, str),), examples={"string(ip('::1'))": "::1"}),
)


def _cidr_functions(
    parse: Callable[[str], CidrValue], read_ip: Callable[[str], Value], read_cidr: Callable[[str], Value]
) -> tuple[Function, ...]:
    return (
        Function(
            "cidr",
            (call("string_to_cidr", (STRING,), CIDR, parse),),
            doc="Reads a network such as 10.0.0.0/8.",
            examples={"cidr('10.0.0.0/8').prefixLength()": 8},
            charges=_PARSED,
        ),
        Function(
            "containsIP",
            (
                method(
                    "cidr_contains_ip_string",
                    (CIDR, STRING),
                    BOOL,
                    _on_text(contains_ip, read_ip),
                    charges=_containing(networks=False, texts=True),
                ),
                method("cidr_contains_ip_ip", (CIDR, IP), BOOL, contains_ip),
            ),
            doc="Whether the address is in the network.",
            examples={"cidr('10.0.0.0/8').containsIP('10.1.2.3')": True},
            charges=_containing(networks=False),
        ),
        Function(
            "containsCIDR",
            (
                method(
                    "cidr_contains_cidr_string",
                    (CIDR, STRING),
                    BOOL,
                    _on_text(contains_cidr, read_cidr),
                    charges=_containing(networks=True, texts=True),
                ),
                method("cidr_contains_cidr", (CIDR, CIDR), BOOL, contains_cidr),
            ),
            doc="Whether the other network is part of the network.",
            examples={"cidr('10.0.0.0/8').containsCIDR(cidr('10.1.0.0/16'))": True},
            charges=_containing(networks=True),
        ),
        Function(
            "ip",
            (method("cidr_ip", (CIDR,), IP, lambda value: IpValue(value.content.address), charges=_TAKEN_OUT),),
            examples={"string(cidr('10.0.0.1/8').ip())": "10.0.0.1"},
        ),
        Function(
            "prefixLength",
            (method("cidr_prefix_length", (CIDR,), INT, lambda value: value.content.bits),),
            doc="The number behind the slash.",
            examples={"cidr('::/64').prefixLength()": 64},
        ),
        Function(
            "masked",
            (method("cidr_masked", (CIDR,), CIDR, lambda value: CidrValue(value.content.masked())),),
            doc="The network with all bits behind the prefix zero.",
            examples={"string(cidr('10.1.2.3/8').masked())": "10.0.0.0/8"},
        ),
        Function(
            "isCIDR",
            (call("is_cidr", (STRING,), BOOL, _succeeds(parse)),),
            doc="Whether the text is a network.",
            examples={"isCIDR('10.0.0.0/8')": True, "isCIDR('10.0.0.0')": False},
            charges=_PARSED,
        ),
        Function(
            "string",
            (call("cidr_to_string", (CIDR,), STRING, str),),
            examples={"string(cidr('10.0.0.0/8'))": "10.0.0.0/8"},
        ),
    )


def _literal(function: str, parse: Callable[[str], Value]) -> Callable[..., Iterator[Diagnostic]]:
    """Refuses addresses that are literals and wrong while checking."""

    def validate(checked: CheckedTree, env: Env) -> Iterator[Diagnostic]:
        del env
        for node in descendants(checked.expr):
            argument = node.args[0] if isinstance(node, Call) and node.function == function and node.args else None
            if not isinstance(argument, Literal) or not isinstance(argument.value, str):
                continue
            try:
                parse(argument.value)
            except EvaluationError as error:
                yield Diagnostic(f"invalid {function} argument: {error.message}", checked.tree.offsets[argument.id])

    return validate


_IS_MASK = Function(
    "isMask",
    (method("cidr_is_mask", (CIDR,), BOOL, lambda value: value.content == value.content.masked()),),
    doc="Whether all bits behind the prefix are zero.",
    examples={"cidr('10.0.0.0/8').isMask()": True, "cidr('10.0.0.1/8').isMask()": False},
)
_IP_TYPE = Constant("net.IP", type_of_type(IP), TypeValue(IP))
_CIDR_TYPE = Constant("net.CIDR", type_of_type(CIDR), TypeValue(CIDR))

KUBERNETES_IP = Library("kubernetes.net.ip", _IP_FUNCTIONS, constants=(_IP_TYPE,))
KUBERNETES_CIDR = Library(
    "kubernetes.net.cidr",
    _cidr_functions(parse_kubernetes_cidr, _quietly(parse_ip), parse_kubernetes_cidr),
    constants=(_CIDR_TYPE,),
)
NETWORK = Library(
    "cel.lib.ext.network",
    (*_IP_FUNCTIONS, *_cidr_functions(parse_cidr, parse_ip, parse_cidr), _IS_MASK),
    constants=(_IP_TYPE, _CIDR_TYPE),
    validators=(_literal("ip", parse_ip), _literal("cidr", parse_cidr)),
)


class _ExtIp(IpValue):
    """An address of cel-go's own library: to costs it has no size."""

    __slots__ = ()
    go_package = "ext"
    cel_size = 1


class _ExtCidr(CidrValue):
    __slots__ = ()
    go_package = "ext"
    cel_size = 1


def _as_ext(function: Function) -> Function:
    """The function with results of cel-go's own types."""
    return replace(function, overloads=tuple(map(_ext_overload, function.overloads)))


def _ext_overload(overload: Overload) -> Overload:
    implementation = overload.impl
    made: type[IpValue | CidrValue] = _ExtIp if overload.result == IP else _ExtCidr
    if implementation is None or overload.result not in (IP, CIDR):
        return overload
    return replace(overload, impl=lambda *args: made(implementation(*args).content))


EXT_NETWORK = replace(NETWORK, functions=tuple(map(_as_ext, NETWORK.functions)))
"""The library as cel-go has it; `NETWORK` has the values of Kubernetes."""
