"""The environment of the checks: a desk of two nodes, and agents of two tenants."""

import os
from contextlib import AsyncExitStack
from pathlib import Path

from proof.caller import Caller
from proof.peer import Peer
from proof.raw import Raw
from proof.tally import Tally
from props.desk import Desk, Gateway
from props.postgres import Cluster

DATABASE = "mcp_proof"
PAGE = "page"


class Stage:
    """The owl calls tools. The bat, of the same tenant, receives letters. The fox belongs to another tenant."""

    def __init__(self, folder: Path) -> None:
        self.tally = Tally()
        self.cluster = Cluster.shared()
        binary = Path(os.environ["NIGHTDESK_BIN"]).resolve()
        self.desk = Desk(binary, folder, self.cluster, DATABASE)
        self.bat = Peer("webchat", PAGE)
        self.bat_id = ""
        self.owl: Caller
        self.fox: Caller
        self.raw: Raw
        self._ends = AsyncExitStack()

    @property
    def ports(self) -> tuple[int, ...]:
        """Returns the ports of the nodes."""
        return tuple(node.port for node in self.desk.nodes)

    async def set_up(self) -> None:
        """Sets up everything, including a connected client."""
        await self.cluster.create_database(DATABASE)
        self._ends.push_async_callback(self.cluster.drop_database, DATABASE)
        await self.desk.migrate()
        self._ends.push_async_callback(self.desk.stop)
        await self.desk.start()
        await self.desk.log_in()
        await self.desk.register_agent()
        gateway = await self._make_others()
        self._ends.push_async_callback(self.bat.close)
        await self.bat.open(self.desk.back.port, gateway)
        self.owl = await self._caller("night", "owl")
        self.fox = await self._caller("dusk", "fox")
        self.raw = Raw(await self._token("night", "owl"))
        self._ends.push_async_callback(self.raw.close)

    async def take_down(self) -> None:
        """Ends everything."""
        await self._ends.aclose()

    async def _make_others(self) -> Gateway:
        ask = self.desk.ask
        await self.desk.register_page(PAGE)
        made = await ask("agent", "create", "--tenant", "night", "bat")
        self.bat_id = made["agent_id"]
        await ask("tenant", "create", "dusk")
        await ask("agent", "create", "--tenant", "dusk", "fox")
        words = ("gateway", "create", "--tenant", "night", "--agent", "bat", "--name", "gw-bat")
        gateway = await ask(*words)
        return Gateway(gateway["gateway"], gateway["secret"])

    async def _token(self, tenant: str, agent: str) -> str:
        words = ("--tenant", tenant, "--agent", agent)
        return (await self.desk.ask("issuer", "token", *words))["token"]

    async def _caller(self, tenant: str, agent: str) -> Caller:
        caller = Caller(self.ports, await self._token(tenant, agent))
        self._ends.push_async_callback(caller.close)
        return await caller.open()
