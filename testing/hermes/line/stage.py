"""What a scenario works with: a desk, a platform, and clients, set up and taken away again."""

import os
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from line.desk import Desk, Gateway
from line.platform import Platform
from line.postgres import Cluster, OwnCluster
from line.remote import Client, Options

TEMPLATE = "line_template"
BOT_KEY = "a key that only the platform and the desk know"


async def make_template(binary: Path, folder: Path, cluster: Cluster) -> None:
    """Migrates one database, for the others to be copies of."""
    await cluster.create_database(TEMPLATE)
    await Desk(binary, folder, cluster, TEMPLATE).migrate()


class Stage:
    """One run of one scenario: a database, a desk, a platform and an agent of its own."""

    def __init__(self, binary: Path, folder: Path, cluster: Cluster, platform: str) -> None:
        self.platform = Platform(platform, f"bot-{platform}", BOT_KEY)
        self.cluster = cluster
        self.database = folder.name.replace("-", "_").lower()
        self.desk: Desk
        self.gateway: Gateway
        self.clients: list[Client] = []
        self._binary = binary
        self._folder = folder

    async def set_up(self, planted: str | None, own_cluster: bool) -> None:
        """Makes everything up to a serving desk."""
        if own_cluster:
            self.cluster = OwnCluster(self.cluster.bin_dir)
            await self.cluster.init()
        template = "template1" if own_cluster else TEMPLATE
        await self.cluster.create_database(self.database, template)
        self.desk = Desk(self._binary, self._folder, self.cluster, self.database)
        if own_cluster:
            await self.desk.migrate()
        else:
            await self.desk.make_vault_key()
        await self._register()
        if planted is not None:
            self.desk.plant(planted)
        await self.desk.start()

    async def take_down(self) -> None:
        """Ends what was started, also when half of it never was, or will not go."""
        async with AsyncExitStack() as last_to_first:
            if isinstance(self.cluster, OwnCluster):
                last_to_first.push_async_callback(self.cluster.remove)
            else:
                last_to_first.push_async_callback(self.cluster.drop_database, self.database)
            last_to_first.push_async_callback(self.platform.close)
            if hasattr(self, "desk"):
                last_to_first.push_async_callback(self.desk.stop)
            for client in self.clients:
                last_to_first.push_async_callback(client.gone)

    @property
    def own_cluster(self) -> OwnCluster:
        """The cluster, where the scenario has asked for one of its own."""
        assert isinstance(self.cluster, OwnCluster)
        return self.cluster

    async def client(self, **options: Any) -> Client:
        """Starts a client that does not dial yet."""
        how = Options(
            url=f"http://127.0.0.1:{self.desk.port}",
            platform=self.platform.name,
            bot=self.platform.handle,
            gateway=self.gateway.name,
            secret=self.gateway.secret,
        )
        name = f"client-{len(self.clients) + 1}"
        client = await Client.start(replace(how, **options), self._folder, name)
        self.clients.append(client)
        return client

    async def connected(self, **options: Any) -> Client:
        """Starts a client and has it dial in."""
        client = await self.client(**options)
        await client.connect()
        return client

    async def _register(self) -> None:
        await self.desk.register_agent()
        deliver_url = await self.platform.open()
        platform = self.platform
        path = await self.desk.register_bot(platform.name, platform.handle, BOT_KEY, deliver_url)
        self.gateway = await self.desk.create_gateway("gw-1")
        platform.hook_url = f"http://127.0.0.1:{self.desk.port}/hooks/{path}"


def binary() -> Path:
    """The desk's binary."""
    return Path(os.environ["NIGHTDESK_BIN"]).resolve()
