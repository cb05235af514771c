"""The desk of the proof: two nodes, a third one with a certificate, a bot of the scripted platform, and one at a Telegram."""

import asyncio
import os
from contextlib import AsyncExitStack
from pathlib import Path

import httpx
from props.desk import Desk, Gateway
from props.folder import Folder
from props.judge import require
from props.node import Node
from props.platform import Platform
from props.postgres import Cluster
from props.process import environment, free_port
from ways import OPS_CHAT, Door, Mails, News, make_certificate

DATABASE = "alerts"
BOT_KEY = "a key that only the platform and the desk know"
STILL_WAKING_SECS = 5
# More than any disk has.
ALL_SPACE_MIB = 1_000_000_000


class Stand:
    """Everything that the proof changes."""

    def __init__(self, news: News) -> None:
        self.folder = Folder("nightdesk-alerts-", "KILL")
        self.path = self.folder.path
        self.cluster = Cluster.shared()
        self.door = Door(news)
        self.mails = Mails(self.path, news)
        self.platform = Platform("discord", "bot-discord", BOT_KEY)
        self.certificate, self.key = self.path / "probe.pem", self.path / "probe.key"
        self.desk: Desk
        self.gateway: Gateway
        self.probe: Node | None = None
        self.agent_task: asyncio.Task[None] | None = None
        self._metrics: list[int] = []
        self._ends = AsyncExitStack()

    async def set_up(self) -> None:
        """Starts everything, and adds the ways."""
        self._ends.callback(self.folder.remove)
        self._ends.push_async_callback(self.cluster.drop_database, DATABASE)
        await self.cluster.create_database(DATABASE)
        self._ends.callback(self.door.close)
        await self.door.open()
        self._ends.callback(self.mails.close)
        await self.mails.open()
        self._ends.push_async_callback(self.platform.close)
        deliver_url = await self.platform.open()
        self.desk = Desk(binary(), self.path, self.cluster, DATABASE, self._settings(), open_ports=(self.door.port,))
        for node in self.desk.nodes:
            self._add_metrics(node)
        await self.desk.migrate()
        self._ends.push_async_callback(self._stop)
        await self.desk.start()
        await self.desk.log_in()
        await self.desk.register_agent()
        path = await self.desk.register_bot("discord", "bot-discord", BOT_KEY, deliver_url)
        self.platform.hook_url = f"{self.desk.front.url}/hooks/{path}"
        await self._connect_telegram()
        self.gateway = await self.desk.create_gateway("gw")
        await self._add_ways()

    async def take_down(self) -> None:
        """Ends everything."""
        await self._ends.aclose()

    def agent(self, *words: str) -> list[str]:
        """Returns a command about the agent."""
        return [*words, "--tenant", "night", "--agent", "owl"]

    async def sql(self, text: str) -> str:
        """Runs a statement as the superuser."""
        return await self.cluster.run(text, DATABASE)

    async def holds(self, condition: str) -> bool:
        """Asks the database whether a condition holds."""
        return "holds" in await self.sql(f"select case when {condition} then 'holds' end")

    async def post(self, path: str, **body: str) -> None:
        """Makes a request for which there is no command."""
        token = (self.path / "administrator.token").read_text().strip()
        async with httpx.AsyncClient(timeout=20, trust_env=False) as http:
            url = f"{self.desk.front.url}/v1/{path}"
            answer = await http.post(url, headers={"authorization": f"Bearer {token}"}, json=body)
            require(answer.is_success, f"{path}: {answer.status_code} {answer.text}")

    def metrics_urls(self) -> list[str]:
        """Returns the URLs of the metrics of all nodes."""
        return [f"http://127.0.0.1:{port}/metrics" for port in self._metrics]

    async def start_probe(self, days: int) -> None:
        """Starts a node with TLS, whose certificate is valid for so many days, and whose disk is too small."""
        await make_certificate(self.path, self.certificate, self.key, days)
        self.probe = Node(binary(), self.path, "probe", environment(self.path, RUST_BACKTRACE="1"))
        self._configure_probe(ALL_SPACE_MIB)
        self._add_metrics(self.probe)
        await self.probe.start()

    async def restart_probe(self, disk_free_mib: int) -> None:
        """Restarts that node with another limit."""
        assert self.probe is not None
        await self.probe.stop()
        port = self._metrics.pop()
        self._configure_probe(disk_free_mib)
        self._add_metrics(self.probe, port)
        await self.probe.start()

    def _configure_probe(self, disk_free_mib: int) -> None:
        assert self.probe is not None
        text = self.desk.front.config.read_text()
        shared = text[text.index("[database]") : text.index("[metrics]")]
        shared = shared.replace("disk_free_mib = 1\n", f"disk_free_mib = {disk_free_mib}\n")
        tls = f'tls = {{ certificate = "{self.certificate}", key = "{self.key}" }}'
        self.probe.config.write_text(f"""
[listen]
address = "127.0.0.1:{self.probe.port}"
public_url = "https://localhost:{self.probe.port}"
{tls}
[node]
name = "probe"
{shared}
""")

    def _add_metrics(self, node: Node, port: int | None = None) -> None:
        port = port or free_port()
        self._metrics.append(port)
        with node.config.open("a") as config:
            config.write(f'\n[metrics]\naddress = "127.0.0.1:{port}"\n')

    def _settings(self) -> str:
        return f"""
[wake]
still_waking_after = "{STILL_WAKING_SECS}s"
[alerts]
disk_free_mib = 1
[telegram]
api_url = "{self.door.url}"
{self.mails.settings}
"""

    async def _connect_telegram(self) -> None:
        key_file = self.path / "telegram.key"
        key_file.write_text("4242:key-of-the-telegram-bot")
        words = ["bot", "create", "--tenant", "night", "--platform", "telegram"]
        await self.desk.ask(*words, "--handle", "desk_bot", "--key-file", str(key_file))

    async def _add_ways(self) -> None:
        """Adds a way of each kind for the operator, which covers tenants, and one of the tenant. Each must pass its test."""
        words = ["grant", "create", *self.agent(), "--bot", self.desk.bot, "--chat", OPS_CHAT]
        await self.desk.ask(*words, "--open")
        chat = ["--chat", OPS_CHAT, "--agent", "owl", "--bot", self.desk.bot, "--agent-tenant", "night"]
        tenant = ["--tenant", "night"]
        for path, owner, words in (
            ("/alerts", [], ["--all-tenants", "--webhook", f"{self.door.url}/alerts"]),
            ("/tenant", tenant, ["--webhook", f"{self.door.url}/tenant"]),
            ("", [], ["--all-tenants", "--mail", "ops@example.org"]),
            ("", [], ["--all-tenants", *chat]),
        ):
            way = await self.desk.ask("alert", "way", "add", *owner, *words)
            self.door.secrets[path] = way.get("secret", "")
            # It fails unless the message arrives.
            await self.desk.ask("alert", "test", way["way_id"], *owner)

    async def _stop(self) -> None:
        if self.agent_task is not None:
            self.agent_task.cancel()
            await asyncio.gather(self.agent_task, return_exceptions=True)
        nodes = [*self.desk.nodes, *([self.probe] if self.probe else [])]
        await asyncio.gather(*(node.stop() for node in nodes))


def binary() -> Path:
    """Returns the path of the desk's binary."""
    return Path(os.environ["NIGHTDESK_BIN"]).resolve()
