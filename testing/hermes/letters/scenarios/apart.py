"""Agents of two tenants exchange letters only if both tenants grant it."""

from letters.scenarios import scenario
from letters.stage import PATIENCE_MS, QUIET_SECS, Apart
from props.judge import require, stays

DISCORD = ("discord",)
BILL = "apart"


@scenario(secs=120, bill=BILL, platforms=DISCORD, stage=Apart, chosen=True)
async def letters_between_tenants(stage: Apart) -> None:
    """The owl writes to the bat of another tenant, which sleeps. Without a grant, and with a grant of one side alone,
    the desk refuses the letter, does not wake the bat, and does not list it for the owl. With both grants, the desk
    wakes the bat, which comes up and answers, and it never receives a refused letter."""
    refused = [await is_refused(stage)]
    await stage.grant(stage.owl, stage.bat)
    refused.append(await is_refused(stage))
    listed = await stage.came(await stage.uses("list_agents"))
    require("owl" in listed and stage.address not in listed, f"the owl may write to {listed}")
    await stage.take_back(stage.owl, stage.bat)
    await stage.grant(stage.bat, stage.owl)
    refused.append(await is_refused(stage))
    await stays("nobody is called", lambda: not stage.waker.calls, QUIET_SECS)

    await stage.grant(stage.owl, stage.bat)
    # The client counts failed calls, and stops after three; this call does not fail.
    listed = await stage.came(await stage.uses("list_agents"))
    require(stage.address in listed, f"the owl may write to {listed}")
    word, reply = stage.question()
    asked = await stage.writes("exchange", word, timeout_ms=PATIENCE_MS)
    await stage.called(0)
    await stage.awake()
    came = await stage.came(asked)
    require(reply in came, f"the owl was told {came}")
    await stage.is_answered("ann", reply)
    await stage.asked_once(word)
    heard = [word for word in refused if stage.bat.was_told(word)]
    require(not heard, f"the bat heard of {heard}, which was refused")


async def is_refused(stage: Apart) -> str:
    """The owl writes to the bat, and the desk refuses it; returns the word of the letter."""
    word, _ = stage.question()
    came = await stage.came(await stage.writes("exchange", word, timeout_ms=PATIENCE_MS))
    require("grant from both tenants" in came, f"the owl was told {came}")
    require("error" in came, f"the owl was told {came}")
    return word
