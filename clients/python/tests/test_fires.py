"""Fire tokens: every way in which a token may be wrong, and the few in which it is right.

The table is that of the Rust tests. Bare signatures make the tokens, so that signer and verifier share no error.
"""

import base64
import hashlib
import hmac
import json
import time
from typing import Any

import pytest
from conftest import serving
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from nightdesk import limits
from nightdesk.asgi import HttpApp, Receive, Reply, Scope
from nightdesk.errors import BadSignatureError, UnansweredError
from nightdesk.fires import FireVerifier, read_keys, verify_fire

NOW = 1_795_003_200
FIRE = "0192f0c1-7f7e-7000-8000-00000000000a"
ISSUER, AUDIENCE = "https://desk.example", "agent:a1"


def text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Signer:
    """A desk's keys: one of each kind, and one that is not published."""

    def __init__(self) -> None:
        self.es, self.hidden = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
        self.rs = rsa.generate_private_key(65_537, 2_048)
        self.ed = ed25519.Ed25519PrivateKey.generate()

    def jwks(self) -> dict[str, Any]:
        point = self.es.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        x, y = text(point[1:33]), text(point[33:])
        numbers = self.rs.public_key().public_numbers()
        n, e = text(numbers.n.to_bytes(256)), text(numbers.e.to_bytes(3))
        ed = text(self.ed.public_key().public_bytes_raw())
        return {
            "keys": [
                {"kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": "desk-1", "x": x, "y": y},
                {"kty": "RSA", "use": "sig", "kid": "desk-rsa", "n": n, "e": e},
                {"kty": "OKP", "crv": "Ed25519", "use": "sig", "kid": "desk-ed", "x": ed},
                {"kty": "EC", "crv": "P-256", "use": "enc", "kid": "for-sealing", "x": x, "y": y},
            ]
        }

    def sign_text(self, by: str, header: str, claims: str) -> str:
        signed = f"{text(header.encode())}.{text(claims.encode())}"
        return f"{signed}.{text(self._signature(by, signed.encode()))}"

    def sign(self, by: str, header: dict[str, Any], claims: dict[str, Any]) -> str:
        return self.sign_text(by, json.dumps(header), json.dumps(claims))

    def good(self, now: int = NOW) -> str:
        return self.sign("ES256", header("ES256"), claims(now))

    def _signature(self, by: str, signed: bytes) -> bytes:
        if by in ("ES256", "hidden"):
            key = self.es if by == "ES256" else self.hidden
            r, s = decode_dss_signature(key.sign(signed, ec.ECDSA(SHA256())))
            return r.to_bytes(32) + s.to_bytes(32)
        if by == "RS256":
            return self.rs.sign(signed, padding.PKCS1v15(), SHA256())
        if by == "PS256":
            return self.rs.sign(signed, padding.PSS(padding.MGF1(SHA256()), 32), SHA256())
        if by == "EdDSA":
            return self.ed.sign(signed)
        if by == "HS256":
            pem = self.es.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
            return hmac.digest(pem, signed, hashlib.sha256)
        return b""


def header(by: str) -> dict[str, Any]:
    kid = {"RS256": "desk-rsa", "PS256": "desk-rsa", "EdDSA": "desk-ed"}.get(by, "desk-1")
    return {"alg": "ES256" if by == "hidden" else by, "typ": "JWT", "kid": kid}


def claims(now: int = NOW) -> dict[str, Any]:
    times = {"iat": now, "nbf": now, "exp": now + 90}
    return {"iss": ISSUER, "aud": AUDIENCE, "purpose": "cron_fire", "jti": FIRE, **times}


SIGNER = Signer()
KEYS = read_keys(SIGNER.jwks())


def changed(whole: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    """Changes fields. None removes one."""
    return {name: value for name, value in (whole | change).items() if value is not None}


def judge(token: str) -> bool:
    try:
        return verify_fire(token, KEYS, issuer=ISSUER, audience=AUDIENCE, now=NOW) == FIRE
    except BadSignatureError:
        return False


BY_WHOM = [("ES256", True), ("RS256", True)] + [(by, False) for by in ("none", "HS256", "EdDSA", "PS256", "hidden")]


@pytest.mark.parametrize(("by", "is_good"), BY_WHOM)
def test_only_a_published_key_of_a_known_kind_signs(by: str, is_good: bool) -> None:
    assert judge(SIGNER.sign(by, header(by), claims())) == is_good


BY_HEADER = [
    ({"kid": "desk-2"}, False),
    ({"kid": None}, False),
    ({"kid": 7}, False),
    ({"kid": "desk-rsa"}, False),
    ({"kid": "for-sealing"}, False),
    ({"alg": "RS256"}, False),
    ({"alg": "None"}, False),
    ({"alg": "es256"}, False),
    ({"crit": ["other"], "other": 1}, False),
    ({"crit": ["b64"], "b64": True}, False),
    ({"typ": None}, True),
]


@pytest.mark.parametrize(("change", "is_good"), BY_HEADER)
def test_a_header_names_a_key_and_its_algorithm(change: dict[str, Any], is_good: bool) -> None:
    assert judge(SIGNER.sign("ES256", changed(header("ES256"), change), claims())) == is_good


BY_CLAIM = [
    ({"aud": ["agent:other", AUDIENCE]}, True),
    ({"aud": ["agent:other"]}, False),
    ({"aud": []}, False),
    ({"aud": "agent:other"}, False),
    ({"aud": AUDIENCE[:-1]}, False),
    ({"aud": None}, False),
    ({"aud": [AUDIENCE, 7]}, False),
    ({"iss": f"{ISSUER}/"}, False),
    ({"iss": "https://other.example"}, False),
    ({"iss": None}, False),
    ({"iss": [ISSUER]}, False),
    ({"purpose": None}, False),
    ({"purpose": "cron_fire "}, False),
    ({"purpose": ["cron_fire"]}, False),
    ({"purpose": None, "sub": AUDIENCE, "tenant": "t"}, False),
    ({"sub": 7}, False),
    ({"sub": "helper"}, True),
    ({"exp": NOW - 20}, True),
    ({"exp": NOW - 29}, True),
    ({"exp": NOW - 30}, False),
    ({"exp": NOW + 630}, True),
    ({"exp": NOW + 631}, False),
    ({"exp": None}, False),
    ({"exp": NOW + 31_536_000}, False),
    ({"exp": str(NOW + 60)}, False),
    ({"exp": float(NOW + 60)}, False),
    ({"exp": True}, False),
    ({"nbf": NOW + 30, "iat": NOW + 30}, True),
    ({"nbf": NOW + 31}, False),
    ({"iat": NOW + 31}, False),
    ({"nbf": None, "iat": None}, True),
    ({"nbf": "now"}, False),
    ({"jti": None}, False),
    ({"jti": "fire-1"}, False),
    ({"jti": FIRE.upper()}, False),
    ({"jti": f"{{{FIRE}}}"}, False),
    ({"scope": "anything"}, True),
    ({"more": "x" * 16 * 1024}, False),
]


@pytest.mark.parametrize(("change", "is_good"), BY_CLAIM)
def test_every_claim_is_there_typed_and_right(change: dict[str, Any], is_good: bool) -> None:
    assert judge(SIGNER.sign("ES256", header("ES256"), changed(claims(), change))) == is_good


def test_a_claim_that_is_null_is_not_absent() -> None:
    for name in ("nbf", "iat", "sub"):
        assert not judge(SIGNER.sign("ES256", header("ES256"), claims() | {name: None})), name


def signed(said: str) -> str:
    return SIGNER.sign_text("ES256", json.dumps(header("ES256")), said)


def test_a_token_has_one_shape() -> None:
    good = SIGNER.good()
    head, body, signature = good.split(".")
    other = SIGNER.good(NOW + 1).split(".")[1]
    twice = json.dumps(claims()).replace("{", '{"purpose":"other",', 1)
    assert judge(good)
    bad = ["", "noise", f"{head}.{body}", f"{head}.{body}.", f"{good}.{signature}", f"{head}.{other}.{signature}"]
    bad += [f"{head}.{body}.{signature[:84]}", signed(twice), signed("[]"), signed('{"iss":'), "[" * 5_000, "é.é.é"]
    for token in bad:
        assert not judge(token), token[:80]


def test_no_token_that_was_tampered_with_is_believed() -> None:
    good = SIGNER.good()
    for at in range(0, len(good), 7):
        bad = good[:at] + ("A" if good[at] != "A" else "B") + good[at + 1 :]
        assert not judge(bad), bad


def test_keys_that_sign_in_a_known_way_are_taken() -> None:
    assert {kid: key.algorithm_name for kid, key in KEYS.items()} == {"desk-1": "ES256", "desk-rsa": "RS256"}


@pytest.mark.parametrize(
    "change",
    [
        {"use": "enc"},
        {"alg": "ES384"},
        {"alg": "RS256"},
        {"kid": None},
        {"kid": ""},
        {"kid": "k" * 513},
        {"kid": 7},
        {"crv": "P-384"},
        {"x": None},
        {"x": 7},
        {"x": "AAAA"},
        {"kty": None},
        {"kty": ["EC"]},
    ],
)
def test_a_key_that_is_not_whole_is_no_key(change: dict[str, Any]) -> None:
    good = SIGNER.jwks()["keys"][0]
    assert list(read_keys({"keys": [good]})) == ["desk-1"]
    assert read_keys({"keys": [changed(good, change)]}) == {}


def test_a_weak_key_is_no_key() -> None:
    numbers = rsa.generate_private_key(65_537, 1_024).public_key().public_numbers()
    weak = {"kty": "RSA", "kid": "r", "n": text(numbers.n.to_bytes(128)), "e": "AQAB"}
    assert read_keys({"keys": [weak, 7]}) == {}


def test_a_set_has_bounds_and_a_name_is_one_keys() -> None:
    good = SIGNER.jwks()["keys"][0]
    assert read_keys({"keys": [good, good]}) == {}
    assert read_keys({"keys": [{"kty": "other"}] * limits.KEYS_MAX}) == {}
    unusable: list[object] = [{"keys": [{"kty": "other"}] * (limits.KEYS_MAX + 1)}, {}, {"keys": 7}, []]
    for bad in unusable:
        with pytest.raises(BadSignatureError):
            read_keys(bad)


class KeyServer(HttpApp):
    """Serves the desk's keys, and counts the reads."""

    def __init__(self) -> None:
        self.reads = 0
        self.reply = Reply(200, json.dumps(SIGNER.jwks()).encode(), "application/json")

    async def _respond(self, scope: Scope, _receive: Receive) -> Reply:
        assert scope["path"] == "/oauth/jwks.json"
        self.reads += 1
        return self.reply


async def test_a_verifier_reads_the_keys_once(monkeypatch: pytest.MonkeyPatch) -> None:
    server = KeyServer()
    now = int(time.time())
    async with serving(server) as url:
        verifier = FireVerifier(url, "a1", issuer=ISSUER)
        for _ in range(2):
            assert await verifier.verify(f"Bearer {SIGNER.good(now)}") == FIRE
        assert server.reads == 1
        for bad in ("", SIGNER.good(now), f"bearer {SIGNER.good(now)}", "Bearer "):
            with pytest.raises(BadSignatureError):
                await verifier.verify(bad)
        # An unknown name is looked up, but not all the time.
        unknown = SIGNER.sign("ES256", header("ES256") | {"kid": "desk-9"}, claims(now))
        for _ in range(2):
            with pytest.raises(BadSignatureError):
                await verifier.verify(f"Bearer {unknown}")
        assert server.reads == 1
        monkeypatch.setattr(limits, "KEYS_READ_EVERY", 0.0)
        with pytest.raises(BadSignatureError):
            await verifier.verify(f"Bearer {unknown}")
        assert server.reads == 2
        # Known keys are used on while they cannot be read.
        server.reply = Reply(503)
        monkeypatch.setattr(limits, "KEYS_FRESH_FOR", 0.0)
        assert await verifier.verify(f"Bearer {SIGNER.good(now)}") == FIRE
        with pytest.raises(UnansweredError):
            await verifier.verify(f"Bearer {unknown}")
        monkeypatch.setattr(limits, "KEYS_STALE_FOR", 0.0)
        with pytest.raises(UnansweredError):
            await verifier.verify(f"Bearer {SIGNER.good(now)}")
        await verifier.close()


async def test_a_fire_cannot_be_judged_without_keys() -> None:
    verifier = FireVerifier("http://127.0.0.1:9", "a1")
    with pytest.raises(UnansweredError):
        await verifier.verify(f"Bearer {SIGNER.good(int(time.time()))}")
    await verifier.close()
