"""What a scenario works with: a desk, a platform, and clients, set up and taken away again."""

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

    async def set_up(self, planted: str | None, own_cluster: bool) -> None:
        """Makes everything up to a serving desk that knows a gateway."""
        await super().set_up(planted, own_cluster)
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
        """An empty folder that goes with the stage."""
        folder = self._folder / name
        folder.mkdir()
        return folder

    async def connected(self, **options: Any) -> Client:
        """Starts a client and has it dial in."""
        client = await self.client(**options)
        await client.connect()
        return client
