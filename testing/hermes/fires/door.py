"""The address of the agents' machines: the desk's requests, and their responses."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable
from datetime import datetime
from enum import Enum
from pathlib import Path

from fires.tap import Call, Tap, pass_on
from props.http import response
from props.judge import require

FIRE = "/api/cron/fire"
TAKEN = response({"status": "accepted"}, "202 Accepted")


# The desk waits longer than this.
SLOW_SECS = 2


class Answer(Enum):
    """The fate of a response. The machine gets the call and responds."""

    LOST = "lost"
    SLOW = "slow"


# A replacement for a response: other bytes, or the fate of the machine's own response.
Instead = bytes | Answer
# Starts a machine if necessary and returns its port; None if it is not up yet.
Machine = Callable[[], Awaitable[int | None]]


class Door(Tap):
    """Forwards calls to the agents' machines. Each has a path with the agent's name."""

    def __init__(self, log: Path) -> None:
        super().__init__(log)
        self._machines: dict[str, Machine] = {}
        self._instead: defaultdict[str, list[Instead]] = defaultdict(list)
        self._next: list[Instead] = []

    def lead_to(self, name: str, machine: Machine) -> str:
        """Forwards an agent's calls to its machine; returns the URL of its door."""
        self._machines[name] = machine
        return f"{self.url}/{name}"

    def answer_instead(self, job: str, *what: Instead) -> None:
        """Sets the replacements for the next calls about a job."""
        self._instead[job] += what

    def answer_next(self, what: Instead) -> None:
        """Sets the replacement for the next call about a job that does not exist yet. Its first fire may come before
        its id is known."""
        self._next.append(what)

    async def answer(self, call: Call) -> bytes | None:
        """Returns the machine's response."""
        _, name, *rest = call.request.path.split("/")
        instead = self._instead[call.body["job_id"]] or self._next
        what = instead.pop(0) if instead else None
        if isinstance(what, bytes):
            return what
        port = await self._machines[name]()
        if port is None:
            return response({"error": "starting"}, "503 Service Unavailable", "retry-after: 1")
        said = await pass_on(call.request, port, "/" + "/".join(rest))
        if what is Answer.SLOW:
            await asyncio.sleep(SLOW_SECS)
        return None if what is Answer.LOST else said

    def fires(self, job: str) -> list[Call]:
        """Returns the fires of a job that a machine received, and checks that none was early."""
        calls = [call for call in self.calls if call.body["job_id"] == job]
        for call in calls:
            require(call.request.path.endswith(FIRE), f"called at {call.request.path}")
            early_secs = due(call) - call.at
            require(early_secs <= 0, f"told {early_secs:.3f} s early of {call.body}")
        return calls


def due(call: Call) -> float:
    """Returns the instant of the fire that a call is about."""
    return datetime.fromisoformat(call.body["fire_at"]).timestamp()
