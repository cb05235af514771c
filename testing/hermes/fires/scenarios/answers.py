"""Responses of the agent's machine, and lost responses."""

from fires.door import Answer
from fires.scenarios import scenario
from fires.stage import EVERY_FEW_SECS, LATE_SECS_MAX, Stage
from fires.tokens import claims
from props.http import response
from props.judge import require

BILL = "answers"
REFUSED = response({"error": "invalid fire token"}, "401 Unauthorized")
WAIT_SECS = 4
BUSY = response({"error": "draining"}, "503 Service Unavailable", f"retry-after: {WAIT_SECS}")


@scenario(secs=20, bill=BILL, chosen=True)
async def answer_lost(stage: Stage) -> None:
    """The machine takes the fire, and its response is lost. The desk calls again with the same fire, and stops at the
    response. The job runs once."""
    job = await stage.owl.create("lost", stage.owl.after(1))
    stage.door.answer_instead(job, Answer.LOST)
    calls = await stage.told(job, times=2)
    fires = [claims(call.bearer)["jti"] for call in calls]
    require(len(set(fires)) == 1, f"other fires: {fires}")
    require(calls[0].body == calls[1].body, f"told of {calls[1].body}")
    await stage.just_once("lost", job, tries=2)
    require(calls[1].status in (200, 202), f"the client answered {calls[1].status}")


@scenario(secs=30, bill=BILL)
async def answer_lost_of_a_recurring_job(stage: Stage) -> None:
    """The machine takes the fire of a recurring job, and its response is lost. It arms the next instant before the
    desk would call again, which shows that it took the last one: a second call would run the job twice. Each instant
    runs once, and none is left out."""
    stage.door.answer_next(Answer.LOST)
    job = await stage.owl.create("lost-often", EVERY_FEW_SECS, 3)
    await stage.each_once("lost-often", job, 3)


@scenario(secs=30, bill=BILL)
async def armed_again_before_the_answer(stage: Stage) -> None:
    """The machine responds late. It has run the job and armed the next instant before the desk learns that it took
    the last one. The next instant stays armed."""
    stage.door.answer_next(Answer.SLOW)
    job = await stage.owl.create("slow", EVERY_FEW_SECS, 3)
    await stage.each_once("slow", job, 3)
    require(job not in await stage.owl.armed(), "it is armed though it is over")


@scenario(secs=20, bill=BILL)
async def unauthorized_once(stage: Stage) -> None:
    """The machine rejects the token. The desk creates a new one for the same fire, and the machine accepts it."""
    job = await stage.owl.create("doubted", stage.owl.after(1))
    stage.door.answer_instead(job, REFUSED)
    first, second = await stage.told(job, times=2)
    require(first.bearer != second.bearer, "the same token was shown again")
    require(claims(first.bearer)["jti"] == claims(second.bearer)["jti"], "it is another fire")
    await stage.just_once("doubted", job, tries=2)


@scenario(secs=20, bill=BILL)
async def unauthorized_for_good(stage: Stage) -> None:
    """The machine always rejects the token. The desk creates a new token once, and then gives up."""
    job = await stage.owl.create("refused", stage.owl.after(1))
    stage.door.answer_instead(job, *[REFUSED] * 9)
    await stage.told(job, times=2)
    await stage.no_more("refused", job, tries=2, runs=0)
    require(job not in await stage.owl.armed(), "it is armed though it was refused")


@scenario(secs=20, bill=BILL)
async def asked_to_wait(stage: Stage) -> None:
    """The machine is busy and sends a `Retry-After`. The desk calls again then, and not before."""
    job = await stage.owl.create("busy", stage.owl.after(1))
    stage.door.answer_instead(job, BUSY)
    first, second = await stage.told(job, times=2)
    waited_secs = second.at - first.at
    in_time = WAIT_SECS <= waited_secs < WAIT_SECS * 1.5 + LATE_SECS_MAX
    require(in_time, f"asked to wait {WAIT_SECS} s, it waited {waited_secs:.1f} s")
    require(claims(first.bearer)["jti"] == claims(second.bearer)["jti"], "it is another fire")
    await stage.just_once("busy", job, tries=2)


@scenario(secs=15, bill=BILL)
async def gone(stage: Stage) -> None:
    """The client has forgotten the job, and the desk does not know this. The client answers `gone` at
    the instant, and the desk stops."""
    job = await stage.owl.create("gone", stage.owl.after(1))
    (stage.owl.home / "cron" / "jobs.json").unlink()
    await stage.told(job)
    await stage.no_more("gone", job, tries=1, runs=0)
    (call,) = stage.door.fires(job)
    require((call.status, call.told["status"]) == (200, "gone"), f"{call.status} {call.told}")
    require(job not in await stage.owl.armed(), "it is armed though it is gone")
