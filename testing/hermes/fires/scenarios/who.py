"""Authentication of arming and of fires."""

import json

import httpx

from fires.agent import ask, by_token, soon
from fires.door import FIRE, TAKEN
from fires.portal import CANCEL, LIST, PROVISION, REFRESH
from fires.scenarios import scenario
from fires.stage import Stage
from fires.tokens import forged
from props.judge import require

BILL = "who"


@scenario(secs=15, bill=BILL, chosen=True)
async def token_is_refreshed(stage: Stage) -> None:
    """The agent's access token is about to expire, in the form in which the client of a hosted agent stores it. The
    client gets the next one from the desk, stores it, and arms its job with it."""
    auth = await stage.session("night", "owl")
    login = auth["providers"]["nous"]
    login |= {"client_id": "hermes-cli-vps", "expires_at": soon(-1), "access_token": "over"}
    stage.owl.log_in(auth)
    since = len(stage.portal.calls)
    job = await stage.owl.create("refreshed", "2h")
    (refresh,) = stage.portal.asked(REFRESH, since=since)
    require(refresh.status == 200, f"no refresh: {refresh.status} {refresh.answer!r}")
    shown = refresh.request.headers["x-nous-refresh-token"]
    require(shown == login["refresh_token"], "the client showed another refresh token")
    kept = stage.owl.login()
    require(kept["access_token"] == refresh.told["access_token"], "it did not keep the token")
    require(kept["refresh_token"] not in ("", shown), "it was given no next refresh token")
    (arm,) = stage.portal.arms(job)
    require((arm.status, arm.bearer) == (200, kept["access_token"]), f"armed: {arm.status}")


@scenario(secs=20, bill=BILL)
async def session_or_agent_token(stage: Stage) -> None:
    """A token of the agent's session and a token of the agent itself are equivalent: a job armed with one is visible,
    and can be cancelled, with the other."""
    by_session = await stage.owl.create("by-session", "2h")
    stage.owl.log_in(by_token(await stage.agent_token("night", "owl")))
    by_agent = await stage.owl.create("by-agent", "2h")
    for job in (by_session, by_agent):
        arms = [arm.status for arm in stage.portal.arms(job)]
        require(arms == [200], f"armed {arms}")
    bearers = {stage.portal.arms(job)[0].bearer for job in (by_session, by_agent)}
    require(len(bearers) == 2, "both were armed by one token")
    require({by_session, by_agent} <= set(await stage.owl.armed()), "not both are armed")
    await stage.owl.cron("remove", by_session)
    require(by_session not in await stage.owl.armed(), "it is armed though it is removed")


@scenario(secs=25, bill=BILL)
async def others_see_nothing_of_it(stage: Stage) -> None:
    """An agent of the same tenant and an agent of another tenant know the id of a job that is not theirs. They do not
    see it, a cancel changes nothing, and a job with the same id is a separate job."""
    job = await stage.owl.create("private", stage.owl.after(4))
    await stage.desk.ask("tenant", "create", "day")
    others = [await stage.another("night", "bat"), await stage.another("day", "lark")]
    instant = stage.portal.arms(job)[0].body["fire_at"]
    later = soon(3600)
    for other in others:
        require(await other.armed() == {}, f"{other.name} sees {await other.armed()}")
        cancel = await other.ask("POST", CANCEL, json={"job_id": job})
        require(cancel.status_code == 200, f"cancelling answers {cancel.status_code}")
        wanted = {"job_id": job, "fire_at": later, "dedup_key": f"{job}:{later}"}
        wanted["agent_callback_url"] = f"{stage.door.url}/{other.name}"
        arm = await other.ask("POST", PROVISION, json=wanted)
        require(arm.status_code == 200, f"{other.name} may not arm: {arm.text}")
        require(await other.armed() == {job: later}, f"{other.name} sees {await other.armed()}")
    require((await stage.owl.armed()).get(job) == instant, "another has changed it")
    (call,) = await stage.told(job)
    require(call.request.path == f"/owl{FIRE}", f"told at {call.request.path}")
    stage.in_time(call)
    await stage.just_once("private", job)


@scenario(secs=15, bill=BILL)
async def strangers_are_refused(stage: Stage) -> None:
    """Without a token, with an invalid one, or with one of an ended session, the desk arms, cancels and shows
    nothing."""
    whose = ("--tenant", "night", "--agent", "owl")
    begun = await stage.desk.ask("issuer", "session", *whose)
    await stage.desk.ask("issuer", "end", "--tenant", "night", begun["session"])
    ended = begun["auth"]["providers"]["nous"]["access_token"]
    instant = soon(3600)
    arm = {"job_id": "strange", "fire_at": instant, "dedup_key": f"strange:{instant}"}
    arm["agent_callback_url"] = f"{stage.door.url}/owl"
    for token in ("", "nobody's", ended):
        asked = [
            await ask(stage.portal.url + LIST, token, "GET"),
            await ask(stage.portal.url + PROVISION, token, "POST", json=arm),
            await ask(stage.portal.url + CANCEL, token, "POST", json=arm),
        ]
        statuses = {answer.status_code for answer in asked}
        require(statuses <= {401, 403}, f"a stranger is answered {statuses}")
    require("strange" not in await stage.owl.armed(), "a stranger has armed a job")


@scenario(secs=25, bill=BILL, chosen=True)
async def only_our_fires_count(stage: Stage) -> None:
    """The stock client takes the desk's fire, and refuses everything else: forged fires, a fire for another agent,
    and a token of the desk that is not a fire."""
    job = await stage.owl.create("real", stage.owl.after(1))
    (call,) = await stage.told(job)
    await stage.just_once("real", job)
    require(call.status == 202, f"our own fire is answered {call.status}")

    bat = await stage.another("night", "bat-2")
    stray = await bat.create("stray", stage.owl.after(1))
    stage.door.answer_instead(stray, TAKEN)
    (strays,) = await stage.told(stray)
    tokens = dict(forged(call.bearer))
    tokens["for another agent"] = strays.bearer
    tokens["not for a fire"] = await stage.agent_token("night", "owl")
    wanted = await stage.owl.create("wanted", "2h")
    for what, token in tokens.items():
        answer = await fire(stage, wanted, token)
        require(answer.status_code == 401, f"a token {what} is answered {answer.status_code}")
    await stage.no_more("wanted", wanted, tries=len(tokens), runs=0)


@scenario(secs=20, bill=BILL)
async def fire_opens_no_door(stage: Stage) -> None:
    """A fire's token gives no access: the desk refuses it on every route."""
    job = await stage.owl.create("leaked", stage.owl.after(1))
    (call,) = await stage.told(job)
    instant = soon(3600)
    arm = {"job_id": "leak", "fire_at": instant, "dedup_key": f"leak:{instant}"}
    arm["agent_callback_url"] = f"{stage.door.url}/owl"
    doors = [("GET", LIST), ("POST", PROVISION), ("POST", CANCEL), ("POST", "/relay/provision")]
    for method, path in doors:
        body = None if method == "GET" else arm
        answer = await ask(stage.portal.url + path, call.bearer, method, json=body)
        require(answer.status_code in (401, 403), f"{path} answers {answer.status_code}")
    await stage.just_once("leaked", job)


async def fire(stage: Stage, job: str, token: str) -> httpx.Response:
    """Sends a fire to the agent, as any program that finds its door can."""
    body = json.dumps({"job_id": job, "fire_at": soon(-1)})
    return await ask(f"{stage.door.url}/owl{FIRE}", token, "POST", content=body)
