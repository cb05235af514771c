-- What is due is claimed by whoever tells the agent: a claim is the beginning of a call. Should nothing be
-- heard of it, it is due again when the call must be over.

-- Tells the owner of an agent that it was not told of an instant.
create function notice_missed(p_tenant uuid, p_fire uuid, notices_max bigint) returns void
language sql as $$
    select notice(f.tenant_id, f.agent_id, 'fire-missed',
        f.job_id || ', due ' || f.fire_at || ': ' || f.cause || coalesce(' (' || f.outcome || ')', ''),
        f.tries, notices_max)
    from fires f where f.tenant_id = p_tenant and f.fire_id = p_fire
$$;

-- Takes what is due, at most so many, the longest due first: jobs whose instant came, and fires whose next
-- try did. The last row has no fire: it says how long until something more is due. Over all tenants: a door.
create function fire_claim(
    p_node text, p_epoch bigint, fires_max integer, p_held interval, p_deadline interval,
    p_run_max interval, p_late interval, p_watch interval, notices_max bigint
) returns table (
    tenant uuid, agent uuid, job text, arming bigint, fire uuid, fire_at text, by_inbox boolean,
    target text, state text, cause text, tries integer, outcome text, began_at timestamptz,
    ended_at timestamptz, next_ms bigint
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
    -- Before anything is looked at: nothing is taken early.
    now_at   timestamptz := clock_timestamp();
    f_tenant uuid[];
    f_fire   uuid[];
    s_tenant uuid[];
    s_agent  uuid[];
    s_job    text[];
    s_fire   uuid[];
    -- Whether one of them may be missed.
    some_old boolean;
    missed   record;
begin
    if not node_lives(p_node, p_epoch) then
        return;
    end if;
    with again as materialized (
        select f.tenant_id, f.fire_id, f.next_at, now_at >= f.began_at + p_deadline as is_old
        from fires f
            join schedules s
                on s.tenant_id = f.tenant_id and s.agent_id = f.agent_id and s.job_id = f.job_id
        where f.next_at <= now_at
        order by f.next_at limit fires_max for update of f, s skip locked
    ), came as materialized (
        select s.tenant_id, s.agent_id, s.job_id, s.next_at from schedules s
        where s.next_at <= now_at
        order by s.next_at limit fires_max for update skip locked
    ), due as (
        select a.tenant_id, null::uuid as agent_id, null::text as job_id, a.fire_id, a.next_at,
            true as is_fire, a.is_old
        from again a
        union all
        select c.tenant_id, c.agent_id, c.job_id, gen_random_uuid(), c.next_at, false,
            now_at > c.next_at + p_late
        from came c
        order by 5 limit fires_max
    )
    select array_agg(d.tenant_id) filter (where d.is_fire),
        array_agg(d.fire_id) filter (where d.is_fire),
        array_agg(d.tenant_id) filter (where not d.is_fire),
        array_agg(d.agent_id) filter (where not d.is_fire),
        array_agg(d.job_id) filter (where not d.is_fire),
        array_agg(d.fire_id) filter (where not d.is_fire),
        bool_or(d.is_old)
    into f_tenant, f_fire, s_tenant, s_agent, s_job, s_fire, some_old from due d;

    -- New statements: they see what whoever held the jobs before us did.
    if f_tenant is not null then
        return query
        with mine as materialized (
            select f.tenant_id, f.fire_id, s.by_inbox, s.target, s.recurring or s.recurs as recurs,
                case when s.cancelled then 'cancelled'
                    when s.arming > f.arming then 'superseded'
                    when now_at >= f.began_at + p_deadline then 'gave-up' end as cause,
                r.runs_until
            from unnest(f_tenant, f_fire) as k (tenant, fire)
                join fires f on f.tenant_id = k.tenant and f.fire_id = k.fire
                join schedules s
                    on s.tenant_id = f.tenant_id and s.agent_id = f.agent_id and s.job_id = f.job_id
                left join lateral (
                    select max(o.ended_at) + p_run_max as runs_until from fires o
                    where f.state = 'held' and o.tenant_id = f.tenant_id
                      and o.agent_id = f.agent_id and o.job_id = f.job_id
                      and o.reports and o.run_ended_at is null and o.state in ('fired', 'late')
                      and o.ended_at > now_at - p_run_max
                ) as r on true
        ), moved as (
            update fires f
            set state = case when mine.cause = 'gave-up' then 'missed'
                    when mine.cause is not null then 'skipped'
                    when mine.runs_until is not null then 'held' else 'open' end,
                cause = mine.cause,
                tries = f.tries + case when mine.cause is null and mine.runs_until is null then 1
                    else 0 end,
                calling = mine.cause is null and mine.runs_until is null,
                next_at = case when mine.cause is null then
                    coalesce(mine.runs_until, now_at + p_held) end,
                ended_at = case when mine.cause is not null then now_at end,
                node = p_node
            from mine where f.tenant_id = mine.tenant_id and f.fire_id = mine.fire_id
            returning f.*, mine.by_inbox, mine.target, mine.recurs
        ), watched as (
            update schedules s set watch_at = now_at + p_watch
            from moved m
            where m.state = 'missed' and m.recurs and s.tenant_id = m.tenant_id
              and s.agent_id = m.agent_id and s.job_id = m.job_id and s.next_at is null
        )
        select m.tenant_id, m.agent_id, m.job_id, m.arming, m.fire_id, m.fire_at, m.by_inbox,
            m.target, m.state, m.cause, m.tries, m.outcome, m.began_at, m.ended_at, null::bigint
        from moved m where m.state <> 'held';
    end if;
    if s_tenant is not null then
        return query
        with mine as materialized (
            select s.*, k.fire_id,
                case when now_at > s.next_at
                        + greatest(p_late, make_interval(secs => s.catch_up_ms / 1000.0))
                    then 'too-late'
                    when s.overlap = 'skip' and r.runs_until is not null then 'overlap' end as cause,
                r.runs_until
            from unnest(s_tenant, s_agent, s_job, s_fire) as k (tenant, agent, job, fire_id)
                join schedules s on s.tenant_id = k.tenant and s.agent_id = k.agent and s.job_id = k.job
                left join lateral (
                    select max(o.ended_at) + p_run_max as runs_until from fires o
                    where s.reports and s.overlap <> 'allow_all' and o.tenant_id = s.tenant_id
                      and o.agent_id = s.agent_id and o.job_id = s.job_id
                      and o.reports and o.run_ended_at is null and o.state in ('fired', 'late')
                      and o.ended_at > now_at - p_run_max
                ) as r on true
        ), disarmed as (
            update schedules s
            set next_at = null, changed_at = now_at,
                watch_at = case when mine.cause is not null and (mine.recurring or mine.recurs)
                    then now_at + p_watch end
            from mine
            where s.tenant_id = mine.tenant_id and s.agent_id = mine.agent_id and s.job_id = mine.job_id
        ), begun as (
            insert into fires (
                tenant_id, fire_id, agent_id, job_id, arming, fire_at, due_at, state, cause, tries,
                calling, next_at, node, began_at, ended_at, reports)
            select m.tenant_id, m.fire_id, m.agent_id, m.job_id, m.arming, m.fire_at, m.due_at,
                case when m.cause = 'too-late' then 'missed' when m.cause is not null then 'skipped'
                    when m.runs_until is not null then 'held' else 'open' end,
                m.cause,
                case when m.cause is null and m.runs_until is null then 1 else 0 end,
                m.cause is null and m.runs_until is null,
                case when m.cause is null then coalesce(m.runs_until, now_at + p_held) end,
                p_node, now_at, case when m.cause is not null then now_at end, m.reports
            from mine m
            returning tenant_id, fire_id, state, tries
        )
        select m.tenant_id, m.agent_id, m.job_id, m.arming, m.fire_id, m.fire_at, m.by_inbox, m.target,
            case when m.cause = 'too-late' then 'missed' when m.cause is not null then 'skipped'
                else 'open' end,
            m.cause, case when m.cause is null then 1 else 0 end, null::text, now_at,
            case when m.cause is not null then now_at end, null::bigint
        from mine m where m.cause is not null or m.runs_until is null;
    end if;
    for missed in
        select f.tenant_id, f.fire_id
        from unnest(f_tenant || s_tenant, f_fire || s_fire) as k (tenant, fire)
            join fires f on f.tenant_id = k.tenant and f.fire_id = k.fire
        where some_old and f.state = 'missed'
        -- The order in which notices are locked.
        order by 1
    loop
        perform notice_missed(missed.tenant_id, missed.fire_id, notices_max);
    end loop;
    return query
    select null::uuid, null::uuid, null::text, null::bigint, null::uuid, null::text, null::boolean,
        null::text, null::text, null::text, null::integer, null::text, null::timestamptz,
        null::timestamptz, (extract(epoch from least(
            (select min(s.next_at) from schedules s where s.next_at is not null),
            (select min(f.next_at) from fires f where f.next_at is not null)
        ) - clock_timestamp()) * 1000)::bigint;
end
$$;
alter function fire_claim(
    text, bigint, integer, interval, interval, interval, interval, interval, bigint
) owner to nightdesk_doors;

-- Notes how a fire ended, if it is still open. A try that is not the newest says nothing, unless the agent
-- took it. No cause: it was taken.
create function fire_end(
    p_tenant uuid, p_fire uuid, p_tries integer, p_state text, p_cause text, p_outcome text,
    p_late interval, p_watch interval, notices_max bigint
) returns boolean
language plpgsql
set enable_seqscan = off
as $$
declare
    mine   fires;
    now_at timestamptz;
begin
    perform from schedules s, fires f
    where f.tenant_id = p_tenant and f.fire_id = p_fire
      and s.tenant_id = f.tenant_id and s.agent_id = f.agent_id and s.job_id = f.job_id
    for update of s;
    now_at := clock_timestamp();
    update fires f
    set state = case when p_cause is not null then p_state
            when now_at > f.due_at + p_late then 'late' else 'fired' end,
        cause = p_cause, outcome = p_outcome, calling = false, next_at = null, ended_at = now_at
    where f.tenant_id = p_tenant and f.fire_id = p_fire and f.state = 'open'
      and (p_cause is null or f.tries = p_tries)
    returning f.* into mine;
    if not found then
        return false;
    end if;
    update schedules s
    set fired_before = s.fired_before or p_cause is null,
        -- Its agent armed it again while we still heard that it took this one.
        recurs = s.recurs or (p_cause is null and s.arming > mine.arming),
        watch_at = case
            when s.next_at is null and s.arming = mine.arming and not s.cancelled
                and (s.recurring or s.recurs) then now_at + p_watch
            else s.watch_at end
    where s.tenant_id = p_tenant and s.agent_id = mine.agent_id and s.job_id = mine.job_id;
    if mine.state = 'missed' then
        perform notice_missed(p_tenant, p_fire, notices_max);
    end if;
    return true;
end
$$;

-- Notes what came of a try, and when the next is due, if it is the newest.
create function fire_again(
    p_tenant uuid, p_fire uuid, p_tries integer, p_outcome text, p_wait interval, counts boolean
) returns boolean language plpgsql as $$
begin
    update fires f
    set calling = false, next_at = clock_timestamp() + p_wait, outcome = p_outcome,
        tries = f.tries - case when counts then 0 else 1 end
    where f.tenant_id = p_tenant and f.fire_id = p_fire and f.state = 'open' and f.calling
      and f.tries = p_tries;
    return found;
end
$$;

-- Notes the end of a run, and lets go what waits for it. Whose run is over took its fire, whether or not we
-- heard so.
create function fire_report(
    p_tenant uuid, p_agent uuid, p_fire uuid, p_ok boolean, p_note text,
    p_late interval, p_watch interval, notices_max bigint
) returns boolean
language plpgsql
set enable_seqscan = off
as $$
declare
    mine fires;
begin
    perform from schedules s, fires f
    where f.tenant_id = p_tenant and f.fire_id = p_fire and f.agent_id = p_agent
      and s.tenant_id = f.tenant_id and s.agent_id = f.agent_id and s.job_id = f.job_id
    for update of s;
    select f.* into mine from fires f
    where f.tenant_id = p_tenant and f.fire_id = p_fire and f.agent_id = p_agent;
    if mine.state = 'open' then
        perform fire_end(p_tenant, p_fire, mine.tries, null, null, 'reported', p_late, p_watch, notices_max);
    end if;
    update fires f
    set run_ended_at = clock_timestamp(), run_ok = p_ok, run_note = p_note
    where f.tenant_id = p_tenant and f.fire_id = p_fire and f.agent_id = p_agent
      and f.state in ('fired', 'late') and f.run_ended_at is null
    returning f.* into mine;
    if not found then
        return false;
    end if;
    update fires f set next_at = clock_timestamp()
    where f.tenant_id = p_tenant and f.agent_id = p_agent and f.job_id = mine.job_id
      and f.next_at is not null and f.state = 'held';
    return true;
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
