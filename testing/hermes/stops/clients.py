"""The kinds of clients. Each works on a message until it is stopped, and reports both."""

import asyncio
import base64
import hashlib
import hmac
import json
import os
import re
import sys
import time
from asyncio.subprocess import Process
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx

from props.desk import Desk
from props.http import read_request, response
from props.judge import POLL_SECS, until
from props.process import end, environment, spawn
from turns.agent import Agent
from turns.model import Plan

REPO = Path(__file__).resolve().parents[3]
TAKE_SECS = 25
BOOT_SECS = 60


class Client:
    """An agent whose turns last until they are stopped."""

    # What a person is told after a stop, and the outcome that a caller of the API gets.
    notice = "Stopped."
    outcome = "stopped"
    # False if it cannot show an unfinished answer: then people stop it with the button of the desk's own page.
    shows_unfinished = True

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        # The name of the agent at the desk.
        self.agent = f"a-{name.replace('.', '-')}"
        self.folder = folder
        self.tenant = ""
        # The chats whose turn runs, and the time of each chat's last stop.
        self.running: set[str] = set()
        self.stopped_at: dict[str, float] = {}

    @property
    def whose(self) -> tuple[str, ...]:
        """Returns the arguments that select the agent in a command."""
        return ("--tenant", self.tenant, "--agent", self.agent)

    async def start(self, desk: Desk, ends: AsyncExitStack) -> None:
        """Connects the agent."""
        raise NotImplementedError

    def question(self, chat: str) -> str:
        """Returns a question on which a turn of the chat works until it is stopped."""
        return f"work on {chat}"

    def move_question(self, before: str, chat: str) -> None:
        """Records the chat of a question that was asked before its chat was known."""

    async def wait_until_working(self, chat: str) -> None:
        """Waits until the turn of a chat runs."""
        await until(f"{self.name} works in {chat}", lambda: chat in self.running, BOOT_SECS)

    async def wait_until_ready(self) -> None:
        """Waits until the client can take the next message."""

    def record_begin(self, chat: str) -> None:
        """Records the begin of a turn."""
        self.running.add(chat)

    def record_stop(self, chat: str, at: float | None = None) -> None:
        """Records that a turn stopped, now or at an earlier time."""
        self.running.discard(chat)
        self.stopped_at[chat] = time.monotonic() if at is None else at

    def stop_turn(self, interrupt: dict[str, Any]) -> bool:
        """Stops the turn that the desk interrupts. Returns false if it does not run."""
        chat = interrupt["chat_id"]
        # An agent on a simple transport names a session by its chat.
        is_running = chat in self.running and chat in interrupt["session_key"]
        if is_running:
            self.record_stop(chat)
        return is_running

    async def _gateway(self, desk: Desk) -> dict[str, str]:
        """Creates a gateway; returns the settings with which a program of an SDK finds the desk."""
        name = f"gw-{self.agent}"
        made = await desk.ask("gateway", "create", *self.whose, "--name", name)
        url = f"http://127.0.0.1:{desk.back.port}"
        return {"NIGHTDESK_URL": url, "NIGHTDESK_GATEWAY": name, "NIGHTDESK_SECRET": made["secret"]}

    async def _token(self, desk: Desk) -> str:
        return (await desk.ask("issuer", "token", *self.whose))["token"]


class Program(Client):
    """An agent with one of the SDKs, as a separate process that prints the begin and the stop of each turn."""

    def __init__(self, name: str, folder: Path, words: list[str], **settings: str) -> None:
        super().__init__(name, folder)
        self._words = words
        self._settings = settings
        self._process: Process | None = None

    async def start(self, desk: Desk, ends: AsyncExitStack) -> None:
        """Starts the program."""
        env = environment(self.folder, **await self._gateway(desk), **self._settings)
        with (self.folder / f"{self.name}.log").open("ab") as log:
            self._process = await spawn(self._words, self.folder, env, log, piped=True)
        reading = asyncio.create_task(self._read(self._process))
        ends.push_async_callback(self._end, reading)

    async def _read(self, process: Process) -> None:
        assert process.stdout is not None
        while line := await process.stdout.readline():
            what, _, chat = line.decode().strip().partition(" ")
            if what == "began":
                self.record_begin(chat)
            elif what == "stopped":
                self.record_stop(chat)

    async def _end(self, reading: asyncio.Task[None]) -> None:
        assert self._process is not None
        end(self._process)
        await self._process.wait()
        reading.cancel()


def programs(folder: Path) -> list[Program]:
    """Returns the agents with the SDKs."""
    built = Path(os.environ["NIGHTDESK_BIN"]).parent / "examples" / "stoppable"
    here = Path(__file__).parent / "programs"
    python = [sys.executable, str(here / "python_agent.py")]
    sdk = str(REPO / "clients/typescript/dist/src/index.js")
    return [
        Program("rust", folder, [str(built)]),
        Program(
            "python", folder, python, PYTHONPATH=str(REPO / "clients/python/src"), PYTHONDONTWRITEBYTECODE="1"
        ),
        Program("typescript", folder, ["node", str(here / "typescript_agent.mjs")], NIGHTDESK_TS_SDK=sdk),
    ]


class Requesting(Client):
    """An agent that takes its entries by requests, and works in this process."""

    def __init__(self, name: str, folder: Path) -> None:
        super().__init__(name, folder)
        self._http = httpx.AsyncClient(timeout=TAKE_SECS + 30, trust_env=False)
        self._line: str | None = None
        self._requests = 0
        self._url = ""

    async def start(self, desk: Desk, ends: AsyncExitStack) -> None:
        """Begins to take entries."""
        self._url = f"http://127.0.0.1:{desk.back.port}"
        self._http.headers["authorization"] = f"Bearer {await self._token(desk)}"
        taking = asyncio.create_task(self._take_always())
        ends.push_async_callback(self._end, taking)

    async def _take_always(self) -> None:
        while True:
            taken = await self.call("take", self._named({"wait_seconds": TAKE_SECS}))
            self._line = taken["line"]
            for frame in taken["frames"]:
                await self._handle(frame)

    async def _handle(self, frame: dict[str, Any]) -> None:
        if frame["type"] == "inbound":
            source = frame["event"]["source"]
            await self.call("ack", self._named({"buffer_ids": [frame["bufferId"]]}))
            self.record_begin(source["chat_id"])
            await self.call("send", self._named(self._unfinished_answer(source)))
        elif frame["type"] == "interrupt_inbound":
            answer = {"stop_id": frame["stop_id"], "stopped": self.stop_turn(frame)}
            await self.call("stopped", self._named(answer))

    def _unfinished_answer(self, source: dict[str, Any]) -> dict[str, Any]:
        self._requests += 1
        action = {"op": "send", "chat_id": source["chat_id"], "content": "working on it"}
        action["metadata"] = {"running": True}
        return {"request_id": f"{self.name}-{self._requests}", "action": action}

    def _named(self, body: dict[str, Any]) -> dict[str, Any]:
        """Adds the name of the line to a request, once a take has opened one."""
        return {**body, "line": self._line} if self._line else body

    async def call(self, what: str, body: dict[str, Any]) -> dict[str, Any]:
        """Makes a request to the line."""
        raise NotImplementedError

    async def _end(self, taking: asyncio.Task[None]) -> None:
        taking.cancel()
        await asyncio.wait([taking])
        await self._http.aclose()


class Polling(Requesting):
    """An agent that polls over HTTP."""

    async def call(self, what: str, body: dict[str, Any]) -> dict[str, Any]:
        """Makes a request to the line."""
        answer = await self._http.post(f"{self._url}/v1/line/{what}", json=body)
        answer.raise_for_status()
        return answer.json() if answer.content else {}


# The tools of the requests to a line.
TOOLS = {"take": "inbox_take", "ack": "inbox_ack", "send": "send", "stopped": "inbox_stopped"}


class Mcp(Requesting):
    """An agent that takes its entries with the tools of MCP."""

    async def call(self, what: str, body: dict[str, Any]) -> dict[str, Any]:
        """Calls the tool of a request."""
        return await call_tool(self._http, self._url, TOOLS[what], body)


async def call_tool(
    http: httpx.AsyncClient, url: str, tool: str, arguments: dict[str, Any], **headers: str
) -> dict[str, Any]:
    """Calls a tool of the desk; returns its result."""
    params = {"name": tool, "arguments": arguments}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = {"accept": "application/json, text/event-stream", **headers}
    answer = await http.post(f"{url}/mcp", json=asked, headers=headers)
    answer.raise_for_status()
    events = [line[5:] for line in answer.text.splitlines() if line.startswith("data:") and line[5:].strip()]
    said = json.loads(events[-1] if events else answer.text)
    if "error" in said:
        raise ConnectionError(f"{tool}: {said['error']}")
    return json.loads(said["result"]["content"][0]["text"])


class Webhook(Client):
    """An agent that the desk calls. A turn is an open request."""

    shows_unfinished = False

    def __init__(self, name: str, folder: Path) -> None:
        super().__init__(name, folder)
        # The stop of each chat's turn, which ends its request.
        self._stops: dict[str, asyncio.Event] = {}
        self._secret = b""

    async def start(self, desk: Desk, ends: AsyncExitStack) -> None:
        """Begins to listen, and tells the desk where."""
        server = await asyncio.start_server(self._serve, "127.0.0.1", desk.waker_port)
        ends.push_async_callback(self._end, server)
        await self._gateway(desk)
        url = f"http://127.0.0.1:{desk.waker_port}/{self.agent}"
        made = await desk.ask("agent", "webhook", *self.whose, url)
        self._secret = base64.b64decode(made["secret"].removeprefix("whsec_"))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while request := await read_request(reader):
                writer.write(await self._respond(request.headers, request.body))
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _respond(self, headers: dict[str, str], body: bytes) -> bytes:
        if not self._is_signed(headers, body):
            return response({"error": "not signed"}, "401 Unauthorized")
        frame = json.loads(body)
        if frame["type"] == "interrupt_inbound":
            assert headers["webhook-id"] == f"stop_{frame['stop_id']}"
            is_running = self.stop_turn(frame)
            if is_running:
                self._stops[frame["chat_id"]].set()
            return response({"stopped": is_running})
        chat = frame["event"]["source"]["chat_id"]
        stop = self._stops[chat] = asyncio.Event()
        self.record_begin(chat)
        await stop.wait()
        return response({})

    def _is_signed(self, headers: dict[str, str], body: bytes) -> bool:
        signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
        wanted = base64.b64encode(hmac.digest(self._secret, signed, hashlib.sha256)).decode()
        return f"v1,{wanted}" in headers["webhook-signature"].split(" ")

    async def _end(self, server: asyncio.Server) -> None:
        server.close()
        for stop in self._stops.values():
            stop.set()


# Lines of a stock gateway's log. The first names the session of a question by the question's word.
BEGAN = re.compile(r"conversation turn: session=(\S+) .*?\b(t\d{4})\b")
INTERRUPTED = re.compile(r"Turn ended: reason=interrupted.* session=(\S+)")
# The last line of a turn in a chat on Telegram.
FREE = re.compile(r"(?:response ready: .* chat=|Discarding stale agent result for agent:main:telegram:dm:)(\d+)")


class Stock(Client):
    """A whole stock gateway, in the middle of a turn: its model thinks until its connection is closed."""

    # It does not answer a stop.
    notice = "The stop was delivered to your agent."
    outcome = "delivered"
    shows_unfinished = False

    def __init__(self, version: str, folder: Path, hired: Agent, bots: dict[str, str]) -> None:
        super().__init__(f"hermes-{version}", folder)
        self.agent = hired.name
        self._hired = hired
        self._bots = bots
        # Each question has a word of its own. These are the words of each chat's question, and of the question on which
        # each session works.
        self._word_of_chat: dict[str, str] = {}
        self._word_of_session: dict[str, str] = {}
        # The time at which the turn on a question was interrupted, by the question's word.
        self._interrupted_at: dict[str, float] = {}
        # The chats on Telegram whose interrupted turn is not over. 0.20.1 adds a message to such a turn, and drops both.
        self._unfinished: set[str] = set()
        # The begin of a line of the log whose end is not written yet.
        self._log_rest = ""

    async def start(self, desk: Desk, ends: AsyncExitStack) -> None:
        """Starts the gateway; returns when it is on the line."""
        await self._hired.set_up(desk, self._bots, ends)
        await self._hired.enrol(f"gw-{self.agent}")
        await self._hired.start()
        watching = asyncio.create_task(self._watch())
        ends.callback(watching.cancel)

    def question(self, chat: str) -> str:
        """Returns a question on which a turn of the chat works until it is stopped."""
        word = self._hired.model.word(Plan(think_until=asyncio.Event()))
        self._word_of_chat[chat] = word
        return f"tell me about {word}"

    def move_question(self, before: str, chat: str) -> None:
        """Records the chat of a question that was asked before its chat was known."""
        self._word_of_chat[chat] = self._word_of_chat.pop(before)

    async def wait_until_working(self, chat: str) -> None:
        """Waits until the model thinks about the question of a chat."""
        word = self._word_of_chat[chat]

        def thinks() -> bool:
            return any(turn.thoughts >= 3 for turn in self._hired.model.turns_of(word))

        await until(f"{self.name} works in {chat}", thinks, 180)
        # A late interrupt of the turn before may have ended a first attempt.
        self._interrupted_at.pop(word, None)
        self.record_begin(chat)

    async def _watch(self) -> None:
        """Records turns that the gateway interrupted: by its log, or because it closed the connection to its model.

        0.19.0 leaves some of these connections open after the turn, and a letter's text is too long for the log."""
        with self._hired.hermes.log.open(errors="replace") as log:
            while True:
                self._read(log.read())
                for chat in list(self.running):
                    word = self._word_of_chat[chat]
                    hung_up = [turn.hung_up_at for turn in self._hired.model.turns_of(word)]
                    if known := [at for at in [*hung_up, self._interrupted_at.get(word)] if at is not None]:
                        self.record_stop(chat, min(known))
                await asyncio.sleep(POLL_SECS)

    def _read(self, logged: str) -> None:
        *lines, self._log_rest = (self._log_rest + logged).split("\n")
        for line in lines:
            if began := BEGAN.search(line):
                self._word_of_session[began[1]] = began[2]
            elif (ended := INTERRUPTED.search(line)) and (word := self._word_of_session.get(ended[1])):
                self._interrupted_at[word] = time.monotonic()
                chats = {chat for chat, asked in self._word_of_chat.items() if asked == word}
                self._unfinished |= {chat for chat in chats if chat.isdigit()}
            elif free := FREE.search(line):
                self._unfinished.discard(free[1])

    async def wait_until_ready(self) -> None:
        """Waits until the gateway has read everything: 0.19.0 does not read for half a minute after a command."""
        tap = self._hired.tap
        await until("everything is acked", lambda: set(tap.handed()) <= set(tap.acked()), 90)
        await until("no turn is being interrupted", lambda: not self._unfinished, 90)
