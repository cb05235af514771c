"""The client's process, as a scenario holds it: to be asked, killed, frozen and read."""

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
    """How a client is made. The waits between dials are short; no scenario is about them."""

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
    # The first message takes so long.
    slow_secs: float = 0
    # The message at which the handler raises, every time.
    raise_on: str = ""
    # Acks are kept back from the beginning.
    keep_acks: bool = False


class Client:
    """A running client and everything it has seen so far."""

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
        """Has something done, and answers what came of it."""
        number = await self.begin(do, **what)
        await until(f"the client answers to {do}", lambda: number in self._answers, ANSWER_SECS)
        return self._answers[number]

    async def begin(self, do: str, **what: Any) -> int:
        """Has something done, and does not wait for it."""
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
        """Ends it as a crash would."""
        end(self._process)

    def freeze(self) -> None:
        """Stops it where it stands."""
        tell(self._process, signal.SIGSTOP)

    def thaw(self) -> None:
        """Lets it go on."""
        tell(self._process, signal.SIGCONT)

    async def gone(self) -> None:
        """Ends it and waits until all it wrote is read."""
        self.kill()
        await self._process.wait()
        await self._reading

    def of(self, kind: str) -> list[dict[str, Any]]:
        """What it wrote down of one kind."""
        return self._records[kind]

    def frames(self, type_: str) -> list[dict[str, Any]]:
        """The frames of one type that came from the desk."""
        return [record for record in self.of("frame") if record["type"] == type_]

    def handed(self) -> list[str]:
        """The messages handed over, in order."""
        return [record["message"] for record in self.of("handed")]

    def took(self) -> list[str]:
        """The messages that reached the agent's own handler."""
        return [record["message"] for record in self.of("took")]

    def acks(self) -> list[str]:
        """The acks that went out."""
        return [r["buffer"] for r in self.of("sent") if r["type"] == "inbound_ack"]

    def lines(self) -> int:
        """How many times it got through the door."""
        return len(self.of("open"))

    def line(self) -> int:
        """The number of the line it dialled last."""
        return self.of("dial")[-1]["line"]

    def closes(self) -> list[int]:
        """The codes its sockets were closed with."""
        return [record["code"] for record in self.of("closed")]

    def entries_of(self, message: str) -> set[str]:
        """The entries under which a message came."""
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
    """A message that was said twice under the same id is one entry."""
    messages = {message for client in clients for message in client.handed()}
    for message in messages:
        entries = set().union(*(client.entries_of(message) for client in clients))
        if len(entries) != 1:
            raise Broken(f"{message} came as {len(entries)} entries")
