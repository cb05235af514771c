-- Wakes become due in the accept. The desk makes them due when a line ends, when one is suspect, and when a person
-- asks, by the rules of `nightdesk-wake`. `wake_sleepers` and `line_take` are parts of hot statements and repeat two of
-- those rules, `WakeRow::need` and `WakeRow::dial_in`; a test compares them.
--
-- Locks, after those of the accept: a head, its cursor, its line, its wake. An accept holds the head
-- when it looks for a line, and a line that ends holds it when it looks for entries: whoever comes
-- second sees what the other did.

-- When a life of a node ended, as far as it did.
create function node_ended_at(p_node text, p_epoch bigint) returns timestamptz
language sql stable as $$
    select case when n.epoch = p_epoch then least(n.expires_at, clock_timestamp())
        else n.started_at end
    from nodes n where n.node = p_node
$$;

-- Makes a wake due for each of these agents that has no line, and answers which those are. Nobody
-- is called while the client of a line that just ended may come back by itself.
create function wake_sleepers(a_tenant uuid[], a_agent uuid[])
returns table (tenant uuid, agent uuid, held boolean)
language plpgsql
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
    now_at   timestamptz := clock_timestamp();
    s_tenant uuid[];
    s_agent  uuid[];
    s_due    timestamptz[];
begin
    select array_agg(a.tenant), array_agg(a.agent), array_agg(greatest(
            now_at, coalesce(l.closed_at, node_ended_at(l.node, l.node_epoch)) + l.grace
        ))
    into s_tenant, s_agent, s_due
    from (
        select distinct a.tenant, a.agent from unnest(a_tenant, a_agent) as a (tenant, agent)
        order by 1, 2
    ) as a
        left join lines l on l.tenant_id = a.tenant and l.agent_id = a.agent
    where l.closed_at is not null or not exists (
        select from nodes n
        where n.node = l.node and n.epoch = l.node_epoch and n.expires_at > now_at
    );
    if s_tenant is null then
        return;
    end if;

    -- One that is due already is left as it is, but locked: whoever claims it sees our entry.
    insert into wakes as w (tenant_id, agent_id, state, since, due_at)
    select s.tenant, s.agent, 'due', now_at, s.due
    from unnest(s_tenant, s_agent, s_due) as s (tenant, agent, due)
    on conflict (tenant_id, agent_id) do update
    set state = 'due', since = excluded.since, due_at = greatest(excluded.due_at, w.rests_until),
        calls = 0, outcome = null, suspect_generation = null
    where w.state not in ('due', 'held');

    return query
    select w.tenant_id, w.agent_id, w.state = 'held'
    from unnest(s_tenant, s_agent) as s (tenant, agent)
        join wakes w on w.tenant_id = s.tenant and w.agent_id = s.agent;
end
$$;

-- Whether something waits for an agent that its line could be given.
create function inbox_waits(p_tenant uuid, p_agent uuid) returns boolean
language plpgsql
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
begin
    return exists (
        select from inbox_cursors c
            join inbox_entries e on e.tenant_id = c.tenant_id and e.agent_id = c.agent_id
        where c.tenant_id = p_tenant and c.agent_id = p_agent
          and e.at >= c.acked_at and e.seq > c.acked_seq and not e.seq <@ c.ahead
    );
end
$$;

-- Closes a line, and, if it was in vain for the oldest waiting entry, counts one try of it. Returns the time of the end
-- if the line was open and an entry waits for its agent: then the desk makes a wake due.
create function line_close(
    p_tenant uuid, p_agent uuid, p_generation bigint, p_code integer, p_tried bigint,
    p_parting text, p_grace interval
) returns timestamptz language plpgsql as $$
declare
    ended_at timestamptz;
begin
    perform from inbox_heads h
    where h.tenant_id = p_tenant and h.agent_id = p_agent for update;
    -- Also for a line that was replaced: that the client dialled again is the very sign.
    update inbox_cursors c
    set tries = case when c.tried_seq = p_tried then c.tries + 1 else 1 end, tried_seq = p_tried
    where c.tenant_id = p_tenant and c.agent_id = p_agent
      and p_tried > c.acked_seq and not p_tried <@ c.ahead;
    update lines l
    set closed_at = clock_timestamp(), close_code = p_code, parting = p_parting, grace = p_grace
    where l.tenant_id = p_tenant and l.agent_id = p_agent and l.generation = p_generation
      and l.closed_at is null
    returning l.closed_at into ended_at;
    if ended_at is null or not inbox_waits(p_tenant, p_agent) then
        return null;
    end if;
    return ended_at;
end
$$;

-- Gives an agent's newest line its number, and fences every older one: the agent is awake. The
-- oldest waiting entry is set aside first if it was handed over often enough.
drop function line_take(uuid, uuid, uuid, text, bigint, integer);
create function line_take(
    p_tenant uuid, p_agent uuid, p_gateway uuid, p_node text, p_node_epoch bigint, tries_max integer,
    -- The grace if its node dies.
    p_grace interval default '35 seconds'
) returns table (
    generation bigint, acked_seq bigint, acked_at timestamptz, head_seq bigint,
    ended_ago_ms bigint, parked_seq bigint
) language plpgsql as $$
#variable_conflict use_column
declare
    mine   inbox_cursors;
    before lines;
    parked bigint;
begin
    select c.* into strict mine from inbox_cursors c
    where c.tenant_id = p_tenant and c.agent_id = p_agent for update;
    select l.* into before from lines l where l.tenant_id = p_tenant and l.agent_id = p_agent;

    if mine.tries >= tries_max and set_aside(p_tenant, p_agent, mine.tried_seq, 'tries') then
        parked := mine.tried_seq;
    end if;
    update inbox_cursors c
    set generation = c.generation + 1, tries = case when parked is null then c.tries else 0 end
    where c.tenant_id = p_tenant and c.agent_id = p_agent
    returning c.* into mine;
    insert into lines
        (tenant_id, agent_id, gateway_id, generation, node, node_epoch, opened_at, grace)
    values (p_tenant, p_agent, p_gateway, mine.generation, p_node, p_node_epoch, clock_timestamp(),
        p_grace)
    on conflict (tenant_id, agent_id) do update
    set gateway_id = excluded.gateway_id, generation = excluded.generation, node = excluded.node,
        node_epoch = excluded.node_epoch, opened_at = excluded.opened_at, grace = excluded.grace,
        closed_at = null, close_code = null, parting = null;
    update wakes w
    set state = 'woken', woken_at = clock_timestamp(), due_at = null, asked = false,
        suspect_generation = null
    where w.tenant_id = p_tenant and w.agent_id = p_agent
      and w.state in ('due', 'held', 'unreachable');

    return query select mine.generation, mine.acked_seq, mine.acked_at,
        (select h.next_seq - 1 from inbox_heads h
         where h.tenant_id = p_tenant and h.agent_id = p_agent),
        -- 1012: the desk restarted. Otherwise the gateway may be a new process, however soon it comes.
        case when before.gateway_id = p_gateway and before.close_code = 1012 then
            (extract(epoch from clock_timestamp() - before.closed_at) * 1000)::bigint
        end,
        parked;
end
$$;

-- The accept as it was, under another name, ...
alter function inbox_accept(
    uuid[], uuid[], uuid[], bytea[], text[], boolean[], text[], bigint[], text[],
    integer[], uuid[], uuid[], bigint[], bytea[], bigint[], bigint, integer
) rename to inbox_store;

-- ... and, while it still holds the heads, a look at who of the recipients has no line. In a
-- statement of its own: what the heads were waited for is only seen by a new one.
create function inbox_accept(
    tenants     uuid[],
    e_operator  uuid[],
    e_bot       uuid[],
    e_key       bytea[],
    e_chat      text[],
    e_unsendable boolean[],
    e_source    text[],
    e_epoch     bigint[],
    e_cursor    text[],
    r_event     integer[],
    r_tenant    uuid[],
    r_agent     uuid[],
    r_version   bigint[],
    r_body      bytea[],
    r_key_id    bigint[],
    entries_max bigint,
    dedupe_days integer
) returns table (
    event integer, outcome text, tenant uuid, agent uuid, seq bigint, at timestamptz,
    parked boolean,
    -- Null: it has a line, or was handed nothing.
    presence text
)
language plpgsql as $$
#variable_conflict use_column
declare
    s_event integer[]; s_outcome text[]; s_tenant uuid[]; s_agent uuid[]; s_seq bigint[];
    s_at timestamptz[]; s_parked boolean[];
    z_tenant uuid[]; z_agent uuid[]; z_held boolean[];
begin
    select array_agg(s.event), array_agg(s.outcome), array_agg(s.tenant), array_agg(s.agent),
        array_agg(s.seq), array_agg(s.at), array_agg(s.parked)
    into s_event, s_outcome, s_tenant, s_agent, s_seq, s_at, s_parked
    from inbox_store(
        tenants, e_operator, e_bot, e_key, e_chat, e_unsendable, e_source, e_epoch, e_cursor,
        r_event, r_tenant, r_agent, r_version, r_body, r_key_id, entries_max, dedupe_days
    ) as s;
    if false = any (s_parked) then
        select array_agg(z.tenant), array_agg(z.agent), array_agg(z.held)
        into z_tenant, z_agent, z_held
        from wake_sleepers(
            array(select s.t from unnest(s_tenant, s_parked) as s (t, parked) where not s.parked),
            array(select s.a from unnest(s_agent, s_parked) as s (a, parked) where not s.parked)
        ) as z;
    end if;
    return query
    select s.event, s.outcome, s.tenant, s.agent, s.seq, s.at, s.parked, (
            select case when z.held then 'held' else 'asleep' end
            from unnest(z_tenant, z_agent, z_held) as z (tenant, agent, held)
            where z.tenant = s.tenant and z.agent = s.agent and not s.parked
        )
    from unnest(s_event, s_outcome, s_tenant, s_agent, s_seq, s_at, s_parked)
        as s (event, outcome, tenant, agent, seq, at, parked);
end
$$;

-- Puts a parked entry into its inbox again, once, under the next number.
create or replace function inbox_resubmit(p_tenant uuid, p_agent uuid, p_seq bigint)
returns table (seq bigint, at timestamptz) language plpgsql as $$
#variable_conflict use_column
declare
    aside inbox_parked;
    mine  inbox_heads;
begin
    select p.* into aside from inbox_parked p
    where p.tenant_id = p_tenant and p.agent_id = p_agent and p.seq = p_seq
      and p.resubmitted_as is null
    for update;
    if not found then
        return;
    end if;
    update inbox_heads h
    set next_seq = h.next_seq + 1, last_at = greatest(h.last_at, clock_timestamp())
    where h.tenant_id = p_tenant and h.agent_id = p_agent
    returning h.* into strict mine;
    insert into inbox_entries (tenant_id, agent_id, seq, at, bot_id, chat_id, body, key_id)
    values (p_tenant, p_agent, mine.next_seq - 1, mine.last_at, aside.bot_id, aside.chat_id,
        aside.body, aside.key_id);
    update inbox_parked p set resubmitted_as = mine.next_seq - 1
    where p.tenant_id = p_tenant and p.agent_id = p_agent and p.seq = p_seq;
    perform wake_sleepers(array[p_tenant], array[p_agent]);
    return query select mine.next_seq - 1, mine.last_at;
end
$$;
