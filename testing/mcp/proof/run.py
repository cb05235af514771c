"""Calls the desk's tools with the official client. Run by `client.sh`; the last line is a summary."""

import asyncio
import importlib.metadata
import shutil
import sys
import tempfile
import traceback
from pathlib import Path

from proof.checks import data, doors, letters, line, runtime, skills
from proof.stage import Stage
from props.folder import Folder

CHECKS_SECS = 180
CHECKS = (
    doors.listed,
    letters.all_checks,
    skills.all_checks,
    data.all_checks,
    line.all_checks,
    runtime.all_checks,
    doors.refusals,
    doors.strangers,
    doors.other_tenants,
)


async def run(stage: Stage) -> None:
    """Runs all checks. A check that raises has failed, and the others continue."""
    await stage.set_up()
    async with asyncio.timeout(CHECKS_SECS):
        for checks in CHECKS:
            try:
                await checks(stage)
            except Exception:
                stage.tally.check(f"{checks.__module__} to the end", False)
                traceback.print_exc()


async def main() -> int:
    """Returns 0 if all checks passed. Ends the started processes in every case."""
    folder = Folder("nightdesk-mcp-", "KILL")
    stage = Stage(folder.path)
    try:
        try:
            await run(stage)
        finally:
            await stage.take_down()
        if stage.tally.failed:
            print(f"logs are in {kept(folder.path)}")
    finally:
        folder.remove()
    client = importlib.metadata.version("mcp")
    print(f"mcp: client={client} tools={len(doors.TOOLS)} {stage.tally}")
    return 1 if stage.tally.failed else 0


def kept(folder: Path) -> str:
    """Copies the desk's logs out of the temporary folder, and returns the new folder."""
    logs = tempfile.mkdtemp(prefix="mcp-kept-")
    for log in folder.glob("*.log"):
        shutil.copy(log, logs)
    return logs


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
