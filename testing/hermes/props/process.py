"""Child processes that end with this process, and ports for them."""

import asyncio
import contextlib
import os
import random
import shutil
import signal
import socket
from asyncio.subprocess import DEVNULL, PIPE, Process
from pathlib import Path
from typing import IO

# Below the ports that the kernel gives to outgoing connections: no process takes a desk's port while the desk is down.
PORTS = range(20_000, 32_000)

# The owner of a reserved port may not listen yet, or may be about to restart.
GIVEN: set[int] = set()
LINE_BYTES_MAX = 4 * 1024 * 1024


class CommandFailed(Exception):
    """A failed command."""


def free_port() -> int:
    """Returns a port on 127.0.0.1 that is free and not reserved."""
    while True:
        port = random.choice(PORTS)
        if port in GIVEN:
            continue
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            GIVEN.add(port)
            return port


def environment(home: Path, **more: str) -> dict[str, str]:
    """Returns the environment of a child: no proxies, and none of the user's settings."""
    return {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8", **more}


async def spawn(
    words: list[str], cwd: Path, env: dict[str, str], log: IO[bytes], piped: bool = False
) -> Process:
    """Starts a process that dies with this one; its errors go to the log."""
    tie = ["setpriv", "--pdeathsig", "KILL", "--"] if shutil.which("setpriv") else []
    return await asyncio.create_subprocess_exec(
        *tie,
        *words,
        cwd=cwd,
        env=env,
        stdin=PIPE if piped else DEVNULL,
        stdout=PIPE if piped else log,
        stderr=log,
        limit=LINE_BYTES_MAX,
        # Ctrl-C is for this process, which ends its children itself.
        start_new_session=True,
    )


async def output(words: list[str], cwd: Path, env: dict[str, str]) -> str:
    """Returns the output of a command."""
    child = await asyncio.create_subprocess_exec(
        *words, cwd=cwd, env=env, stdin=DEVNULL, stdout=PIPE, stderr=PIPE
    )
    try:
        out, errors = await child.communicate()
    finally:
        end(child)
    if child.returncode != 0:
        text = (errors or out).decode(errors="replace").strip()
        raise CommandFailed(f"{' '.join(words)}: {text}")
    return out.decode()


def tell(child: Process, what: signal.Signals) -> None:
    """Sends the process a signal if it still runs."""
    if child.returncode is None:
        # The process's own `send_signal` may take the exit status from another waiter.
        with contextlib.suppress(ProcessLookupError):
            os.kill(child.pid, what)


def end(child: Process) -> None:
    """Kills the process if it still runs."""
    tell(child, signal.SIGKILL)
