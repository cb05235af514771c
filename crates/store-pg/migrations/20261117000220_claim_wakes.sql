-- A node claims wakes in one transaction: it locks rows that are due and reads the facts, decides by the rules of
-- `nightdesk-wake`, and writes the rows back.

-- Tells the owner of an agent something. A ring.
create function notice(
    p_tenant uuid, p_agent uuid, p_kind text, p_outcome text, p_calls integer, kept_max bigint
) returns void language sql as $$
    with head as (
        insert into notice_heads as h (tenant_id, next_number) values (p_tenant, 1)
        on conflict (tenant_id) do update set next_number = h.next_number + 1
        returning h.next_number
    )
    insert into notices (tenant_id, slot, number, at, kind, agent_id, outcome, calls)
    select p_tenant, head.next_number % kept_max, head.next_number, clock_timestamp(), p_kind,
        p_agent, p_outcome, p_calls
    from head
    on conflict (tenant_id, slot) do update
    set number = excluded.number, at = excluded.at, kind = excluded.kind,
        agent_id = excluded.agent_id, outcome = excluded.outcome, calls = excluded.calls
$$;

-- Where the oldest entries came from that wait for an agent.
create function wake_places(p_tenant uuid, p_agent uuid, places_max integer, out bots uuid[], out chats text[])
language sql stable as $$
    select coalesce(array_agg(p.bot_id), '{}'), coalesce(array_agg(p.chat_id), '{}')
    from (
        select e.bot_id, e.chat_id from (
            select e.bot_id, e.chat_id, e.seq
            from inbox_cursors c
                join inbox_entries e on e.tenant_id = c.tenant_id and e.agent_id = c.agent_id
            where c.tenant_id = p_tenant and c.agent_id = p_agent
              and e.at >= c.acked_at and e.seq > c.acked_seq and not e.seq <@ c.ahead
            order by e.seq limit 64
        ) as e
        group by 1, 2 order by min(e.seq) limit places_max
    ) as p
$$;

-- Locks wakes that are due, at most so many, or the one of an agent, and returns them with the facts that their next
-- steps depend on. Several nodes share the work: a wake that another transaction has locked is skipped. From then on the
-- transaction works for the tenants of these wakes. Over all tenants: a door.
create function lock_due_wakes(
    p_tenant uuid, p_agent uuid, wakes_max integer, places_max integer
) returns table (
    now_at timestamptz, tenant uuid, agent uuid, state text, since timestamptz, due_at timestamptz,
    calls integer, called_at timestamptz, outcome text, rests_until timestamptz,
    woken_at timestamptz, suspect_generation bigint, suspect_acked_seq bigint, asked boolean,
    hour_began_at timestamptz, hour_wakes integer,
    -- Null: the agent has no line that is open on a node that lives.
    line_generation bigint, line_opened_at timestamptz,
    acked_seq bigint, parting text, urls text[], bots uuid[], chats text[]
) language plpgsql security definer
set search_path = public, pg_temp set enable_seqscan = off as $$
#variable_conflict use_column
declare
    v_now    timestamptz := clock_timestamp();
    v_tenant uuid[];
    v_agent  uuid[];
begin
    if p_agent is null then
        select array_agg(d.tenant_id), array_agg(d.agent_id) into v_tenant, v_agent
        from (
            select w.tenant_id, w.agent_id from wakes w
            where w.due_at <= v_now
            order by w.due_at limit wakes_max for update skip locked
        ) as d;
    else
        select array[w.tenant_id], array[w.agent_id] into v_tenant, v_agent
        from wakes w
        where w.tenant_id = p_tenant and w.agent_id = p_agent and w.due_at <= v_now
        for update skip locked;
    end if;
    if v_tenant is null then
        return;
    end if;
    perform set_config('app.tenants', v_tenant::text, true);
    v_now := clock_timestamp();
    -- A new statement: it sees what the transaction that held a row before did.
    return query
    select v_now, w.tenant_id, w.agent_id, w.state, w.since, w.due_at, w.calls, w.called_at,
        w.outcome, w.rests_until, w.woken_at, w.suspect_generation, w.suspect_acked_seq, w.asked,
        w.hour_began_at, w.hour_wakes,
        case when l.closed_at is null and node_lives(l.node, l.node_epoch) then l.generation end,
        l.opened_at, c.acked_seq, l.parting,
        array(
            select k.url from wakers k
            where k.tenant_id = w.tenant_id and k.agent_id = w.agent_id order by k.position
        ),
        p.bots, p.chats
    from unnest(v_tenant, v_agent) with ordinality as d (tenant, agent, nth)
        join wakes w on w.tenant_id = d.tenant and w.agent_id = d.agent
        left join inbox_cursors c on c.tenant_id = d.tenant and c.agent_id = d.agent
        left join lines l on l.tenant_id = d.tenant and l.agent_id = d.agent
        cross join lateral wake_places(d.tenant, d.agent, places_max) as p
    order by d.nth;
end
$$;
alter function lock_due_wakes(uuid, uuid, integer, integer) owner to nightdesk_doors;
