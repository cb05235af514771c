-- A claim starts a call: the node that claims a fire calls the agent. If nothing is heard of the call, the fire is due again
-- when the call must be over. The rules are in `nightdesk_schedule::decide`; these functions lock, read and write.

-- Locks the jobs and fires that are due, at most so many, the longest due first. A row without a state is a job whose
-- instant came, with an id for its fire. A node whose lease is over gets none. Over all tenants: a door.
--
-- Columns come from locked rows only, so they are the newest. Everything else is read by later statements, which see what
-- the transactions that held the jobs before did.
create function fires_due(p_node text, p_epoch bigint, fires_max integer) returns table (
    now_at timestamptz, tenant_id uuid, agent_id uuid, job_id text, schedule_id uuid, arming bigint,
    fire_at text, due_at timestamptz, next_at timestamptz, by_inbox boolean, target text,
    recurring boolean, recurs boolean, reports boolean, overlap text, catch_up_ms bigint,
    jitter_ms bigint, fired_before boolean, cancelled boolean, watch_at timestamptz,
    flagged_at timestamptz, changed_at timestamptz, fire_id uuid, fire_arming bigint,
    fire_fire_at text, fire_due_at timestamptz, state text, cause text, tries integer,
    calling boolean, fire_next_at timestamptz, outcome text, began_at timestamptz,
    ended_at timestamptz, fire_reports boolean
) language plpgsql security definer
set search_path = public, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_material = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
    -- Read before any row: nothing is claimed early.
    v_now timestamptz := clock_timestamp();
begin
    if not node_lives(p_node, p_epoch) then
        return;
    end if;
    return query
    with again as materialized (
        select s.tenant_id, s.agent_id, s.job_id, s.schedule_id, s.arming, s.fire_at, s.due_at, s.next_at,
            s.by_inbox, s.target, s.recurring, s.recurs, s.reports, s.overlap, s.catch_up_ms, s.jitter_ms,
            s.fired_before, s.cancelled, s.watch_at, s.flagged_at, s.changed_at,
            f.fire_id, f.arming as fire_arming, f.fire_at as fire_fire_at, f.due_at as fire_due_at,
            f.state, f.cause, f.tries, f.calling, f.next_at as fire_next_at, f.outcome, f.began_at,
            f.ended_at, f.reports as fire_reports
        from fires f
            join schedules s
                on s.tenant_id = f.tenant_id and s.agent_id = f.agent_id and s.job_id = f.job_id
        where f.next_at <= v_now
        order by f.next_at limit fires_max for update of f, s skip locked
    ), came as materialized (
        select s.tenant_id, s.agent_id, s.job_id, s.schedule_id, s.arming, s.fire_at, s.due_at, s.next_at,
            s.by_inbox, s.target, s.recurring, s.recurs, s.reports, s.overlap, s.catch_up_ms, s.jitter_ms,
            s.fired_before, s.cancelled, s.watch_at, s.flagged_at, s.changed_at
        from schedules s
        where s.next_at <= v_now
        order by s.next_at limit fires_max for update skip locked
    ), due as (
        select a.*, a.fire_next_at as looked_at from again a
        union all
        select c.*, gen_random_uuid(), null, null, null, null, null, null, null, null, null, null, null,
            null, c.next_at
        from came c
        order by looked_at limit fires_max
    )
    select v_now, d.tenant_id, d.agent_id, d.job_id, d.schedule_id, d.arming, d.fire_at, d.due_at, d.next_at,
        d.by_inbox, d.target, d.recurring, d.recurs, d.reports, d.overlap, d.catch_up_ms, d.jitter_ms,
        d.fired_before, d.cancelled, d.watch_at, d.flagged_at, d.changed_at, d.fire_id, d.fire_arming,
        d.fire_fire_at, d.fire_due_at, d.state, d.cause, d.tries, d.calling, d.fire_next_at, d.outcome,
        d.began_at, d.ended_at, d.fire_reports
    from due d;
end
$$;
alter function fires_due(text, bigint, integer) owner to nightdesk_doors;

-- The time until a job or a fire is due, in milliseconds. Over all tenants: a door.
create function fires_next_ms() returns bigint
language plpgsql security definer
set search_path = public, pg_temp
set enable_seqscan = off
as $$
begin
    return (extract(epoch from least(
        (select min(s.next_at) from schedules s where s.next_at is not null),
        (select min(f.next_at) from fires f where f.next_at is not null)
    ) - clock_timestamp()) * 1000)::bigint;
end
$$;
alter function fires_next_ms() owner to nightdesk_doors;

-- Has the statement that calls a function work for the tenants of its rows.
create function works_for_all(p_tenants uuid[]) returns uuid[] language plpgsql as $$
begin
    perform set_config('app.tenants', array(select distinct t from unnest(p_tenants) as t)::text, true);
    return p_tenants;
end
$$;

-- The newest end of a fire whose run is not over, for each of these jobs that has one.
create function fires_running(p_tenant uuid[], p_agent uuid[], p_job text[], p_since timestamptz)
returns table (tenant uuid, agent uuid, job text, running_since timestamptz)
language plpgsql
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
begin
    return query
    select k.tenant, k.agent, k.job, r.running_since
    from unnest(p_tenant, p_agent, p_job) as k (tenant, agent, job)
        cross join lateral (
            select max(f.ended_at) as running_since from fires f
            where f.tenant_id = k.tenant and f.agent_id = k.agent and f.job_id = k.job
              and f.reports and f.run_ended_at is null and f.state in ('fired', 'late')
              and f.ended_at > p_since
        ) as r
    where r.running_since is not null;
end
$$;

-- Takes the instants of locked jobs out of the queue, and writes their fires.
create function fires_begin(
    p_node text, p_now timestamptz, p_tenant uuid[], p_agent uuid[], p_job text[],
    p_watch_at timestamptz[], p_fire uuid[], p_state text[], p_cause text[], p_tries integer[],
    p_calling boolean[], p_next_at timestamptz[], p_ended_at timestamptz[]
) returns void
language plpgsql
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_material = off
set plan_cache_mode = force_generic_plan
as $$
begin
    with disarmed as (
        update schedules s
        set next_at = null, changed_at = p_now, watch_at = k.watch_at
        from unnest(
                p_tenant, p_agent, p_job, p_watch_at, p_fire, p_state, p_cause, p_tries, p_calling,
                p_next_at, p_ended_at
            ) as k (tenant, agent, job, watch_at, fire, state, cause, tries, calling, next_at, ended_at)
        where s.tenant_id = k.tenant and s.agent_id = k.agent and s.job_id = k.job
        returning s.tenant_id, s.agent_id, s.job_id, s.arming, s.fire_at, s.due_at, s.reports,
            k.fire, k.state, k.cause, k.tries, k.calling, k.next_at as fire_next_at, k.ended_at
    )
    insert into fires (
        tenant_id, fire_id, agent_id, job_id, arming, fire_at, due_at, state, cause, tries, calling,
        next_at, node, began_at, ended_at, reports)
    select d.tenant_id, d.fire, d.agent_id, d.job_id, d.arming, d.fire_at, d.due_at, d.state, d.cause,
        d.tries, d.calling, d.fire_next_at, p_node, p_now, d.ended_at, d.reports
    from disarmed d;
end
$$;

-- Locks a fire and its job, the job first, and returns both.
create function fire_lock(p_tenant uuid, p_fire uuid)
returns table (now_at timestamptz, job schedules, fire fires)
language plpgsql
set enable_seqscan = off
as $$
begin
    perform from schedules s, fires f
    where f.tenant_id = p_tenant and f.fire_id = p_fire
      and s.tenant_id = f.tenant_id and s.agent_id = f.agent_id and s.job_id = f.job_id
    for update of s;
    -- A new statement: it sees what the transaction that held the lock before did.
    return query
    select clock_timestamp(), s, f from fires f
        join schedules s
            on s.tenant_id = f.tenant_id and s.agent_id = f.agent_id and s.job_id = f.job_id
    where f.tenant_id = p_tenant and f.fire_id = p_fire
    for update of f;
end
$$;

-- Flags jobs that should be armed by now and are not, at most so many, and tells their owners. Over all
-- tenants: a door.
create function flag_unarmed(jobs_max integer, notices_max bigint)
returns table (tenant uuid, agent uuid, job text) language plpgsql security definer
set search_path = public, pg_temp
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
    late record;
begin
    for late in
        with due as materialized (
            select s.tenant_id, s.agent_id, s.job_id from schedules s
            where s.watch_at <= clock_timestamp()
            order by s.watch_at limit jobs_max for update skip locked
        ), flagged as (
            update schedules s set watch_at = null, flagged_at = clock_timestamp()
            from due
            where s.tenant_id = due.tenant_id and s.agent_id = due.agent_id and s.job_id = due.job_id
            returning s.tenant_id, s.agent_id, s.job_id
        )
        -- The order in which notices are locked.
        select f.* from flagged f order by 1, 2, 3
    loop
        perform notice(late.tenant_id, late.agent_id, 'unarmed', late.job_id, 0, notices_max);
        return query select late.tenant_id, late.agent_id, late.job_id;
    end loop;
end
$$;
alter function flag_unarmed(integer, bigint) owner to nightdesk_doors;
