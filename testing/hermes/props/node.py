"""A node of the desk: the real binary, as a separate process."""

import asyncio
import os
import signal
from asyncio.subprocess import Process
from pathlib import Path

from props.judge import until
from props.postgres import Cluster
from props.process import end, free_port, spawn, tell

START_SECS = 30
STOP_SECS = 30


class Node:
    """One node. Its port and its name stay when it is killed."""

    def __init__(
        self,
        binary: Path,
        folder: Path,
        name: str,
        env: dict[str, str],
        public_url: str | None = None,
    ) -> None:
        self.port = free_port()
        self.config = folder / f"{name}.toml"
        # All nodes of a desk have one public URL, which their tokens name.
        self.public_url = public_url or self.url
        self._words = [str(binary), "serve", "--config", str(self.config)]
        self._folder = folder
        self._name = name
        self._log = folder / f"{name}.log"
        self._env = env
        self._process: Process | None = None

    @property
    def url(self) -> str:
        """Returns its own URL."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def is_up(self) -> bool:
        """Returns true if its process runs."""
        return self._process is not None and self._process.returncode is None

    def configure(self, shared: str) -> None:
        """Writes its configuration: the shared part and its own."""
        own = f"""
[listen]
address = "127.0.0.1:{self.port}"
public_url = "{self.public_url}"
[node]
name = "{self._name}"
"""
        self.config.write_text(own + shared)

    async def start(self) -> None:
        """Starts the node; returns when the port is open."""
        with self._log.open("ab") as log:
            self._process = await spawn(self._words, self._folder, self._env, log)
        await self._listening(self._process)

    def kill(self) -> None:
        """Kills the node at once."""
        assert self._process is not None
        end(self._process)

    async def killed(self) -> None:
        """Kills the node; returns when it is gone."""
        self.kill()
        assert self._process is not None
        await self._process.wait()

    async def stop(self) -> None:
        """Stops the node with SIGTERM; kills it if it does not end."""
        if self._process is None or not self.is_up:
            return
        tell(self._process, signal.SIGTERM)
        try:
            await asyncio.wait_for(self._process.wait(), STOP_SECS)
        finally:
            end(self._process)

    async def _listening(self, process: Process) -> None:
        seen = asyncio.Event()

        async def knock() -> None:
            while not seen.is_set():
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", self.port)
                    writer.close()
                    seen.set()
                except OSError:
                    await asyncio.sleep(0.02)

        knocking = asyncio.create_task(knock())
        try:
            await until(
                "the desk listens",
                lambda: seen.is_set() or process.returncode is not None,
                START_SECS,
            )
            if process.returncode is not None:
                raise ChildProcessError(f"the desk ended with {process.returncode}")
        finally:
            knocking.cancel()


# People write faster here than the default limits allow.
MANY = 1_000_000


def shared_settings(folder: Path, cluster: Cluster, database: str, open_ports: tuple[int, ...]) -> str:
    """Returns the settings that all nodes of a desk share. The desk may call agents on this machine at the open ports."""
    return f"""
[database]
url = "{cluster.url(database, "nightdesk_app")}"
migrate_url = "{cluster.url(database)}"
[vault]
key_file = "{folder / "vault.key"}"
[redis]
url = "{os.environ["NIGHTDESK_TEST_REDIS_URL"]}"
[outside]
http = true
ranges = ["127.0.0.0/8"]
ports = {list(open_ports)}
[limits]
webhooks_per_second = {MANY}
author_per_minute = {MANY}
"""
