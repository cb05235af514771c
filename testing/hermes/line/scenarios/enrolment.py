"""Enrolment with the stock command line, and its error messages."""

from typing import Any

from line.scenarios import scenario
from line.stage import Stage
from props.client import arrive
from props.judge import require
from props.machine import PYTHON, Machine

NAME = "gw-enrolled"
SECRET_DIGITS = 64

# Declares a policy at boot.
AT_BOOT = """
import logging; logging.basicConfig(level=logging.INFO)
import gateway.relay as relay
relay.relay_relevance_policy = lambda platform: {'platform': platform,
    'requireAddress': True, 'freeResponseScopes': [], 'allowOtherBots': False}
print('declared', relay.send_relay_policy())
"""


async def invite(stage: Stage, *more: str) -> dict[str, Any]:
    """Returns an operator's invitation, by the names of tenant and agent."""
    words = ["gateway", "token", "--tenant", "night", "--agent", "owl"]
    return await stage.desk.ask(*words, *more)


@scenario(secs=25, chosen=True)
async def enrolled_by_the_stock_cli(stage: Stage) -> None:
    """`hermes gateway enroll` with the output of `gateway token` writes credentials that open a line. With a used
    token or bad client credentials it reports an error and changes nothing."""
    machine = Machine(stage.clean_folder("machine"))
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

    other = Machine(stage.clean_folder("other"))
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
async def declared_at_boot_a_policy_is_kept(stage: Stage) -> None:
    """The desk stores the policy that the client declares at boot, and shows it to the operator."""
    machine = Machine(stage.clean_folder("machine"))
    invited = await invite(stage)

    code, said = await machine.run(
        [str(PYTHON), "-c", AT_BOOT],
        GATEWAY_RELAY_URL=invited["connector_url"],
        GATEWAY_RELAY_ID=stage.gateway.name,
        GATEWAY_RELAY_SECRET=stage.gateway.secret,
    )
    require(code == 0 and "declared True" in said, said)
    reach = await stage.desk.ask("agent", "reach", "--tenant", "night", "--agent", "owl")
    require(len(reach["policies"]) == 1, f"the desk keeps {reach['policies']}")
