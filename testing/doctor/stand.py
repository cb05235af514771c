"""A desk with which nothing is wrong: two nodes, a server that archives its log, a bot at Telegram, and a page."""

import asyncio
import json
import os
import urllib.request
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from props.desk import Desk
from props.folder import Folder
from props.judge import require, until_so
from props.node import Node
from props.postgres import Cluster, OwnCluster
from props.process import end, environment, spawn

DATABASE = "doctor"
FAKETIME = "/usr/lib/*/faketime/libfaketimeMT.so.1"
START_SECS = 20


@dataclass(frozen=True)
class Report:
    """The answer of `nightdesk doctor`."""

    code: int
    findings: list[dict[str, Any]]

    @property
    def wrong(self) -> list[dict[str, Any]]:
        """Returns the findings that are not repaired and not `ok`."""
        return [one for one in self.findings if one["severity"] != "ok" and not one["fixed"]]

    @property
    def has_right_code(self) -> bool:
        """Returns true if the exit code says whether a fault remains."""
        return self.code == int(any(one["severity"] == "fault" for one in self.wrong))

    def of(self, check: str) -> dict[str, Any] | None:
        """Returns the finding of a check that is not `ok`."""
        return next((one for one in self.findings if one["check"] == check and one["severity"] != "ok"), None)


@dataclass(frozen=True)
class Target:
    """The node that is examined: one that serves, or without a URL the node of a configuration file."""

    config: Path
    url: str | None = None


class FakeTelegram:
    """A Telegram, with the bots that were added."""

    def __init__(self, folder: Path) -> None:
        self.url = ""
        self._folder = folder
        self._process: Process | None = None

    async def open(self) -> None:
        """Starts it."""
        program = binary().parent / "examples/fake-telegram"
        with (self._folder / "fake-telegram.log").open("ab") as log:
            words = [str(program)]
            self._process = await spawn(words, self._folder, environment(self._folder), log, piped=True)
        assert self._process.stdout is not None
        line = await asyncio.wait_for(self._process.stdout.readline(), START_SECS)
        self.url = line.decode().strip()

    async def close(self) -> None:
        """Ends it."""
        if self._process is not None:
            end(self._process)
            await self._process.wait()

    async def call(self, path: str, **asked: Any) -> None:
        """Makes a request to its Bot API or to its control."""
        body, kind = json.dumps(asked).encode(), {"content-type": "application/json"}
        request = urllib.request.Request(f"{self.url}/{path}", body, kind)
        await asyncio.to_thread(lambda: urllib.request.urlopen(request, timeout=START_SECS).close())


class Stand:
    """The desk, and the means to change it."""

    def __init__(self) -> None:
        self.folder = Folder("nightdesk-doctor-", "KILL")
        self.path = self.folder.path
        self.cluster = OwnCluster(Cluster.shared().bin_dir)
        self.telegram = FakeTelegram(self.path)
        self.token = "4242:key-of-the-telegram-bot"
        self.bot = ""
        self.desk: Desk
        self._ends = AsyncExitStack()

    async def set_up(self) -> None:
        """Starts everything."""
        self._ends.callback(self.folder.remove)
        self._ends.push_async_callback(self.cluster.remove)
        await self.cluster.init()
        await self._archive_log()
        await self.cluster.create_database(DATABASE)
        self._ends.push_async_callback(self.telegram.close)
        await self.telegram.open()
        await self.telegram.call("control/bot", token=self.token, username="desk_bot")
        more = f'[telegram]\napi_url = "{self.telegram.url}"\n'
        self.desk = Desk(binary(), self.path, self.cluster, DATABASE, more)
        await self.desk.migrate()
        self._ends.push_async_callback(self.desk.stop)
        await self.desk.start()
        await self.desk.log_in()
        await self.desk.register_agent()
        await self.desk.register_page("page")
        await self.desk.let_anyone_in()
        await self._connect_bot()

    async def take_down(self) -> None:
        """Ends everything."""
        await self._ends.aclose()

    async def examine(self, target: Target, *words: str) -> Report:
        """Runs `nightdesk doctor`."""
        where = [] if target.url else ["--local"]
        command = [str(binary()), "doctor", "--json", *where, *words, "--config", str(target.config)]
        token = str(self.path / "administrator.token")
        more = {"NIGHTDESK_DESK": target.url or "", "NIGHTDESK_TOKEN_FILE": token} if target.url else {}
        child = await asyncio.create_subprocess_exec(
            *command,
            cwd=self.path,
            env=environment(self.path, **more),
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=PIPE,
        )
        out, errors = await child.communicate()
        text = errors.decode(errors="replace")
        require(out.startswith(b"{"), f"{' '.join(command)}: {text or out!r}")
        return Report(child.returncode or 0, json.loads(out)["findings"])

    @property
    def serving(self) -> Target:
        """Returns the desk's first node."""
        return Target(self.desk.front.config, self.desk.front.url)

    def changed(self, name: str, **changes: tuple[str, str]) -> Target:
        """Returns a configuration file in which texts are replaced."""
        text = self.desk.front.config.read_text()
        for old, new in changes.values():
            require(old in text, f"the configuration has no {old}")
            text = text.replace(old, new)
        config = self.path / f"{name}.toml"
        config.write_text(text)
        return Target(config)

    @asynccontextmanager
    async def another_node(self, name: str, public_url: str, **env: str) -> AsyncIterator[Target]:
        """Runs one more node of the desk."""
        _, shared = self.desk.front.config.read_text().split('name = "front"\n', 1)
        node = Node(binary(), self.path, name, environment(self.path, **env), public_url)
        node.configure(shared)
        try:
            await node.start()
            yield Target(node.config, node.url)
        finally:
            await node.stop()

    async def _archive_log(self) -> None:
        for setting in ("archive_mode = on", "archive_command = 'true'", "archive_timeout = '1min'"):
            await self.cluster.run(f"alter system set {setting}")
        await self.cluster.stop()
        await self.cluster.start()
        await self.cluster.run("select pg_switch_wal()")

        async def is_archived() -> bool:
            archived = "select archived_count > 0 as is_archived from pg_stat_archiver"
            return " t" in await self.cluster.run(archived)

        await until_so("the log is archived", is_archived, START_SECS)

    async def _connect_bot(self) -> None:
        key_file = self.path / "telegram.key"
        key_file.write_text(self.token)
        words = ("bot", "connect", "telegram", "--tenant", self.desk.tenant, "--webhook")
        self.bot = (await self.desk.ask(*words, "--key-file", str(key_file)))["bot_id"]


def binary() -> Path:
    """Returns the desk's binary."""
    return Path(os.environ["NIGHTDESK_BIN"]).resolve()


def library() -> str:
    """Returns the library that moves the clock of a process."""
    found = sorted(Path("/").glob(FAKETIME.removeprefix("/")))
    require(bool(found), "libfaketime is not installed; run .ci/tools")
    return str(found[0])
