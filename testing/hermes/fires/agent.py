"""An agent's machine: the stock command line on it, and the stock server that receives fires."""

import asyncio
import json
import re
import shutil
import time
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx

from fires.portal import LIST
from props.client import IS_0_19
from props.judge import require, until
from props.machine import PYTHON, Machine
from props.process import end, environment, free_port, spawn

HERMES = str(PYTHON.with_name("hermes"))
BOOT_SECS = 180
# The usual time of a command.
COMMAND_SECS = 1.5
MOMENT_SECS = 4
KNOCK_SECS = 0.05
SHOWN_MAX = 300
CREATED = re.compile(r"^Created job: (\w+)$", re.MULTILINE)
UNARMED = re.compile(
    r"^Failed to create job: Cron job '(\w+)' was saved, but its first scheduler registration failed\b", re.MULTILINE
)

# The settings of an owner whose jobs another service fires. The client must not install anything during a test.
CONFIG = """
security:
  allow_lazy_installs: false
cron:
  provider: chronos
  chronos:
    portal_url: "{portal}"
    callback_url: "{door}"
    expected_audience: "agent:{agent}"
    nas_jwks_url: "{portal}/oauth/jwks.json"
"""

# A later client's server only forwards fires to the gateway on the same machine. These settings open that gateway's
# API. The key does not admit a fire; the fire's own token does.
API_KEY = "0123456789abcdef" * 2

# A job that uses no model: it records the time at which it runs.
SCRIPT = "date +%s.%N >> {ran}"


class Agent:
    """One agent as the desk knows it, and a home on its own machine. No gateway dials the desk from there. The
    gateway of a later client runs, because its server forwards due jobs to it."""

    def __init__(self, folder: Path, name: str, agent: str, portal: str) -> None:
        self.name = name
        self.id = agent
        self.home = folder / f"{name}.home"
        self._portal = portal
        self._folder = folder
        self._log = folder / f"{name}-serve.log"
        self._gateway_log = folder / f"{name}-gateway.log"
        self._port = free_port()
        settings = {"HERMES_HOME": str(self.home), "HERMES_PORTAL_BASE_URL": portal}
        # The ports that must be open before the machine is up.
        self._ports = [self._port]
        if not IS_0_19:
            self._ports.append(free_port())
            settings |= {"API_SERVER_KEY": API_KEY, "API_SERVER_PORT": str(self._ports[-1])}
        self._env = environment(self.home, **settings)
        self._command_secs = COMMAND_SECS
        self._running: list[Process] = []
        self._is_up = False

    def set_up(self, door: str, auth: dict[str, Any]) -> None:
        """Creates its home, with the desk's address and the agent's login."""
        (self.home / "scripts").mkdir(parents=True)
        (self.home / "ran").mkdir()
        config = CONFIG.format(portal=self._portal, door=door, agent=self.id)
        (self.home / "config.yaml").write_text(config)
        self.log_in(auth)

    def log_in(self, auth: dict[str, Any]) -> None:
        """Replaces its login, and removes the previous one."""
        # The homes of a machine share sessions here.
        shutil.rmtree(self.home / "shared", ignore_errors=True)
        (self.home / "auth.json").write_text(json.dumps(auth))

    def auth(self) -> dict[str, Any]:
        """Returns its stored logins."""
        return json.loads((self.home / "auth.json").read_text())

    def login(self) -> dict[str, Any]:
        """Returns its current login."""
        return self.auth()["providers"]["nous"]

    async def cron(self, *words: str) -> str:
        """Runs a `hermes cron` command; returns its output."""
        began_at = time.monotonic()
        code, said = await Machine(self.home).run([HERMES, "cron", *words], **self._env)
        # The load of the test machine varies.
        self._command_secs = max(time.monotonic() - began_at, self._command_secs / 2)
        require(code == 0, f"`hermes cron {' '.join(words)}` ended with {code}: {said}")
        return said

    def after(self, commands: int) -> str:
        """Returns an instant that lies after the given number of commands, plus a margin."""
        return soon(MOMENT_SECS + commands * 2 * self._command_secs)

    async def create(self, name: str, when: str, times: int | None = None) -> str:
        """Creates a job, optionally with a number of runs; returns its id."""
        # By now the job may have run, and then the client has forgotten it.
        made = CREATED.search(said := await self._create(name, when, times))
        require(made is not None, f"no job was made: {said}")
        return made[1]

    async def create_unarmed(self, name: str, when: str) -> str:
        """Creates a job that the desk does not arm; returns its id. A later client reports that the job is not armed,
        and stores it. 0.19.0 reports nothing."""
        job, said = await self.try_create_unarmed(name, when)
        require(job is not None, f"the client said: {said}")
        return job

    async def try_create_unarmed(self, name: str, when: str) -> tuple[str | None, str]:
        """Like `create_unarmed`, but returns None and the client's words if the client reports no failure."""
        said = await self._create(name, when, None)
        made = (CREATED if IS_0_19 else UNARMED).search(said)
        return made[1] if made else None, said

    async def _create(self, name: str, when: str, times: int | None) -> str:
        script = SCRIPT.format(ran=self.home / "ran" / name)
        (self.home / "scripts" / f"{name}.sh").write_text(script)
        words = ["--name", name, "--no-agent", "--script", f"{name}.sh", "--deliver", "local"]
        words += ["--repeat", str(times)] if times else []
        return await self.cron("create", when, *words)

    def jobs(self) -> dict[str, dict[str, Any]]:
        """Returns the client's jobs, by name."""
        jobs = json.loads((self.home / "cron" / "jobs.json").read_text())["jobs"]
        return {job["name"]: job for job in jobs}

    def runs(self, name: str) -> list[float]:
        """Returns the times at which a job ran."""
        ran = self.home / "ran" / name
        return [float(line) for line in ran.read_text().splitlines()] if ran.exists() else []

    async def ask(self, method: str, path: str, **more: Any) -> httpx.Response:
        """Sends a request to the desk as the client would."""
        return await ask(self._portal + path, self.login()["access_token"], method, **more)

    async def armed(self) -> dict[str, str]:
        """Returns the instants that the desk has armed for it, by job."""
        answer = await self.ask("GET", LIST)
        require(answer.status_code == 200, f"list: {answer.status_code} {answer.text[:SHOWN_MAX]}")
        rows = answer.json()["armed"]
        require(all(row["schedule_id"] for row in rows), f"rows without a name: {rows}")
        return {row["job_id"]: row["fire_at"] for row in rows}

    async def start(self) -> None:
        """Starts its server; returns when it is up."""
        await self.begin()
        await until(f"{self.name} is up", lambda: self._is_up, BOOT_SECS)

    async def begin(self) -> None:
        """Starts its server and the processes that the server needs."""
        await self._spawn(self._log, "serve", "--port", str(self._port), "--skip-build")
        if not IS_0_19:
            await self._spawn(self._gateway_log, "gateway", "run", "-v")
        asyncio.create_task(self._knock(self._running))

    async def door(self) -> int | None:
        """Returns the port of its server if it is up. Starts the server if it is off."""
        if not self._running:
            await self.begin()
        return self._port if self._is_up else None

    async def killed(self) -> None:
        """Turns its machine off."""
        running, self._running, self._is_up = self._running, [], False
        for process in running:
            end(process)
            await process.wait()

    @asynccontextmanager
    async def gateway(self) -> AsyncIterator[None]:
        """Runs a new gateway for a while, with the rest of the machine off."""
        await self.killed()
        await self._spawn(self._gateway_log, "gateway", "run", "-v")
        try:
            yield
        finally:
            await self.killed()

    async def _spawn(self, log: Path, *words: str) -> None:
        with log.open("ab") as written:
            self._running.append(await spawn([HERMES, *words], self._folder, self._env, written))

    async def _knock(self, running: list[Process]) -> None:
        """Connects repeatedly until all the ports are open. Turning the machine off meanwhile creates another list."""
        ports = list(self._ports)
        while ports and self._running is running:
            if any(process.returncode is not None for process in running):
                break
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", ports[0])
                writer.close()
                ports.pop(0)
            except OSError:
                await asyncio.sleep(KNOCK_SECS)
        self._is_up = not ports and self._running is running


async def ask(url: str, token: str, method: str, **more: Any) -> httpx.Response:
    """Sends a request with or without a token."""
    headers = {"authorization": f"Bearer {token}"} if token else {}
    async with httpx.AsyncClient(trust_env=False) as http:
        return await http.request(method, url, headers=headers, **more)


def by_token(token: str) -> dict[str, Any]:
    """Returns the stored login of an agent that has a token and no session."""
    login = {"access_token": token, "expires_at": soon(3600)}
    return {"version": 1, "providers": {"nous": login}}


def soon(secs: float) -> str:
    """Returns an instant relative to now, as a person would write it."""
    return (datetime.now(UTC) + timedelta(seconds=secs)).isoformat()
