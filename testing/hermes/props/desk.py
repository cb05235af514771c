"""The desk under test: the real binary, set up by its own commands, which are requests to a node that serves."""

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from props.judge import POLL_SECS
from props.node import Node, shared_settings
from props.postgres import Cluster
from props.process import environment, free_port, output

KNOWN_SECS = 20


@dataclass(frozen=True)
class Gateway:
    """The credentials of a client."""

    name: str
    secret: str


class Desk:
    """One desk of two nodes on one database."""

    def __init__(
        self,
        binary: Path,
        folder: Path,
        cluster: Cluster,
        database: str,
        more: str = "",
        public_url: str | None = None,
        open_ports: tuple[int, ...] = (),
    ) -> None:
        self.tenant = ""
        self.agent = ""
        self.bot = ""
        self._binary = binary
        self._folder = folder
        self._token_file = folder / "administrator.token"
        self._env = environment(folder, RUST_BACKTRACE="1")
        # The desk may call agents on this machine at this port.
        self.waker_port = free_port()
        settings = shared_settings(folder, cluster, database, (self.waker_port, *open_ports))
        # Platforms use the first node, gateways the second.
        self.front = Node(binary, folder, "front", self._env, public_url)
        self.back = Node(binary, folder, "back", self._env, self.front.public_url)
        self.nodes = (self.front, self.back)
        for node in self.nodes:
            node.configure(settings + more)

    def select_mutant(self, number: str) -> None:
        """Selects a mutant of the desk's build, from its next start on."""
        self._env["NIGHTDESK_MUTANT"] = number

    async def migrate(self) -> None:
        """Migrates the database."""
        await self.make_vault_key()
        await self._run("migrate")

    async def make_vault_key(self) -> None:
        """Creates the vault's key."""
        words = [str(self._binary), "key", "new"]
        (self._folder / "vault.key").write_text(await output(words, self._folder, self._env))
        (self._folder / "vault.key").chmod(0o600)

    async def log_in(self) -> None:
        """Logs an administrator in, whose token the commands have from then on. The desk must serve."""
        await self._redeem("administrator", await self.ask("admin", "link"))

    async def ask_as_member(self, *words: str) -> dict[str, Any]:
        """Runs a command of a new member of the tenant, who may read messages; returns its output."""
        member = await self.ask("user", "create", "Ann", "--role", "member", "--tenant", self.tenant)
        token_file = await self._redeem("member", await self.ask("user", "link", member["user_id"]))
        return json.loads(await self._run(*words, "--json", NIGHTDESK_TOKEN_FILE=str(token_file)))

    async def register_agent(self) -> None:
        """Creates the tenant and its agent."""
        self.tenant = (await self.ask("tenant", "create", "night"))["tenant_id"]
        agent = await self.ask("agent", "create", "--tenant", self.tenant, "owl")
        self.agent = agent["agent_id"]

    async def register_bot(self, platform: str, handle: str, key: str, deliver_url: str) -> str:
        """Creates a bot on a platform, and returns the path of its webhook."""
        key_file = self._folder / "bot.key"
        key_file.write_text(key)
        settings = json.dumps({"deliver_url": deliver_url})
        words = ["bot", "create", "--tenant", self.tenant, "--platform", platform]
        words += ["--adapter", "scripted", "--handle", handle]
        bot = await self.ask(*words, "--key-file", str(key_file), "--settings", settings)
        self.bot = bot["bot_id"]
        words = ["binding", "create", "--tenant", self.tenant, "--agent", self.agent]
        await self.ask(*words, "--bot", self.bot, "--author", "u1")
        return bot["path"]

    async def register_page(self, handle: str) -> str:
        """Creates a bot with a web chat page, and returns the page's address."""
        words = ["bot", "create", "--tenant", self.tenant, "--platform", "webchat"]
        settings = json.dumps({"title": "Owl", "greeting": "How can I help?"})
        bot = await self.ask(*words, "--handle", handle, "--settings", settings)
        self.bot = bot["bot_id"]
        return bot["url"]

    async def let_anyone_in(self) -> None:
        """Opens the agent to everyone, in every chat of the bot."""
        words = ["grant", "create", "--tenant", self.tenant, "--agent", self.agent]
        await self.ask(*words, "--bot", self.bot, "--chat", "*", "--open")

    async def create_gateway(self, name: str) -> Gateway:
        """Creates a gateway for the agent."""
        words = ["gateway", "create", "--tenant", self.tenant, "--agent", self.agent]
        made = await self.ask(*words, "--name", name)
        return Gateway(made["gateway"], made["secret"])

    async def rotate(self, gateway: Gateway, overlap: str) -> Gateway:
        """Rotates the gateway's secret; the old one stays valid for the overlap."""
        words = ["gateway", "rotate", "--tenant", self.tenant, "--name", gateway.name]
        return Gateway(gateway.name, (await self.ask(*words, "--overlap", overlap))["secret"])

    async def revoke(self, gateway: str) -> None:
        """Revokes a gateway."""
        await self.ask("gateway", "revoke", "--tenant", self.tenant, "--name", gateway)

    async def knows_the_line_is_over(self) -> None:
        """Waits until every node knows that the line has ended: a socket ends before its line is written off."""
        words = ("wake", "status", "--tenant", self.tenant, "--agent", self.agent)
        async with asyncio.timeout(KNOWN_SECS):
            while (await self.ask(*words))["line"] != "none":
                await asyncio.sleep(POLL_SECS)

    async def ask(self, *words: str) -> dict[str, Any]:
        """Runs an operator's command, and returns its output."""
        return json.loads(await self._run(*words, "--json"))

    async def start(self) -> None:
        """Starts every node; returns when all their ports are open."""
        await asyncio.gather(*(node.start() for node in self.nodes))

    def kill(self) -> None:
        """Kills every node at once."""
        for node in self.nodes:
            node.kill()

    async def killed(self) -> None:
        """Kills every node; returns when they are gone."""
        await asyncio.gather(*(node.killed() for node in self.nodes))

    async def stop(self) -> None:
        """Stops every node with SIGTERM."""
        await asyncio.gather(*(node.stop() for node in self.nodes))

    async def _redeem(self, user: str, link: dict[str, Any]) -> Path:
        """Logs a user in with a link; returns the file with the token, which is valid at every node."""
        login, token_file = self._folder / f"{user}.json", self._folder / f"{user}.token"
        await self._run("login", "--link", link["url"], NIGHTDESK_CREDENTIALS=str(login))
        (token,) = json.loads(login.read_text())["tokens"].values()
        token_file.write_text(token)
        return token_file

    async def _run(self, *words: str, **env: str) -> str:
        """Runs a command, with a node that serves as its desk."""
        node = next((node for node in self.nodes if node.is_up), self.front)
        given = {"NIGHTDESK_DESK": node.url, "NIGHTDESK_TOKEN_FILE": str(self._token_file), **env}
        words = (str(self._binary), *words, "--config", str(self.front.config))
        return await output(list(words), self._folder, {**self._env, **given})
