"""Tools for data: a repeated write creates no second entry."""

from proof.stage import Stage

CONTENT = "Moths fly to the lamp at the harbour"


async def all_checks(stage: Stage) -> None:
    """Calls each tool twice."""
    entry = await write(stage)
    await query(stage, entry)
    await read(stage, entry)


async def write(stage: Stage) -> str:
    """Writes an entry; returns its id."""
    asked = {"content": CONTENT, "tags": ["moths"], "expires_at": None}
    first, again = await stage.owl.twice("data_write", **asked)
    stage.tally.same("data_write: again is the same", first, again)
    return first["id"]


async def query(stage: Stage, entry: str) -> None:
    """Finds the entry by its words."""
    first, again = await stage.owl.twice("data_query", query="harbour")
    ids = [[item["id"] for item in one["items"]] for one in (first, again)]
    stage.tally.check("data_query: it is there once", ids[0] == [entry], first)
    stage.tally.same("data_query: the same at both nodes", *ids)
    loose = await stage.owl.call("data_query", query="harbour", limit=5, permissive_filters=True)
    stage.tally.check("data_query: with all it may be given", len(loose["items"]) == 1, loose)


async def read(stage: Stage, entry: str) -> None:
    """Reads the entry."""
    first, again = await stage.owl.twice("data_read", id=entry)
    stage.tally.same("data_read: again is the same", first, again)
    stage.tally.check("data_read: what was written", CONTENT in str(first), first)
    nothing = await stage.owl.twice("data_read", id="00000000-0000-0000-0000-000000000000")
    stage.tally.check("data_read: what is not there is null", nothing == (None, None), nothing)
