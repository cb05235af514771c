"""An operator's commands on an inbox, and their effect on the client."""

from typing import Any

from line.scenarios import scenario
from line.stage import Stage
from props.client import arrive
from props.judge import in_order, require

WHOSE = ("--tenant", "night", "--agent", "owl")
# The period of the desk's sweep of every inbox, which finds entries without a hint.
SWEEP_SECS = 30


async def inbox(stage: Stage, verb: str, *more: str) -> dict[str, Any]:
    """Runs an operator's command on the agent's inbox."""
    return await stage.desk.ask("inbox", verb, *WHOSE, *more)


@scenario(secs=45)
async def set_aside_and_put_in_again(stage: Stage) -> None:
    """An entry that an operator parks does not reach the client; resubmitted, it comes under a new number, behind the
    others, also on an open line."""
    first, second = await stage.platform.say(), await stage.platform.say()
    seen = await inbox(stage, "list")
    require([entry["seq"] for entry in seen["waiting"]] == [1, 2], f"waiting: {seen}")
    await inbox(stage, "park", "--seq", "1")
    shown = await inbox(stage, "show", "--seq", "1")
    require(shown["state"] == "parked" and shown["reason"] == "operator", f"shown: {shown}")
    require("body" not in shown, "what it says was shown unasked")
    said = await stage.desk.ask_as_member("inbox", "show", *WHOSE, "--seq", "1", "--body")
    require(first in str(said["body"]), "what it says was not shown")

    client = await stage.connected()
    await arrive(client.took, [second])
    require(first not in client.handed(), "what was set aside was handed over")
    again = await inbox(stage, "resubmit", "--seq", "1")
    require(again["seq"] == 3, f"put in again as {again}")
    await arrive(client.took, [second, first], SWEEP_SECS + 10)
    in_order(client.took(), [second, first])
    shown = await inbox(stage, "show", "--seq", "3")
    require(shown["resubmitted_from"] == 1, f"its origin is forgotten: {shown}")
