-- Time: the jobs of agents, and the outcome of each instant.
--
-- A job's row is its lock: whoever changes a job or one of its fires holds it first, but for a try that
-- is only put off. A claim skips locked rows, so it never waits.
create table schedules (
    tenant_id    uuid        not null,
    agent_id     uuid        not null,
    job_id       text        collate "C" not null,
    schedule_id  uuid        not null default gen_random_uuid(),
    -- Rises with every arming. A fire of an older one is not told any more.
    arming       bigint      not null default 0,
    -- The instant as its agent wrote it, the time at which it is due with its jitter, and the time of the
    -- next look. Null: it is not armed.
    fire_at      text        not null,
    due_at       timestamptz not null,
    next_at      timestamptz,
    -- A URL, or words for the inbox.
    by_inbox     boolean     not null,
    target       text        not null,
    recurring    boolean     not null,
    -- It was armed again after it fired, so it will be again, whatever its agent says.
    recurs       boolean     not null default false,
    reports      boolean     not null,
    overlap      text        not null,
    catch_up_ms  bigint      not null,
    jitter_ms    bigint      not null,
    fired_before boolean     not null default false,
    -- A fire that is being told is not told again.
    cancelled    boolean     not null default false,
    -- The time by which it should be armed again, and since when it should be and is not.
    watch_at     timestamptz,
    flagged_at   timestamptz,
    -- The time at which it was last armed, claimed or cancelled.
    changed_at   timestamptz not null,
    primary key (tenant_id, agent_id, job_id),
    foreign key (tenant_id, agent_id) references agents,
    constraint schedules_known_overlap check (overlap in ('skip', 'buffer_one', 'allow_all')),
    constraint schedules_armed_or_cancelled check (next_at is null or not cancelled)
) with (fillfactor = 70);
-- For the claim, for the quotas, for those who should be armed, and for the upkeep.
create index schedules_by_next on schedules (next_at) where next_at is not null;
create index schedules_armed on schedules (tenant_id, agent_id) where next_at is not null;
create index schedules_watched on schedules (watch_at) where watch_at is not null;
create index schedules_unarmed on schedules (changed_at) where next_at is null;
select wall_off('schedules');

-- One instant of a job. Its row stays when it is over, and says how it went.
create table fires (
    tenant_id    uuid        not null,
    fire_id      uuid        not null,
    agent_id     uuid        not null,
    job_id       text        collate "C" not null,
    arming       bigint      not null,
    fire_at      text        not null,
    due_at       timestamptz not null,
    state        text        not null,
    cause        text,
    tries        integer     not null,
    -- A node calls the agent, until `next_at`.
    calling      boolean     not null,
    -- The time of the next look. Null: it is over.
    next_at      timestamptz,
    outcome      text,
    -- The node that claimed it last.
    node         text        not null,
    began_at     timestamptz not null,
    ended_at     timestamptz,
    reports      boolean     not null,
    run_ended_at timestamptz,
    run_ok       boolean,
    run_note     text,
    primary key (tenant_id, fire_id),
    constraint fires_known_state
        check (state in ('open', 'held', 'fired', 'late', 'skipped', 'missed')),
    constraint fires_known_cause check (
        cause in ('overlap', 'cancelled', 'superseded', 'too-late', 'gave-up', 'refused')),
    constraint fires_say_why check ((state in ('skipped', 'missed')) = (cause is not null)),
    constraint fires_open_or_over check (
        (state in ('open', 'held')) = (next_at is not null) and (next_at is null) = (ended_at is not null)),
    constraint fires_ran_when_taken check (run_ended_at is null or state in ('fired', 'late'))
) with (fillfactor = 70);
-- For the claim; for whoever changes a job; for runs that are not over; for who looks; for the upkeep; for alerts.
create index fires_by_next on fires (next_at) where next_at is not null;
create index fires_open on fires (tenant_id, agent_id, job_id) where next_at is not null;
create index fires_running on fires (tenant_id, agent_id, job_id, ended_at)
    where reports and run_ended_at is null and state in ('fired', 'late');
create index fires_of_job on fires (tenant_id, agent_id, job_id, began_at, fire_id);
create index fires_of_tenant on fires (tenant_id, began_at, fire_id);
create index fires_by_end on fires (ended_at) where ended_at is not null;
create index fires_missed on fires (ended_at) where state = 'missed';
select wall_off('fires');

-- The count of jobs that may still be armed before somebody must count, for an agent, and for a tenant
-- under the nil id. Fires only make more room, so whoever claims need not come by.
create table schedule_rooms (
    tenant_id uuid   not null,
    agent_id  uuid   not null,
    room      bigint not null,
    -- The quota at the time of the count.
    allowed   bigint not null,
    primary key (tenant_id, agent_id)
) with (fillfactor = 50);
select wall_off('schedule_rooms');

-- Refuses one more armed job than a tenant, or one of its agents, may have. One at a time: of two that
-- come at once the later sees the earlier. Jobs are counted when the room that was found the last time is
-- used up, so that most often nobody counts.
create function keep_armed(p_tenant uuid, p_agent uuid, p_quota text) returns void
language plpgsql
as $$
declare
    nobody    constant uuid := '00000000-0000-0000-0000-000000000000';
    v_of      uuid := coalesce(p_agent, nobody);
    v_allowed bigint := quota_of(p_tenant, p_quota);
    mine      schedule_rooms;
    v_armed   bigint;
begin
    insert into schedule_rooms (tenant_id, agent_id, room, allowed) values (p_tenant, v_of, 0, 0)
    on conflict do nothing;
    select r.* into strict mine from schedule_rooms r
    where r.tenant_id = p_tenant and r.agent_id = v_of for update;
    if mine.room = 0 or mine.allowed <> v_allowed then
        -- A new statement: it sees what whoever held the row before us armed.
        if p_agent is null then
            select count(*) into v_armed from (
                select from schedules s where s.tenant_id = p_tenant and s.next_at is not null
                limit v_allowed
            ) as enough;
        else
            select count(*) into v_armed from (
                select from schedules s
                where s.tenant_id = p_tenant and s.agent_id = p_agent and s.next_at is not null
                limit v_allowed
            ) as enough;
        end if;
        if v_armed >= v_allowed then
            raise exception '%', p_quota using errcode = 'ND001', detail = v_allowed::text;
        end if;
        mine.room := v_allowed - v_armed;
    end if;
    update schedule_rooms r set room = mine.room - 1, allowed = v_allowed
    where r.tenant_id = p_tenant and r.agent_id = v_of;
end
$$;

-- Locks a job and returns it with its fires that are not over, one in a row. A job that has none is in one row without
-- a fire.
create function schedule_lock(p_tenant uuid, p_agent uuid, p_job text)
returns table (now_at timestamptz, job schedules, fire fires)
language plpgsql
set enable_seqscan = off
as $$
declare
    v_now timestamptz;
begin
    perform from schedules s
    where s.tenant_id = p_tenant and s.agent_id = p_agent and s.job_id = p_job for update;
    v_now := clock_timestamp();
    -- A new statement: it sees what the transaction that held the lock before did.
    return query
    select v_now, s, f from schedules s
        left join fires f
            on f.tenant_id = s.tenant_id and f.agent_id = s.agent_id and f.job_id = s.job_id
            and f.next_at is not null
    where s.tenant_id = p_tenant and s.agent_id = p_agent and s.job_id = p_job;
end
$$;

-- Locks the jobs of an agent that are not cancelled, in the order of their names, and returns them as `schedule_lock`
-- does.
create function schedules_lock(p_tenant uuid, p_agent uuid)
returns table (now_at timestamptz, job schedules, fire fires)
language plpgsql
as $$
declare
    v_job text;
begin
    for v_job in
        select s.job_id from schedules s
        where s.tenant_id = p_tenant and s.agent_id = p_agent and not s.cancelled order by s.job_id
    loop
        return query select * from schedule_lock(p_tenant, p_agent, v_job);
    end loop;
end
$$;

-- Locks a job, which is created if there is none, and returns it as `schedule_lock` does.
create function schedule_open(
    p_tenant uuid, p_agent uuid, p_job text, p_fire_at text, p_instant timestamptz,
    p_by_inbox boolean, p_target text, p_recurring boolean, p_reports boolean,
    p_overlap text, p_catch_up_ms bigint, p_jitter_ms bigint
) returns table (now_at timestamptz, job schedules, fire fires)
language plpgsql
as $$
begin
    loop
        -- A transaction that creates the same job is waited for here.
        insert into schedules (
            tenant_id, agent_id, job_id, fire_at, due_at, by_inbox, target, recurring, reports, overlap,
            catch_up_ms, jitter_ms, changed_at)
        values (p_tenant, p_agent, p_job, p_fire_at, p_instant, p_by_inbox, p_target, p_recurring,
            p_reports, p_overlap, p_catch_up_ms, p_jitter_ms, clock_timestamp())
        on conflict do nothing;
        return query select * from schedule_lock(p_tenant, p_agent, p_job);
        -- The upkeep may have deleted the job in between.
        exit when found;
    end loop;
end
$$;

-- Writes the columns of locked jobs that a decision changed.
create function schedules_write(
    p_tenant uuid[], p_agent uuid[], p_job text[], p_next_at timestamptz[], p_recurs boolean[],
    p_fired_before boolean[], p_cancelled boolean[], p_watch_at timestamptz[],
    p_flagged_at timestamptz[], p_changed_at timestamptz[]
) returns void
language plpgsql
set enable_hashjoin = off
set enable_mergejoin = off
as $$
begin
    update schedules s
    set next_at = k.next_at, recurs = k.recurs, fired_before = k.fired_before, cancelled = k.cancelled,
        watch_at = k.watch_at, flagged_at = k.flagged_at, changed_at = k.changed_at
    from unnest(
            p_tenant, p_agent, p_job, p_next_at, p_recurs, p_fired_before, p_cancelled, p_watch_at,
            p_flagged_at, p_changed_at
        ) as k (tenant, agent, job, next_at, recurs, fired_before, cancelled, watch_at, flagged_at, changed_at)
    where s.tenant_id = k.tenant and s.agent_id = k.agent and s.job_id = k.job;
end
$$;

-- Writes the columns of locked fires that a decision changed. Without a new outcome or node the old one stays.
create function fires_write(
    p_node text, p_tenant uuid[], p_fire uuid[], p_state text[], p_cause text[], p_tries integer[],
    p_calling boolean[], p_next_at timestamptz[], p_ended_at timestamptz[], p_outcome text[]
) returns void
language plpgsql
set enable_hashjoin = off
set enable_mergejoin = off
as $$
begin
    update fires f
    set state = k.state, cause = k.cause, tries = k.tries, calling = k.calling, next_at = k.next_at,
        ended_at = k.ended_at, outcome = coalesce(k.outcome, f.outcome), node = coalesce(p_node, f.node)
    from unnest(p_tenant, p_fire, p_state, p_cause, p_tries, p_calling, p_next_at, p_ended_at, p_outcome)
            as k (tenant, fire, state, cause, tries, calling, next_at, ended_at, outcome)
    where f.tenant_id = k.tenant and f.fire_id = k.fire;
end
$$;

-- The jobs that are armed for an agent, and those of which it is still to be told.
create function schedules_armed_for(p_tenant uuid, p_agent uuid) returns setof schedules
language plpgsql stable
as $$
begin
    return query
    select s.* from schedules s
    where s.tenant_id = p_tenant and s.agent_id = p_agent and s.next_at is not null
    union all
    select s.* from fires f
        join schedules s
            on s.tenant_id = f.tenant_id and s.agent_id = f.agent_id and s.job_id = f.job_id
    where f.tenant_id = p_tenant and f.agent_id = p_agent and f.next_at is not null
      and s.arming = f.arming and s.next_at is null and not s.cancelled
    order by 3;
end
$$;

-- A claim starts a call: the node that claims a fire calls the agent. If nothing is heard of the call, the fire is due
-- again when the call must be over. The rules are in `nightdesk_schedule::decide`; these functions lock, read and
-- write.

-- Locks the jobs and fires that are due, at most so many, the longest due first. A row without a state is a job whose
-- instant came, with an id for its fire. A node whose lease is over gets none. Over all tenants: a door.
--
-- Columns come from locked rows only, so they are the newest. Everything else is read by later statements, which see
-- what the transactions that held the jobs before did.
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

-- The newest end of a fire whose run is not over, for each of these jobs that has one.
create function fires_running(p_tenant uuid[], p_agent uuid[], p_job text[], p_since timestamptz)
returns table (tenant uuid, agent uuid, job text, running_since timestamptz)
language plpgsql
set enable_seqscan = off
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

-- Locks fires and their jobs, and returns both. The jobs are locked first and in the order of their keys, so that two
-- transactions do not deadlock.
create function fires_lock(p_tenant uuid[], p_fire uuid[])
returns table (now_at timestamptz, job schedules, fire fires)
language plpgsql
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
begin
    perform from unnest(p_tenant, p_fire) as k (tenant, fire)
        join fires f on f.tenant_id = k.tenant and f.fire_id = k.fire
        join schedules s
            on s.tenant_id = f.tenant_id and s.agent_id = f.agent_id and s.job_id = f.job_id
    order by s.tenant_id, s.agent_id, s.job_id
    for update of s;
    -- A new statement: it sees what the transaction that held the lock before did.
    return query
    select clock_timestamp(), s, f from unnest(p_tenant, p_fire) as k (tenant, fire)
        join fires f on f.tenant_id = k.tenant and f.fire_id = k.fire
        join schedules s
            on s.tenant_id = f.tenant_id and s.agent_id = f.agent_id and s.job_id = f.job_id
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

-- Fires of a tenant, of an agent, or of a job of its, newest first. Fires that are over are shown for a
-- while, and then forgotten.
create function fires_page(p_tenant uuid, p_agent uuid, p_job text, p_before uuid, fires_max integer)
returns setof fires
language plpgsql stable
as $$
declare
    v_began timestamptz := 'infinity';
    v_fire  uuid := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
begin
    if p_before is not null then
        select f.began_at, f.fire_id into v_began, v_fire from fires f
        where f.tenant_id = p_tenant and f.fire_id = p_before;
    end if;
    if p_agent is null then
        return query
        select f.* from fires f
        where f.tenant_id = p_tenant and (f.began_at, f.fire_id) < (v_began, v_fire)
        order by f.began_at desc, f.fire_id desc limit fires_max;
    elsif p_job is null then
        -- By the page of each job: they are few, and their fires may be many.
        return query
        select o.* from schedules s cross join lateral (
            select f.* from fires f
            where f.tenant_id = s.tenant_id and f.agent_id = s.agent_id and f.job_id = s.job_id
              and (f.began_at, f.fire_id) < (v_began, v_fire)
            order by f.began_at desc, f.fire_id desc limit fires_max
        ) as o
        where s.tenant_id = p_tenant and s.agent_id = p_agent
        order by o.began_at desc, o.fire_id desc limit fires_max;
    else
        return query
        select f.* from fires f
        where f.tenant_id = p_tenant and f.agent_id = p_agent and f.job_id = p_job
          and (f.began_at, f.fire_id) < (v_began, v_fire)
        order by f.began_at desc, f.fire_id desc limit fires_max;
    end if;
end
$$;

-- Forgets fires that ended so long ago, and jobs that have not been armed since, at most so many of each.
-- A door: of all tenants.
create function forget_fires(kept interval, rows_max integer) returns bigint
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    jobs bigint;
    gone bigint;
begin
    perform check_retention('fires', kept);
    delete from fires f
    where (f.tenant_id, f.fire_id) in (
        select o.tenant_id, o.fire_id from fires o
        where o.ended_at < clock_timestamp() - kept order by o.ended_at limit rows_max
        for update skip locked
    );
    get diagnostics gone = row_count;
    delete from schedules s
    where (s.tenant_id, s.agent_id, s.job_id) in (
        select o.tenant_id, o.agent_id, o.job_id from schedules o
        where o.next_at is null and o.changed_at < clock_timestamp() - kept and o.watch_at is null
          -- As long as something is known of its fires, so is it.
          and not exists (
              select from fires f
              where f.tenant_id = o.tenant_id and f.agent_id = o.agent_id and f.job_id = o.job_id
          )
        order by o.changed_at limit rows_max
        for update skip locked
    );
    get diagnostics jobs = row_count;
    -- A full round of either is worth another.
    return greatest(gone, jobs);
end
$$;
alter function forget_fires(interval, integer) owner to nightdesk_doors;

grant execute on function
    keep_armed, schedule_lock, schedules_lock, schedule_open, schedules_write, fires_write,
    schedules_armed_for, fires_due, fires_next_ms, fires_running, fires_begin, fires_lock,
    flag_unarmed, fires_page, forget_fires
to nightdesk_app;
