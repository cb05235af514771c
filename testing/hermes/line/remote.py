"""A scenario's handle to the client's process: sends commands, kills, freezes and reads it."""

import asyncio
import json
import signal
import sys
from asyncio.subprocess import Process
from collections import defaultdict
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from props.judge import Broken, require, until
from props.process import end, environment, spawn, tell

CONNECT_SECS = 90
ANSWER_SECS = 90


@dataclass(frozen=True)
class Options:
    """The options of a client. The waits between dials are short; no scenario is about them."""

    url: str
    platform: str
    bot: str
    gateway: str
    secret: str
    reconnect: bool = True
    backoff_secs: float = 0.3
    backoff_secs_max: float = 1.0
    # The handler blocks from the beginning.
    hold: bool = False
    # The delay of the first message.
    slow_secs: float = 0
    # The message at which the handler raises, every time.
    raise_on: str = ""
    # Acks are held back from the beginning.
    keep_acks: bool = False


class Client:
    """A running client and all its records so far."""

    def __init__(self, process: Process, log: Path) -> None:
        self._records: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self._answers: dict[int, dict[str, Any]] = {}
        self._process = process
        self._log = log
        self._asked = 0
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def start(cls, options: Options, folder: Path, name: str) -> "Client":
        """Starts the process; it does not dial yet."""
        home = folder / f"{name}.home"
        home.mkdir()
        hermes_home = {"HERMES_HOME": str(home), "PYTHONPATH": str(Path(__file__).parents[1])}
        env = environment(home, PYTHONDONTWRITEBYTECODE="1", **hermes_home)
        words = [sys.executable, "-m", "line.client", json.dumps(asdict(options))]
        with (folder / f"{name}.log").open("ab") as log:
            process = await spawn(words, folder, env, log, piped=True)
        return cls(process, folder / f"{name}.jsonl")

    async def ask(self, do: str, **what: Any) -> dict[str, Any]:
        """Executes a command, and returns its result."""
        number = await self.begin(do, **what)
        await until(f"the client answers to {do}", lambda: number in self._answers, ANSWER_SECS)
        return self._answers[number]

    async def begin(self, do: str, **what: Any) -> int:
        """Sends a command, and does not wait for its result."""
        self._asked += 1
        command = {"number": self._asked, "do": do, **what}
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(command).encode() + b"\n")
        await self._process.stdin.drain()
        return self._asked

    async def connect(self) -> None:
        """Dials in; returns after the handshake."""
        answer = await self.ask("connect")
        require(bool(answer["ok"]), f"the client did not get in: {answer.get('error')}")

    async def online_after(self, line: int) -> None:
        """Waits until the client has dialled in by itself on a line after this one."""
        await until(
            "the client is back on a new line",
            lambda: any(frame["line"] > line for frame in self.frames("descriptor")),
            CONNECT_SECS,
        )

    def kill(self) -> None:
        """Kills the process."""
        end(self._process)

    def freeze(self) -> None:
        """Stops the process with SIGSTOP."""
        tell(self._process, signal.SIGSTOP)

    def thaw(self) -> None:
        """Continues the process."""
        tell(self._process, signal.SIGCONT)

    async def gone(self) -> None:
        """Ends the process and waits until its output is read."""
        self.kill()
        await self._process.wait()
        await self._reading

    def of(self, kind: str) -> list[dict[str, Any]]:
        """Returns its records of one kind."""
        return self._records[kind]

    def frames(self, type_: str) -> list[dict[str, Any]]:
        """Returns the frames of one type from the desk."""
        return [record for record in self.of("frame") if record["type"] == type_]

    def handed(self) -> list[str]:
        """Returns the delivered messages, in order."""
        return [record["message"] for record in self.of("handed")]

    def took(self) -> list[str]:
        """Returns the messages that reached the agent's own handler."""
        return [record["message"] for record in self.of("took")]

    def acks(self) -> list[str]:
        """Returns the acks that it sent."""
        return [r["buffer"] for r in self.of("sent") if r["type"] == "inbound_ack"]

    def lines(self) -> int:
        """Returns the number of successful dials."""
        return len(self.of("open"))

    def line(self) -> int:
        """Returns the number of the line that it dialled last."""
        return self.of("dial")[-1]["line"]

    def closes(self) -> list[int]:
        """Returns the close codes of its sockets."""
        return [record["code"] for record in self.of("closed")]

    def entries_of(self, message: str) -> set[str]:
        """Returns the entries under which a message came."""
        return {r["buffer"] for r in self.frames("inbound") if r["message"] == message}

    async def _read(self) -> None:
        assert self._process.stdout is not None
        with self._log.open("ab") as log:
            while line := await self._process.stdout.readline():
                log.write(line)
                record = json.loads(line)
                if record["kind"] == "answer":
                    self._answers[record["number"]] = record["answer"]
                self._records[record["kind"]].append(record)


def one_entry_each(*clients: Client) -> None:
    """Checks that a message that the platform sent twice with the same id is one entry."""
    messages = {message for client in clients for message in client.handed()}
    for message in messages:
        entries = set().union(*(client.entries_of(message) for client in clients))
        if len(entries) != 1:
            raise Broken(f"{message} came as {len(entries)} entries")
