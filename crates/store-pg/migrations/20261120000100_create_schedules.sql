-- Time: what agents ask to be told of and when, and what came of each instant.
--
-- A job's row is its lock: whoever changes a job or one of its fires holds it first, but for a try that
-- is only put off. A claim skips what is locked, so it never waits.
create table schedules (
    tenant_id    uuid        not null,
    agent_id     uuid        not null,
    job_id       text        collate "C" not null,
    schedule_id  uuid        not null default gen_random_uuid(),
    -- Rises with every arming. A fire of an older one is not told any more.
    arming       bigint      not null default 0,
    -- The instant as its agent wrote it, when it is due with what is added to it, and when somebody looks
    -- at it. Null: it is not armed.
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
    -- What is being told is not told again.
    cancelled    boolean     not null default false,
    -- When it should be armed again by, and since when it should be and is not.
    watch_at     timestamptz,
    flagged_at   timestamptz,
    -- When it was last armed, claimed or cancelled.
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
    -- Somebody tells the agent, until `next_at`.
    calling      boolean     not null,
    -- When somebody looks at it next. Null: it is over.
    next_at      timestamptz,
    outcome      text,
    -- Who claimed it last.
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
-- For the claim; for whoever changes a job; for runs that are not over; for who looks; for the upkeep.
create index fires_by_next on fires (next_at) where next_at is not null;
create index fires_open on fires (tenant_id, agent_id, job_id) where next_at is not null;
create index fires_running on fires (tenant_id, agent_id, job_id, ended_at)
    where reports and run_ended_at is null and state in ('fired', 'late');
create index fires_of_job on fires (tenant_id, agent_id, job_id, began_at, fire_id);
create index fires_of_tenant on fires (tenant_id, began_at, fire_id);
create index fires_by_end on fires (ended_at) where ended_at is not null;
select wall_off('fires');

-- How many more jobs may be armed before somebody must count, for an agent, and for a tenant under the
-- nil id. Fires only make more room, so whoever claims need not come by.
create table schedule_rooms (
    tenant_id uuid   not null,
    agent_id  uuid   not null,
    room      bigint not null,
    -- What was allowed when it was counted.
    allowed   bigint not null,
    primary key (tenant_id, agent_id)
) with (fillfactor = 50);
select wall_off('schedule_rooms');

alter table quotas
    drop constraint quotas_known_quota,
    add constraint quotas_known_quota check (quota in (
        'agents', 'grants', 'pending-entries', 'pending-bytes', 'armed-jobs', 'agent-jobs'));

create or replace function quota_default(p_quota text) returns bigint language sql immutable as $$
    select case p_quota when 'agents' then 50 when 'grants' then 100
        when 'pending-entries' then 10000 when 'pending-bytes' then 268435456
        when 'armed-jobs' then 2000 when 'agent-jobs' then 200 end
$$;

alter table notices
    drop constraint notices_known_kind,
    add constraint notices_known_kind check (kind in (
        'unreachable', 'held', 'deaf', 'missed', 'sessions', 'fire-missed', 'unarmed'));
