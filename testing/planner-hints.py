#!/usr/bin/env python3
"""Measures the planner settings on SQL functions, with and without them.

usage: planner-hints.py [--rows N] [--each] [FUNCTION…]

Starts a PostgreSQL in a temporary folder, applies the migrations of this tree and calls every function that has a
planner setting (`set enable_… = off`, `set plan_cache_mode = …`), as the role of the desk, in three situations:

  grown     a session makes its plans while the tables hold ten rows and no statistics; then they grow
  small     as before, but the ten rows were vacuumed and analyzed
  analyzed  the tables are full and analyzed, and a new session calls the function twenty times

Each line has the milliseconds with the settings, without them, and the ratio. `--each` also leaves out one setting at a
time, for functions that have several. A setting is kept if its function is at least twice as slow without it, `small`
counting only for hot functions. The last line counts the functions. Needs PostgreSQL 15 in PG_BIN (by default
/usr/lib/postgresql/15/bin) and, when run by root, a user `postgres`.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent
BIN = Path(os.environ.get("PG_BIN", "/usr/lib/postgresql/15/bin"))
SERVER_SETTINGS = ["fsync=off", "autovacuum=off", "listen_addresses=", "shared_buffers=512MB", "max_wal_size=8GB"]

# Rows of each table while the first plans are made. More than five calls make PostgreSQL consider a generic plan.
ROWS_FIRST = 10
CALLS_FIRST = 8
CALLS_GROWN = 5
CALLS_ANALYZED = 20
STATEMENT_SECONDS_MAX = 20

# A setting stays if its function is this much slower without it, and by more than the noise of a call.
RATIO_MIN = 2.0
NOISE_MS = 0.1

# Functions of every accept, read, ack, send, wake, fire, letter, login and audit row.
HOT = set(
    "inbox_store inbox_waiting inbox_waits inbox_ack wake_sleepers lock_due_wakes wake_read wake_replace fires_due "
    "fires_next_ms fires_running fires_begin fires_write fires_lock schedules_write schedule_lock letter_addresses "
    "letter_facts letter_write door_gateways door_client door_reach door_changed door_waiting_sends tell".split()
)

# The first argument of most calls: a tenant, an agent of it.
T, A = "id(1)", "id(1)"
TENANTS, AGENTS, JOBS = "ids_of_tenant(1, 5)", "ids(1, 5)", "names('j', 5)"

CALLS = {
    "tell": f"select tell({T}, 'bound', '{{}}')",
    "door_gateways": "select * from door_gateways(array['t1'])",
    "door_revoked": "select * from door_revoked('1 hour')",
    "door_client": "select * from door_client(ids(1, 1))",
    "door_reach": "select * from door_reach(id(1), 5)",
    "door_changed": "select * from door_changed(ids(1, 5), numbers(1, 5))",
    "door_reaches": f"select * from door_reaches({T}, {A}, 't1', '1 day')",
    "door_bots_of": f"select * from door_bots_of({T}, {A})",
    "inbox_store": f"select * from inbox_store({TENANTS}, {TENANTS}, {AGENTS}, keys(5), names('c', 5), "
    f"array[false, false, false, false, false], null, null, null, array[1, 2, 3, 4, 5], {TENANTS}, {AGENTS}, "
    "zeros(5), keys(5), array_fill(1::bigint, array[5]), ids(1, 5), array_fill('deliver'::text, array[5]), 1000000, 7)",
    "inbox_waiting": f"select * from inbox_waiting({TENANTS}, {TENANTS}, {AGENTS}, zeros(5), zeros(5), "
    "moments('-infinity', 5), array[20, 20, 20, 20, 20], 1000000)",
    "inbox_waits": f"select inbox_waits({T}, id(2))",
    "inbox_ack": f"select * from inbox_ack({TENANTS}, {TENANTS}, {AGENTS}, zeros(5), array[1, 2, 3, 4, 5], "
    "numbers(1, 5), numbers(1, 5), moments('now', 5), moments('now', 5))",
    "door_waiting_sends": "select * from door_waiting_sends('n1', 1, 10)",
    "wake_sleepers": f"select * from wake_sleepers({TENANTS}, {AGENTS})",
    "lock_due_wakes": "select * from lock_due_wakes(null, null, 10, 5)",
    "wake_read": f"select * from wake_read({T}, {A})",
    "wake_replace": f"select wake_replace({T}, {A}, (select xmin::text::bigint from wakes where tenant_id = {T} "
    f"and agent_id = {A}), 'due', now(), now(), 0, null, null, now(), null, null, null, false, now(), 0)",
    "schedule_lock": f"select * from schedule_lock({T}, {A}, 'j1')",
    "schedules_write": f"select schedules_write({TENANTS}, {AGENTS}, {JOBS}, moments('tomorrow', 5), flags(5), "
    "flags(5), flags(5), moments('tomorrow', 5), moments('now', 5), moments('now', 5))",
    "fires_write": f"select fires_write('n1', {TENANTS}, ids(1, 5), array_fill('open'::text, array[5]), "
    "array_fill(null::text, array[5]), array_fill(1, array[5]), flags(5), moments('now', 5), "
    "array_fill(null::timestamptz, array[5]), names('o', 5))",
    "fires_due": "select * from fires_due('n1', 1, 256)",
    "fires_next_ms": "select fires_next_ms()",
    "fires_running": f"select * from fires_running({TENANTS}, {AGENTS}, {JOBS}, now() - interval '1 day')",
    "fires_begin": f"select fires_begin('n1', now(), {TENANTS}, {AGENTS}, {JOBS}, moments('tomorrow', 5), "
    "array[gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid()], "
    "array_fill('open'::text, array[5]), array_fill(null::text, array[5]), array_fill(1, array[5]), flags(5), "
    "moments('now', 5), array_fill(null::timestamptz, array[5]))",
    "fires_lock": f"select * from fires_lock({TENANTS}, ids(1, 5))",
    "flag_unarmed": "select * from flag_unarmed(10, 100)",
    "letter_addresses": f"select * from letter_addresses({TENANTS}, {TENANTS}, {AGENTS}, names('t', 5), ids(2, 6))",
    "letter_facts": f"select * from letter_facts({TENANTS}, {TENANTS}, {AGENTS}, {TENANTS}, ids(2, 6), names('t', 5), "
    "'1 hour')",
    "letter_write": "select * from letter_write(array[gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), "
    f"gen_random_uuid(), gen_random_uuid()], {TENANTS}, {AGENTS}, {TENANTS}, ids(2, 6), names('new', 5), "
    "array_fill('deliver'::text, array[5]), array_fill('augment'::text, array[5]), names('s', 5), names('c', 5), "
    "array_fill(1, array[5]), array_fill(null::timestamptz, array[5]), array_fill(60::float8, array[5]), ids(1, 5), "
    "names('c', 5), keys(5), array_fill(1::bigint, array[5]), ids(1, 5), array_fill(true, array[5]), now())",
}

# Values of columns where the value by type will not do, as SQL over the row's number `i`. Rows 1 to 3 are work that is
# due, rows 4 to 6 are old.
AGE = "now() - case when i between 4 and 6 then interval '10 days' else interval '1 hour' end"
OF_HUNDRED = "id((i - 1) / 100 + 1)"
COLUMNS = {
    "tenants": {"tenant_id": "id(i)"},
    "audit_heads": {"tenant_id": "id(i)", "seq": "100"},
    "audit_log": {"seq": "i", "kind": "'bound'"},
    "tenant_keys": {"tenant_id": "id(i)"},
    "gateway_secrets": {},
    "gateways": {"revoked_at": "case when i < 4 then now() end"},
    "oauth_clients": {},
    "bots": {"platform": "'telegram'"},
    "scope_grants": {
        "bot_id": OF_HUNDRED,
        "scope_id": "'t' || i",
        "chat_id": "case when i < 4 then '*' else 't' || i end",
        "principal": "'any'",
    },
    "reach_heads": {"version": "100"},
    "reach_changes": {"bot_id": OF_HUNDRED, "version": "i", "author_id": "'t' || i"},
    "bindings": {"bot_id": OF_HUNDRED},
    "listed_authors": {"bot_id": OF_HUNDRED},
    "inbox_heads": {"next_seq": "1000", "bytes": "1000000000"},
    "agents": {},
    "relevance_policies": {"platform": "'telegram'"},
    "reached": {},
    "inbox_parked": {"reason": "'full'"},
    "inbox_cursors": {},
    "quotas": {"tenant_id": "id(i)", "quota": "'agents'"},
    # Agents with an even number have none.
    "inbox_entries": {
        "tenant_id": "id((i - 1) / 5000 + 1)",
        "agent_id": "id((i - 1) / 100 * 2 + 1)",
        "seq": "i",
        "at": "now()",
    },
    "dedupe_keys": {"day": "current_date - i % 2"},
    "lines": {
        "node": "case when i = 2 then 'n0' else 'n1' end",
        "closed_at": "case when i % 2 = 1 then now() end",
    },
    "nodes": {"node": "'n' || i", "expires_at": "now() + interval '1 day'"},
    "owners": {"resource": "'bot/' || id(i)", "node": "'n1'"},
    "sends": {
        "state": "case i when 1 then 'asked' when 2 then 'calling' else 'settled' end",
        "node": "case when i <> 1 then 'n0' end",
        "node_epoch": "1",
        "called_at": "now()",
        "receipt": "case when i > 2 then sha256('') end",
    },
    "wakes": {
        "state": "case when i < 4 then 'due' else 'settled' end",
        "due_at": "case when i < 4 then now() when i % 10 = 0 then now() + interval '1 day' end",
    },
    "wakers": {},
    "schedules": {
        "job_id": "'j' || i",
        "next_at": "case when i between 4 and 6 then null when i < 4 then now() else now() + interval '1 day' end",
        "watch_at": "case when i < 4 then now() end",
        "reports": "true",
        "overlap": "'skip'",
        "changed_at": AGE,
    },
    "fires": {
        "job_id": "'j' || i",
        "state": "case when i < 4 then 'open' else 'fired' end",
        "next_at": "case when i < 4 then now() end",
        "ended_at": f"case when i > 3 then {AGE} end",
        "reports": "true",
    },
    "letters": {
        "to_tenant_id": "id((i - 1) / 100 + 1)",
        "to_agent_id": "id(i + 1)",
        "route": "'deliver'",
        "kind": "'augment'",
        "state": "'put'",
        "sent_at": AGE,
    },
    "letters_in": {"put_at": AGE},
    "letter_grants": {"peer_tenant_id": "id((i - 1) / 100 + 2)", "peer_agent_id": "id(i + 100)"},
}
# Tables that stay small at every desk.
ROWS_MAX = {"nodes": ROWS_FIRST}

BY_TYPE = {
    "uuid": "id(i)",
    "text": "'t' || i",
    "bytea": "sha256(i::text::bytea)",
    "timestamp with time zone": "now() - interval '1 hour'",
    "boolean": "false",
    "integer": "1",
    "bigint": "1",
    "text[]": "'{}'",
}


class Cluster:
    """A PostgreSQL of this run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.user = {"user": "postgres"} if os.geteuid() == 0 else {}

    @classmethod
    @contextmanager
    def start(cls) -> Iterator["Cluster"]:
        """Runs a server, on a socket in a temporary folder only, until the block ends."""
        with tempfile.TemporaryDirectory(prefix="planner-hints-") as name:
            cluster = cls(Path(name))
            if cluster.user:
                subprocess.run(["chown", "postgres", name], check=True)
            settings = " ".join(f"-c {setting}" for setting in SERVER_SETTINGS)
            data = ["-D", f"{name}/data"]
            cluster.run("initdb", *data, "-U", "postgres", "-A", "trust", "--no-sync")
            cluster.run("pg_ctl", *data, "-w", "-l", f"{name}/log", "-o", f"-k {name} {settings}", "start")
            try:
                yield cluster
            finally:
                cluster.run("pg_ctl", *data, "-w", "-m", "immediate", "stop")

    def run(self, program: str, *arguments: str) -> None:
        """Runs a program of the server."""
        subprocess.run([BIN / program, *arguments], cwd="/", stdout=subprocess.DEVNULL, check=True, **self.user)

    def psql(self, database: str, *sql: str, options: str = "", arguments: tuple[str, ...] = ()) -> list[list[str]]:
        """Runs statements in one session and returns their rows."""
        command = [BIN / "psql", "-XqAt", "-F", "|", "-v", "ON_ERROR_STOP=1", "-h", self.folder, "-U", "postgres"]
        command += ["-d", database, *arguments]
        env = os.environ | {"PGOPTIONS": options}
        run = subprocess.run(command, input=";\n".join(sql), env=env, stdout=subprocess.PIPE, text=True, check=True)
        return [line.split("|") for line in run.stdout.splitlines()]

    def migrate(self, database: str) -> None:
        """Creates a database with all migrations."""
        self.psql("postgres", f"create database {database}")
        self.psql(database, arguments=("-f", str(REPO / "crates/store-pg/roles.sql")))
        for migration in sorted((REPO / "crates/store-pg/migrations").glob("*.sql")):
            self.psql(database, options="-c role=nightdesk_owner", arguments=("-1", "-f", str(migration)))
        self.psql(database, arguments=("-f", str(REPO / "testing/planner-hints.sql")))


def read_hints(cluster: Cluster) -> dict[str, tuple[str, list[str]]]:
    """Returns the signature and the planner settings of each function that has some."""
    rows = cluster.psql(
        "migrated",
        "select p.proname, p.oid::regprocedure, split_part(c, '=', 1) from pg_proc p, unnest(p.proconfig) c "
        "where c ~ '^(enable_|plan_cache_mode)' order by p.oid, 3",
    )
    hints: dict[str, tuple[str, list[str]]] = {}
    for name, signature, setting in rows:
        hints.setdefault(name, (signature, []))[1].append(setting)
    return hints


def fill_statements(cluster: Cluster, first: str, last: str) -> list[str]:
    """Returns statements that add the rows of these numbers to every table."""
    statements = ["set session_replication_role = replica"]
    for table, given in COLUMNS.items():
        rows = cluster.psql(
            "migrated",
            "select attname, format_type(atttypid, null) from pg_attribute "
            f"where attrelid = '{table}'::regclass and attnum > 0 and attnotnull "
            "and (not atthasdef or atttypid = 'uuid'::regtype)",
        )
        values = {name: BY_TYPE.get(kind, "null") for name, kind in rows}
        if "tenant_id" in values:
            values["tenant_id"] = OF_HUNDRED
        values |= given
        upto = f"least({last}, {ROWS_MAX[table]})" if table in ROWS_MAX else last
        statements.append(
            f"insert into {table} ({', '.join(values)}) select {', '.join(values.values())} "
            f"from generate_series({first}, {upto}) i"
        )
    return statements


class Bench:
    """The measurements of one run."""

    def __init__(self, cluster: Cluster, hints: dict[str, tuple[str, list[str]]], rows: int) -> None:
        self.cluster = cluster
        self.hints = hints
        self.few = fill_statements(cluster, "1", str(ROWS_FIRST))
        many = fill_statements(cluster, str(ROWS_FIRST + 1), str(rows))
        self.fill_file = cluster.folder / "fill.sql"
        self.fill_file.write_text(";\n".join(many) + ";\n")

    def calls(self, functions: list[str], times: int) -> list[str]:
        """Returns statements that call functions as the desk does."""
        begin = ["set role nightdesk_app", f"set statement_timeout = '{STATEMENT_SECONDS_MAX}s'"]
        begin.append("select set_config('app.tenants', array[id(1), id(2)]::text, false) \\g /dev/null\n")
        measured = []
        for name in functions:
            call = CALLS[name].replace("'", "''")
            measured.append(f"select '{name}', least_ms('{call}', {times})")
        return [*begin, *measured, "reset role", "reset statement_timeout"]

    def measure(self, omitted: set[str] | None, functions: list[str]) -> dict[str, dict[str, float]]:
        """Returns milliseconds by situation and function, without some settings (None: without any)."""
        database = "without_" + ("all" if omitted is None else "_".join(sorted(omitted)) or "none")
        self.cluster.psql("postgres", f"create database {database} template migrated")
        resets = [
            f"alter function {signature} reset {setting}"
            for signature, settings in self.hints.values()
            for setting in settings
            if omitted is None or setting in omitted
        ]
        self.cluster.psql(database, *resets, *self.few)
        times = {}
        for situation in ("grown", "small"):
            first = ["vacuum analyze"] if situation == "small" else []
            copy = f"{database}_{situation}"
            self.cluster.psql("postgres", f"create database {copy} template {database}")
            # Another session fills the tables: a change of the replication role drops the plans of its session.
            fill = f"\\! {BIN}/psql -XqAt -h {self.cluster.folder} -U postgres -d {copy} -f {self.fill_file}\n"
            session = [*first, *self.calls(functions, CALLS_FIRST), fill + "select 'full', 0"]
            answers = self.cluster.psql(copy, *session, *self.calls(functions, CALLS_GROWN))
            begin = answers.index(["full", "0"])
            times[situation] = {name: float(ms) for name, ms in answers[begin + 1 :]}
        copy = f"{database}_grown"
        self.cluster.psql(copy, "vacuum analyze")
        answers = self.cluster.psql(copy, *self.calls(functions, CALLS_ANALYZED))
        times["analyzed"] = {name: float(ms) for name, ms in answers}
        for copy in (f"{database}_grown", f"{database}_small", database):
            self.cluster.psql("postgres", f"drop database {copy}")
        return times


def is_needed(name: str, ratios: dict[str, float]) -> bool:
    """Returns true if a function is too slow without the settings that were left out."""
    return any(ratio >= RATIO_MIN for situation, ratio in ratios.items() if situation != "small" or name in HOT)


def take_least(one: dict[str, dict[str, float]], other: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """Returns the lesser milliseconds of two measurements."""
    return {key: {name: min(ms, other[key][name]) for name, ms in times.items()} for key, times in one.items()}


def compare(with_all: dict[str, dict[str, float]], without: dict[str, dict[str, float]], name: str) -> dict[str, float]:
    """Returns the ratios of a function by situation; differences within the noise count as none."""
    ratios = {}
    for situation, times in without.items():
        before, after = with_all[situation][name], times[name]
        ratios[situation] = after / before if abs(after - before) > NOISE_MS else 1.0
    return ratios


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--each", action="store_true", help="also leave out one setting at a time")
    parser.add_argument("functions", nargs="*")
    arguments = parser.parse_args()
    with Cluster.start() as cluster:
        cluster.migrate("migrated")
        hints = read_hints(cluster)
        names = [name for name in hints if name in (arguments.functions or hints)]
        if unknown := sorted(set(names) - set(CALLS)):
            sys.exit(f"no call is known for {', '.join(unknown)}: add one to CALLS, and the tables it reads to COLUMNS")
        bench = Bench(cluster, hints, arguments.rows)
        several = [name for name in names if len(hints[name][1]) > 1]
        single = sorted({setting for name in several for setting in hints[name][1]}) if arguments.each else []
        before = bench.measure(set(), names)
        runs = [("all", names, bench.measure(None, names))]
        runs += [(setting, several, bench.measure({setting}, several)) for setting in single]
        # Measured twice, so that other work on the machine does not favour one side.
        with_all = take_least(before, bench.measure(set(), names))
    needed = set()
    for omitted, functions, without in runs:
        for name in functions:
            if omitted != "all" and omitted not in hints[name][1]:
                continue
            ratios = compare(with_all, without, name)
            if omitted == "all" and is_needed(name, ratios):
                needed.add(name)
            cells = [
                f"{situation} {with_all[situation][name]:.2f} {without[situation][name]:.2f} {ratio:.1f}"
                for situation, ratio in ratios.items()
            ]
            word = "keep" if is_needed(name, ratios) else "drop"
            settings = ",".join(hints[name][1]) if omitted == "all" else omitted
            print(f"{word} {name} [{settings}]: {'; '.join(cells)}")
    print(f"planner-hints: functions={len(names)} kept={len(needed)} dropped={len(names) - len(needed)}")


if __name__ == "__main__":
    main()
