"""Tokens of service accounts: signed, short-lived, and good only while their account exists.

`TokenIssuer` answers `kubectl create token` (the subresource serviceaccounts/token); `ServiceAccountAuthenticator`
checks what it has issued. A token names its account's UID, so an account that is deleted and made again does not
revive the old tokens.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import secrets
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature

from muster.access.attributes import service_account_groups
from muster.hub.auth.files import write_private
from muster.hub.auth.tokens import AUTHENTICATED, TokenFileError, digest
from muster.hub.requests import API_AUDIENCE, User
from muster.hub.storage import Key

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from muster.hub.storage import Store

_ALGORITHM = "ES256"
_HALF = 32  # bytes of each number of a signature on this curve
_MOST_REMEMBERED = 4096
_SKEW = 10  # seconds by which a clock may have been set back since a token was issued


class _Account(msgspec.Struct, frozen=True):
    name: str
    uid: str


class _Kubernetes(msgspec.Struct, frozen=True):
    namespace: str
    serviceaccount: _Account
    secret: _Account | None = None


class _Claims(msgspec.Struct, frozen=True, rename={"kubernetes": "kubernetes.io"}):
    aud: tuple[str, ...]
    iss: str
    iat: int
    nbf: int
    jti: str
    sub: str
    kubernetes: _Kubernetes
    exp: int | None = None


class _JwtHeader(msgspec.Struct, frozen=True):
    alg: str


class _Uid(msgspec.Struct, frozen=True):
    uid: str


class _Identified(msgspec.Struct, frozen=True):
    metadata: _Uid


_read_claims = msgspec.json.Decoder(_Claims).decode
_read_header = msgspec.json.Decoder(_JwtHeader).decode
_read_uid = msgspec.json.Decoder(_Identified).decode


def signing_key(path: Path) -> ec.EllipticCurvePrivateKey:
    """The key in the file, or a new one written there. A new key ends every token issued before."""
    try:
        key = serialization.load_pem_private_key(path.read_bytes(), None)
    except FileNotFoundError:
        key = ec.generate_private_key(ec.SECP256R1())
        encoded = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        try:
            write_private(path, encoded)
        except OSError as error:
            raise TokenFileError(f"{path}: cannot be written: {error.strerror}") from None
    except OSError as error:
        raise TokenFileError(f"{path}: the key cannot be read: {error.strerror}") from None
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise TokenFileError(
            f"{path}: this is not a key; delete the file to have a new one made, which ends all tokens of service "
            f"accounts: {error}"
        ) from None
    if not isinstance(key, ec.EllipticCurvePrivateKey) or not isinstance(key.curve, ec.SECP256R1):
        raise TokenFileError(f"{path}: this is not a key on the curve P-256; delete the file to have a new one made")
    return key


@dataclass(frozen=True, slots=True)
class IssuedToken:
    """A token and the second it ends."""

    token: str
    expires: int | None


class TokenIssuer:
    """Issues and recognizes tokens; it does not look whether their account still exists."""

    def __init__(self, key: ec.EllipticCurvePrivateKey, clock: Callable[[], float] = time.time) -> None:
        self._key = key
        self._public = key.public_key()
        self._clock = clock
        #: The public key, as others find it under its name.
        self.web_key = _web_key(self._public)
        self._head = _encode(msgspec.json.encode({"alg": _ALGORITHM, "kid": self.web_key["kid"], "typ": "JWT"}))

    def issue(
        self,
        namespace: str,
        account: tuple[str, str],
        audiences: Sequence[str],
        seconds: int | None,
        secret: tuple[str, str] | None = None,
    ) -> IssuedToken:
        """A token for an account (name and UID), bound to a secret if one is given; without an end if no seconds."""
        now = int(self._clock())
        claims = _Claims(
            aud=tuple(audiences),
            iss=API_AUDIENCE,
            iat=now,
            nbf=now,
            jti=secrets.token_hex(16),
            sub=f"system:serviceaccount:{namespace}:{account[0]}",
            kubernetes=_Kubernetes(namespace, _Account(*account), None if secret is None else _Account(*secret)),
            exp=None if seconds is None else now + seconds,
        )
        signed = f"{self._head}.{_encode(msgspec.json.encode(claims))}"
        r, s = decode_dss_signature(self._key.sign(signed.encode(), ec.ECDSA(hashes.SHA256())))
        return IssuedToken(f"{signed}.{_encode(r.to_bytes(_HALF) + s.to_bytes(_HALF))}", claims.exp)

    def recognized(self, token: str) -> _Claims | None:
        """The claims of a token that was issued with this key and has the one algorithm we use."""
        try:
            head, body, tail = token.split(".")
            signature = _decode(tail)
            if _read_header(_decode(head)).alg != _ALGORITHM or len(signature) != 2 * _HALF:
                return None
            numbers = int.from_bytes(signature[:_HALF]), int.from_bytes(signature[_HALF:])
            self._public.verify(encode_dss_signature(*numbers), f"{head}.{body}".encode(), ec.ECDSA(hashes.SHA256()))
            return _read_claims(_decode(body))
        except (ValueError, binascii.Error, msgspec.MsgspecError, InvalidSignature):
            return None


def _web_key(key: ec.EllipticCurvePublicKey) -> dict[str, str]:
    """A public key as a JSON Web Key. Its name is a digest of it, as a Kubernetes server names its keys."""
    encoded = key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    point = key.public_numbers()
    return {
        "use": "sig",
        "kty": "EC",
        "kid": _encode(hashlib.sha256(encoded).digest()),
        "crv": "P-256",
        "alg": _ALGORITHM,
        "x": _encode(point.x.to_bytes(_HALF)),
        "y": _encode(point.y.to_bytes(_HALF)),
    }


class ServiceAccountAuthenticator:
    """Knows the tokens of service accounts that exist."""

    def __init__(self, issuer: TokenIssuer, store: Store, clock: Callable[[], float] = time.time) -> None:
        self._issuer = issuer
        self._store = store
        self._clock = clock
        self._remembered: dict[bytes, tuple[_Claims, User]] = {}

    async def authenticate(self, token: str, audience: str = API_AUDIENCE) -> User | None:
        if token.count(".") != 2:
            return None
        known = self._remembered.get(digest(token))
        if known is None:
            claims = self._issuer.recognized(token)
            if claims is None:
                return None
            if len(self._remembered) >= _MOST_REMEMBERED:
                self._remembered.clear()
            known = self._remembered[digest(token)] = (claims, _user(claims))
        claims, user = known
        return user if self._is_good(claims, audience) else None

    def _is_good(self, claims: _Claims, audience: str) -> bool:
        now = self._clock()
        if audience not in claims.aud or claims.nbf > now + _SKEW or (claims.exp is not None and claims.exp <= now):
            return False
        bound = claims.kubernetes
        if not self._exists("serviceaccounts", bound.namespace, bound.serviceaccount):
            return False
        return bound.secret is None or self._exists("secrets", bound.namespace, bound.secret)

    def _exists(self, resource: str, namespace: str, wanted: _Account) -> bool:
        record = self._store.get(Key(resource, namespace, wanted.name))
        return record is not None and _read_uid(record.value).metadata.uid == wanted.uid


def _user(claims: _Claims) -> User:
    namespace = claims.kubernetes.namespace
    return User(
        claims.sub,
        claims.kubernetes.serviceaccount.uid,
        (*service_account_groups(namespace), AUTHENTICATED),
        {"authentication.kubernetes.io/credential-id": (f"JTI={claims.jti}",)},
    )


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decode(text: str) -> bytes:
    # Strict: a second spelling of the same token would be a second token to whoever counts them.
    if not text.isascii() or set(text) - _URLSAFE:
        raise binascii.Error("not base64url")
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)


_URLSAFE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
