"""An agent: a stock gateway, the model behind it, and the tap before it."""

import json
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path

from props.desk import Desk
from props.judge import until
from turns.enrol import enrol
from turns.hermes import Hermes
from turns.model import Model
from turns.tap import Tap

# The gateway's process is slow to start, and slow at its first turn; more so on a busy machine.
BOOT_SECS = 180


class Agent:
    """One agent of a tenant, by its name at the desk, and its gateway."""

    def __init__(self, folder: Path, tenant: str, name: str, words: Iterator[int]) -> None:
        self.tenant = tenant
        self.name = name
        self.gateway = "gw-1"
        self.model = Model(folder / f"{name}-model.jsonl", words)
        self.tap: Tap
        self.hermes: Hermes
        self._folder = folder
        self._desk: Desk

    async def set_up(self, desk: Desk, bots: dict[str, str], ends: AsyncExitStack) -> None:
        """Sets up everything except a secret, for these bots by their platforms; nothing runs yet."""
        self._desk = desk
        model_url = await self.model.open()
        ends.push_async_callback(self.model.close)
        self.tap = Tap(desk.back.port, self._folder / f"{self.name}-tap.jsonl")
        await self.tap.open()
        ends.push_async_callback(self.tap.close)
        self.hermes = Hermes(self._folder, self.name, model_url, fronting(bots))
        ends.push_async_callback(self.hermes.killed)

    @property
    def whose(self) -> tuple[str, ...]:
        """Returns the arguments that select this agent in a command."""
        return ("--tenant", self.tenant, "--agent", self.name)

    @property
    def url(self) -> str:
        """Returns the desk's URL for its gateway."""
        return f"http://127.0.0.1:{self.tap.port}"

    async def enrol(self, gateway: str) -> None:
        """Enrols the gateway under this name, from its next start on."""
        await enrol(self._desk, self.whose, self.hermes.home, gateway, self.url)
        self.gateway = gateway

    async def start(self) -> None:
        """Starts the gateway; returns when it is on a new line."""
        lines = len(self.tap.lines)
        await self.hermes.start()
        await self.online_after(lines)

    async def online_after(self, lines: int) -> None:
        """Waits until the gateway is on a line after these."""

        def is_online() -> bool:
            if self.hermes.is_over:
                raise ChildProcessError("the gateway has ended")
            return any(line.is_up for line in self.tap.lines[lines:])

        await until(f"the gateway of {self.name} is on the line", is_online, BOOT_SECS)

    async def killed(self) -> None:
        """Kills the gateway; returns when the desk has noticed."""
        line = self.tap.lines[-1]
        await self.hermes.killed()
        await until("the desk has noticed", lambda: line.is_over)

    def was_told(self, word: str) -> bool:
        """Returns true if the word came over any of its lines, or to its model."""
        texts = " ".join(line.texts() for line in self.tap.lines)
        return word in texts or bool(self.model.turns_of(word))

    def has_said(self, word: str) -> bool:
        """Returns true if its gateway has sent the word to any chat."""
        frames = [frame for line in self.tap.lines for frame in line.gateway.of("outbound")]
        return any(word in json.dumps(frame.body) for frame in frames)


def fronting(bots: dict[str, str]) -> dict[str, str]:
    """Returns the gateway's settings for its bots, by their platforms."""
    handles = {platform: {"botId": handle} for platform, handle in bots.items()}
    platforms = ",".join(bots)
    return {"GATEWAY_RELAY_PLATFORMS": platforms, "GATEWAY_RELAY_BOT_IDS": json.dumps(handles)}
