-- Wakes are claimed by whoever calls: this attempt is taken, and the next is due should nothing be
-- heard of it.

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

-- What is to be done about a wake whose row the caller has locked, and notes that it is being done.
-- Null: nothing, since the agent is up, nothing waits any more, or nobody can be called.
create function wake_step(
    p_tenant uuid, p_agent uuid, has_command boolean,
    p_gap interval, p_deadline interval, wakes_per_hour integer, notices_max bigint
) returns text language plpgsql as $$
declare
    now_at timestamptz := clock_timestamp();
    mine   wakes;
    line   lines;
    lives  boolean;
    counted integer;
begin
    -- A new statement: it sees what whoever held the row before us did.
    select w.* into strict mine from wakes w where w.tenant_id = p_tenant and w.agent_id = p_agent;
    select l.* into line from lines l where l.tenant_id = p_tenant and l.agent_id = p_agent;
    lives := found and line.closed_at is null and node_lives(line.node, line.node_epoch);

    if mine.state = 'unreachable' then
        -- Whoever gave up did not come to telling the senders.
        update wakes w set due_at = now_at + p_gap
        where w.tenant_id = p_tenant and w.agent_id = p_agent;
        return 'gave up';
    end if;
    if lives and not (mine.suspect_generation is not distinct from line.generation and exists (
        select from inbox_cursors c
        where c.tenant_id = p_tenant and c.agent_id = p_agent
          and c.acked_seq = mine.suspect_acked_seq
    )) then
        update wakes w
        set due_at = null, asked = false,
            state = case when line.opened_at >= w.since then 'woken' else 'settled' end,
            woken_at = case when line.opened_at >= w.since then line.opened_at else w.woken_at end
        where w.tenant_id = p_tenant and w.agent_id = p_agent;
        return null;
    end if;
    if not mine.asked and not inbox_waits(p_tenant, p_agent) then
        update wakes w set state = 'settled', due_at = null
        where w.tenant_id = p_tenant and w.agent_id = p_agent;
        return null;
    end if;
    if now_at >= mine.since + p_deadline then
        update wakes w set state = 'unreachable', due_at = now_at + p_gap, asked = false
        where w.tenant_id = p_tenant and w.agent_id = p_agent;
        perform notice(p_tenant, p_agent, 'unreachable', mine.outcome, mine.calls, notices_max);
        return 'gave up';
    end if;
    if not has_command and not exists (
        select from wakers k where k.tenant_id = p_tenant and k.agent_id = p_agent
    ) then
        -- It may still come by itself. Until it is given up, there is nothing to do.
        update wakes w set outcome = 'no waker', due_at = w.since + p_deadline, asked = false
        where w.tenant_id = p_tenant and w.agent_id = p_agent;
        return null;
    end if;

    counted := case when now_at - mine.hour_began_at >= interval '1 hour' then 0
        else mine.hour_wakes end;
    if mine.calls = 0 and not mine.asked and counted >= wakes_per_hour then
        update wakes w set state = 'held', due_at = w.hour_began_at + interval '1 hour'
        where w.tenant_id = p_tenant and w.agent_id = p_agent;
        perform notice(p_tenant, p_agent, 'held', null, counted, notices_max);
        return 'held';
    end if;
    update wakes w
    set state = 'due', calls = w.calls + 1, due_at = now_at + p_gap, rests_until = now_at + p_gap,
        asked = false,
        hour_began_at = case when counted = 0 and w.calls = 0 then now_at else w.hour_began_at end,
        hour_wakes = case when w.calls = 0 then counted + 1 else w.hour_wakes end
    where w.tenant_id = p_tenant and w.agent_id = p_agent;
    return 'call';
end
$$;

-- Claims wakes that are due, at most so many, or the one of an agent. Several nodes share the work.
-- Over all tenants: a door.
create function wake_claim(
    p_tenant uuid, p_agent uuid, wakes_max integer, places_max integer, has_command boolean,
    p_gap interval, p_deadline interval, wakes_per_hour integer, notices_max bigint
) returns table (
    tenant uuid, agent uuid, step text, since timestamptz, calls integer, outcome text,
    urls text[], bots uuid[], chats text[], parting text
) language plpgsql security definer
set search_path = public, pg_temp set enable_seqscan = off as $$
#variable_conflict use_column
declare
    mine record;
    todo text;
begin
    for mine in
        select w.tenant_id, w.agent_id from wakes w
        where w.due_at <= clock_timestamp() and p_agent is null
        order by w.due_at limit wakes_max for update skip locked
    loop
        todo := wake_step(mine.tenant_id, mine.agent_id, has_command, p_gap, p_deadline,
            wakes_per_hour, notices_max);
        if todo is not null then
            return query select * from wake_claimed(mine.tenant_id, mine.agent_id, todo, places_max);
        end if;
    end loop;
    if p_agent is null then
        return;
    end if;
    perform from wakes w
    where w.tenant_id = p_tenant and w.agent_id = p_agent and w.due_at <= clock_timestamp()
    for update skip locked;
    if found then
        todo := wake_step(p_tenant, p_agent, has_command, p_gap, p_deadline, wakes_per_hour,
            notices_max);
        if todo is not null then
            return query select * from wake_claimed(p_tenant, p_agent, todo, places_max);
        end if;
    end if;
end
$$;

-- A claimed wake, with all that its caller needs.
create function wake_claimed(p_tenant uuid, p_agent uuid, todo text, places_max integer)
returns table (
    tenant uuid, agent uuid, step text, since timestamptz, calls integer, outcome text,
    urls text[], bots uuid[], chats text[], parting text
) language sql as $$
    select w.tenant_id, w.agent_id, todo, w.since, w.calls, w.outcome,
        array(
            select k.url from wakers k
            where k.tenant_id = w.tenant_id and k.agent_id = w.agent_id order by k.position
        ),
        p.bots, p.chats, l.parting
    from wakes w
        cross join lateral wake_places(
            w.tenant_id, w.agent_id,
            -- People are told at the first call, when it is held, and at the end.
            case when todo <> 'call' or w.calls = 1 then places_max else 0 end
        ) as p
        left join lines l on l.tenant_id = w.tenant_id and l.agent_id = w.agent_id
    where w.tenant_id = p_tenant and w.agent_id = p_agent
$$;

-- Notes what came of a call, and when the next is due, unless the agent is up meanwhile.
create function wake_note(
    p_tenant uuid, p_agent uuid, p_since timestamptz, p_calls integer, p_outcome text,
    p_wait interval
) returns void language sql as $$
    update wakes w
    set called_at = clock_timestamp(), outcome = p_outcome,
        due_at = case when w.state = 'due' then clock_timestamp() + p_wait else w.due_at end
    where w.tenant_id = p_tenant and w.agent_id = p_agent
      and w.since = p_since and w.calls = p_calls
$$;

-- A call was not made after all, since too many are made to that address: it does not count.
create function wake_put_off(
    p_tenant uuid, p_agent uuid, p_since timestamptz, p_calls integer, p_wait interval
) returns void language sql as $$
    update wakes w
    set calls = w.calls - 1, outcome = 'put off', due_at = clock_timestamp() + p_wait,
        rests_until = clock_timestamp() + p_wait,
        hour_wakes = w.hour_wakes - case when w.calls = 1 then 1 else 0 end
    where w.tenant_id = p_tenant and w.agent_id = p_agent
      and w.since = p_since and w.calls = p_calls and w.state = 'due'
$$;

alter function wake_claim(
    uuid, uuid, integer, integer, boolean, interval, interval, integer, bigint
) owner to nightdesk_doors;
