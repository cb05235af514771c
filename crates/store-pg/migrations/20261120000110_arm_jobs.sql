-- Agents arm their jobs, and cancel them.

-- Refuses one more armed job than a tenant, or one of its agents, may have. One at a time: of two that
-- come at once the later sees the earlier. Jobs are counted when the room that was found the last time is
-- used up, so that most often nobody counts.
create function keep_armed(p_tenant uuid, p_agent uuid, p_quota text) returns void
language plpgsql
set enable_seqscan = off
set enable_bitmapscan = off
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

-- Locks the jobs of an agent that are not cancelled, in the order of their names, and returns them as `schedule_lock` does.
create function schedules_lock(p_tenant uuid, p_agent uuid)
returns table (now_at timestamptz, job schedules, fire fires)
language plpgsql
set enable_seqscan = off
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
set enable_seqscan = off
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
set enable_seqscan = off
set enable_bitmapscan = off
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
    p_calling boolean[], p_next_at timestamptz[], p_ended_at timestamptz[], p_outcome text
) returns void
language plpgsql
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
begin
    update fires f
    set state = k.state, cause = k.cause, tries = k.tries, calling = k.calling, next_at = k.next_at,
        ended_at = k.ended_at, outcome = coalesce(p_outcome, f.outcome), node = coalesce(p_node, f.node)
    from unnest(p_tenant, p_fire, p_state, p_cause, p_tries, p_calling, p_next_at, p_ended_at)
            as k (tenant, fire, state, cause, tries, calling, next_at, ended_at)
    where f.tenant_id = k.tenant and f.fire_id = k.fire;
end
$$;

-- What is armed for an agent, and what it is still to be told of.
create function schedules_armed_for(p_tenant uuid, p_agent uuid) returns setof schedules
language plpgsql stable
set enable_seqscan = off
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
