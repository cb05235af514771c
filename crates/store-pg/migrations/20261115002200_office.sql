-- The views of operators and tenants: the last wakes of an agent, the time that it was awake, the usage of a tenant, and
-- indexes for pages over many agents.

-- The last wakes of each agent. A ring whose slot is the wake's number, so that no wake waits for another agent's.
create table wake_log (
    tenant_id uuid        not null,
    agent_id  uuid        not null,
    slot      integer     not null,
    number    bigint      not null,
    -- Since when the agent was needed.
    since     timestamptz not null,
    calls     integer     not null,
    -- The end of the last call, if one was made.
    called_at timestamptz,
    outcome   text,
    -- Null: the desk gave up.
    woken_at  timestamptz,
    ended_at  timestamptz not null,
    primary key (tenant_id, agent_id, slot)
);
select wall_off('wake_log');

-- The number of an agent's wakes that ended.
alter table wakes add column ended_count bigint not null default 0;

-- The wakes that are logged of an agent. A test compares it with the desk's limit.
create function wake_log_max() returns integer language sql immutable as $$
    select 8
$$;

-- Logs a wake that ends: its agent dialled in, or was given up.
create function log_wake() returns trigger language plpgsql as $$
begin
    new.ended_count := old.ended_count + 1;
    insert into wake_log as l
        (tenant_id, agent_id, slot, number, since, calls, called_at, outcome, woken_at, ended_at)
    values (new.tenant_id, new.agent_id, new.ended_count % wake_log_max(), new.ended_count, new.since,
        new.calls, case when new.called_at >= new.since then new.called_at end, new.outcome,
        case when new.state = 'woken' then new.woken_at end, clock_timestamp())
    on conflict (tenant_id, agent_id, slot) do update
    set number = excluded.number, since = excluded.since, calls = excluded.calls,
        called_at = excluded.called_at, outcome = excluded.outcome, woken_at = excluded.woken_at,
        ended_at = excluded.ended_at;
    return new;
end
$$;
create trigger wakes_log before update on wakes for each row
when (new.state <> old.state and new.state in ('woken', 'unreachable'))
execute function log_wake();

-- The milliseconds for which an agent's ended lines were open.
alter table lines add column awake_ms bigint not null default 0;

-- Counts the time of a line when it ends, and when a newer line replaces it.
create function count_awake() returns trigger language plpgsql as $$
begin
    new.awake_ms := old.awake_ms + greatest(0, (extract(epoch from case
        when new.generation = old.generation then new.closed_at else new.opened_at
    end - old.opened_at) * 1000)::bigint);
    return new;
end
$$;
create trigger lines_count_awake before update on lines for each row
when (old.closed_at is null and (new.generation <> old.generation or new.closed_at is not null))
execute function count_awake();

-- The totals of a tenant since its creation, as they stood at a time of an hour. A page shows the differences. The
-- totals of the desk have the id of no tenant.
create table tenant_usage (
    tenant_id  uuid        not null,
    hour       timestamptz not null,
    sampled_at timestamptz not null,
    agents     bigint      not null,
    -- Entries that came into inboxes, wakes that ended, milliseconds of lines, and fires that began.
    messages   bigint      not null,
    wakes      bigint      not null,
    awake_ms   bigint      not null,
    fires      bigint      not null,
    primary key (tenant_id, hour)
);
select wall_off('tenant_usage');

-- Writes the totals of one tenant for this hour. Of old days, the last row is kept.
create function sample_tenant(p_tenant uuid, p_now timestamptz) returns void language plpgsql as $$
declare
    v_hour timestamptz := date_trunc('hour', p_now, 'UTC');
    before tenant_usage;
begin
    select u.* into before from tenant_usage u
    where u.tenant_id = p_tenant order by u.hour desc limit 1;
    insert into tenant_usage as u
        (tenant_id, hour, sampled_at, agents, messages, wakes, awake_ms, fires)
    select p_tenant, v_hour, p_now, count(*), coalesce(sum(h.next_seq - 1), 0),
        coalesce(sum(w.ended_count), 0),
        coalesce(sum(l.awake_ms + case when l.closed_at is null and node_lives(l.node, l.node_epoch)
            then greatest(0, (extract(epoch from p_now - l.opened_at) * 1000)::bigint) else 0 end), 0),
        coalesce(before.fires, 0) + (
            select count(*) from fires f
            where f.tenant_id = p_tenant and f.began_at > coalesce(before.sampled_at, 'epoch')
              and f.began_at <= p_now
        )
    from inbox_heads h
        left join wakes w on w.tenant_id = h.tenant_id and w.agent_id = h.agent_id
        left join lines l on l.tenant_id = h.tenant_id and l.agent_id = h.agent_id
    where h.tenant_id = p_tenant
    on conflict (tenant_id, hour) do update
    set sampled_at = excluded.sampled_at, agents = excluded.agents, messages = excluded.messages,
        wakes = excluded.wakes, awake_ms = excluded.awake_ms, fires = excluded.fires;
    if before.hour is distinct from v_hour then
        delete from tenant_usage u
        where u.tenant_id = p_tenant and (
            u.hour < p_now - interval '400 days'
            or u.hour < p_now - interval '49 hours' and exists (
                select from tenant_usage o
                where o.tenant_id = p_tenant and o.hour > u.hour
                  and o.hour < date_trunc('day', u.hour, 'UTC') + interval '1 day'
            )
        );
    end if;
end
$$;

-- Writes the totals of a page of tenants after this one, unless another node did so within this time, and returns the
-- last of them. Null: there are no more, and the totals of the desk are written. Over all tenants: a door.
create function sample_usage(p_after uuid, p_every interval, tenants_max integer) returns uuid
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_desk   constant uuid := '00000000-0000-0000-0000-000000000000';
    v_now    timestamptz := clock_timestamp();
    v_tenant uuid;
    v_last   uuid;
begin
    for v_tenant in
        select t.tenant_id from tenants t
        where t.erased_at is null and coalesce(t.tenant_id > p_after, true)
        order by t.tenant_id limit tenants_max
    loop
        v_last := v_tenant;
        continue when exists (
            select from tenant_usage u where u.tenant_id = v_tenant and u.sampled_at > v_now - p_every
              and u.hour >= date_trunc('hour', v_now - p_every, 'UTC')
        );
        perform sample_tenant(v_tenant, v_now);
    end loop;
    if v_last is null then
        insert into tenant_usage as u
            (tenant_id, hour, sampled_at, agents, messages, wakes, awake_ms, fires)
        select v_desk, date_trunc('hour', v_now, 'UTC'), v_now, coalesce(sum(n.agents), 0),
            coalesce(sum(n.messages), 0), coalesce(sum(n.wakes), 0), coalesce(sum(n.awake_ms), 0),
            coalesce(sum(n.fires), 0)
        from tenants t
            cross join lateral (
                select u.* from tenant_usage u where u.tenant_id = t.tenant_id order by u.hour desc limit 1
            ) as n
        where t.erased_at is null
        on conflict (tenant_id, hour) do update
        set sampled_at = excluded.sampled_at, agents = excluded.agents, messages = excluded.messages,
            wakes = excluded.wakes, awake_ms = excluded.awake_ms, fires = excluded.fires;
        delete from tenant_usage u where u.tenant_id = v_desk and u.hour < v_now - interval '400 days';
    end if;
    return v_last;
end
$$;
alter function sample_usage(uuid, interval, integer) owner to nightdesk_doors;

-- The open lines of nodes, at most so many of each. A door: the lines are of all tenants.
create function door_node_lines(p_nodes text[], p_epochs bigint[], lines_max integer)
returns table (node text, lines bigint)
language plpgsql stable security definer
set search_path = public, pg_temp as $$
#variable_conflict use_column
begin
    return query
    select n.node, (
        select count(*) from (
            select from lines l
            where l.closed_at is null and l.node = n.node and l.node_epoch = n.epoch
            limit lines_max
        ) as enough
    )
    from unnest(p_nodes, p_epochs) as n (node, epoch);
end
$$;
alter function door_node_lines(text[], bigint[], integer) owner to nightdesk_doors;

-- The agents of a tenant that are needed, by the time since when, and those that are awake.
create index wakes_needed on wakes (tenant_id, since) where state in ('due', 'held', 'unreachable');
create index lines_open_by_tenant on lines (tenant_id, agent_id) where closed_at is null;

-- The parked entries of a tenant that were not put into an inbox again, by reason.
create index inbox_parked_stuck on inbox_parked (tenant_id, reason, parked_at, agent_id, seq)
    where resubmitted_as is null;

-- Those of an agent. A page counts them for each of its agents; the index above, which begins with their tenant, would be
-- read in whole for each.
create index inbox_parked_stuck_by_agent on inbox_parked (tenant_id, agent_id, seq)
    where resubmitted_as is null;

grant execute on function
    wake_log_max, sample_usage, door_node_lines
to nightdesk_app;
