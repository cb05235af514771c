-- Reading what waits, acknowledging it, setting it aside, and the line that does so.

-- Gathered read: what each line's agent has not acknowledged, in order. A line that was
-- replaced gets a row without an entry.
create function inbox_waiting(
    tenants       uuid[],
    a_tenant      uuid[],
    a_agent       uuid[],
    a_generation  bigint[],
    a_after       bigint[],
    a_since       timestamptz[],
    a_entries_max integer[],
    bytes_max     bigint
) returns table (
    ask integer, replaced boolean, seq bigint, at timestamptz, bot uuid, chat text,
    body bytea, key_id bigint
)
language plpgsql
set enable_seqscan = off
set enable_bitmapscan = off
set enable_material = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
    perform set_config('app.tenants', tenants::text, true);
    return query
    select a.o::integer, c.generation <> a.generation, e.seq, e.at, e.bot_id, e.chat_id,
        e.body, e.key_id
    from unnest(a_tenant, a_agent, a_generation, a_after, a_since, a_entries_max)
            with ordinality as a (tenant, agent, generation, after, since, entries_max, o)
        join inbox_cursors c on c.tenant_id = a.tenant and c.agent_id = a.agent
        left join lateral (
            select w.* from (
                select i.*,
                    sum(octet_length(i.body)) over (order by i.seq) - octet_length(i.body) as before
                from (
                    select i.* from inbox_entries i
                    where i.tenant_id = a.tenant and i.agent_id = a.agent
                      -- The cursor's time prunes partitions; its number decides.
                      and i.at >= greatest(a.since, c.acked_at)
                      and i.seq > greatest(a.after, c.acked_seq)
                      and not i.seq <@ c.ahead
                    order by i.seq
                    limit a.entries_max
                ) as i
            ) as w
            where w.before < bytes_max
        ) as e on c.generation = a.generation
    order by a.o, e.seq;
end
$$;

-- Where a cursor stands when `done` is dealt with too: after all that is whole. It never goes
-- back. It is a table of one row, so that it becomes part of the statement that calls it.
create function cursor_after(acked_seq bigint, done int8multirange)
returns table (seq bigint, ahead int8multirange) language sql immutable as $$
    select whole.seq, done - int8multirange(int8range(null, whole.seq + 1))
    from (
        select upper(r) - 1 as seq
        from unnest(done + int8multirange(int8range(0, acked_seq + 1))) as r
        order by r limit 1
    ) as whole
$$;

-- Gathered ack. Acks of a replaced line change nothing.
create function inbox_ack(
    tenants      uuid[],
    a_tenant     uuid[],
    a_agent      uuid[],
    a_generation bigint[],
    -- ranges
    r_ack        integer[],
    r_from       bigint[],
    r_to         bigint[],
    r_at         timestamptz[],
    r_handed_at  timestamptz[]
) returns table (ack integer, acked_seq bigint)
language plpgsql
set enable_seqscan = off
set enable_bitmapscan = off
set enable_material = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
    now_at timestamptz := clock_timestamp();
begin
    perform set_config('app.tenants', tenants::text, true);
    return query
    with a as materialized (
        select a.* from unnest(a_tenant, a_agent, a_generation)
            with ordinality as a (tenant, agent, generation, o)
    ), r as materialized (
        select r.* from unnest(r_ack, r_from, r_to, r_at, r_handed_at)
            as r (o, from_seq, to_seq, at, handed_at)
    ), locked as materialized (
        select c.tenant_id, c.agent_id, c.acked_seq, c.acked_at, c.ahead, c.generation
        from a join inbox_cursors c on c.tenant_id = a.tenant and c.agent_id = a.agent
        order by c.tenant_id, c.agent_id
        for update of c
    ), counting as materialized (
        select a.o, l.*, l.ahead + coalesce((
                select range_agg(int8range(r.from_seq, r.to_seq + 1)) from r where r.o = a.o
            ), '{}') as done
        from a join locked l on l.tenant_id = a.tenant and l.agent_id = a.agent
        where l.generation = a.generation
    ), moved as materialized (
        select k.o, k.tenant_id, k.agent_id, m.seq, m.ahead,
            greatest(k.acked_at, (select max(r.at) from r where r.o = k.o and r.to_seq <= m.seq))
                as acked_at
        from counting k cross join lateral cursor_after(k.acked_seq, k.done) as m
    ), updated as (
        update inbox_cursors c
        set acked_seq = moved.seq, ahead = moved.ahead, acked_at = moved.acked_at
        from moved
        where c.tenant_id = moved.tenant_id and c.agent_id = moved.agent_id
    ), noted as (
        insert into inbox_acks
            (tenant_id, agent_id, from_seq, to_seq, generation, handed_at, acked_at)
        select k.tenant_id, k.agent_id, r.from_seq, r.to_seq, k.generation, r.handed_at, now_at
        from counting k join r on r.o = k.o
    )
    select a.o::integer, moved.seq from a left join moved on moved.o = a.o order by a.o;
end
$$;

-- Moves an entry aside and the cursor over it. The caller holds the cursor's lock.
create function set_aside(p_tenant uuid, p_agent uuid, p_seq bigint, p_reason text)
returns boolean language plpgsql as $$
declare
    moved boolean;
begin
    insert into inbox_parked
        (tenant_id, agent_id, seq, at, bot_id, chat_id, body, key_id, reason)
    select e.tenant_id, e.agent_id, e.seq, e.at, e.bot_id, e.chat_id, e.body, e.key_id,
        p_reason
    from inbox_entries e join inbox_cursors c
        on c.tenant_id = e.tenant_id and c.agent_id = e.agent_id
    where e.tenant_id = p_tenant and e.agent_id = p_agent and e.seq = p_seq
      and e.at >= c.acked_at and e.seq > c.acked_seq and not e.seq <@ c.ahead;
    moved := found;
    if moved then
        update inbox_cursors c
        set (acked_seq, ahead) = (
            select m.seq, m.ahead
            from cursor_after(c.acked_seq, c.ahead + int8multirange(int8range(p_seq, p_seq + 1))) as m
        )
        where c.tenant_id = p_tenant and c.agent_id = p_agent;
    end if;
    return moved;
end
$$;

-- Gives an agent's newest line its number, and fences every older one. The oldest waiting
-- entry is set aside first if it was handed over often enough.
create function line_take(
    p_tenant uuid, p_agent uuid, p_gateway uuid, p_node text, p_node_epoch bigint, tries_max integer
) returns table (
    generation bigint, acked_seq bigint, acked_at timestamptz, head_seq bigint,
    -- How long ago the same gateway's previous line ended; null if it did not, or was another's.
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
    insert into lines (tenant_id, agent_id, gateway_id, generation, node, node_epoch, opened_at)
    values (p_tenant, p_agent, p_gateway, mine.generation, p_node, p_node_epoch, clock_timestamp())
    on conflict (tenant_id, agent_id) do update
    set gateway_id = excluded.gateway_id, generation = excluded.generation, node = excluded.node,
        node_epoch = excluded.node_epoch, opened_at = excluded.opened_at,
        closed_at = null, close_code = null;

    return query select mine.generation, mine.acked_seq, mine.acked_at,
        (select h.next_seq - 1 from inbox_heads h
         where h.tenant_id = p_tenant and h.agent_id = p_agent),
        case when before.gateway_id = p_gateway then
            (extract(epoch from clock_timestamp() - before.closed_at) * 1000)::bigint
        end,
        parked;
end
$$;

-- Sets an entry aside for a line. Null: another line took over.
create function line_park(
    p_tenant uuid, p_agent uuid, p_generation bigint, p_seq bigint, p_reason text
) returns boolean language plpgsql as $$
begin
    perform from inbox_cursors c
    where c.tenant_id = p_tenant and c.agent_id = p_agent and c.generation = p_generation
    for update;
    if not found then
        return null;
    end if;
    return set_aside(p_tenant, p_agent, p_seq, p_reason);
end
$$;

-- Puts a parked entry into its inbox again, once, under the next number.
create function inbox_resubmit(p_tenant uuid, p_agent uuid, p_seq bigint)
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
    return query select mine.next_seq - 1, mine.last_at;
end
$$;

-- The last number given out in each inbox, in the order asked.
create function inbox_last_seqs(a_tenant uuid[], a_agent uuid[])
returns table (seq bigint) language plpgsql as $$
begin
    perform set_config('app.tenants', (select array_agg(distinct t) from unnest(a_tenant) as t)::text, true);
    return query
    select coalesce((
        select h.next_seq - 1 from inbox_heads h
        where h.tenant_id = a.tenant and h.agent_id = a.agent
    ), 0)
    from unnest(a_tenant, a_agent) with ordinality as a (tenant, agent, o)
    order by a.o;
end
$$;
