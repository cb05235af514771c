"""The client arms its jobs with the desk, and takes that back."""

from datetime import datetime, timedelta

from fires.portal import CANCEL, LIST
from fires.scenarios import scenario
from fires.stage import Stage
from props.judge import require, stays, until

BILL = "arming"
# As people write them: an hour of the day, a while, an instant in another zone with a fraction.
SCHEDULES = {
    "daily": "0 9 * * *",
    "a-while": "2h",
    "abroad": "2030-03-01T07:30:15.250001+05:30",
    "whole": "2030-03-01T07:30:15-03:00",
}
MOVED_SECS = 4
BOOT_SECS = 60
# It arms right after it has asked.
WATCH_SECS = 2


@scenario(secs=20, bill=BILL)
async def armed_as_it_was_written(stage: Stage) -> None:
    """Jobs of every kind are made. Each is armed once, and the desk lists each with its instant
    just as the client wrote it, to the byte."""
    jobs = {name: await stage.owl.create(name, when) for name, when in SCHEDULES.items()}
    wanted = {job: stage.owl.jobs()[name]["next_run_at"] for name, job in jobs.items()}
    for job, instant in wanted.items():
        arms = stage.portal.arms(job)
        require([arm.status for arm in arms] == [200], f"armed {[arm.status for arm in arms]}")
        require(arms[0].told["schedule_id"] != "", f"armed as {arms[0].told}")
        require(arms[0].body["fire_at"] == instant, f"armed with {arms[0].body}, not {instant}")
    armed = await stage.owl.armed()
    require(armed == wanted, f"the desk lists {armed}, not {wanted}")


@scenario(secs=15, bill=BILL)
async def next_command_arms_nothing_again(stage: Stage) -> None:
    """Every command of the client's is a process that knows nothing of the last one. It asks the
    desk what is armed, finds it as it should be, and changes nothing but what it is about."""
    await stage.owl.create("first", "1d")
    before = await stage.owl.armed()
    since = len(stage.portal.calls)
    job = await stage.owl.create("one-more", "3h")
    arms = stage.portal.arms_since(since)
    require(arms == [job], f"armed {arms}, not {job} alone")
    require(len(stage.portal.asked(LIST, since=since)) == 1, "it did not ask what is armed")
    require(not stage.portal.asked(CANCEL, since=since), "it cancelled something")
    armed = await stage.owl.armed()
    require(set(armed) == {*before, job}, f"the desk lists {armed}")


@scenario(secs=30, bill=BILL)
async def paused_and_resumed(stage: Stage) -> None:
    """A job is paused shortly before it is due: the desk is told, lists it no more, and stays
    silent at its instant. Resumed, it is armed again and fires."""
    job = await stage.owl.create("paused", stage.owl.after(2))
    await stage.owl.cron("pause", job)
    cancels = stage.portal.asked(CANCEL, job)
    require([cancel.status for cancel in cancels] == [200], f"{len(cancels)} cancels")
    require(job not in await stage.owl.armed(), "a paused job is armed")
    await stage.silent("paused", job)
    # The client makes up for two minutes.
    await stage.owl.cron("resume", job)
    require(len(stage.portal.arms(job)) == 2, f"armed {len(stage.portal.arms(job))} times")
    await stage.just_once("paused", job)


@scenario(secs=20, bill=BILL)
async def removed(stage: Stage) -> None:
    """A job is removed shortly before it is due: the desk is told, lists it no more, and stays
    silent at its instant."""
    job = await stage.owl.create("removed", stage.owl.after(2))
    await stage.owl.cron("remove", job)
    cancels = stage.portal.asked(CANCEL, job)
    require([cancel.status for cancel in cancels] == [200], f"{len(cancels)} cancels")
    require(job not in await stage.owl.armed(), "a removed job is armed")
    await stage.silent("removed", job)
    # Once more is no mistake: others may have been faster.
    again = await stage.owl.ask("POST", CANCEL, json={"job_id": job})
    require(again.status_code == 200, f"cancelled again: {again.status_code}")


@scenario(secs=25, bill=BILL)
async def moved(stage: Stage) -> None:
    """A job is moved to a later instant. It fires then, and not at the old one."""
    first = datetime.fromisoformat(stage.owl.after(2))
    job = await stage.owl.create("moved", first.isoformat())
    after = (first + timedelta(seconds=MOVED_SECS)).isoformat()
    await stage.owl.cron("edit", job, "--schedule", after)
    instants = [arm.body["fire_at"] for arm in stage.portal.arms(job)]
    require(instants == [first.isoformat(), after], f"armed with {instants}")
    (call,) = await stage.told(job)
    require(call.body["fire_at"] == after, f"told of {call.body}, which was moved to {after}")
    stage.in_time(call)
    await stage.just_once("moved", job)


@scenario(secs=20, bill=BILL)
async def made_while_the_desk_was_away(stage: Stage) -> None:
    """The desk cannot be reached when a job is made. It is armed by the next command, whatever
    that is about, because the desk's list does not have it."""
    stage.portal.is_cut = True
    job = await stage.owl.create("away", "4h")
    stage.portal.is_cut = False
    require(job not in await stage.owl.armed(), "it is armed though the desk was not told")
    await stage.owl.create("after-away", "4h")
    armed = await stage.owl.armed()
    wanted = stage.owl.jobs()["away"]["next_run_at"]
    require(armed.get(job) == wanted, f"the desk lists {armed}")


@scenario(secs=30, bill=BILL)
async def gateway_arms_what_is_missing(stage: Stage) -> None:
    """The desk could not be reached when a job was made, and nobody gives a command afterwards. The
    gateway's next start arms it; the start after that finds everything armed, and arms nothing."""
    stage.portal.is_cut = True
    job = await stage.owl.create("unarmed", "6h")
    stage.portal.is_cut = False
    before = len(stage.portal.calls)
    async with stage.owl.gateway():
        await until("the job is armed", lambda: bool(stage.portal.arms_since(before)), BOOT_SECS)
    require(stage.portal.arms_since(before) == [job], f"armed {stage.portal.arms_since(before)}")
    before = len(stage.portal.calls)
    async with stage.owl.gateway():
        await until("it asks", lambda: bool(stage.portal.asked(LIST, since=before)), BOOT_SECS)
        await stays("it arms nothing", lambda: not stage.portal.arms_since(before), WATCH_SECS)
