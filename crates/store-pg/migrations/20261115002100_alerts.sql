-- Alerts: their causes, the ways on which they go out, and the deliveries of their messages.
--
-- The alerts of the desk itself, and the ways of the operator, have the id of no tenant, as the roles of the desk have.
-- The rules are in `nightdesk-alerts`; these functions find, lock and list.

-- The newest alert of each kind.
create table alerts (
    tenant_id   uuid        not null,
    kind        text        not null,
    opened_at   timestamptz not null,
    -- The last time at which its cause was recorded as seen.
    seen_at     timestamptz not null,
    resolved_at timestamptz,
    -- The number of its messages so far, and the time of the last.
    version     integer     not null,
    changed_at  timestamptz not null,
    repeats     integer     not null,
    -- True if it came back soon after it was resolved.
    is_return   boolean     not null,
    count       bigint      not null,
    subjects    bigint      not null,
    -- The first subjects, one on each line.
    samples     text        not null,
    since       timestamptz not null,
    primary key (tenant_id, kind),
    constraint alerts_known_kind check (kind in (
        'parked', 'inbox-full', 'quarantined', 'deaf-bot', 'failing-wake', 'missed-fire',
        'lost-commits', 'quota', 'expiring-key', 'disk'))
) with (fillfactor = 50);
create index alerts_open on alerts (tenant_id, kind) where resolved_at is null;
create index alerts_by_change on alerts (changed_at);
select wall_off('alerts');

-- The targets of messages. The secret that signs the posts to a URL is derived from the salt and a secret of the desk, so
-- no row has it.
create table alert_ways (
    tenant_id    uuid        not null,
    way_id       uuid        not null default gen_random_uuid(),
    kind         text        not null,
    -- A URL, an address, or the id of a chat.
    target       text        not null,
    salt         text,
    -- The agent in whose place the desk writes, of this tenant or, for the operator, of any; and the bot.
    agent_tenant uuid,
    agent_id     uuid,
    bot_id       uuid,
    coverage     text        not null,
    created_at   timestamptz not null default now(),
    -- The last message that arrived, and the reason for which the last one did not.
    told_at      timestamptz,
    failure      text,
    tested_at    timestamptz,
    primary key (tenant_id, way_id),
    constraint alert_ways_one_per_target unique nulls not distinct (tenant_id, kind, target, bot_id),
    constraint alert_ways_known_kind check (kind in ('webhook', 'mail', 'chat')),
    constraint alert_ways_salted check ((kind = 'webhook') = (salt is not null)),
    constraint alert_ways_spoken check (
        num_nonnulls(agent_tenant, agent_id, bot_id) = case kind when 'chat' then 3 else 0 end),
    constraint alert_ways_known_coverage check (
        coverage = 'own'
        or (coverage = 'all-tenants' and tenant_id = '00000000-0000-0000-0000-000000000000'))
);
select wall_off('alert_ways');
create constraint trigger tell_alert_way after insert on alert_ways
    deferrable initially deferred for each row
    execute function tell_row('alert-way-added', 'way_id', 'kind', 'coverage');
create constraint trigger tell_alert_way_removed after delete on alert_ways
    deferrable initially deferred for each row
    execute function tell_row('alert-way-removed', 'way_id', 'kind');

-- The messages about an alert on a way: up to which version they arrived, and the next try.
create table alert_deliveries (
    tenant_id    uuid        not null,
    kind         text        not null,
    way_tenant   uuid        not null,
    way_id       uuid        not null,
    -- The alert, by the time at which it was opened.
    opened_at    timestamptz not null,
    told_version integer     not null,
    -- True if a message arrived that it is open.
    is_known     boolean     not null,
    began_at     timestamptz,
    failures     integer     not null,
    next_at      timestamptz,
    primary key (tenant_id, kind, way_tenant, way_id),
    foreign key (way_tenant, way_id) references alert_ways on delete cascade
) with (fillfactor = 50);
create index alert_deliveries_by_way on alert_deliveries (way_tenant, way_id);
select wall_off('alert_deliveries');

-- The causes that nodes find on their own machines.
create table node_findings (
    node        text        not null,
    nth         integer     not null,
    kind        text        not null,
    subject     text        not null,
    -- Since when the node reports it.
    since       timestamptz not null,
    reported_at timestamptz not null,
    primary key (node, nth)
);
grant select, insert, update, delete on node_findings to nightdesk_app, nightdesk_doors;

-- The use of the quotas that are almost used up, in percent of what is allowed. Sends and prompts are not counted: a
-- count of a day's sends costs too much, and a refusal names the quota.
create function high_quotas(p_percent bigint) returns table (
    tenant_id uuid, quota text, used bigint, allowed bigint
) language plpgsql stable as $$
#variable_conflict use_column
begin
    return query
    with defaults as materialized (
        select d.quota, quota_default(d.quota) as allowed from unnest(array[
            'agents', 'gateways', 'grants', 'armed-jobs', 'agent-jobs', 'skills', 'data-entries',
            'shelf-bytes', 'pending-entries'
        ]) as d (quota)
    ), armed as materialized (
        select s.tenant_id, s.agent_id, count(*) as used from schedules s
        where s.next_at is not null group by 1, 2
    ), counted as (
        select a.tenant_id, 'agents' as quota, count(*) as used from agents a group by 1
        union all
        select g.tenant_id, 'gateways', count(*) from gateways g group by 1
        union all
        select g.tenant_id, 'grants', count(*) from scope_grants g group by 1
        union all
        select a.tenant_id, 'armed-jobs', sum(a.used)::bigint from armed a group by 1
        union all
        select a.tenant_id, 'agent-jobs', max(a.used) from armed a group by 1
        union all
        select s.tenant_id, 'skills', count(*) from skills s group by 1
        union all
        select d.tenant_id, 'data-entries', count(*) from data_entries d group by 1
        union all
        select s.tenant_id, 'shelf-bytes', s.bytes from shelves s
        union all
        -- Parked entries have a number too, and do not wait.
        select w.tenant_id, 'pending-entries', max(w.used) from (
            select h.tenant_id, (
                select count(*) from inbox_entries e
                where e.tenant_id = h.tenant_id and e.agent_id = h.agent_id
                  and e.at >= c.acked_at and e.seq > c.acked_seq and not e.seq <@ c.ahead
            ) as used
            from inbox_heads h
                join inbox_cursors c on c.tenant_id = h.tenant_id and c.agent_id = h.agent_id
                left join quotas q on q.tenant_id = h.tenant_id and q.quota = 'pending-entries'
            where (h.next_seq - 1 - c.acked_seq) * 100
                >= coalesce(q.allowed, quota_default('pending-entries')) * p_percent
              and h.next_seq - 1 > c.acked_seq
        ) as w group by 1
    )
    select c.tenant_id, c.quota, c.used, coalesce(q.allowed, d.allowed)
    from counted c
        join defaults d on d.quota = c.quota
        left join quotas q on q.tenant_id = c.tenant_id and q.quota = c.quota
    where c.used > 0 and c.used * 100 >= coalesce(q.allowed, d.allowed) * p_percent;
end
$$;

-- The name of an agent.
create function agent_name(p_tenant uuid, p_agent uuid) returns text language sql stable as $$
    select a.name from agents a where a.tenant_id = p_tenant and a.agent_id = p_agent
$$;

-- Returns the causes of alerts of these kinds: one row for each tenant and kind, at most so many. A branch whose kind is
-- not asked for reads nothing. The facts are counted by their ids; only those that become samples, the oldest and then the
-- first by id, are put in words, with the name of their agent. Over all tenants that live, and the desk: a door.
create function door_alert_causes(
    p_kinds text[], p_full_for interval, p_event_for interval, p_loss_for interval, p_calls integer,
    p_percent bigint, p_findings_last interval, samples_max integer, causes_max integer
) returns table (
    tenant_id uuid, kind text, count bigint, subjects bigint, samples text[], since timestamptz
) language plpgsql stable security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
declare
    v_now   timestamptz := clock_timestamp();
    v_desk  constant uuid := '00000000-0000-0000-0000-000000000000';
begin
    return query
    with facts (tenant_id, kind, id, detail, outcome, calls, n, since) as (
        -- Entries that a person or the stop of a turn set aside are no fault; full inboxes have a kind of their own.
        select p.tenant_id, 'parked', p.agent_id, p.reason, null, null::integer, count(*), min(p.parked_at)
        from inbox_parked p
        where 'parked' = any (p_kinds) and p.resubmitted_as is null
          and p.reason not in ('full', 'operator', 'stopped')
        group by p.tenant_id, p.agent_id, p.reason
        union all
        select f.tenant_id, 'inbox-full', f.agent_id, '', null, null, 1, f.since
        from (
            select p.tenant_id, p.agent_id, min(p.parked_at) as since from inbox_parked p
            where 'inbox-full' = any (p_kinds) and p.parked_at > v_now - p_full_for
              and p.reason = 'full'
            group by 1, 2
        ) as f
            join inbox_heads h on h.tenant_id = f.tenant_id and h.agent_id = f.agent_id
        -- There is no room for the longest entry.
        where inbox_is_full(
            f.tenant_id, f.agent_id, h.next_seq, h.bytes + entry_bytes_max(),
            quota_of(f.tenant_id, 'pending-entries'), quota_of(f.tenant_id, 'pending-bytes')
        )
        union all
        select q.tenant_id, 'quarantined', q.bot_id,
            format('bot %s (%s): %s', b.handle, b.platform, count(*)), null, null, count(*), min(q.at)
        from quarantined q
            join bots b on b.tenant_id = q.tenant_id and b.bot_id = q.bot_id
        where 'quarantined' = any (p_kinds) and q.at > v_now - p_event_for
        group by q.tenant_id, q.bot_id, b.handle, b.platform
        union all
        select h.tenant_id, 'deaf-bot', h.bot_id, format('bot %s (%s): %s', b.handle, b.platform, h.why),
            null, null, 1, h.unheard_since
        from bot_hearings h
            join bots b on b.tenant_id = h.tenant_id and b.bot_id = h.bot_id
        where 'deaf-bot' = any (p_kinds) and h.told_at is not null
        union all
        select w.tenant_id, 'failing-wake', w.agent_id, '', w.outcome,
            case w.state when 'due' then w.calls end, 1, w.since
        from wakes w
        where 'failing-wake' = any (p_kinds) and w.state in ('due', 'unreachable')
          and (w.state = 'unreachable' or (w.due_at is not null and w.calls > p_calls))
        union all
        select f.tenant_id, 'missed-fire', f.agent_id, f.job_id, f.cause, null, 1, f.ended_at
        from fires f
        where 'missed-fire' = any (p_kinds) and f.state = 'missed' and f.ended_at > v_now - p_event_for
        union all
        select v_desk, 'lost-commits', v_desk, format('history %s', h.incarnation), null, null, 1, h.begun_at
        from history h
        where 'lost-commits' = any (p_kinds) and h.breaks > 0 and h.begun_at > v_now - p_loss_for
        union all
        select u.tenant_id, 'quota', v_desk, format('%s: %s of %s', u.quota, u.used, u.allowed), null, null, 1,
            v_now
        from high_quotas(p_percent) u
        where 'quota' = any (p_kinds)
        union all
        select v_desk, n.kind, v_desk, format('node %s: %s', n.node, n.subject), null, null, 1, n.since
        from node_findings n
        where n.kind = any (p_kinds) and n.reported_at > v_now - p_findings_last
    ), ranked as (
        select f.*, row_number() over (
            partition by f.tenant_id, f.kind order by f.since, f.id, f.detail collate "C"
        ) as nth
        from facts f
    ), causes (tenant_id, kind, count, subjects, samples, since) as materialized (
        select r.tenant_id, r.kind, sum(r.n)::bigint, count(*), array_agg((
            case r.kind
                when 'parked' then format('agent %s: %s, reason %s', agent_name(r.tenant_id, r.id), r.n, r.detail)
                when 'inbox-full' then format('agent %s', agent_name(r.tenant_id, r.id))
                when 'failing-wake' then case when r.calls is null
                    then format('agent %s: given up', agent_name(r.tenant_id, r.id))
                    else format('agent %s: %s calls, the last: %s', agent_name(r.tenant_id, r.id), r.calls,
                        coalesce(r.outcome, 'no outcome'))
                end
                when 'missed-fire' then format('agent %s, job %s: %s', agent_name(r.tenant_id, r.id), r.detail,
                    r.outcome)
                else r.detail
            end
        ) order by r.nth) filter (where r.nth <= samples_max), min(r.since)
        from ranked r
        group by r.tenant_id, r.kind
    )
    -- Asked once for each cause: in the grouping it would be asked for each row.
    select c.* from causes c
    where c.tenant_id = v_desk or tenant_lives(c.tenant_id)
    order by c.tenant_id, c.kind
    limit causes_max;
end
$$;
alter function door_alert_causes(
    text[], interval, interval, interval, integer, bigint, interval, integer, integer
) owner to nightdesk_doors;

-- Locks the open alerts of these kinds, and the rows of the causes that were found. Over all tenants: a door.
create function door_lock_alerts(p_kinds text[], c_tenants uuid[], c_kinds text[])
returns setof alerts
language plpgsql security definer set search_path = public, pg_temp as $$
begin
    return query
    select a.* from alerts a
    where (a.resolved_at is null and a.kind = any (p_kinds))
       or (a.tenant_id, a.kind) in (select c.* from unnest(c_tenants, c_kinds) as c)
    order by a.tenant_id, a.kind for update;
end
$$;
alter function door_lock_alerts(text[], uuid[], text[]) owner to nightdesk_doors;

-- Locks alerts with a message that may be due on a way, at most so many pairs, and returns them with the ways. Several
-- nodes share the work: an alert that another transaction has locked is skipped. Over all tenants: a door.
create function door_due_alerts(p_within interval, pairs_max integer) returns table (
    alert alerts, way alert_ways, delivery alert_deliveries, tenant_name text
) language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_now  timestamptz := clock_timestamp();
    v_desk constant uuid := '00000000-0000-0000-0000-000000000000';
begin
    return query
    select a, w, d, t.name
    from alerts a
        join alert_ways w on w.tenant_id = a.tenant_id
            or (w.tenant_id = v_desk and w.coverage = 'all-tenants')
        left join alert_deliveries d on d.tenant_id = a.tenant_id and d.kind = a.kind
            and d.way_tenant = w.tenant_id and d.way_id = w.way_id
        left join tenants t on t.tenant_id = a.tenant_id
    where a.changed_at > v_now - p_within
      and (
          d.opened_at is distinct from a.opened_at
          or (d.told_version < a.version and coalesce(d.next_at <= v_now, true))
      )
    order by a.changed_at, a.tenant_id, a.kind, w.way_id
    limit pairs_max
    for update of a skip locked for key share of w skip locked;
end
$$;
alter function door_due_alerts(interval, integer) owner to nightdesk_doors;

-- The open alerts of the desk and of all tenants, the newest first. A door.
create function door_open_alerts(alerts_max integer) returns table (alert alerts, tenant_name text)
language plpgsql stable security definer set search_path = public, pg_temp as $$
begin
    return query
    select a, t.name from alerts a left join tenants t on t.tenant_id = a.tenant_id
    where a.resolved_at is null
    order by a.opened_at desc, a.tenant_id, a.kind limit alerts_max;
end
$$;
alter function door_open_alerts(integer) owner to nightdesk_doors;

grant execute on function
    door_alert_causes, door_lock_alerts, door_due_alerts, door_open_alerts
to nightdesk_app;
