-- Fills the inboxes of the crowd, with entries of the last ten hours. The first agent of the largest tenant has more
-- entries than others, and they wait. Of twenty agents, four have waiting entries and two have parked ones.
set local work_mem = '256MB';

create temporary table crowd as
select c.*, c.entries - c.waiting as acked
from (
    select a.tenant_id, a.agent_id, b.bot_id, n.number, n.number::integer as n, n.number::integer % 20 as kind,
        :each + d.more as entries,
        case when n.number::integer % 20 between 10 and 13 then least(3, :each) else d.more end as waiting,
        case when n.number::integer % 20 between 14 and 15 then least(2, :each) else 0 end as parked
    from agents a
        join tenants t on t.tenant_id = a.tenant_id
        join bots b on b.tenant_id = a.tenant_id and b.handle = 'crowd'
        cross join lateral (select right(a.name, 6) as number) as n
        cross join lateral (
            select case when t.name not like 'crowd-%' and n.number = '000000' then :more else 0 end as more
        ) as d
    where a.name like 'crowd-%'
) as c;
create index on crowd (tenant_id, n);
analyze crowd;

-- The time at which an entry was accepted.
create function pg_temp.entry_at(n integer, entries integer, seq integer) returns timestamptz
language sql stable as $$
    select now() - make_interval(mins => 1, secs => n % 600 + (entries - seq) * 36000.0 / entries)
$$;

-- A body as long as the sealed one of a usual message. It opens with no key.
create function pg_temp.body_of(number text, seq integer) returns bytea language sql immutable as $$
    select decode(repeat(md5(number || '/' || seq), 39), 'hex')
$$;

insert into inbox_entries
    (tenant_id, agent_id, seq, at, bot_id, chat_id, body, key_id, body_id, bytes_before)
select e.tenant_id, e.agent_id, e.seq, e.at, e.bot_id, 'c' || e.number, pg_temp.body_of(e.number, e.seq), 1,
    gen_random_uuid(), (e.seq - 1) * body_bytes(pg_temp.body_of(e.number, e.seq))
from (
    select c.*, seq, pg_temp.entry_at(c.n, c.entries, seq) as at
    from crowd c cross join generate_series(1, c.entries) seq
    order by 8, at
) as e;

insert into inbox_parked
    (tenant_id, agent_id, seq, at, bot_id, chat_id, body, key_id, body_id, reason, parked_at)
select c.tenant_id, c.agent_id, seq, a.at, c.bot_id, 'c' || c.number, pg_temp.body_of(c.number, seq), 1,
    gen_random_uuid(), (array['tries', 'expired', 'rate-limit', 'unreadable'])[1 + c.n / 20 % 4],
    a.at + interval '30 s'
from crowd c
    cross join generate_series(c.entries - c.parked + 1, c.entries) seq
    cross join lateral (select pg_temp.entry_at(c.n, c.entries, seq) as at) as a;

update inbox_heads h
set next_seq = c.entries + 1, last_at = pg_temp.entry_at(c.n, c.entries, c.entries),
    bytes = c.entries * body_bytes(pg_temp.body_of(c.number, 1))
from crowd c where h.tenant_id = c.tenant_id and h.agent_id = c.agent_id;

update inbox_cursors k
set acked_seq = c.acked, generation = 1,
    acked_at = case when c.acked > 0 then pg_temp.entry_at(c.n, c.entries, c.acked) else k.acked_at end
from crowd c where k.tenant_id = c.tenant_id and k.agent_id = c.agent_id;

insert into inbox_acks (tenant_id, agent_id, from_seq, to_seq, generation, handed_at, acked_at)
select c.tenant_id, c.agent_id, 1, c.acked - c.parked, 1, a.at + interval '1 s', a.at + interval '2 s'
from crowd c
    cross join lateral (select pg_temp.entry_at(c.n, c.entries, c.acked - c.parked) as at) as a
where c.acked > c.parked;

-- Half of the agents were woken three times. Of those for which something waits, half were given up, and half are called
-- again later.
insert into lines
    (tenant_id, agent_id, gateway_id, generation, node, node_epoch, opened_at, closed_at, parting, awake_ms)
select c.tenant_id, c.agent_id, g.gateway_id, 1, 'node-1', 0, now() - interval '5 minutes',
    now() - interval '3 minutes', 'idle', 360000
from crowd c join gateways g on g.tenant_id = c.tenant_id and g.agent_id = c.agent_id
where c.kind < 10;

insert into wakes
    (tenant_id, agent_id, state, since, due_at, calls, called_at, outcome, woken_at, ended_count)
select c.tenant_id, c.agent_id, w.state, now() - interval '6 minutes',
    case w.state when 'due' then now() + interval '6 hours' end, case w.state when 'woken' then 1 else 5 end,
    now() - interval '5 minutes', case w.state when 'woken' then 'status 204' else 'status 503' end,
    case w.state when 'woken' then now() - interval '5 minutes' end, case w.state when 'woken' then 3 else 0 end
from crowd c
    cross join lateral (
        select case when c.kind < 10 then 'woken' when c.kind < 12 then 'unreachable' else 'due' end as state
    ) as w
where c.kind < 14;

insert into wake_log
    (tenant_id, agent_id, slot, number, since, calls, called_at, outcome, woken_at, ended_at)
select c.tenant_id, c.agent_id, w.number, w.number, w.at, 1, w.at + interval '1 s', 'status 204',
    w.at + interval '3 s', w.at + interval '3 s'
from crowd c
    cross join lateral (
        select number, now() - interval '6 minutes' - (3 - number) * interval '3 hours' as at
        from generate_series(1, 3) number
    ) as w
where c.kind < 10
