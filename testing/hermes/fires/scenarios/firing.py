"""Jobs fire when they are due, while no gateway dials the desk."""

import time

from fires.agent import soon
from fires.portal import CANCEL
from fires.scenarios import scenario
from fires.stage import EVERY_FEW_SECS, LATE_SECS_MAX, Stage
from fires.tokens import claims
from props.judge import require

BILL = "firing"
# The start of a machine, which is not the desk's time: the first call starts it, and the desk calls again.
BOOT_SECS = 60
FIRES = 4


@scenario(secs=20, bill=BILL, chosen=True)
async def once_at_its_instant(stage: Stage) -> None:
    """The desk fires a one-shot at its instant, not before and not much later, with a token that names the agent, the
    purpose and the desk. It runs once. The desk no longer lists it, so the client's next command has nothing to
    cancel."""
    job = await stage.owl.create("once", stage.owl.after(1))
    (call,) = await stage.told(job)
    stage.in_time(call)
    require(call.body["fire_at"] == stage.portal.arms(job)[0].body["fire_at"], f"{call.body}")
    said = claims(call.bearer)
    require(said["iss"] == stage.portal.url, f"it is from {said['iss']}")
    require(said["aud"] == f"agent:{stage.owl.id}", f"it is for {said['aud']}")
    require(said["purpose"] == "cron_fire", f"it is for {said['purpose']}")
    good_secs = said["exp"] - call.at
    require(0 < good_secs <= 120, f"it is good for {good_secs:.0f} s")
    await stage.just_once("once", job)
    require(call.status == 202, f"the client answered {call.status}")
    require(job not in await stage.owl.armed(), "it is armed though it fired")
    await stage.owl.create("after-once", "5h")
    require(not stage.portal.asked(CANCEL, job), "the client had to cancel it")


@scenario(secs=15, bill=BILL)
async def past_instant_fires_at_once(stage: Stage) -> None:
    """A job is created for an instant half a minute ago. It fires at once, and once."""
    job = await stage.owl.create("past", soon(-30))
    (call,) = await stage.told(job)
    stage.in_time(call)
    await stage.just_once("past", job)
    require(job not in await stage.owl.armed(), "it is armed though it fired")


@scenario(secs=30, bill=BILL)
async def armed_again_after_each_fire(stage: Stage) -> None:
    """A recurring job fires every few seconds, a fixed number of times. After each fire the client arms the next;
    each instant has its own fire, in time and in order, and runs once."""
    job = await stage.owl.create("often", EVERY_FEW_SECS, FIRES)
    await stage.each_once("often", job, FIRES)
    for call in stage.door.fires(job):
        stage.in_time(call)
    require(job not in await stage.owl.armed(), "it is armed though it is over")


@scenario(secs=40, bill=BILL, chosen=True)
async def machine_off_between_fires(stage: Stage) -> None:
    """The agent's machine is off. The call at the instant starts it; the desk calls until it is up, always with the
    same fire. The job runs once, and the machine can stop again."""
    job = await stage.owl.create("asleep", stage.owl.after(1))
    await stage.owl.killed()
    calls = await stage.told(job)
    stage.in_time(calls[0])
    await stage.ran("asleep", secs=BOOT_SECS)
    calls = stage.door.fires(job)
    require({call.status for call in calls[:-1]} == {503}, f"{[call.status for call in calls]}")
    fires = {claims(call.bearer)["jti"] for call in calls}
    require(len(fires) == 1, f"{len(fires)} fires for one instant")
    await stage.just_once("asleep", job, tries=len(calls))


@scenario(secs=20, bill=BILL)
async def node_dies_before_the_instant(stage: Stage) -> None:
    """The node that took the job is killed, so half of the desk is gone. The other node fires the job in time."""
    job = await stage.owl.create("half", stage.owl.after(1))
    stage.portal.lead_to(stage.desk.back.port)
    await stage.desk.front.killed()
    (call,) = await stage.told(job)
    stage.in_time(call)
    await stage.just_once("half", job)
    await stage.desk.front.start()
    stage.portal.lead_to(*(node.port for node in stage.desk.nodes))


@scenario(secs=25, bill=BILL)
async def desk_down_at_the_instant(stage: Stage) -> None:
    """The whole desk is killed before the instant and returns after it. It fires the job then, at once, and once."""
    job = await stage.owl.create("down", stage.owl.after(1))
    await stage.desk.killed()
    await stage.silent("down", job)
    await stage.desk.start()
    back_at = time.time()
    (call,) = await stage.told(job)
    require(call.at - back_at < LATE_SECS_MAX, f"told {call.at - back_at:.1f} s after")
    await stage.just_once("down", job)
