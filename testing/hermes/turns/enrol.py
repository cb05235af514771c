"""Enrolment of a gateway, as docs/enrolment.md describes it."""

from pathlib import Path

from props.desk import Desk
from props.judge import require
from props.machine import Machine


async def enrol(desk: Desk, whose: tuple[str, ...], home: Path, name: str, url: str) -> None:
    """Invites a gateway, and accepts the invitation with the stock command line. Then the gateway's home, and no
    other place, has everything it needs to dial that URL."""
    invited = await desk.ask("gateway", "token", *whose, "--name", name)
    machine = Machine(home)
    code, said = await machine.enroll(invited, connector_url=url)
    require(code == 0, f"not enrolled: {said}")
    written = machine.written()
    require(written["GATEWAY_RELAY_ID"] == name, f"it is called {written['GATEWAY_RELAY_ID']}")
    require(written["GATEWAY_RELAY_URL"] == url, f"it would dial {written['GATEWAY_RELAY_URL']}")
