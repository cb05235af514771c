"""The behaviour that skillscript's runtime relies on."""

from proof.raw import PROTOCOL, last
from proof.stage import Stage

NUMBER = 424_242


async def all_checks(stage: Stage) -> None:
    """Initializes, calls, calls again with the same id, and fails."""
    front, back = stage.ports
    begun = await stage.raw.initialize(front)
    spoken = begun.get("result", {}).get("protocolVersion")
    stage.tally.check("raw: it is spoken with as it speaks", spoken == PROTOCOL, begun)
    await reply_is_last(stage, front)
    asked = {"agent": "bat", "message": "a letter without an id of its own"}
    first = await stage.raw.call(front, NUMBER, "notify", **asked)
    # The runtime does this after an error response to a call that the desk had executed.
    again = await stage.raw.call(back, NUMBER, "notify", **asked)
    ids = [one["result"]["structuredContent"]["dispatch_id"] for one in (first, again)]
    stage.tally.same("raw: the same call again is the same letter", *ids)
    await stage.bat.is_handed(asked["message"])
    handed = stage.bat.letters_with(asked["message"])
    stage.tally.check("raw: one letter is handed over", len(handed) == 1, handed)
    await stage.raw.call(front, NUMBER + 1, "notify", **asked)
    sent = (await stage.owl.get("/v1/letters"))["letters"]
    stage.tally.check("raw: another call is another letter", sent[0]["dispatch_id"] != ids[0], sent)
    failed = await stage.raw.call(back, NUMBER + 2, "skill_read", name="no-such-skill")
    is_error = "error" in failed and "result" not in failed
    stage.tally.check("raw: what fails is an error", is_error, failed)


async def reply_is_last(stage: Stage, port: int) -> None:
    """The reply is the last `data:` line of the event stream."""
    params = {"name": "list_agents", "arguments": {}}
    answer = await stage.raw.post(port, {"id": 7, "method": "tools/call", "params": params})
    kind = answer.headers.get("content-type", "")
    stage.tally.check("raw: an event stream", kind.startswith("text/event-stream"), kind)
    reply = last(answer)
    stage.tally.check("raw: the reply comes last", reply.get("id") == 7, answer.text)
    content = reply.get("result", {}).get("content", [])
    stage.tally.check("raw: it is text", bool(content) and content[0]["type"] == "text", reply)
