"""An agent's machine: its own home, and the stock command line in it."""

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from pathlib import Path
from typing import Any

from props.process import end, environment

# The client's own interpreter, which also runs this module.
PYTHON = Path(sys.executable)


class Machine:
    """A machine on which the output of `nightdesk gateway token` is pasted."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._env = environment(home, HERMES_HOME=str(home))

    async def enroll(self, invited: dict[str, Any], **instead: str) -> tuple[int, str]:
        """Enrols as `gateway token` describes, with some values replaced; returns the exit code and the output."""
        invited = {**invited, **instead}
        words = ["gateway", "enroll", "--token", invited["token"]]
        words += ["--connector-url", invited["connector_url"], "--gateway-id", invited["gateway"]]
        hermes = str(PYTHON.with_name("hermes"))
        return await self.run([hermes, *words], **identity(invited))

    def written(self) -> dict[str, str]:
        """Returns the settings that it wrote for the gateway."""
        lines = (self._home / ".env").read_text().splitlines()
        pairs = (line.split("=", 1) for line in lines if "=" in line and line[0] != "#")
        return {name: value.strip("'\"") for name, value in pairs}

    async def run(self, words: list[str], **env: str) -> tuple[int, str]:
        """Runs a command to its end; returns its exit code and its output."""
        child = await asyncio.create_subprocess_exec(
            *words,
            cwd=self._home,
            env={**self._env, **env},
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=STDOUT,
        )
        try:
            out, _ = await child.communicate()
        finally:
            end(child)
        return child.returncode or 0, out.decode(errors="replace")


def identity(invited: dict[str, Any]) -> dict[str, str]:
    """Returns the credentials of an invitation."""
    return {
        "GATEWAY_RELAY_IDP_TOKEN_URL": invited["token_url"],
        "GATEWAY_RELAY_IDP_CLIENT_ID": invited["client_id"],
        "GATEWAY_RELAY_IDP_CLIENT_SECRET": invited["client_secret"],
    }
