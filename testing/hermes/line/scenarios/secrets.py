"""Accepted and refused secrets, and the codes that the client gets."""

from line.scenarios import scenario
from line.stage import Stage
from props.client import arrive
from props.judge import require, stays, until

REVOKED = 4401
UNAUTHORIZED = 401


@scenario(secs=20)
async def rotate(stage: Stage) -> None:
    """After a rotation the open line continues, and the new secret works, as does the old one during the overlap."""
    old = await stage.connected(reconnect=False)
    rotated = await stage.desk.rotate(stage.gateway, overlap="24h")
    require(rotated.secret != stage.gateway.secret, "the secret is still the same")
    said = await stage.platform.say()
    await arrive(old.took, [said])

    for secret in (rotated.secret, stage.gateway.secret):
        client = await stage.connected(reconnect=False, secret=secret)
        said = await stage.platform.say()
        await arrive(client.took, [said])


@scenario(secs=15)
async def revoke_is_seen_as_revoked(stage: Stage) -> None:
    """A revoked gateway's open line is closed with 4401. The client takes that as final and does not dial again; a
    client that dials anew is upgraded and gets the same code."""
    client = await stage.connected()
    said = await stage.platform.say()
    await arrive(client.took, [said])
    await stage.desk.revoke(stage.gateway.name)
    await until("the line is closed", lambda: client.closes() != [])
    require(client.closes() == [REVOKED], f"closed with {client.closes()}")
    dials = len(client.of("dial"))

    after = await stage.platform.say()
    # Several times the client's wait between dials; there must be none.
    await stays("no new dial", lambda: len(client.of("dial")) == dials, 4)
    state = await client.ask("state")
    final = {"revoked": True, "fatal": "relay_disabled", "retryable": False}
    require(state == final, f"the client thinks {state}")
    require(after not in client.handed(), "a revoked line was handed a message")

    late = await stage.client(reconnect=False)
    # The client waits for a descriptor that does not come; its result does not matter.
    await late.begin("connect")
    await until("the late one is closed", lambda: late.closes() != [])
    require(late.closes() == [REVOKED], f"the late one was closed with {late.closes()}")
    require(late.frames("descriptor") == [], "a revoked gateway got a descriptor")


@scenario(secs=15)
async def wrong_secret_is_retryable(stage: Stage) -> None:
    """The desk answers a wrong secret with HTTP 401 and never with 4401: the client continues to dial, and with the
    right secret it gets a line again."""
    client = await stage.connected()
    line = client.line()
    await client.ask("use_secret", secret="0" * 64)
    await client.ask("drop")
    await until("it is refused three times", lambda: len(client.of("refused")) >= 3)
    statuses = {record["status"] for record in client.of("refused")}
    require(statuses == {UNAUTHORIZED}, f"refused with {statuses}")
    state = await client.ask("state")
    require(state["revoked"] is False, "the client thinks that it is revoked")

    await client.ask("use_secret", secret=stage.gateway.secret)
    await client.online_after(line)
    said = await stage.platform.say()
    await arrive(client.took, [said])
    require(REVOKED not in client.closes(), "the client was told that it is revoked")
