"""The agent's texts in the scenes."""

SHORT = "Good evening! **Lisbon** is at 19 °C and clear. Shall I look at the weekend too?"

LONG = """Here is how I would set it up, step by step.

## 1. Take the readings

Use one table, *append only*, and never update a row:

```sql
create table readings (
    station  uuid        not null references stations (id) on delete restrict, -- a station is never removed while it has readings
    taken_at timestamptz not null default clock_timestamp(),
    celsius  numeric(5, 2) not null check (celsius between -90 and 60),
    primary key (station, taken_at)
);
```

## 2. Read them back

1. Ask for the **newest** first.
2. Stop at the first one that is older than an hour.
3. If there is none, say so: `no reading since 14:05`.

| station | last reading | state |
| --- | --- | --- |
| Lisbon | 19.2 °C | ok |
| Reykjavík | 3.8 °C | ok |
| Ulaanbaatar | – | silent since Tuesday |

> A silent station is not a cold one.

The whole thing, with tests, is at https://example.org/a/rather/long/address/that/must/wrap/somewhere/because/it/is/long.
And one word that has no end: Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft.
"""

NASTY = """<script>document.title = "owned"</script>
<img src=x onerror="document.title='owned'">
[click](javascript:document.title='owned') <b onclick="x">bold?</b>
"""
