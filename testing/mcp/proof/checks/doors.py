"""The list of tools, authentication, and the responses to wrong requests."""

from typing import Any

from mcp import MCPError

from proof.caller import Caller, Failed
from proof.checks.data import CONTENT
from proof.checks.skills import ALL, NAME
from proof.raw import Raw
from proof.stage import Stage

TOOLS = (
    "list_agents",
    "notify",
    "wake",
    "exchange",
    "skill_list",
    "skill_read",
    "skill_write",
    "skill_status",
    "data_query",
    "data_read",
    "data_write",
    "inbox_take",
    "inbox_ack",
    "inbox_stopped",
    "send",
    "stop",
)
UNAUTHORIZED = 401
FORGED = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJvd2wifQ."


async def listed(stage: Stage) -> None:
    """Both nodes list every tool with its arguments."""
    for client in stage.owl.clients:
        how = f"list at {client.protocol_version}"
        found = (await client.list_tools()).tools
        names = [tool.name for tool in found]
        stage.tally.check(f"{how}: every tool and no other", names == list(TOOLS), names)
        schemas = [tool.input_schema for tool in found]
        objects = all(schema.get("type") == "object" for schema in schemas)
        stage.tally.check(f"{how}: each wants an object", objects, schemas)
        safe = all(tool.annotations and tool.annotations.idempotent_hint for tool in found)
        stage.tally.check(f"{how}: each may be called again", safe, found)
        told = all(tool.description for tool in found)
        stage.tally.check(f"{how}: each says what it does", told, names)


# Requests that fail, by their fault.
WRONG: dict[str, tuple[str, dict[str, Any]]] = {
    "a tool that is not there": ("shell", {"command": "ls"}),
    "a letter for nobody": ("notify", {"message": "hello"}),
    "a letter to who is not there": ("notify", {"agent": "cat", "message": "hello"}),
    "an exchange with who is not there": ("exchange", {"agent": "cat", "message": "hello"}),
    "a wake of who is not there": ("wake", {"agent": "cat"}),
    "a skill that is not there": ("skill_read", {"name": "no-such-skill"}),
    "a version that is not there": ("skill_read", {"name": NAME, "version": "0" * 12}),
    "a skill without a text": ("skill_write", {"name": "empty"}),
    "the status of what is not there": (
        "skill_status",
        {"name": "no-such-skill", "new_state": "Draft"},
    ),
    "a status that is none": ("skill_status", {"name": NAME, "new_state": "Perfect"}),
    "a filter that is not kept": ("data_query", {"query": "moths", "mood": "dark"}),
    "data without content": ("data_write", {"tags": ["moths"]}),
    "an entry without an id": ("data_read", {}),
    "a line that is none": ("inbox_take", {"line": "owl"}),
    "an ack without entries": ("inbox_ack", {"line": "owl"}),
    "a send without an action": ("send", {"line": "owl", "request_id": "r"}),
}


async def refusals(stage: Stage) -> None:
    """A failure is a protocol error with a reason, and never a result."""
    for what, (tool, arguments) in WRONG.items():
        came = await stage.owl.call(tool, **arguments)
        is_error = isinstance(came, Failed) and bool(came.message)
        stage.tally.check(f"{tool} with {what} is an error", is_error, came)


async def strangers(stage: Stage) -> None:
    """A request without credentials or with forged ones is refused and discloses nothing."""
    for what, token in (("no proof", ""), ("a forged one", FORGED)):
        raw = Raw(token)
        for port in stage.ports:
            for method in ("initialize", "tools/list", "tools/call"):
                answer = await raw.post(port, {"id": 1, "method": method, "params": {}})
                is_refused = answer.status_code == UNAUTHORIZED and "list_agents" not in answer.text
                stage.tally.check(f"{method} with {what} is refused", is_refused, answer.text)
        await raw.close()
    caller = Caller(stage.ports, "")
    try:
        await caller.open()
        is_in = True
    except (MCPError, ExceptionGroup):
        is_in = False
    finally:
        await caller.close()
    stage.tally.check("the client does not get in without a proof", not is_in)


async def other_tenants(stage: Stage) -> None:
    """The fox belongs to another tenant: it sees no data of the owl, and reaches no agent there."""
    seen = {
        "list_agents": await stage.fox.call("list_agents"),
        "skill_list": await stage.fox.call("skill_list", filter=ALL),
        "data_query": await stage.fox.call("data_query", query="harbour"),
    }
    for tool, came in seen.items():
        crossed = [word for word in ("owl", "bat", NAME, CONTENT) if word in str(came)]
        stage.tally.check(f"{tool}: nothing of another tenant", not crossed, came)
    skill = await stage.fox.call("skill_read", name=NAME)
    stage.tally.check("skill_read: not of another tenant", isinstance(skill, Failed), skill)
    found = (await stage.owl.call("data_query", query="harbour"))["items"]
    entry = await stage.fox.call("data_read", id=found[0]["id"])
    stage.tally.check("data_read: not of another tenant", entry is None, entry)
    handed = len(stage.bat.letters)
    for tool in ("notify", "wake", "exchange"):
        for address in ("bat", stage.bat_id):
            came = await stage.fox.call(tool, agent=address, message="let me in")
            stage.tally.check(f"{tool}: not to {address}", isinstance(came, Failed), came)
    # The desk delivers entries in order, so no letter of the fox is still in flight.
    await stage.owl.call("exchange", agent="bat", message="anything new", dispatch_id="last")
    heard = [letter["text"] for letter in stage.bat.letters[handed:]]
    stage.tally.check("nothing of the fox's is handed over", heard == ["anything new"], heard)
