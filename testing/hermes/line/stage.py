"""The environment of a scenario: a desk, a platform and clients, set up and removed again."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import props.stage
from line.remote import Client, Options
from props.desk import Gateway
from props.postgres import Cluster


class Stage(props.stage.Stage):
    """One run of one scenario."""

    def __init__(self, folder: Path, cluster: Cluster, platform: str) -> None:
        super().__init__(folder, cluster, platform)
        self.gateway: Gateway
        self.clients: list[Client] = []

    async def set_up(self, mutant: str | None, own_cluster: bool) -> None:
        """Sets up everything, including a running desk that knows a gateway."""
        await super().set_up(mutant, own_cluster)
        self.gateway = await self.desk.create_gateway("gw-1")

    async def client(self, **options: Any) -> Client:
        """Starts a client that does not dial yet."""
        how = Options(
            url=f"http://127.0.0.1:{self.desk.back.port}",
            platform=self.platform.name,
            bot=self.platform.handle,
            gateway=self.gateway.name,
            secret=self.gateway.secret,
        )
        name = f"client-{len(self.clients) + 1}"
        client = await Client.start(replace(how, **options), self._folder, name)
        self._ends.push_async_callback(client.gone)
        self.clients.append(client)
        return client

    def clean_folder(self, name: str) -> Path:
        """Returns an empty folder that is removed with the stage."""
        folder = self._folder / name
        folder.mkdir()
        return folder

    async def connected(self, **options: Any) -> Client:
        """Starts a client that dials in."""
        client = await self.client(**options)
        await client.connect()
        return client
