"""The tokens of fires: the desk's own, and forged ones."""

from collections.abc import Iterator
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec


def claims(token: str) -> dict[str, Any]:
    """Returns the claims of a token, unverified."""
    return jwt.decode(token, options={"verify_signature": False})


def kid(token: str) -> str:
    """Returns the key id of a token."""
    return jwt.get_unverified_header(token)["kid"]


def forged(real: str) -> Iterator[tuple[str, str]]:
    """Yields forged tokens with the claims of a real one, and the kind of each forgery."""
    said, named = claims(real), {"kid": kid(real)}
    own = ec.generate_private_key(ec.SECP256R1())
    head, body, proof = real.split(".")
    yield "none at all", ""
    yield "signed by another key", jwt.encode(said, own, "ES256", named)
    yield "of a key that nobody knows", jwt.encode(said, own, "ES256", {"kid": "mine"})
    yield "not signed", jwt.encode(said, None, "none", named)
    yield "signed by a shared secret", jwt.encode(said, "secret" * 8, "HS256", named)
    other = jwt.encode({**said, "exp": said["exp"] + 3600}, own, "ES256", named).split(".")[1]
    yield "good for longer", f"{head}.{other}.{proof}"
    yield "with half a signature", f"{head}.{body}.{proof[: len(proof) // 2]}"
