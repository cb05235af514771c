"""The client arms its jobs at the desk, and cancels them."""

from datetime import datetime, timedelta

from fires.portal import CANCEL, LIST, PROVISION, REFRESH
from fires.scenarios import scenario
from fires.stage import Stage
from props.client import IS_0_19
from props.judge import require, stays, until

BILL = "arming"
# As people write them: an hour of the day, a duration, an instant in another zone with a fraction.
SCHEDULES = {
    "daily": "0 9 * * *",
    "a-while": "2h",
    "abroad": "2030-03-01T07:30:15.250001+05:30",
    "whole": "2030-03-01T07:30:15-03:00",
}
MOVED_SECS = 4
BOOT_SECS = 60
# The client arms right after it has read the list.
WATCH_SECS = 2


@scenario(secs=20, bill=BILL, chosen=True)
async def armed_as_it_was_written(stage: Stage) -> None:
    """The client creates jobs of every kind. Each is armed once, and the desk lists each with its instant exactly as
    the client wrote it."""
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
    """Every command of the client is a process without knowledge of the last one. It changes only its own job. 0.19.0
    reads the list of armed jobs at every command. A later client arms a new job without reading it, and reads it at
    the commands that change a job."""
    await stage.owl.create("first", "1d")
    before = await stage.owl.armed()
    since = len(stage.portal.calls)
    job = await stage.owl.create("one-more", "3h")
    arms = stage.portal.arms_since(since)
    require(arms == [job], f"armed {arms}, not {job} alone")
    lists = len(stage.portal.asked(LIST, since=since))
    require(lists == int(IS_0_19), f"it asked {lists} times what is armed")
    require(not stage.portal.asked(CANCEL, since=since), "it cancelled something")
    armed = await stage.owl.armed()
    require(set(armed) == {*before, job}, f"the desk lists {armed}")

    since = len(stage.portal.calls)
    await stage.owl.cron("pause", job)
    require(len(stage.portal.asked(LIST, since=since)) == 1, "it did not ask what is armed")
    require(not stage.portal.arms_since(since), "it armed something")
    cancelled = [cancel.body["job_id"] for cancel in stage.portal.asked(CANCEL, since=since)]
    require(cancelled == [job], f"it cancelled {cancelled}, not {job} alone")


@scenario(secs=30, bill=BILL)
async def paused_and_resumed(stage: Stage) -> None:
    """A job is paused shortly before it is due: the client cancels it, the desk no longer lists it, and does not call
    at its instant. Resumed, it is armed again and fires."""
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


@scenario(secs=20, bill=BILL, chosen=True)
async def removed(stage: Stage) -> None:
    """A job is removed shortly before it is due: the client cancels it, the desk no longer lists it, and does not
    call at its instant."""
    job = await stage.owl.create("removed", stage.owl.after(2))
    await stage.owl.cron("remove", job)
    cancels = stage.portal.asked(CANCEL, job)
    require([cancel.status for cancel in cancels] == [200], f"{len(cancels)} cancels")
    require(job not in await stage.owl.armed(), "a removed job is armed")
    await stage.silent("removed", job)
    # A second cancel is not an error: another process may have been faster.
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
    """The desk is unreachable when a job is created. The next command that reads the desk's list arms it, whatever
    the command is about, because the list lacks it. In 0.19.0 every command reads the list. In a later client the
    command that creates another job does not, and the one that pauses it does."""
    stage.portal.is_cut = True
    job = await stage.owl.create_unarmed("away", "4h")
    stage.portal.is_cut = False
    require(job not in await stage.owl.armed(), "it is armed though the desk was not told")
    after = await stage.owl.create("after-away", "4h")
    if not IS_0_19:
        require(job not in await stage.owl.armed(), "it is armed by what is about another job")
        await stage.owl.cron("pause", after)
    armed = await stage.owl.armed()
    wanted = stage.owl.jobs()["away"]["next_run_at"]
    require(armed.get(job) == wanted, f"the desk lists {armed}")


@scenario(secs=20, bill=BILL, chosen=True)
async def arming_error_is_shown_at_creation(stage: Stage) -> None:
    """The agent's session has ended, and the desk refuses to arm a job and stores no row for it. A later client
    reports at once that the job is saved and not armed; 0.19.0 reports that it is created. The client stores the job,
    and arms it at the next command with a live session."""
    kept = stage.owl.auth()
    for left in (2, 1, 0):
        begun = await stage.desk.ask("issuer", "session", "--tenant", "night", "--agent", "owl")
        stage.owl.log_in(begun["auth"])
        await stage.desk.ask("issuer", "end", "--tenant", "night", begun["session"])
        since = len(stage.portal.calls)
        job, said = await stage.owl.try_create_unarmed("refused", "4h")
        if job is not None:
            break
        # A gateway that refreshes its token just then is refused, and removes the login before the command reads it.
        is_removed = not stage.portal.asked(PROVISION, since=since) and stage.portal.asked(REFRESH, since=since)
        require(left > 0 and bool(is_removed), f"the client said: {said}")
    calls = stage.portal.asked(PROVISION, job, since) + stage.portal.asked(REFRESH, since=since)
    statuses = [call.status for call in calls]
    # A client that first needs a newer token does not get one, and sends no further request.
    require(bool(statuses) and set(statuses) <= {400, 401, 403}, f"the desk answered {statuses}")
    stage.owl.log_in(kept)
    require(job not in await stage.owl.armed(), "it is armed though it was refused")
    require("refused" in stage.owl.jobs(), "the client did not keep it")
    await stage.owl.cron("edit", job, "--schedule", "5h")
    armed = await stage.owl.armed()
    wanted = stage.owl.jobs()["refused"]["next_run_at"]
    require(armed.get(job) == wanted, f"the desk lists {armed}")


@scenario(secs=30, bill=BILL)
async def gateway_arms_what_is_missing(stage: Stage) -> None:
    """The desk is unreachable when a job is created, and no command follows. The gateway's next start arms the job;
    the start after that finds everything armed, and arms nothing."""
    stage.portal.is_cut = True
    job = await stage.owl.create_unarmed("unarmed", "6h")
    stage.portal.is_cut = False
    before = len(stage.portal.calls)
    async with stage.owl.gateway():
        await until("the job is armed", lambda: bool(stage.portal.arms_since(before)), BOOT_SECS)
    require(stage.portal.arms_since(before) == [job], f"armed {stage.portal.arms_since(before)}")
    before = len(stage.portal.calls)
    async with stage.owl.gateway():
        await until("it asks", lambda: bool(stage.portal.asked(LIST, since=before)), BOOT_SECS)
        await stays("it arms nothing", lambda: not stage.portal.arms_since(before), WATCH_SECS)
