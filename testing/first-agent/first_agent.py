"""Follows docs/first-agent.md word for word, and judges each agent in a real browser.

Each agent answers a person once, is stopped with Ctrl-C, and answers what the person wrote meanwhile when it runs again.
Only the build is left out: a `cargo` of our own starts the binary of NIGHTDESK_BIN. Last line:

    first-agent: kinds=4 answered=4
"""

import asyncio
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from playwright.async_api import Page, async_playwright, expect

from webchat.chromium import launch
from webchat.judge import send

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/first-agent.md"

# An installation from a package index takes its time, and the desk posts again after a minute.
SET_UP_WAIT_S = 300
ANSWER_WAIT_S = 120
STOP_WAIT_S = 30

CHAT = re.compile(r"^chat: (http://\S+)$", re.MULTILINE)
EXPORT = re.compile(r"^  (export (?:.*\\\n)*.*)$", re.MULTILINE)

# Longest programs, by the end of their file's name.
LINES_MAX = {"agent.py": 15, "agent.mts": 15, "function.py": 20}

CARGO = """#!/bin/bash
[ "${*:1:5}" = "run --release -p nightdesk --" ] || { echo "not a command that starts the desk: $*" >&2; exit 2; }
exec "$NIGHTDESK_BIN" "${@:6}"
"""


@dataclass
class Section:
    """A section of the page: files to save, and blocks of commands."""

    title: str
    files: dict[str, str] = field(default_factory=dict)
    commands: list[str] = field(default_factory=list)


def sections() -> list[Section]:
    """Reads the page. A block belongs to the file whose name and a colon come before it; blocks of `sh` are commands."""
    found = []
    for text in PAGE.read_text().split("\n## ")[1:]:
        section = Section(text.split("\n", 1)[0])
        for before, language, block in re.findall(r"(.*?)\n```(\w+)\n(.*?)```", text, re.DOTALL):
            if name := re.search(r"`([\w.]+)`:\n$", before):
                section.files[name[1]] = block
            elif language == "sh":
                section.commands.append(block)
        found.append(section)
    return found


class Terminal:
    """A terminal in which commands run. Its last one stays until Ctrl-C."""

    def __init__(self, folder: Path, commands: str, environment: dict[str, str]) -> None:
        self._log = tempfile.NamedTemporaryFile(prefix="first-agent-", suffix=".log")
        self._child = subprocess.Popen(
            ["bash", "-e", "-c", commands],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    @property
    def output(self) -> str:
        return Path(self._log.name).read_text(errors="replace")

    @property
    def is_over(self) -> bool:
        return self._child.poll() is not None

    async def prints(self, pattern: re.Pattern[str], wait_s: float) -> str:
        """Waits until the output matches a pattern, and returns its group."""
        async with asyncio.timeout(wait_s):
            while (match := pattern.search(self.output)) is None:
                assert not self.is_over, self.output
                await asyncio.sleep(0.1)
        return match[1]

    async def interrupt(self) -> None:
        """Presses Ctrl-C, and waits for the end."""
        if not self.is_over:
            os.killpg(self._child.pid, signal.SIGINT)
        async with asyncio.timeout(STOP_WAIT_S):
            while not self.is_over:
                await asyncio.sleep(0.1)

    def kill(self) -> None:
        if not self.is_over:
            os.killpg(self._child.pid, signal.SIGKILL)
        self._child.wait()


class Stand:
    """The folder with the clone and the agents, the terminals, and the person's browser."""

    def __init__(self, folder: Path, page: Page) -> None:
        self.folder, self.page = folder, page
        self.agents = folder / "my-agent"
        self.desk: Terminal | None = None
        self.settings = ""
        programs = folder / "bin"
        programs.mkdir()
        (programs / "cargo").write_text(CARGO)
        (programs / "cargo").chmod(0o755)
        self.environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
        for name in ("PYTHONPATH", "VIRTUAL_ENV"):
            self.environment.pop(name, None)

    async def start_desk(self, folder: Path, commands: str) -> None:
        """Starts a desk in place of the one that runs, and opens its chat."""
        if self.desk is not None:
            await self.desk.interrupt()
        self.desk = Terminal(folder, commands, self.environment)
        chat = await self.desk.prints(CHAT, SET_UP_WAIT_S)
        self.settings = await self.desk.prints(EXPORT, STOP_WAIT_S)
        await self.page.goto(chat)

    @asynccontextmanager
    async def agent(self, commands: str) -> AsyncIterator[Terminal]:
        terminal = Terminal(self.agents, f"{self.settings}\n{commands}", self.environment)
        try:
            yield terminal
            await terminal.interrupt()
        finally:
            terminal.kill()

    async def answers(self, terminal: Terminal, text: str, wait_s: float) -> None:
        """Waits until the agent's last line on the page ends with a text."""
        line = self.page.locator(".line.agent .bubble").last
        answer = asyncio.create_task(expect(line).to_have_text(re.compile(f".+: {text}\\s*$"), timeout=wait_s * 1000))
        while not answer.done():
            await asyncio.wait([answer], timeout=0.5)
            if terminal.is_over and not answer.done():
                answer.cancel()
                raise AssertionError(f"the agent ended:\n{terminal.output}")
        if error := answer.exception():
            raise AssertionError(f"{error}\n{terminal.output}")


async def follow(stand: Stand, section: Section) -> None:
    """Does what a section of an agent says."""
    for name, text in section.files.items():
        lines = len(text.splitlines())
        assert lines <= LINES_MAX.get(name, lines), f"{name} has {lines} lines"
        (stand.agents / name).write_text(text)
    *desks, commands = section.commands
    for desk in desks:
        await stand.start_desk(stand.folder / "nightdesk", desk)
    async with stand.agent(commands) as terminal:
        # The agent that echoes answers too, until this one connects.
        await terminal_is_up(stand, terminal)
    await send(stand.page, "Are you asleep?")
    await expect(stand.page.locator(".line.visitor .state").last).to_have_text("Sent")
    assert "Are you asleep?" not in await stand.page.locator(".line.agent .bubble").last.inner_text()
    async with stand.agent(commands.splitlines()[-1]) as terminal:
        await stand.answers(terminal, "Are you asleep\\?", ANSWER_WAIT_S)


async def terminal_is_up(stand: Stand, terminal: Terminal) -> None:
    """Writes until the agent answers by its name, as the echo does not."""
    for number in range(SET_UP_WAIT_S // 5):
        text = f"Hello {number}"
        await send(stand.page, text)
        try:
            return await stand.answers(terminal, text, 5)
        except AssertionError:
            assert not terminal.is_over, terminal.output
    lines = await stand.page.locator(".line").all_inner_texts()
    raise AssertionError(f"no answer, but {lines}\n{terminal.output}")


async def run(folder: Path) -> tuple[int, int]:
    """Follows the page, and returns the number of agents and of those that answered."""
    subprocess.run(["git", "clone", "-q", ROOT, folder / "nightdesk"], check=True)
    start, *rest = sections()
    kinds = [section for section in rest if section.files]
    answered = 0
    async with async_playwright() as driver:
        browser = await launch(driver)
        stand = Stand(folder, await browser.new_page())
        try:
            await stand.start_desk(folder, start.commands[0])
            for section in kinds:
                try:
                    await follow(stand, section)
                    answered += 1
                    print(f"{section.title}: answered", flush=True)
                except (AssertionError, TimeoutError) as error:
                    print(f"{section.title}: {error}", flush=True)
        finally:
            if stand.desk is not None:
                await stand.desk.interrupt()
                stand.desk.kill()
            await browser.close()
    return len(kinds), answered


def main() -> None:
    # A terminated run leaves no desk and no agent behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory(prefix="nightdesk-first-agent-") as folder:
        # PostgreSQL runs as another user if this is root.
        os.chmod(folder, 0o755)
        kinds, answered = asyncio.run(run(Path(folder)))
    print(f"first-agent: kinds={kinds} answered={answered}")
    sys.exit(0 if kinds == answered == 4 else 1)


if __name__ == "__main__":
    main()
