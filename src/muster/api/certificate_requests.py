"""PKCS #10 requests and PEM: what somebody who wants a certificate says of itself, read and verified.

Used by the rules of CertificateSigningRequest and by the hub's signer, so that what was checked is what is signed. The
library that reads them is loaded when the first request comes: no command needs it to start.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from muster.errors import MusterError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cryptography import x509

_BEGIN, _END, _DASHES = b"-----BEGIN ", b"-----END ", b"-----"
_MOST: Final = 64 * 1024  # bytes of a request; a real one has two thousand
_MOST_BLOCKS: Final = 32  # of a chain of certificates
_SMALLEST_RSA: Final = 1024  # bits; the real server's library takes no less


class RequestError(MusterError):
    """A request or a certificate that cannot be read or believed. The text is the real server's where it has one."""


@dataclass(frozen=True, slots=True)
class Block:
    """One PEM block."""

    type: str
    headers: bool
    content: bytes


@dataclass(frozen=True, slots=True)
class Request:
    """A request that could be read. `subject` are its common names and organizations, in the order they were given."""

    source: x509.CertificateSigningRequest
    common_names: tuple[str, ...]
    organizations: tuple[str, ...]
    alternative_names: frozenset[str]  # the kinds of other names it asks for: DNS, Email, IP, URI, or another

    def check_signature(self) -> None:
        """Raises RequestError unless the request was made by who has its key, and the key is worth something."""
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric import ec, rsa

        try:
            key = self.source.public_key()
            algorithm = self.source.signature_hash_algorithm
            if algorithm is not None and algorithm.name in ("md5", "sha1"):
                raise RequestError(f"x509: cannot verify signature: insecure algorithm {algorithm.name.upper()}")
            if isinstance(key, rsa.RSAPublicKey) and key.key_size < _SMALLEST_RSA:
                raise RequestError(f"crypto/rsa: {key.key_size}-bit keys are insecure")
            valid = self.source.is_signature_valid
        except (ValueError, TypeError, UnsupportedAlgorithm) as error:
            raise RequestError(f"x509: cannot verify signature: {error}") from None
        if not valid:
            match key:
                case rsa.RSAPublicKey():
                    raise RequestError("crypto/rsa: verification error")
                case ec.EllipticCurvePublicKey():
                    raise RequestError("x509: ECDSA verification failure")
                case _:
                    raise RequestError("x509: Ed25519 verification failure")


def read_request(pem: bytes) -> Request:
    """The request in the first PEM block. Raises RequestError."""
    from cryptography import x509
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.x509.oid import NameOID

    if len(pem) > _MOST:
        raise RequestError(f"a request has at most {_MOST} bytes")
    block = next(pem_blocks(pem), None)
    if block is None or block.type != "CERTIFICATE REQUEST":
        raise RequestError("PEM block type must be CERTIFICATE REQUEST")
    try:
        source = x509.load_der_x509_csr(block.content)
        subject = source.subject
        names = _texts(subject.get_attributes_for_oid(NameOID.COMMON_NAME))
        organizations = _texts(subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME))
        return Request(source, names, organizations, _alternatives(source))
    except (ValueError, TypeError, UnsupportedAlgorithm, x509.InvalidVersion, x509.DuplicateExtension) as error:
        raise RequestError(f"asn1: structure error: {error}") from None


def _texts(attributes: list[x509.NameAttribute[str | bytes]]) -> tuple[str, ...]:
    texts = [each.value for each in attributes]
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("a name in the subject is no text")
    return tuple(str(text) for text in texts)


def _alternatives(source: x509.CertificateSigningRequest) -> frozenset[str]:
    from cryptography import x509

    kinds: dict[type[x509.GeneralName], str] = {
        x509.DNSName: "DNS",
        x509.RFC822Name: "Email",
        x509.IPAddress: "IP",
        x509.UniformResourceIdentifier: "URI",
    }
    try:
        names = source.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return frozenset()
    return frozenset(kinds.get(type(name), "Other") for name in names)


def check_certificates(pem: bytes) -> None:
    """Raises RequestError unless the bytes are certificates and nothing else that is PEM."""
    from cryptography import x509
    from cryptography.exceptions import UnsupportedAlgorithm

    count = 0
    for block in pem_blocks(pem):
        if block.type != "CERTIFICATE":
            raise RequestError(f'only CERTIFICATE PEM blocks are allowed, found "{block.type}"')
        if block.headers:
            raise RequestError("no PEM block headers are permitted")
        count += 1
        if count > _MOST_BLOCKS:
            raise RequestError(f"a chain has at most {_MOST_BLOCKS} certificates")
        try:
            x509.load_der_x509_certificate(block.content)
        except (ValueError, UnsupportedAlgorithm, x509.InvalidVersion) as error:
            raise RequestError(f"x509: malformed certificate: {error}") from None
    if not count:
        raise RequestError("must contain at least one CERTIFICATE PEM block")


def pem_blocks(data: bytes) -> Iterator[Block]:
    """Every PEM block, wherever it begins at the start of a line; text around them means nothing."""
    position = 0
    while (start := _line_beginning(data, _BEGIN, position)) >= 0:
        head_end = data.find(_DASHES, start + len(_BEGIN))
        line_end = data.find(b"\n", start)
        if head_end < 0 or line_end < 0 or head_end > line_end:
            position = start + len(_BEGIN)
            continue
        name = data[start + len(_BEGIN) : head_end]
        end = data.find(b"\n" + _END + name + _DASHES, line_end)
        if end < 0:
            position = line_end
            continue
        position = end + 1
        inside = data[line_end + 1 : end]
        headers = b":" in inside
        if headers:
            _, _, inside = inside.partition(b"\n\n")
        try:
            content = base64.b64decode(b"".join(inside.split()), validate=True)
        except (binascii.Error, ValueError):
            continue
        yield Block(name.decode("latin-1"), headers, content)


def _line_beginning(data: bytes, text: bytes, position: int) -> int:
    while (found := data.find(text, position)) >= 0:
        if found == 0 or data[found - 1 : found] == b"\n":
            return found
        position = found + 1
    return -1
