"""The base of every stage, set up and removed again: a database, a desk, a platform."""

import os
from contextlib import AsyncExitStack
from pathlib import Path

from props.desk import Desk
from props.platform import Platform
from props.postgres import Cluster, OwnCluster

TEMPLATE = "hermes_template"
BOT_KEY = "a key that only the platform and the desk know"


async def make_template(folder: Path, cluster: Cluster) -> None:
    """Migrates one database as the template for the others."""
    await cluster.create_database(TEMPLATE)
    await Desk(binary(), folder, cluster, TEMPLATE).migrate()


class Stage:
    """A database, a desk, a platform and an agent. There is no gateway yet."""

    def __init__(self, folder: Path, cluster: Cluster, platform: str) -> None:
        self.platform = Platform(platform, f"bot-{platform}", BOT_KEY)
        self.cluster = cluster
        self.database = folder.name.replace("-", "_").lower()
        self.desk: Desk
        # The desk's public URL, if it is not that of its first node.
        self.public_url: str | None = None
        self._folder = folder
        # Ends the started processes in reverse order, also after a partial set-up or a failure.
        self._ends = AsyncExitStack()

    async def set_up(self, mutant: str | None, own_cluster: bool) -> None:
        """Sets up everything, including a running desk."""
        if own_cluster:
            self.cluster = OwnCluster(self.cluster.bin_dir)
            self._ends.push_async_callback(self.cluster.remove)
            await self.cluster.init()
        else:
            self._ends.push_async_callback(self.cluster.drop_database, self.database)
        template = "template1" if own_cluster else TEMPLATE
        await self.cluster.create_database(self.database, template)
        more = await self._settings()
        settings = (self.cluster, self.database, more, self.public_url)
        self.desk = Desk(binary(), self._folder, *settings)
        if own_cluster:
            await self.desk.migrate()
        else:
            await self.desk.make_vault_key()
        self._ends.push_async_callback(self.platform.close)
        if mutant is not None:
            self.desk.select_mutant(mutant)
        self._ends.push_async_callback(self.desk.stop)
        await self.desk.start()
        await self.desk.log_in()
        await self.desk.register_agent()
        await self._register_bot()

    async def take_down(self) -> None:
        """Ends everything."""
        await self._ends.aclose()

    @property
    def own_cluster(self) -> OwnCluster:
        """Returns the separate cluster of a scenario that requested one."""
        assert isinstance(self.cluster, OwnCluster)
        return self.cluster

    async def _settings(self) -> str:
        """Returns the desk's additional configuration."""
        return ""

    async def _register_bot(self) -> None:
        """Creates a bot on the external platform."""
        deliver_url = await self.platform.open()
        platform = self.platform
        path = await self.desk.register_bot(platform.name, platform.handle, BOT_KEY, deliver_url)
        platform.hook_url = f"http://127.0.0.1:{self.desk.front.port}/hooks/{path}"


def binary() -> Path:
    """Returns the path of the desk's binary."""
    return Path(os.environ["NIGHTDESK_BIN"]).resolve()
