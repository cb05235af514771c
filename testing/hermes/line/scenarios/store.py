"""PostgreSQL is unavailable for a while."""

import asyncio
import time

from line.remote import Client, one_entry_each
from line.scenarios import scenario
from line.stage import Stage
from props.client import arrive
from props.judge import in_order, require

DOWN_SECS = 20
REVOKED = 4401
UNAUTHORIZED = (401, 403)
# The desk promises 2.5 s; the rest is for a busy machine.
ANSWER_SECS_MAX = 4.0


@scenario(secs=45, own_cluster=True)
async def database_down_makes_no_4401(stage: Stage) -> None:
    """While the store is unavailable for 20 s, the platform gets 503 and repeats everything, and the client dials
    again and again. No gateway gets 4401 for it, and everything arrives."""
    client = await stage.connected()
    said = [await stage.platform.say()]
    await arrive(client.took, [said[0]])

    await stage.own_cluster.stop()
    down_at = time.monotonic()
    talking = asyncio.create_task(stage.platform.say_many(5))
    try:
        await redial_for(client, DOWN_SECS)
        up_at = time.monotonic()
        await stage.own_cluster.start()
        said += await talking
    finally:
        talking.cancel()
    await arrive(client.took, said, 45)

    in_order(client.handed(), said)
    one_entry_each(client)
    judge_refusals(client)
    meanwhile = [a for a in stage.platform.answers if down_at < a.began_at < up_at - 3]
    statuses = {answer.status for answer in meanwhile}
    require(statuses == {503}, f"the platform was answered with {statuses}")
    slowest = max(answer.took_secs for answer in meanwhile)
    require(slowest < ANSWER_SECS_MAX, f"the platform waited {slowest:.1f} s for its answer")


async def redial_for(client: Client, secs: float) -> None:
    """Cuts the client's line whenever it has one."""
    end = time.monotonic() + secs
    await client.ask("drop")
    while time.monotonic() < end:
        await asyncio.sleep(2)
        if len(client.closes()) < client.lines():
            await client.ask("drop")


def judge_refusals(client: Client) -> None:
    """Checks that the client got no 401 and no 4401."""
    require(REVOKED not in client.closes(), "the client was told that it is revoked")
    statuses = {record["status"] for record in client.of("refused")}
    require(not statuses & set(UNAUTHORIZED), f"dials were refused with {statuses}")
    tried = len(client.of("dial"))
    require(tried >= 5, f"the client dialled only {tried} times; the scenario shows nothing")
