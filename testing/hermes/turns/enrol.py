"""How a gateway comes to what it dials in with: as docs/enrolment.md says."""

from pathlib import Path

from props.desk import Desk
from props.judge import require
from props.machine import Machine


async def enrol(desk: Desk, whose: tuple[str, ...], home: Path, name: str, url: str) -> None:
    """Invites a gateway, and has the stock command line take the invitation. What the gateway needs
    to dial that URL is in its home then, and nowhere else."""
    invited = await desk.ask("gateway", "token", *whose, "--name", name)
    machine = Machine(home)
    code, said = await machine.enroll(invited, connector_url=url)
    require(code == 0, f"not enrolled: {said}")
    written = machine.written()
    require(written["GATEWAY_RELAY_ID"] == name, f"it is called {written['GATEWAY_RELAY_ID']}")
    require(written["GATEWAY_RELAY_URL"] == url, f"it would dial {written['GATEWAY_RELAY_URL']}")
