"""The receivers of messages about alerts: a URL, a mail server, a chat, and the metric."""

import asyncio
import base64
import hashlib
import hmac
import json
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from pathlib import Path
from typing import Any

import httpx
from aiosmtpd.controller import Controller
from props.http import Request, read_request, response
from props.platform import Platform
from props.process import environment, free_port, output

OPS_CHAT = "ops"
METRIC = "nightdesk_alerts_open"
POLL_SECS = 1.0
WAYS = ("webhook", "mail", "chat", "metric")
# A part of a test's subject and of its text.
TEST = "test of a way for alerts"

# A part of the headline of each kind.
HEADLINES = {
    "parked": ("is parked", "are parked"),
    "inbox-full": ("inbox is full", "inboxes are full"),
    "quarantined": ("quarantined",),
    "deaf-bot": ("no events",),
    "failing-wake": ("wake up",),
    "missed-fire": ("missed",),
    "lost-commits": ("commits",),
    "quota": ("used up",),
    "expiring-key": ("certificate",),
    "disk": ("free space",),
}


def kind_of(text: str) -> tuple[str, str]:
    """Returns the kind and the state of a mail's subject or a chat's text. A test has no kind."""
    first = text.splitlines()[0].removeprefix("Nightdesk: ")
    if TEST in first:
        return "", "tested"
    if first.startswith("resolved: "):
        return first.removeprefix("resolved: ").split(" ")[0], "resolved"
    for kind, parts in HEADLINES.items():
        if any(part in first for part in parts):
            return kind, "opened"
    return first, "unknown"


@dataclass
class News:
    """The first time at which each way told that a kind is open, and that it is resolved."""

    seen: dict[tuple[str, str, str], float] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    def note(self, way: str, kind: str, state: str) -> None:
        """Records a message, unless it is a test."""
        if state == "tested":
            return
        if kind not in HEADLINES or state not in ("opened", "resolved"):
            self.wrong.append(f"{way}: {kind} is {state}")
        self.seen.setdefault((way, kind, state), time.monotonic())

    def forget(self, way: str, kind: str, state: str) -> None:
        """Forgets a state that is over."""
        self.seen.pop((way, kind, state), None)

    def at(self, way: str, kind: str, state: str) -> float | None:
        """Returns the time of a message."""
        return self.seen.get((way, kind, state))


class Door:
    """One HTTP server: the URLs of alerts, an agent's wake URL, a job's callback, and a Telegram."""

    def __init__(self, news: News) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.secrets: dict[str, str] = {}
        self.of_tenant: list[dict[str, Any]] = []
        self.wakes = 0
        self.token_is_revoked = False
        self._news = news
        self._server: asyncio.Server | None = None

    async def open(self) -> None:
        """Begins to listen."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)

    def close(self) -> None:
        """Stops listening."""
        if self._server is not None:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while request := await read_request(reader):
                writer.write(await self._answer(request))
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _answer(self, request: Request) -> bytes:
        path = request.path.split("?")[0]
        if path in ("/alerts", "/tenant"):
            return self._take_alert(path, request)
        if path == "/wake":
            self.wakes += 1
            return response({}, "500 Internal Server Error")
        if path.startswith("/bot"):
            return await self._telegram(path.rsplit("/", 1)[1])
        # An agent that refuses the fire.
        return response({"error": "no such job"}, "400 Bad Request")

    def _take_alert(self, path: str, request: Request) -> bytes:
        said = json.loads(request.body)
        if not is_signed(request, self.secrets.get(path, "")):
            self._news.wrong.append(f"{path}: a wrong signature")
        if said["type"] == "alert.test":
            return response({}, "200 OK")
        if path == "/tenant":
            self.of_tenant.append(said)
        else:
            state = said["type"].removeprefix("alert.").replace("repeated", "opened")
            self._news.note("webhook", said["data"]["kind"], state)
        return response({}, "200 OK")

    async def _telegram(self, method: str) -> bytes:
        if self.token_is_revoked:
            refused = {"ok": False, "error_code": 401, "description": "Unauthorized"}
            return response(refused, "401 Unauthorized")
        results: dict[str, Any] = {
            "getMe": {"id": 4242, "is_bot": True, "first_name": "Desk", "username": "desk_bot"},
            "getWebhookInfo": {"url": "", "pending_update_count": 0, "has_custom_certificate": False},
            "getUpdates": [],
        }
        if method == "getUpdates":
            await asyncio.sleep(POLL_SECS)
        return response({"ok": True, "result": results.get(method, True)})


def is_signed(request: Request, secret: str) -> bool:
    """True if a post has the signature of Standard Webhooks."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{request.headers['webhook-id']}.{request.headers['webhook-timestamp']}.".encode() + request.body
    tag = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    is_recent = abs(time.time() - int(request.headers["webhook-timestamp"])) < 60
    return is_recent and f"v1,{tag}" in request.headers["webhook-signature"].split(" ")


class Mails:
    """A mail server that requires STARTTLS."""

    def __init__(self, folder: Path, news: News) -> None:
        self.port = free_port()
        self.certificate, self._key = folder / "mail.pem", folder / "mail.key"
        self._folder = folder
        self._news = news
        self._controller: Controller | None = None

    @property
    def settings(self) -> str:
        """Returns the desk's configuration for it."""
        return f"""
[mail]
server = "localhost"
port = {self.port}
tls = "starttls"
from = "desk@example.org"
root_certificate_file = "{self.certificate}"
"""

    async def open(self) -> None:
        """Makes a certificate, and begins to listen."""
        await make_certificate(self._folder, self.certificate, self._key, 30)
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(self.certificate, self._key)
        self._controller = Controller(
            self, hostname="127.0.0.1", port=self.port, tls_context=context, require_starttls=True
        )
        self._controller.start()

    def close(self) -> None:
        """Stops listening."""
        if self._controller is not None:
            self._controller.stop()

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:  # noqa: N802
        """Takes a mail. The server runs in a thread of its own."""
        mail = message_from_bytes(envelope.content, policy=policy.default)
        if mail["auto-submitted"] != "auto-generated" or envelope.rcpt_tos != ["ops@example.org"]:
            self._news.wrong.append(f"mail: {mail.items()} to {envelope.rcpt_tos}")
        self._news.note("mail", *kind_of(str(mail["subject"])))
        return "250 OK"


async def make_certificate(folder: Path, certificate: Path, key: Path, days: int) -> None:
    """Makes a certificate for this machine, signed by itself. An existing one is replaced."""
    new, new_key = certificate.with_suffix(".new"), key.with_suffix(".new-key")
    words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    words += ["-days", str(days), "-subj", "/CN=localhost", "-keyout", str(new_key), "-out", str(new)]
    words += ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    words += ["-addext", "basicConstraints=critical,CA:FALSE"]
    await output(words, folder, environment(folder))
    new_key.chmod(0o600)
    new_key.replace(key)
    new.replace(certificate)


class Watch:
    """Looks at the chat and at the metric until it is closed."""

    def __init__(self, news: News, platform: Platform, metrics: Callable[[], list[str]]) -> None:
        self._news = news
        self._platform = platform
        self._metrics = metrics
        self._task = asyncio.create_task(self._look())

    async def close(self) -> None:
        """Stops to look."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _look(self) -> None:
        async with httpx.AsyncClient(timeout=10, trust_env=False) as http:
            read = 0
            while True:
                texts = self._platform.messages(OPS_CHAT)
                for text in texts[read:]:
                    self._news.note("chat", *kind_of(text))
                read = len(texts)
                await self._read_metric(http)
                await asyncio.sleep(POLL_SECS / 4)

    async def _read_metric(self, http: httpx.AsyncClient) -> None:
        open_alerts: dict[str, int] = {}
        for url in self._metrics():
            try:
                text = (await http.get(url)).text
            except httpx.TransportError:
                # The others report zero for whatever this node may have found.
                return
            for line in text.splitlines():
                if line.startswith(f'{METRIC}{{kind="'):
                    kind = line.split('"')[1]
                    open_alerts[kind] = open_alerts.get(kind, 0) + int(float(line.rsplit(" ", 1)[1]))
        for kind, count in open_alerts.items():
            if count > 0:
                self._news.note("metric", kind, "opened")
                # A node that takes the task over reports zero until it has looked for causes.
                self._news.forget("metric", kind, "resolved")
            elif self._news.at("metric", kind, "opened") is not None:
                self._news.note("metric", kind, "resolved")
