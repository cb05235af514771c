"""Tools for skills: a repeated write changes nothing."""

from proof.caller import Failed
from proof.stage import Stage

NAME = "count-moths"
SOURCE = "# Skill: count-moths\n# Description: Counts moths.\n\nemit: one, two, three\n"
CHANGED = SOURCE.replace("three", "four")
ALL = {"audience": "all"}


async def all_checks(stage: Stage) -> None:
    """Calls each tool twice."""
    version = await write(stage)
    await read(stage, version)
    await replace(stage)
    await status(stage)
    await catalogue(stage)


async def versions(stage: Stage) -> list[str]:
    """Returns the stored versions from the desk's own API, newest first."""
    kept = await stage.owl.get(f"/v1/skills/{NAME}/versions")
    kept = kept["versions"] if isinstance(kept, dict) else kept
    return [one["version"] for one in kept]


async def write(stage: Stage) -> str:
    """Writes a new skill; returns its version."""
    first, again = await stage.owl.twice("skill_write", name=NAME, source=SOURCE)
    stage.tally.same("skill_write: again is the same", first, again)
    kept = await versions(stage)
    stage.tally.check("skill_write: one version is kept", len(kept) == 1, kept)
    stage.tally.same("skill_write: it is the one that was told", kept[0], first["version"])
    return first["version"]


async def read(stage: Stage, version: str) -> None:
    """Reads the skill."""
    first, again = await stage.owl.twice("skill_read", name=NAME)
    stage.tally.same("skill_read: again is the same", first, again)
    stage.tally.check("skill_read: what was written", "one, two, three" in first["source"], first)
    older = await stage.owl.call("skill_read", name=NAME, version=version)
    stage.tally.same("skill_read: by its version", older["source"], first["source"])


async def replace(stage: Stage) -> None:
    """Another text replaces the skill only with `overwrite`."""
    before = await versions(stage)
    refused = await stage.owl.call("skill_write", name=NAME, source=CHANGED)
    is_refused = isinstance(refused, Failed) and "overwrite" in refused.message
    stage.tally.check("skill_write: what is there is not replaced", is_refused, refused)
    stage.tally.same("skill_write: and nothing changed", await versions(stage), before)
    asked = {"name": NAME, "source": CHANGED, "overwrite": True}
    first, again = await stage.owl.twice("skill_write", **asked)
    stage.tally.same("skill_write: replaced again is the same", first, again)
    kept = await versions(stage)
    stage.tally.check("skill_write: two versions are kept", len(kept) == 2, kept)


async def status(stage: Stage) -> None:
    """Approves the skill twice."""
    kept = await versions(stage)
    first = await stage.owl.call("skill_status", name=NAME, new_state="Approved")
    then = await stage.owl.call("skill_list", filter=ALL)
    again = await stage.owl.call("skill_status", name=NAME, new_state="Approved")
    after = await stage.owl.call("skill_list", filter=ALL)
    stage.tally.check("skill_status: it is approved", first.get("status") == "Approved", first)
    stage.tally.same("skill_status: again is the same", first, again)
    stage.tally.same("skill_status: and nothing changed", then, after)
    # The text may contain the status, so the text changes with it.
    new = [version for version in await versions(stage) if version not in kept]
    stage.tally.check("skill_status: at most one version is new", len(new) <= 1, new)


async def catalogue(stage: Stage) -> None:
    """Lists the skills: the list is unchanged."""
    first, again = await stage.owl.twice("skill_list", filter=ALL)
    stage.tally.same("skill_list: the same at both nodes", first, again)
    stage.tally.check("skill_list: it is among them", NAME in str(first), first)
    known = first["catalog_version"]
    unchanged = await stage.owl.call("skill_list", filter=ALL, if_none_match=known)
    is_said = unchanged.get("not_modified") is True
    stage.tally.check("skill_list: nothing is said if nothing changed", is_said, unchanged)
