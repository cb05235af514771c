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

-- Ends what waits of a job: for its next try, for a run to end, or for somebody who died telling it.
create function fires_end(p_tenant uuid, p_agent uuid, p_job text, p_cause text, p_at timestamptz)
returns bigint
language plpgsql
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
    ended bigint;
begin
    update fires f
    set state = 'skipped', cause = p_cause, calling = false, next_at = null, ended_at = p_at
    where f.tenant_id = p_tenant and f.agent_id = p_agent and f.job_id = p_job
      and f.next_at is not null and not (f.calling and f.next_at > p_at);
    get diagnostics ended = row_count;
    return ended;
end
$$;

-- What is added to an instant: the same for every look at this arming.
create function put_off(p_schedule uuid, p_arming bigint, p_jitter_ms bigint) returns interval
language sql immutable as $$
    select make_interval(secs => (
        (hashtextextended(p_schedule::text || '/' || p_arming, 0) & 9223372036854775807)
        % (p_jitter_ms + 1)) / 1000.0)
$$;

-- Arms a job. Asked again for what it is armed with, or for the very instant that is being told, nothing
-- changes.
create function schedule_arm(
    p_tenant uuid, p_agent uuid, p_job text, p_fire_at text, p_instant timestamptz,
    p_by_inbox boolean, p_target text, p_recurring boolean, p_reports boolean,
    p_overlap text, p_catch_up_ms bigint, p_jitter_ms bigint
) returns schedules
language plpgsql
set enable_seqscan = off
as $$
declare
    mine   schedules;
    now_at timestamptz;
begin
    loop
        -- Not armed yet; whoever comes at the same time waits here, or finds it.
        insert into schedules as s (
            tenant_id, agent_id, job_id, fire_at, due_at, by_inbox, target, recurring, reports, overlap,
            catch_up_ms, jitter_ms, changed_at)
        values (p_tenant, p_agent, p_job, p_fire_at, p_instant, p_by_inbox, p_target, p_recurring,
            p_reports, p_overlap, p_catch_up_ms, p_jitter_ms, clock_timestamp())
        on conflict do nothing;
        select s.* into mine from schedules s
        where s.tenant_id = p_tenant and s.agent_id = p_agent and s.job_id = p_job for update;
        -- Unless it was forgotten in between.
        exit when found;
    end loop;
    now_at := clock_timestamp();

    if mine.next_at is not null and mine.fire_at = p_fire_at
        and (mine.by_inbox, mine.target, mine.recurring, mine.reports)
            = (p_by_inbox, p_target, p_recurring, p_reports)
        and (mine.overlap, mine.catch_up_ms, mine.jitter_ms) = (p_overlap, p_catch_up_ms, p_jitter_ms)
    then
        return mine;
    end if;
    if mine.next_at is null and mine.fire_at = p_fire_at and not mine.cancelled and exists (
        select from fires f
        where f.tenant_id = p_tenant and f.agent_id = p_agent and f.job_id = p_job
          and f.next_at is not null and f.arming = mine.arming
    ) then
        return mine;
    end if;

    if mine.next_at is null then
        perform keep_armed(p_tenant, p_agent, 'agent-jobs');
        perform keep_armed(p_tenant, null, 'armed-jobs');
    end if;
    perform fires_end(p_tenant, p_agent, p_job, 'superseded', now_at);
    update schedules s
    set arming = s.arming + 1, fire_at = p_fire_at,
        due_at = p_instant + put_off(s.schedule_id, s.arming + 1, p_jitter_ms),
        next_at = greatest(
            now_at, p_instant + put_off(s.schedule_id, s.arming + 1, p_jitter_ms)),
        by_inbox = p_by_inbox, target = p_target, recurring = p_recurring,
        recurs = s.recurs or s.fired_before, reports = p_reports, overlap = p_overlap,
        catch_up_ms = p_catch_up_ms, jitter_ms = p_jitter_ms,
        cancelled = false, watch_at = null, flagged_at = null, changed_at = now_at
    where s.tenant_id = p_tenant and s.agent_id = p_agent and s.job_id = p_job
    returning s.* into mine;
    return mine;
end
$$;

-- Cancels a job, and answers what came of it. What is being told at this moment goes on, and is not told
-- again should it fail.
create function schedule_cancel(p_tenant uuid, p_agent uuid, p_job text) returns text
language plpgsql
set enable_seqscan = off
as $$
declare
    mine   schedules;
    now_at timestamptz;
    ended  bigint;
begin
    select s.* into mine from schedules s
    where s.tenant_id = p_tenant and s.agent_id = p_agent and s.job_id = p_job for update;
    if not found then
        return 'unknown';
    end if;
    now_at := clock_timestamp();
    ended := fires_end(p_tenant, p_agent, p_job, 'cancelled', now_at);
    update schedules s
    set next_at = null, watch_at = null, flagged_at = null, cancelled = true, changed_at = now_at
    where s.tenant_id = p_tenant and s.agent_id = p_agent and s.job_id = p_job;
    if exists (
        select from fires f
        where f.tenant_id = p_tenant and f.agent_id = p_agent and f.job_id = p_job
          and f.next_at is not null
    ) then
        return 'under way';
    end if;
    return case when mine.next_at is not null or ended > 0 then 'cancelled' else 'unknown' end;
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
