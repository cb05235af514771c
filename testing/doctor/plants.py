"""Mistakes of an operator, each planted into a desk that is otherwise right, and removed again."""

import contextlib
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from props.desk import Desk
from props.process import CommandFailed, environment, free_port, output

from stand import DATABASE, Stand, Target, binary, library

Planting = Callable[[Stand], AbstractAsyncContextManager[Target]]

EMPTY, OTHER = "doctor_empty", "doctor_other"
HOST = "desk.example"
# More than a clock may differ, and less than the life of a question of the desk to itself.
CLOCK_OFF = "+20s"


@dataclass(frozen=True)
class Plant:
    """A mistake, the check that must name it, and whether `--fix` repairs it."""

    name: str
    check: str
    planted: Planting
    is_fixable: bool = False
    # The checks that the mistake makes wrong besides.
    consequences: tuple[str, ...] = ()


@asynccontextmanager
async def readable_key(stand: Stand) -> AsyncIterator[Target]:
    """Lets every user read the vault's key."""
    key = stand.path / "vault.key"
    key.chmod(0o644)
    try:
        yield stand.serving
    finally:
        key.chmod(0o600)


@asynccontextmanager
async def unmigrated(stand: Stand) -> AsyncIterator[Target]:
    """Names a database without tables."""
    await stand.cluster.create_database(EMPTY)
    try:
        yield stand.changed("unmigrated", database=(f"/{DATABASE}", f"/{EMPTY}"))
    finally:
        await stand.cluster.drop_database(EMPTY)


@asynccontextmanager
async def no_fsync(stand: Stand) -> AsyncIterator[Target]:
    """Turns fsync off while the desk serves."""
    await stand.cluster.run("alter system set fsync = off")
    await stand.cluster.run("select pg_reload_conf()")
    try:
        yield stand.serving
    finally:
        await stand.cluster.run("alter system reset fsync")
        await stand.cluster.run("select pg_reload_conf()")


@asynccontextmanager
async def no_synchronous_commit(stand: Stand) -> AsyncIterator[Target]:
    """Turns synchronous_commit off in the URL of the database."""
    url = stand.cluster.url(DATABASE, "nightdesk_app")
    yield stand.changed("asynchronous", url=(f'"{url}"', f'"{url}?options[synchronous_commit]=off"'))


@asynccontextmanager
async def wrong_role(stand: Stand) -> AsyncIterator[Target]:
    """Logs the desk in as a superuser."""
    url, superuser = stand.cluster.url(DATABASE, "nightdesk_app"), stand.cluster.url(DATABASE)
    yield stand.changed("superuser", url=(f'"{url}"', f'"{superuser}"'))


@asynccontextmanager
async def no_redis(stand: Stand) -> AsyncIterator[Target]:
    """Names a Redis that does not run."""
    text = stand.desk.front.config.read_text()
    redis = text.split("[redis]\n", 1)[1].split("\n", 1)[0]
    yield stand.changed("no-redis", redis=(redis, f'url = "redis://127.0.0.1:{free_port()}"'))


async def with_certificate(stand: Stand, name: str, host: str, **env: str) -> Target:
    """Returns a configuration that serves a new certificate for a host."""
    chain, key = stand.path / f"{name}.pem", stand.path / f"{name}.key"
    words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    words += ["-keyout", str(key), "-out", str(chain), "-days", "90"]
    words += ["-subj", f"/CN={host}", "-addext", f"subjectAltName=DNS:{host}"]
    await output(words, stand.path, environment(stand.path, **env))
    key.chmod(0o600)
    tls = f'tls = {{ certificate = "{chain}", key = "{key}" }}'
    public = f'public_url = "{stand.desk.front.public_url}"'
    return stand.changed(name, url=(public, f'public_url = "https://{HOST}"\n{tls}'))


@asynccontextmanager
async def expired(stand: Stand) -> AsyncIterator[Target]:
    """Serves a certificate that expired."""
    yield await with_certificate(stand, "expired", HOST, LD_PRELOAD=library(), FAKETIME="-400d")


@asynccontextmanager
async def other_name(stand: Stand) -> AsyncIterator[Target]:
    """Serves the certificate of another host."""
    yield await with_certificate(stand, "other-name", "other.example")


@asynccontextmanager
async def skewed(stand: Stand) -> AsyncIterator[Target]:
    """Runs a node whose clock is wrong."""
    clock = {"LD_PRELOAD": library(), "FAKETIME": CLOCK_OFF, "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    async with stand.another_node("skewed", stand.desk.front.public_url, **clock) as target:
        yield target


@asynccontextmanager
async def deaf_bot(stand: Stand) -> AsyncIterator[Target]:
    """Gives a bot a key that its platform rejects."""
    key_file = stand.path / "deaf.key"
    key_file.write_text("4343:a-key-that-was-revoked")
    settings = json.dumps({"updates": "poll"})
    words = ["bot", "create", "--tenant", stand.desk.tenant, "--platform", "telegram"]
    words += ["--handle", "deaf_bot", "--key-file", str(key_file), "--settings", settings]
    bot = (await stand.desk.ask(*words))["bot_id"]
    try:
        yield stand.serving
    finally:
        await stand.desk.ask("bot", "remove", "--tenant", stand.desk.tenant, "--bot", bot, "--yes")


@asynccontextmanager
async def webhook_elsewhere(stand: Stand) -> AsyncIterator[Target]:
    """Lets Telegram post a bot's updates to another server."""
    await stand.telegram.call(f"bot{stand.token}/setWebhook", url="http://127.0.0.1:9/elsewhere")
    yield stand.serving


@asynccontextmanager
async def lost_partition(stand: Stand) -> AsyncIterator[Target]:
    """Drops the partition of tomorrow's entries."""
    drop = """do $$ declare d record; begin
        for d in select name from stored_days()
            where parent = 'inbox_entries' and day = (now() at time zone 'utc')::date + 1
        loop execute format('drop table %I', d.name); end loop; end $$"""
    await stand.cluster.run(drop, DATABASE)
    yield stand.serving


@asynccontextmanager
async def full_disk(stand: Stand) -> AsyncIterator[Target]:
    """Puts the store of files on a small disk, and fills it."""
    disk = stand.path / "small-disk"
    disk.mkdir()
    await as_root(stand, "mount", "-t", "tmpfs", "-o", "size=1m,mode=777", "tmpfs", str(disk))
    try:
        (disk / "media").mkdir()
        fill(disk / "filling")
        own = "[database]\n"
        yield stand.changed("full-disk", place=(own, f'[media]\nplace = "{disk / "media"}"\n{own}'))
    finally:
        await as_root(stand, "umount", str(disk))


def fill(file: Path) -> None:
    """Writes until the disk is full."""
    try:
        with file.open("wb", buffering=0) as filling:
            while filling.write(bytes(4096)):
                pass
    except OSError:
        return


async def as_root(stand: Stand, *words: str) -> None:
    """Runs a command of the system's administrator."""
    try:
        await output(list(words), stand.path, environment(stand.path))
    except CommandFailed:
        await output(["sudo", "-n", *words], stand.path, environment(stand.path))


@asynccontextmanager
async def another_desk(stand: Stand) -> AsyncIterator[Target]:
    """Runs a node whose public URL leads to another desk."""
    folder = stand.path / "other"
    folder.mkdir()
    await stand.cluster.create_database(OTHER)
    other = Desk(binary(), folder, stand.cluster, OTHER)
    try:
        await other.migrate()
        await other.front.start()
        async with stand.another_node("elsewhere", other.front.url) as target:
            yield target
    finally:
        await other.stop()
        await stand.cluster.drop_database(OTHER)


@asynccontextmanager
async def unreachable_agent(stand: Stand) -> AsyncIterator[Target]:
    """Gives an agent a wake URL at which no server listens, and writes to it."""
    words = ("--tenant", stand.desk.tenant, "--agent", stand.desk.agent)
    await stand.desk.ask("agent", "wake-url", *words, f"http://127.0.0.1:{stand.desk.waker_port}/wake")
    # It puts an entry into the inbox, calls the agent and fails.
    with contextlib.suppress(CommandFailed):
        await stand.desk.ask("verify", "--tenant", stand.desk.tenant, "--wake", stand.desk.agent, "--within", "1s")
    yield stand.serving


PLANTS = [
    Plant("the vault's key is readable by everyone", "key-files", readable_key, is_fixable=True),
    Plant("the database is not migrated", "database", unmigrated),
    Plant("fsync is off", "durability", no_fsync),
    Plant("synchronous_commit is off", "durability", no_synchronous_commit),
    Plant("the desk logs in as a superuser", "database-role", wrong_role),
    Plant("Redis does not run", "redis", no_redis),
    Plant("the certificate expired", "certificate", expired),
    Plant("the certificate is for another host", "certificate", other_name),
    Plant("a node's clock is wrong", "clock", skewed),
    Plant("a bot's key is rejected", "bots", deaf_bot),
    Plant("a bot's webhook leads elsewhere", "bots", webhook_elsewhere, is_fixable=True),
    Plant("tomorrow's partition is missing", "retention", lost_partition, is_fixable=True),
    Plant("the disk for files is full", "disk", full_disk),
    # Telegram posts to the address that the right nodes have.
    Plant("the public URL leads to another desk", "public-url", another_desk, consequences=("bots",)),
    # Last, because its entry goes on waiting.
    Plant("a wake URL cannot be reached", "wakes", unreachable_agent),
]
