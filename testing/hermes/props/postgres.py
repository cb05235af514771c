"""PostgreSQL: the shared cluster, and a separate one for a scenario that stops it."""

import asyncio
import os
import pwd
import shutil
import signal
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

from props.folder import Folder
from props.judge import until
from props.process import end, environment, free_port, output, spawn, tell

STOP_SECS = 15

# Blocks every write and no read, independent of the tables' names.
BLOCK_WRITES = """
select format('lock table %s in exclusive mode;', string_agg(oid::regclass::text, ', '))
from pg_class where relkind in ('r', 'p') and not relispartition
and relnamespace::regnamespace::text !~ '^(pg_|information_schema)' \\gexec
"""
END_OTHERS = """
select pg_terminate_backend(pid) from pg_stat_activity
where datname = current_database() and pid <> pg_backend_pid();
"""


class Cluster:
    """A cluster on 127.0.0.1 that trusts every client, with the superuser `postgres`."""

    def __init__(self, bin_dir: Path, port: int) -> None:
        self.bin_dir = bin_dir
        self.port = port
        self._one_at_a_time = asyncio.Lock()

    @classmethod
    def shared(cls) -> "Cluster":
        """Returns the cluster that `with-servers` runs."""
        port = urlsplit(os.environ["NIGHTDESK_TEST_PG_ADMIN_URL"]).port
        return cls(Path(os.environ["NIGHTDESK_TEST_PG_BIN"]), port or 5432)

    def url(self, database: str, user: str = "postgres") -> str:
        """Returns the URL of a database."""
        return f"postgres://{user}@127.0.0.1:{self.port}/{database}"

    async def run(self, sql: str, database: str = "postgres") -> str:
        """Runs a statement as the superuser."""
        return await output([*self._psql(database), "-c", sql], Path("/"), environment(Path("/")))

    async def create_database(self, name: str, template: str = "template1") -> None:
        """Creates a database, optionally as a copy of another."""
        async with self._one_at_a_time:
            await self.run(f"create database {name} template {template}")

    async def drop_database(self, name: str) -> None:
        """Drops a database, with its connections."""
        await self.run(f"drop database if exists {name} with (force)")

    @asynccontextmanager
    async def writes_blocked(self, database: str) -> AsyncIterator[None]:
        """Blocks every write; at the end, ends the waiting writes without executing them."""
        words = [*self._psql(database), "-At"]
        psql = await asyncio.create_subprocess_exec(*words, stdin=PIPE, stdout=PIPE, stderr=DEVNULL)
        try:
            await ask(psql, f"begin;\n{BLOCK_WRITES}select 'blocked';\n", "blocked")
            yield
            await ask(psql, f"{END_OTHERS}rollback;\nselect 'free';\n", "free")
        finally:
            end(psql)
            await psql.wait()

    def _psql(self, database: str) -> list[str]:
        psql = str(self.bin_dir / "psql")
        return [psql, "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", self.url(database)]


class OwnCluster(Cluster):
    """A cluster in its own folder, which can be stopped and started."""

    def __init__(self, bin_dir: Path) -> None:
        super().__init__(bin_dir, free_port())
        self._folder = Folder("nightdesk-hermes-pg-", "QUIT")
        self._server: Process | None = None
        self._owner: list[str] = []
        if os.geteuid() == 0:
            # PostgreSQL refuses to run as root; its packages create this user.
            user = pwd.getpwnam("postgres")
            shutil.chown(self._folder.path, user.pw_uid, user.pw_gid)
            ids = [f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
            self._owner = ["setpriv", *ids, "--"]

    async def init(self) -> None:
        """Creates the cluster and starts it."""
        folder = self._folder.path
        options = ["--no-sync", "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8"]
        words = [*self._owner, str(self.bin_dir / "initdb"), *options, "-D", str(folder / "data")]
        await output(words, folder, environment(folder))
        await self.start()

    async def start(self) -> None:
        """Starts the server; returns when it accepts connections."""
        folder = self._folder.path
        # No socket file: all clients use the port.
        settings = [f"port={self.port}", "listen_addresses=127.0.0.1"]
        settings += ["unix_socket_directories=", "shared_buffers=32MB"]
        words = [*self._owner, str(self.bin_dir / "postgres"), "-D", str(folder / "data")]
        words += [word for setting in settings for word in ("-c", setting)]
        with (folder / "postgres.log").open("ab") as log:
            self._server = await spawn(words, folder, environment(folder), log)
        await until("PostgreSQL takes connections", lambda: self._takes_connections(), 30)

    async def stop(self) -> None:
        """Stops the server as a crash would; committed data stays."""
        if self._server is not None and self._server.returncode is None:
            tell(self._server, signal.SIGQUIT)
            await asyncio.wait_for(self._server.wait(), STOP_SECS)

    async def remove(self) -> None:
        """Stops the server and removes its folder."""
        await self.stop()
        await asyncio.to_thread(self._folder.remove)

    def _takes_connections(self) -> bool:
        ready = [str(self.bin_dir / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        return os.spawnv(os.P_WAIT, ready[0], ready) == 0


async def ask(psql: Process, text: str, answer: str) -> None:
    """Sends psql a text and reads until the answer."""
    assert psql.stdin is not None and psql.stdout is not None
    psql.stdin.write(text.encode())
    await psql.stdin.drain()
    async with asyncio.timeout(STOP_SECS):
        while line := await psql.stdout.readline():
            if line.decode().strip() == answer:
                return
    raise ConnectionError("psql ended early")
