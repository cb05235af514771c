"""How a gateway comes to what it dials in with."""

from props.desk import Desk


async def enrolled(desk: Desk, name: str) -> dict[str, str]:
    """Enters a gateway at the desk, and answers what its process is to be told."""
    gateway = await desk.create_gateway(name)
    return {"GATEWAY_RELAY_ID": gateway.name, "GATEWAY_RELAY_SECRET": gateway.secret}
