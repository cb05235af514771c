"""Proves that the desk fires a job of this agent: its tokens (ES256 or RS256), and its keys.

This module needs `nightdesk[fires]`.
"""

import asyncio
import json
import re
import ssl
import time
from collections.abc import Mapping
from time import monotonic
from typing import Any

import jwt

from nightdesk import limits
from nightdesk.errors import BadSignatureError, CallError, UnansweredError
from nightdesk.http import DeskClient
from nightdesk.login import read_address
from nightdesk.turns import log
from nightdesk.wire import Json

_ALGORITHMS = ("ES256", "RS256")
_UUID = re.compile("-".join(f"[0-9a-f]{{{digits}}}" for digits in (8, 4, 4, 4, 12)))
_jws = jwt.PyJWS()


def read_keys(jwks: object) -> dict[str, jwt.PyJWK]:
    """Reads a key set. Unusable keys are skipped; an id that two keys have matches neither."""
    listed = jwks.get("keys") if isinstance(jwks, dict) else None
    if not isinstance(listed, list) or len(listed) > limits.KEYS_MAX:
        raise BadSignatureError("the response is not a key set")
    keys = [key for jwk in listed if isinstance(jwk, dict) and (key := _read_key(jwk))]
    ids = [key.key_id for key in keys]
    return {key.key_id: key for key in keys if key.key_id and ids.count(key.key_id) == 1}


def verify_fire(token: str, keys: Mapping[str, jwt.PyJWK], *, issuer: str, audience: str, now: float) -> str:
    """Returns the id of the fire, the same for every attempt, or raises a `BadSignatureError`."""
    key = keys.get(_read_key_id(token))
    if key is None:
        raise BadSignatureError("the token names no key of the desk")
    try:
        claims = json.loads(_jws.decode(token, key, [key.algorithm_name]), object_pairs_hook=_read_unique)
    except (jwt.PyJWTError, ValueError, RecursionError):
        raise BadSignatureError("the key that the token names did not sign it") from None
    if not isinstance(claims, dict) or not _is_for(claims, issuer, audience):
        raise BadSignatureError("the token is of another desk, agent or purpose")
    if not _is_current(claims, int(now)):
        raise BadSignatureError("the token has expired, or is not valid yet")
    # Only the canonical spelling is accepted, so that no fire has two ids.
    if not isinstance(fire_id := claims.get("jti"), str) or not _UUID.fullmatch(fire_id):
        raise BadSignatureError("the token has no id of a fire")
    return fire_id


class FireVerifier:
    """Verifies fires with the desk's keys, which it reads when it needs them."""

    def __init__(
        self, url: str, agent_id: str, *, issuer: str | None = None, tls: ssl.SSLContext | None = None
    ) -> None:
        """Takes the desk's URL and the agent's id. `issuer` is the desk's own URL, if it differs."""
        self._issuer = issuer or read_address(url)
        self._audience = f"agent:{agent_id}"
        self._client = DeskClient(url, tls=tls)
        self._keys: dict[str, jwt.PyJWK] = {}
        self._read_at = self._tried_at = float("-inf")
        self._reading = asyncio.Lock()

    async def verify(self, authorization: str) -> str:
        """Returns the fire's id from an `Authorization` header.

        Raises a `BadSignatureError` (respond 401), or an `UnansweredError` while the desk's keys
        are unknown (respond 503: the fire comes again).
        """
        scheme, _, token = authorization.partition(" ")
        if scheme != "Bearer":
            raise BadSignatureError("the fire has no bearer token")
        keys = await self._keys_with(_read_key_id(token))
        return verify_fire(token, keys, issuer=self._issuer, audience=self._audience, now=time.time())

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.close()

    async def _keys_with(self, kid: str) -> Mapping[str, jwt.PyJWK]:
        async with self._reading:
            is_old = monotonic() - self._read_at >= limits.KEYS_FRESH_FOR
            if (is_old or kid not in self._keys) and monotonic() - self._tried_at >= limits.KEYS_READ_EVERY:
                # The attempt counts before the read, so that a caller that hangs up uses it up.
                self._tried_at = monotonic()
                await self._read_keys()
        usable_for = limits.KEYS_STALE_FOR if kid in self._keys else limits.KEYS_FRESH_FOR
        if monotonic() - self._read_at >= usable_for:
            raise UnansweredError("the desk's keys are unknown now")
        return self._keys

    async def _read_keys(self) -> None:
        try:
            read = self._client.request("read the desk's keys", "GET", "/oauth/jwks.json", wait=limits.KEYS_WAIT)
            self._keys = read_keys((await read).read(dict))
            self._read_at = monotonic()
        except (CallError, BadSignatureError) as error:
            log.warning("%s", error)


def _read_key(jwk: Json) -> jwt.PyJWK | None:
    """Returns a key for its one algorithm. None: it is unusable."""
    kid = jwk.get("kid")
    if jwk.get("use") not in (None, "sig") or not isinstance(kid, str) or not 1 <= len(kid) <= limits.KID_CHARS_MAX:
        return None
    try:
        key = jwt.PyJWK(jwk)
    except (jwt.PyJWTError, AttributeError, KeyError, TypeError, ValueError):
        return None
    is_weak = key.algorithm_name == "RS256" and key.key.key_size < limits.RSA_BITS_MIN
    return key if key.algorithm_name in _ALGORITHMS and not is_weak else None


def _read_key_id(token: str) -> str:
    """Returns the id of the key that a token names, before anything is verified."""
    if len(token) > limits.FIRE_TOKEN_BYTES_MAX:
        raise BadSignatureError("the token is too long")
    try:
        header = jwt.get_unverified_header(token)
    except (jwt.PyJWTError, ValueError, RecursionError):
        header = {}
    kid = header.get("kid")
    if not isinstance(kid, str) or header.get("alg") not in _ALGORITHMS or "crit" in header:
        raise BadSignatureError("it is not a fire token of the desk")
    return kid


def _is_for(claims: Json, issuer: str, audience: str) -> bool:
    named = claims.get("aud")
    audiences = named if isinstance(named, list) else [named]
    is_typed = all(isinstance(text, str) for text in [*audiences, claims.get("sub", "")])
    is_ours = claims.get("iss") == issuer and audience in audiences
    return is_typed and is_ours and claims.get("purpose") == "cron_fire"


def _is_current(claims: Json, now: int) -> bool:
    times = [claims[name] for name in ("exp", "nbf", "iat") if name in claims]
    if "exp" not in claims or not all(type(at) is int for at in times):
        return False
    latest = now + limits.CLOCKS_APART
    is_begun = all(claims.get(name, now) <= latest for name in ("nbf", "iat"))
    is_alive = now < claims["exp"] + limits.CLOCKS_APART
    return is_begun and is_alive and claims["exp"] <= latest + limits.FIRE_TOKEN_LIFE_MAX


def _read_unique(pairs: list[tuple[str, Any]]) -> Json:
    """Refuses an object with a name twice: two readers could take different values."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError
    return dict(pairs)
