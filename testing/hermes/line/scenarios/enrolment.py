"""How the stock command line is enrolled, and what it tells a person when it is not."""

import asyncio
import sys
from asyncio.subprocess import PIPE, STDOUT
from pathlib import Path
from typing import Any

from line.judge import arrive, require
from line.process import environment
from line.scenarios import scenario
from line.stage import Stage

NAME = "gw-enrolled"
SECRET_DIGITS = 64


class Enrolment:
    """An agent's machine: a home of its own, and the stock command line in it."""

    def __init__(self, stage: Stage, name: str) -> None:
        self._home = stage.clean_folder(name)
        self._env = environment(self._home, HERMES_HOME=str(self._home))

    async def enroll(self, invited: dict[str, Any], **instead: str) -> tuple[int, str]:
        """Does what `gateway token` says, but for what is given instead; answers what it said."""
        invited = {**invited, **instead}
        env = {
            **self._env,
            "GATEWAY_RELAY_IDP_TOKEN_URL": invited["token_url"],
            "GATEWAY_RELAY_IDP_CLIENT_ID": invited["client_id"],
            "GATEWAY_RELAY_IDP_CLIENT_SECRET": invited["client_secret"],
        }
        words = ["gateway", "enroll", "--token", invited["token"]]
        words += ["--connector-url", invited["connector_url"], "--gateway-id", invited["gateway"]]
        return await self._hermes(words, env)

    async def at_boot(self, url: str, invited: dict[str, Any]) -> tuple[int, str]:
        """Has the client ask for a secret at boot, and declare a policy, as it does with none
        pinned; answers what it logged."""
        code = (
            "import logging; logging.basicConfig(level=logging.INFO)\n"
            "import gateway.relay as relay\n"
            "print('provisioned', relay.self_provision_relay())\n"
            "import os; os.environ['GATEWAY_RELAY_ID'] = os.environ['PINNED_ID']\n"
            "os.environ['GATEWAY_RELAY_SECRET'] = os.environ['PINNED_SECRET']\n"
            "relay.relay_relevance_policy = lambda platform: {'platform': platform,\n"
            "    'requireAddress': True, 'freeResponseScopes': [], 'allowOtherBots': False}\n"
            "print('declared', relay.send_relay_policy())\n"
        )
        env = {
            **self._env,
            "GATEWAY_RELAY_URL": url,
            "GATEWAY_RELAY_IDP_TOKEN_URL": invited["token_url"],
            "GATEWAY_RELAY_IDP_CLIENT_ID": invited["client_id"],
            "GATEWAY_RELAY_IDP_CLIENT_SECRET": invited["client_secret"],
            "PINNED_ID": invited["pinned_id"],
            "PINNED_SECRET": invited["pinned_secret"],
        }
        return await self._run([str(python()), "-c", code], env)

    def written(self) -> dict[str, str]:
        """What it wrote down for the gateway."""
        lines = (self._home / ".env").read_text().splitlines()
        pairs = (line.split("=", 1) for line in lines if "=" in line and line[0] != "#")
        return {name: value.strip("'\"") for name, value in pairs}

    async def _hermes(self, words: list[str], env: dict[str, str]) -> tuple[int, str]:
        return await self._run([str(python().with_name("hermes")), *words], env)

    async def _run(self, words: list[str], env: dict[str, str]) -> tuple[int, str]:
        child = await asyncio.create_subprocess_exec(
            *words, cwd=self._home, env=env, stdout=PIPE, stderr=STDOUT
        )
        out, _ = await child.communicate()
        return child.returncode or 0, out.decode(errors="replace")


def python() -> Path:
    """The client's own interpreter."""
    return Path(sys.executable)


async def invite(stage: Stage, *more: str) -> dict[str, Any]:
    """An operator's invitation, by the names of tenant and agent."""
    words = ["gateway", "token", "--tenant", "night", "--agent", "owl"]
    return await stage.desk.ask(*words, *more)


@scenario(secs=25)
async def enrolled_by_the_stock_cli(stage: Stage) -> None:
    """`hermes gateway enroll` with what `gateway token` printed writes credentials that open a
    line. A used token and bad client credentials are told to the person, and change nothing."""
    machine = Enrolment(stage, "machine")
    invited = await invite(stage, "--name", NAME)

    code, said = await machine.enroll(invited)
    require(code == 0, f"not enrolled: {said}")
    require(f'✓ Enrolled gateway "{NAME}" for tenant {stage.desk.tenant}' in said, said)
    written = machine.written()
    require(written["GATEWAY_RELAY_ID"] == NAME, f"it is called {written['GATEWAY_RELAY_ID']}")
    require(written["GATEWAY_RELAY_URL"] == invited["connector_url"], "it does not know the desk")
    secret = written["GATEWAY_RELAY_SECRET"]
    require(len(secret) == SECRET_DIGITS and secret not in said, "its secret is odd, or was shown")

    client = await stage.connected(gateway=NAME, secret=secret)
    message = await stage.platform.say()
    await arrive(client.took, [message])

    other = Enrolment(stage, "other")
    code, said = await other.enroll(invited)
    require(code == 1 and "the enrolment token was used already" in said, said)
    require("`nightdesk gateway token`" in said, f"it does not say what to do: {said}")
    code, said = await other.enroll(invited, client_secret="0" * SECRET_DIGITS)
    require(code == 1 and "HTTP Error 401" in said, said)
    fresh = await invite(stage)
    code, said = await other.enroll(fresh, gateway="a:b")
    require(code == 1 and "1 to 64 letters" in said, said)
    code, said = await other.enroll(fresh, gateway=NAME)
    require(code == 0, f"not enrolled again: {said}")
    message = await stage.platform.say()
    await arrive(client.took, [message])


@scenario(secs=15)
async def what_is_not_built_harms_no_client(stage: Stage) -> None:
    """Asked for a secret at boot, or told a policy, the desk says that it does not do that yet;
    the client logs it and goes on."""
    machine = Enrolment(stage, "machine")
    pinned = {"pinned_id": stage.gateway.name, "pinned_secret": stage.gateway.secret}
    invited = {**await invite(stage), **pinned}

    code, said = await machine.at_boot(invited["connector_url"], invited)
    require(code == 0 and "provisioned False" in said and "declared False" in said, said)
    require("does not provision gateways at boot yet" in said, said)
    require("returned HTTP 501" in said, said)
