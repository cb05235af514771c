"""The real desk: the binary of NIGHTDESK_BIN on a PostgreSQL of its own, set up by its own commands."""

import asyncio
import json
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

import httpx

START_WAIT = 60.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def postgres(folder: Path) -> Iterator[int]:
    """Runs a PostgreSQL that trusts every local user, and yields its port."""
    # Debian keeps the server's programs out of the path.
    found = [*Path("/usr/lib/postgresql").glob("*/bin/initdb"), Path(shutil.which("initdb") or "").resolve()]
    bin_dir, data, port = found[0].parent, folder / "data", free_port()
    owner: list[str] = []
    if os.geteuid() == 0:
        # PostgreSQL refuses to run as root; its packages create this user.
        user = pwd.getpwnam("postgres")
        shutil.chown(folder, user.pw_uid, user.pw_gid)
        owner = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups", "--"]
    options = ["--no-sync", "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8"]
    words = [*owner, str(bin_dir / "initdb"), *options, "-D", str(data)]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, cwd=folder)
    settings = [f"port={port}", "listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off"]
    words = [*owner, str(bin_dir / "postgres"), "-D", str(data)]
    words += [word for setting in settings for word in ("-c", setting)]
    with (folder / "postgres.log").open("wb") as log:
        server = subprocess.Popen(words, stdout=log, stderr=log, cwd=folder)
    try:
        ready = [str(bin_dir / "pg_isready"), "-q", "-t", str(int(START_WAIT)), "-h", "127.0.0.1", "-p", str(port)]
        while subprocess.run(ready, check=False).returncode != 0:
            assert server.poll() is None, (folder / "postgres.log").read_text()
        yield port
    finally:
        server.send_signal(signal.SIGQUIT)
        server.wait()


class RealDesk:
    """One node, one tenant, one agent and its web chat, which is open to everyone."""

    def __init__(self, binary: Path, folder: Path, database_port: int) -> None:
        self._binary, self._folder = binary, folder
        # The desk may call an agent at this port.
        self.port, self.callback_port = free_port(), free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.tenant, self.agent, self.page = "py", "", ""
        self._node: asyncio.subprocess.Process | None = None
        (folder / "vault.key").write_text(self.run("key", "new"))
        (folder / "vault.key").chmod(0o600)
        database = f"127.0.0.1:{database_port}/postgres"
        (folder / "desk.toml").write_text(f"""
[listen]
address = "127.0.0.1:{self.port}"
public_url = "{self.url}"
[database]
url = "postgres://nightdesk_app@{database}"
migrate_url = "postgres://postgres@{database}"
durability = "unchecked"
[vault]
key_file = "{folder / "vault.key"}"
[media]
place = "{folder / "media"}"
[log]
filter = "warn"
[outside]
http = true
ranges = ["127.0.0.0/8"]
ports = [{self.callback_port}]
[limits]
author_per_minute = 1000000
""")

    def run(self, *words: str) -> str:
        """Runs a command of an operator. Most commands are requests to the node, with the token of the login."""
        config = ["--config", str(self._folder / "desk.toml")] if words[:2] != ("key", "new") else []
        words = (str(self._binary), *words, *config)
        login = {"NIGHTDESK_DESK": self.url, "NIGHTDESK_CREDENTIALS": str(self._folder / "credentials.json")}
        env = os.environ | login
        done = subprocess.run(words, check=False, cwd=self._folder, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def ask(self, *words: str) -> Any:
        """Runs a command, and returns its output."""
        return json.loads(self.run(*words, "--json"))

    def set_up(self) -> None:
        """Logs in and creates everything. The node must serve."""
        self.run("login", "--link", self.ask("admin", "link")["url"])
        self.ask("tenant", "create", self.tenant)
        self.agent = self.create_agent("helper")
        settings = '{"title": "Owl", "greeting": "How can I help?"}'
        bot = self.ask(
            "bot", "create", "--tenant", self.tenant, "--platform", "webchat", "--handle", "owl", "--settings", settings
        )
        self.page = bot["url"]
        grant = ["grant", "create", "--tenant", self.tenant, "--agent", self.agent, "--bot", bot["bot_id"]]
        self.ask(*grant, "--chat", "*", "--open")

    def create_agent(self, name: str) -> str:
        return str(self.ask("agent", "create", "--tenant", self.tenant, name)["agent_id"])

    def create_gateway(self, name: str, agent: str = "helper") -> tuple[str, str, str]:
        """Returns the arguments of a `Desk`."""
        made = self.ask("gateway", "create", "--tenant", self.tenant, "--agent", agent, "--name", name)
        return self.url, made["gateway"], made["secret"]

    async def start(self) -> None:
        words = [str(self._binary), "serve", "--config", str(self._folder / "desk.toml")]
        self._node = await asyncio.create_subprocess_exec(*words, cwd=self._folder, stderr=sys.stderr)
        async with asyncio.timeout(START_WAIT):
            while True:
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", self.port)
                except OSError:
                    assert self._node.returncode is None
                    await asyncio.sleep(0.05)
                else:
                    writer.close()
                    return

    async def stop(self) -> None:
        assert self._node is not None
        if self._node.returncode is None:
            self._node.terminate()
        await self._node.wait()


class Visitor:
    """A person with the web chat page open."""

    def __init__(self, page: str) -> None:
        self._page = page
        self._http = httpx.AsyncClient(timeout=30.0)

    async def __aenter__(self) -> "Visitor":
        (await self._http.get(self._page)).raise_for_status()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def write(self, text: str, press: str | None = None) -> None:
        body = {"nonce": uuid4().hex, "text": text, "press": press}
        response = await self._http.post(f"{self._page}/messages", json=body)
        response.raise_for_status()

    async def transcript(self) -> str:
        return (await self._http.get(self._page)).text

    async def sees(self, text: str, wait: float = 20.0) -> str:
        """Waits until the page shows a text, and returns the page."""
        async with asyncio.timeout(wait):
            while text not in (page := await self.transcript()):
                await asyncio.sleep(0.1)
        return page

    async def button(self, label: str) -> str:
        """Returns the value of a button of the page."""
        page = await self.sees(label)
        found = re.search(rf'<button[^>]*name="press"[^>]*value="([^"]+)"[^>]*>\s*{label}', page)
        assert found is not None, page
        return found[1]


@asynccontextmanager
async def real_desk() -> AsyncIterator[RealDesk]:
    binary = Path(os.environ["NIGHTDESK_BIN"]).resolve()
    with TemporaryDirectory() as database, TemporaryDirectory() as folder, postgres(Path(database)) as port:
        desk = RealDesk(binary, Path(folder), port)
        desk.run("migrate")
        await desk.start()
        try:
            desk.set_up()
            yield desk
        finally:
            await desk.stop()
