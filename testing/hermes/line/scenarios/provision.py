"""The stock client gets its secret at boot, without a person."""

import json
from typing import Any

from line.remote import Client
from line.scenarios import scenario
from line.scenarios.enrolment import SECRET_DIGITS, invite
from line.stage import Stage
from props.client import IS_0_19, arrive
from props.judge import require, until
from props.machine import PYTHON, Machine, identity
from props.process import free_port

NAME = "gw-at-boot"
PLATFORMS = "discord,telegram"
AMBIENT = """
[[issuer.ambient]]
address = "127.0.0.1:{port}"
tenant = "night"
agent = "owl"
"""

# The client's boot with a relay URL and no secret. The client stores the secret only in its environment, so the test
# reads it there.
AT_BOOT = """
import json, logging, os
logging.basicConfig(level=logging.INFO)
import gateway.relay as relay
answers, post = [], relay._post_provision
def watched(**asked):
    answers.append(post(**asked))
    return answers[-1]
relay._post_provision = watched
provisioned = relay.self_provision_relay()
print('BOOT', json.dumps({'provisioned': provisioned, 'answers': answers,
    'id': os.environ.get('GATEWAY_RELAY_ID'), 'secret': os.environ.get('GATEWAY_RELAY_SECRET')}))
"""


async def boot(machine: Machine, url: str, **env: str) -> dict[str, Any]:
    """Boots the client for two platforms; returns the result."""
    settings = {"GATEWAY_RELAY_URL": url, "GATEWAY_RELAY_ID": NAME}
    settings["GATEWAY_RELAY_PLATFORMS"] = PLATFORMS
    settings["GATEWAY_RELAY_INSTANCE_ID"] = "somebody-elses"
    code, said = await machine.run([str(PYTHON), "-c", AT_BOOT], **settings, **env)
    lines = [line for line in said.splitlines() if line.startswith("BOOT ")]
    require(code == 0 and len(lines) == 1, said)
    booted = json.loads(lines[0].removeprefix("BOOT "))
    require(booted["provisioned"] is True, said)
    require(f"platforms={PLATFORMS}" in said, f"not both platforms: {said}")
    return booted


def one_secret(stage: Stage, booted: dict[str, Any]) -> str:
    """Returns the secret, which is the same for both platforms, and checks its owner."""
    secrets = {answer["secret"] for answer in booted["answers"]}
    require(len(booted["answers"]) == 2 and len(secrets) == 1, f"{len(secrets)} secrets")
    require(all(answer["tenant"] == stage.desk.tenant for answer in booted["answers"]), "whose?")
    require(booted["id"] == NAME, f"it is called {booted['id']}")
    require(secrets == {booted["secret"]}, "it has another secret than it was given")
    require(len(booted["secret"]) == SECRET_DIGITS, "its secret is odd")
    return booted["secret"]


async def is_on_the_line(stage: Stage, secret: str) -> None:
    """The secret opens a line, and messages arrive there."""
    client = await stage.connected(gateway=NAME, secret=secret)
    message = await stage.platform.say()
    await arrive(client.took, [message])


@scenario(secs=25)
async def provisioned_at_boot_for_two_platforms(stage: Stage) -> None:
    """With a client of the desk's issuer, the stock client provisions itself for two platforms under one name: it
    gets one secret, which opens a line. The next boot gets the same secret again."""
    machine = Machine(stage.clean_folder("machine"))
    invited = await invite(stage)
    url = invited["connector_url"]

    secret = one_secret(stage, await boot(machine, url, **identity(invited)))
    await is_on_the_line(stage, secret)
    again = one_secret(stage, await boot(machine, url, **identity(invited)))
    require(again == secret, "a boot soon after has another secret")


@scenario(secs=30, platforms=("discord",))
async def provisioned_by_an_ambient_endpoint(stage: Stage) -> None:
    """The client has the URL of an ambient token endpoint and no client credentials. 0.20.1 fetches a token there,
    provisions itself, and its secret opens a line. 0.19.0 reports that credentials are missing, and has no secret."""
    machine, port = Machine(stage.clean_folder("machine")), free_port()
    node = stage.desk.back
    await node.stop()
    # Only one of the two nodes can have the address.
    with node.config.open("a") as config:
        config.write(AMBIENT.format(port=port))
    await node.start()
    url = f"http://127.0.0.1:{node.port}"
    token_url = {"GATEWAY_RELAY_IDP_TOKEN_URL": f"http://127.0.0.1:{port}/access-token"}

    if IS_0_19:
        settings = {"GATEWAY_RELAY_URL": url, "GATEWAY_RELAY_ID": NAME, **token_url}
        code, said = await machine.run([str(PYTHON), "-c", AT_BOOT], **settings)
        require(code == 0 and '"provisioned": false' in said, said)
        require("client_id/client_secret missing" in said, said)
    else:
        secret = one_secret(stage, await boot(machine, url, **token_url))
        await is_on_the_line(stage, secret)


@scenario(secs=30, platforms=("discord",))
async def agents_of_one_chat_are_told_apart(stage: Stage) -> None:
    """Two agents use one bot in the same chat, and the client of the first sent its display name when it provisioned
    itself. The desk puts that name before the first agent's messages and edits there, and nothing where the agent is
    alone. 0.19.0 sends no name, so its messages have no prefix."""
    machine = Machine(stage.clean_folder("machine"))
    invited = await invite(stage)
    named = {**identity(invited), "GATEWAY_RELAY_DISPLAY_NAME": "Night Owl"}
    secret = one_secret(stage, await boot(machine, invited["connector_url"], **named))
    owl = await stage.connected(gateway=NAME, secret=secret)
    bat = await second_agent(stage, "u2")
    for person, chat in (("u1", "shared"), ("u2", "shared"), ("u1", "alone")):
        letter = stage.platform.write(chat=chat, source={"user_id": person})
        await stage.platform.post_until_taken(*letter)
    await until("both were written to", lambda: len(owl.took()) == 2 and len(bat.took()) == 1)

    for client, chat in ((owl, "shared"), (owl, "alone"), (bat, "shared")):
        result = await client.ask("send", chat=chat, content="good night", reply_to=None)
        require(result["success"] is True, f"the send got {result}")
    said = {chat: stage.platform.messages(chat) for chat in ("shared", "alone")}
    name = "" if IS_0_19 else "**Night Owl:** "
    require(said["alone"] == ["good night"], f"alone it said {said['alone']}")
    require(said["shared"] == [f"{name}good night", "good night"], f"it said {said['shared']}")


async def second_agent(stage: Stage, person: str) -> Client:
    """Returns a person's own agent on the same bot, on its line."""
    desk = stage.desk
    await desk.ask("agent", "create", "--tenant", "night", "bat")
    whose = ["--tenant", "night", "--agent", "bat"]
    await desk.ask("binding", "create", *whose, "--bot", desk.bot, "--author", person)
    made = await desk.ask("gateway", "create", *whose, "--name", "gw-bat")
    return await stage.connected(gateway="gw-bat", secret=made["secret"])


@scenario(secs=25)
async def refreshed_and_provisioned_by_a_session(stage: Stage) -> None:
    """With a session of the desk in its `auth.json`, whose access token has expired, the stock client refreshes it
    and provisions itself; it stores the next tokens, and they are valid at the next boot. After the session has
    ended, it gets nothing."""
    home = stage.clean_folder("machine")
    machine, auth = Machine(home), home / "auth.json"
    words = ["issuer", "session", "--tenant", "night", "--agent", "owl"]
    begun = await stage.desk.ask(*words)
    url, planted = begun["portal_url"], begun["auth"]
    tokens = planted["providers"]["nous"]
    given = tokens["refresh_token"]
    tokens["expires_at"] = "2026-01-01T00:00:00+00:00"
    auth.write_text(json.dumps(planted))

    secret = one_secret(stage, await boot(machine, url, HERMES_PORTAL_BASE_URL=url))
    await is_on_the_line(stage, secret)
    kept = json.loads(auth.read_text())["providers"]["nous"]
    require(kept["refresh_token"] != given, "it did not trade its refresh token")
    require(kept["access_token"] != tokens["access_token"], "it has the old access token")
    await boot(machine, url, HERMES_PORTAL_BASE_URL=url)

    ended = await stage.desk.ask("issuer", "end", "--tenant", "night", begun["session"])
    require(ended["ended"] is True, f"not ended: {ended}")
    settings = {"GATEWAY_RELAY_URL": url, "HERMES_PORTAL_BASE_URL": url}
    code, said = await machine.run([str(PYTHON), "-c", AT_BOOT], **settings)
    require(code == 0 and '"provisioned": false' in said and "HTTP 401" in said, said)
