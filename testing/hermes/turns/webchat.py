"""The desk's own page as a front: visitors with a browser each, over HTTP."""

import asyncio
import contextlib
import ipaddress
import json
import secrets
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import httpx

from props.judge import require
from turns.front import Letter

UNITS_MAX = 8000
ANSWER_SECS = 10
GIVE_UP_SECS = 90
RETRY_SECS = 0.25
# A little more than twice the keep-alive interval of a stream.
SILENT_SECS = 40
OK, TOO_FAST, UNAVAILABLE = 200, 429, 503
# The desk trusts a proxy on its own machine for the visitors' addresses. Each visitor has its own address; this range
# is reserved.
FIRST_ADDRESS = ipaddress.ip_address("198.18.0.1")
# There is no TLS here, and creating a context for each visitor takes long.
NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
BLOCKS = {"p", "br", "li", "pre", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6", "tr", "hr"}


class Webchat:
    """A page. Each chat is a visitor, who comes with their first message and stays."""

    units_max = UNITS_MAX

    def __init__(self, log: Path) -> None:
        self.url = ""
        self._log = log
        self._visitors: dict[str, Visitor] = {}
        self._answered: list[int] = []

    async def close(self) -> None:
        """All visitors leave."""
        await asyncio.gather(*(visitor.leave() for visitor in self._visitors.values()))

    async def write(self, chat: str, text: str) -> Letter:
        """A visitor writes; returns when the desk has the message."""
        visitor = await self._visitor(chat)
        letter = letter_of(chat, text)
        await until_taken(lambda: visitor.post(letter))
        return letter

    async def try_to_write(self, chat: str, text: str) -> int:
        """A visitor writes once; returns the desk's status."""
        visitor = await self._visitor(chat)
        return (await visitor.post(letter_of(chat, text))).status

    async def repeat(self, letter: Letter) -> int:
        """Posts the message once more, like a page that missed the response; returns the desk's status."""
        return (await self._visitors[letter.chat].post(letter)).status

    def answers(self, chat: str) -> list[str]:
        """Returns the agent's lines on the visitor's page, in order."""
        return [line.text for line in self._lines(chat) if line.author == "agent"]

    def own(self, chat: str) -> list[str]:
        """Returns the visitor's own lines on the page, in order."""
        return [line.text for line in self._lines(chat) if line.author == "visitor"]

    def shown(self, chat: str) -> list[str | None]:
        """Returns the states that the page showed below the lines, such as `typing…`, in order."""
        visitor = self._visitors.get(chat)
        return list(visitor.shown) if visitor else []

    def buttons(self, chat: str) -> list[str]:
        """Returns the labels of the buttons of the newest question."""
        return list(self._question(chat))

    async def press(self, chat: str, label: str) -> None:
        """The visitor presses a button of the newest question, as the page's script does."""
        nonce, value = self._question(chat)[label]
        body = json.dumps({"nonce": nonce, "press": value}).encode()
        visitor = self._visitors[chat]
        await until_taken(lambda: visitor.post(Letter(chat, nonce, body)))

    def _question(self, chat: str) -> dict[str, tuple[str, str]]:
        questions = [line.buttons for line in self._lines(chat) if line.buttons]
        return questions[-1] if questions else {}

    def statuses(self) -> list[int]:
        """Returns the desk's statuses, in order; 0 without a response."""
        return self._answered

    async def _visitor(self, chat: str) -> "Visitor":
        if chat not in self._visitors:
            address = str(FIRST_ADDRESS + len(self._visitors))
            visitor = Visitor(chat, self.url, address, self._answered, self._log)
            self._visitors[chat] = visitor
        await self._visitors[chat].come()
        return self._visitors[chat]

    def _lines(self, chat: str) -> list["Line"]:
        visitor = self._visitors.get(chat)
        return visitor.lines() if visitor else []


def letter_of(chat: str, text: str) -> Letter:
    """Returns a visitor's message with a unique name."""
    nonce = secrets.token_hex(16)
    return Letter(chat, nonce, json.dumps({"nonce": nonce, "text": text}).encode())


@dataclass(frozen=True)
class Said:
    """The desk's response; status 0 is no response."""

    status: int
    retry_secs: float = RETRY_SECS
    body: bytes = b""


async def until_taken(ask: Callable[[], Awaitable[Said]]) -> None:
    """Repeats a request until the status is 200, with the delays that the desk requests."""
    end = time.monotonic() + GIVE_UP_SECS
    while (said := await ask()).status != OK:
        if said.status not in (0, TOO_FAST, UNAVAILABLE) or time.monotonic() > end:
            raise ConnectionError(f"a visitor was answered with {said.status}")
        await asyncio.sleep(said.retry_secs if said.status == TOO_FAST else RETRY_SECS)


class Visitor:
    """A browser with the page open: a cookie, and a stream of events."""

    def __init__(
        self, chat: str, url: str, address: str, answered: list[int], log: Path
    ) -> None:
        self.shown: list[str | None] = []
        self._chat = chat
        self._url = url
        self._answered = answered
        self._log = log
        self._lines: dict[str, Line] = {}
        self._last_event = "0"
        self._retry_secs = 2.0
        self._coming = asyncio.Lock()
        self._reading: asyncio.Task[None] | None = None
        # It has its own cookies.
        self._http = httpx.AsyncClient(
            headers={"x-forwarded-for": address},
            timeout=httpx.Timeout(ANSWER_SECS, read=SILENT_SECS),
            trust_env=False,
            verify=NO_TLS,
        )

    async def come(self) -> None:
        """Opens the page, if it is not open, and reads it from then on."""
        async with self._coming:
            if self._reading is None:
                await until_taken(lambda: self._ask("GET", self._url))
                require(len(self._http.cookies) == 1, "the page gave its visitor no cookie")
                self._reading = asyncio.create_task(self._read())

    async def leave(self) -> None:
        """Closes the page."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait([self._reading])
        await self._http.aclose()

    async def post(self, letter: Letter) -> Said:
        """Posts once."""
        said = await self._ask("POST", f"{self._url}/messages", letter.body)
        if said.status == OK:
            result = json.loads(said.body)
            known = {"result": "sent", "fresh": False, "notice": None}
            require(result == known, f"a visitor who has written was told {result}")
        return said

    def lines(self) -> list["Line"]:
        """Returns the lines of the page, in order."""
        if self._reading is not None and self._reading.done():
            self._reading.result()
        return sorted(self._lines.values(), key=lambda line: (line.at, int(line.message)))

    async def _ask(self, method: str, url: str, body: bytes | None = None) -> Said:
        headers = {"content-type": "application/json"} if body else {}
        try:
            async with asyncio.timeout(ANSWER_SECS):
                answer = await self._http.request(method, url, content=body, headers=headers)
            retry_secs = float(answer.headers.get("retry-after", RETRY_SECS))
            said = Said(answer.status_code, retry_secs, answer.content)
        except (httpx.TransportError, TimeoutError):
            said = Said(0)
        self._answered.append(said.status)
        self._note({"asked": method, "status": said.status})
        return said

    async def _read(self) -> None:
        """Reads the events. A broken stream is opened again at its last position."""
        while True:
            with contextlib.suppress(httpx.TransportError):
                headers = {"last-event-id": self._last_event}
                url = f"{self._url}/events"
                async with self._http.stream("GET", url, headers=headers) as stream:
                    if stream.status_code == OK:
                        async for event in events(stream.aiter_bytes()):
                            self._take(event)
                    elif stream.status_code != UNAVAILABLE:
                        raise ConnectionError(f"a stream was answered with {stream.status_code}")
            await asyncio.sleep(self._retry_secs)

    def _take(self, event: dict[str, str]) -> None:
        self._last_event = event.get("id", self._last_event)
        self._retry_secs = int(event.get("retry", self._retry_secs * 1000)) / 1000
        if "data" not in event:
            return
        news = json.loads(event["data"])
        self._note(news)
        if event["event"] == "line":
            line = Line.parse(news["item"])
            self._lines[line.message] = line
        elif event["event"] == "status":
            self.shown.append(news["text"])

    def _note(self, what: dict[str, Any]) -> None:
        with self._log.open("a") as log:
            log.write(json.dumps({"at": time.monotonic(), "chat": self._chat, **what}) + "\n")


async def events(data: AsyncIterator[bytes]) -> AsyncIterator[dict[str, str]]:
    """Yields the server-sent events in these bytes: the last value of each field."""
    rest = b""
    async for piece in data:
        *whole, rest = (rest + piece).split(b"\n\n")
        for event in whole:
            # Not `splitlines`: a text may contain characters that it takes as line ends.
            pairs = (line.split(":", 1) for line in event.decode().split("\n") if ":" in line)
            yield {name: value.removeprefix(" ") for name, value in pairs if name}


@dataclass
class Line:
    """A line of the page, as a visitor sees it."""

    message: str = ""
    author: str = ""
    at: str = ""
    text: str = ""
    # For each button its label and the posted values: a nonce and a value.
    buttons: dict[str, tuple[str, str]] = field(default_factory=dict)

    @classmethod
    def parse(cls, item: str) -> "Line":
        """Parses a line as the desk renders it."""
        reader = Reader()
        reader.feed(item)
        reader.close()
        return reader.line


class Reader(HTMLParser):
    """Reads the visible text of a line."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.line = Line()
        # The depth of nested boxes inside the one with the text.
        self._depth = 0
        self._nonce = ""
        # The values that the current button posts.
        self._button: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Records the author of the line, and the beginning of its text."""
        named = {name: value or "" for name, value in attrs}
        if "data-message" in named:
            self.line.message, self.line.at = named["data-message"], named["data-at"]
            self.line.author = "agent" if "agent" in named["class"].split() else "visitor"
        elif tag == "div" and (self._depth or named.get("class") == "bubble"):
            self._depth += 1
        if tag == "input" and named.get("name") == "nonce":
            self._nonce = named["value"]
        elif tag == "button":
            self._button = named["value"]
        if self._depth and tag in BLOCKS and self.line.text:
            self.line.text += "\n"

    def handle_endtag(self, tag: str) -> None:
        """Records the end of the text."""
        if tag == "div" and self._depth:
            self._depth -= 1
        elif tag == "button":
            self._button = None

    def handle_data(self, data: str) -> None:
        """Collects the visible text."""
        if self._button is not None:
            self.line.buttons[data] = (self._nonce, self._button)
        elif self._depth:
            self.line.text += data
