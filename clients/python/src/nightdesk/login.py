"""The desk's address, and the credentials of an agent."""

import base64
import hashlib
import hmac
import re
import time
from collections.abc import Callable
from urllib.parse import urlsplit

from nightdesk import limits


def make_token(gateway: str, secret: str, now: int, life: int = limits.TOKEN_LIFE) -> str:
    """Returns an upgrade token, with which a gateway proves that it has its secret."""
    signed = f"{gateway}:{now + life if life > 0 else 0}"
    signature = hmac.new(secret.encode(), signed.encode(), hashlib.sha256).hexdigest()
    return base64.urlsafe_b64encode(f"{signed}:{signature}".encode()).rstrip(b"=").decode()


class Login:
    """The credentials of an agent. Its `repr` shows no secret."""

    def __init__(self, token: Callable[[], str]) -> None:
        """Takes a function that returns a valid token, such as one of a trusted issuer."""
        self._token = token

    @classmethod
    def gateway(cls, name: str, secret: str) -> "Login":
        """Uses a gateway's name and secret. Each call gets a new token."""
        if not re.fullmatch(r"[A-Za-z0-9_.-]{1,64}", name) or not secret:
            raise ValueError("not the name and secret of a gateway; use those that the desk printed")
        return cls(lambda: make_token(name, secret, int(time.time())))

    def authorization(self) -> str:
        """Returns the value of an `Authorization` header."""
        return f"Bearer {self._token()}"


def read_address(url: str) -> str:
    """Returns a desk's http or https address without a trailing slash or `/relay`."""
    address = url.strip().rstrip("/").removesuffix("/relay").rstrip("/")
    scheme, found, rest = address.partition("://")
    scheme = {"wss": "https", "ws": "http"}.get(scheme.lower(), scheme.lower())
    plain = found and not re.search(r"[?#@\s]", rest) and urlsplit(f"//{rest}").hostname
    if scheme not in ("http", "https") or not plain:
        raise ValueError("not the URL of a desk; write it like https://desk.example")
    return f"{scheme}://{rest}"


def relay_url(address: str) -> str:
    """Returns the address that a line dials."""
    return f"ws{address.removeprefix('http')}/relay"
