-- The schema after all migrations, without the partitions of single days.
-- Made by `just gen`; do not edit.

CREATE FUNCTION public.agent_name(p_tenant uuid, p_agent uuid) RETURNS text
    LANGUAGE sql STABLE
    AS $$
    select a.name from agents a where a.tenant_id = p_tenant and a.agent_id = p_agent
$$;

ALTER FUNCTION public.agent_name(p_tenant uuid, p_agent uuid) OWNER TO nightdesk_owner;

CREATE FUNCTION public.audit_bytes(p_tenant uuid, p_seq bigint, p_at timestamp with time zone, p_actor text, p_kind text, p_about text) RETURNS bytea
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'public', 'pg_temp'
    AS $$
    select convert_to(string_agg(octet_length(f.field) || ':' || f.field, '' order by f.nth), 'UTF8')
    from unnest(array[
        p_tenant::text, p_seq::text, (extract(epoch from p_at) * 1000000)::bigint::text, p_actor,
        p_kind, p_about
    ]) with ordinality as f (field, nth)
$$;

ALTER FUNCTION public.audit_bytes(p_tenant uuid, p_seq bigint, p_at timestamp with time zone, p_actor text, p_kind text, p_about text) OWNER TO nightdesk_owner;

CREATE FUNCTION public.body_bytes(sealed bytea) RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    select greatest(octet_length(sealed) - 29, 0)
$$;

ALTER FUNCTION public.body_bytes(sealed bytea) OWNER TO nightdesk_owner;

CREATE FUNCTION public.bot_begins(p_tenant uuid, p_bot uuid, p_alarm integer, p_stop integer, p_words text, notices_max bigint) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare
    v_begun bigint;
begin
    perform from bots b where b.tenant_id = p_tenant and b.bot_id = p_bot for update;
    if not found then
        return false;
    end if;
    delete from bot_sessions s
    where s.tenant_id = p_tenant and s.bot_id = p_bot
      and s.hour < clock_timestamp() - interval '25 hours';
    select coalesce(sum(s.begun), 0) into v_begun from bot_sessions s
    where s.tenant_id = p_tenant and s.bot_id = p_bot;
    if v_begun >= p_stop then
        return false;
    end if;
    insert into bot_sessions as s (tenant_id, bot_id, hour, begun)
    values (p_tenant, p_bot, date_trunc('hour', clock_timestamp()), 1)
    on conflict (tenant_id, bot_id, hour) do update set begun = s.begun + 1;
    if v_begun + 1 = p_alarm then
        perform notice_of_bot(p_tenant, p_bot, 'sessions', p_words, notices_max);
    end if;
    return true;
end
$$;

ALTER FUNCTION public.bot_begins(p_tenant uuid, p_bot uuid, p_alarm integer, p_stop integer, p_words text, notices_max bigint) OWNER TO nightdesk_owner;

CREATE FUNCTION public.bot_heard(p_tenant uuid, p_bot uuid, p_kept interval, p_lost text, notices_max bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
    v_before timestamptz;
begin
    select h.heard_at into v_before from bot_hearings h
    where h.tenant_id = p_tenant and h.bot_id = p_bot for update;
    if v_before < clock_timestamp() - p_kept then
        perform notice_of_bot(p_tenant, p_bot, 'missed', p_lost, notices_max);
    end if;
    -- Nothing is noted of one that was removed meanwhile.
    insert into bot_hearings (tenant_id, bot_id, heard_at)
    select b.tenant_id, b.bot_id, clock_timestamp() from bots b
    where b.tenant_id = p_tenant and b.bot_id = p_bot
    on conflict (tenant_id, bot_id) do update
    set heard_at = excluded.heard_at, unheard_since = null, why = null, told_at = null;
end
$$;

ALTER FUNCTION public.bot_heard(p_tenant uuid, p_bot uuid, p_kept interval, p_lost text, notices_max bigint) OWNER TO nightdesk_owner;

CREATE FUNCTION public.bot_missed(p_tenant uuid, p_bot uuid, p_words text, notices_max bigint) RETURNS timestamp with time zone
    LANGUAGE plpgsql
    AS $$
begin
    perform notice_of_bot(p_tenant, p_bot, 'missed', p_words, notices_max);
    return (
        select greatest(h.heard_at, h.said_at) from bot_hearings h
        where h.tenant_id = p_tenant and h.bot_id = p_bot
    );
end
$$;

ALTER FUNCTION public.bot_missed(p_tenant uuid, p_bot uuid, p_words text, notices_max bigint) OWNER TO nightdesk_owner;

CREATE FUNCTION public.bot_unheard(p_tenant uuid, p_bot uuid, p_why text, p_deaf_after interval, notices_max bigint) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
begin
    insert into bot_hearings as h (tenant_id, bot_id, unheard_since, why)
    select b.tenant_id, b.bot_id, clock_timestamp(), p_why from bots b
    where b.tenant_id = p_tenant and b.bot_id = p_bot
    on conflict (tenant_id, bot_id) do update
    set unheard_since = coalesce(h.unheard_since, excluded.unheard_since), why = excluded.why;
    update bot_hearings h set told_at = clock_timestamp()
    where h.tenant_id = p_tenant and h.bot_id = p_bot and h.told_at is null
      and h.unheard_since <= clock_timestamp() - p_deaf_after;
    if not found then
        return false;
    end if;
    perform notice_of_bot(p_tenant, p_bot, 'deaf', p_why, notices_max);
    return true;
end
$$;

ALTER FUNCTION public.bot_unheard(p_tenant uuid, p_bot uuid, p_why text, p_deaf_after interval, notices_max bigint) OWNER TO nightdesk_owner;

CREATE FUNCTION public.bury_lines(lines_max integer) RETURNS TABLE(tenant uuid, agent uuid, ended_at timestamp with time zone, grace_seconds double precision, waits boolean)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
#variable_conflict use_column
declare
    tenants uuid[] := '{}';
    dead    record;
    v_incarnation bigint := current_incarnation();
begin
    for dead in
        with recursive lives as (
            (
                select l.node, l.node_epoch, l.incarnation from lines l where l.closed_at is null
                order by l.node, l.node_epoch, l.incarnation limit 1
            )
            union all
            -- The next life that has open lines: a few steps, however many lines there are.
            select after.node, after.node_epoch, after.incarnation
            from lives cross join lateral (
                select l.node, l.node_epoch, l.incarnation from lines l
                where l.closed_at is null
                  and (l.node, l.node_epoch, l.incarnation)
                      > (lives.node, lives.node_epoch, lives.incarnation)
                order by l.node, l.node_epoch, l.incarnation limit 1
            ) as after
        )
        select l.tenant_id, l.agent_id, l.incarnation, l.generation, l.grace,
            coalesce(node_ended_at(l.node, l.node_epoch), clock_timestamp()) as ended_at
        from lives
            join lines l on l.node = lives.node and l.node_epoch = lives.node_epoch
                and l.incarnation = lives.incarnation and l.closed_at is null
        where lives.incarnation <> v_incarnation or not node_lives(lives.node, lives.node_epoch)
        order by l.tenant_id, l.agent_id
        limit lines_max
    loop
        perform from inbox_heads h
        where h.tenant_id = dead.tenant_id and h.agent_id = dead.agent_id for update;
        update lines l
        set closed_at = dead.ended_at, close_code = 1006, parting = 'node'
        where l.tenant_id = dead.tenant_id and l.agent_id = dead.agent_id
          and l.incarnation = dead.incarnation and l.generation = dead.generation
          and l.closed_at is null;
        if found then
            tenants := tenants || dead.tenant_id;
            return query select dead.tenant_id, dead.agent_id, dead.ended_at,
                extract(epoch from dead.grace)::double precision,
                inbox_waits(dead.tenant_id, dead.agent_id);
        end if;
    end loop;
    perform set_config('app.tenants', tenants::text, true);
end
$$;

ALTER FUNCTION public.bury_lines(lines_max integer) OWNER TO nightdesk_doors;

CREATE FUNCTION public.check_data_key(p_tenant uuid, p_key bigint) RETURNS boolean
    LANGUAGE plpgsql STABLE
    AS $$
begin
    if p_key is not null and not exists (
        select from tenant_keys k where k.tenant_id = p_tenant and k.key_id = p_key
    ) then
        perform no_data_key(p_key);
    end if;
    return true;
end
$$;

ALTER FUNCTION public.check_data_key(p_tenant uuid, p_key bigint) OWNER TO nightdesk_owner;

CREATE FUNCTION public.check_retention(p_rows text, kept interval) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    if coalesce(kept < retention_min(p_rows), true) then
        raise exception 'rows of % must be kept for at least %', p_rows, retention_min(p_rows)
            using errcode = 'ND002';
    end if;
end
$$;

ALTER FUNCTION public.check_retention(p_rows text, kept interval) OWNER TO nightdesk_owner;

CREATE FUNCTION public.close_day(p_name text, kept_days integer) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
    old record;
begin
    perform check_retention('days', make_interval(days => kept_days));
    select d.* into old from stored_days() d
    where d.name = p_name
      and d.day < (clock_timestamp() at time zone 'utc')::date - kept_days;
    if not found or (old.parent = 'inbox_entries' and not day_is_empty(old.day)) then
        return false;
    end if;
    execute format('drop table if exists %I', old.name);
    delete from upkeep_passes p where old.parent = 'inbox_entries' and p.day = old.day;
    return true;
end
$$;

ALTER FUNCTION public.close_day(p_name text, kept_days integer) OWNER TO nightdesk_owner;

CREATE FUNCTION public.count_awake() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    new.awake_ms := old.awake_ms + greatest(0, (extract(epoch from case
        when new.generation = old.generation then new.closed_at else new.opened_at
    end - old.opened_at) * 1000)::bigint);
    return new;
end
$$;

ALTER FUNCTION public.count_awake() OWNER TO nightdesk_owner;

CREATE FUNCTION public.current_incarnation() RETURNS bigint
    LANGUAGE plpgsql STABLE
    AS $$
declare
    mine history;
begin
    select h.* into strict mine from history h;
    if mine.timeline <> server_timeline() then
        raise exception 'the database has begun another history' using errcode = 'ND003';
    end if;
    return mine.incarnation;
end
$$;

ALTER FUNCTION public.current_incarnation() OWNER TO nightdesk_owner;

CREATE FUNCTION public.cursor_after(acked_seq bigint, done int8multirange) RETURNS TABLE(seq bigint, ahead int8multirange)
    LANGUAGE sql IMMUTABLE
    AS $$
    select whole.seq, done - int8multirange(int8range(null, whole.seq + 1))
    from (
        select upper(r) - 1 as seq
        from unnest(done + int8multirange(int8range(0, acked_seq + 1))) as r
        order by r limit 1
    ) as whole
$$;

ALTER FUNCTION public.cursor_after(acked_seq bigint, done int8multirange) OWNER TO nightdesk_owner;

CREATE FUNCTION public.data_clear(p_tenant uuid, p_id text, p_now bigint, rows_max bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
    v_bytes bigint;
begin
    with gone as (
        delete from data_entries d
        where d.tenant_id = p_tenant and d.expires_at <= p_now and (d.data_id = p_id or d.data_id in (
            select o.data_id from data_entries o
            where o.tenant_id = p_tenant and o.expires_at <= p_now
            order by o.expires_at limit rows_max
        ))
        returning d.bytes
    )
    select coalesce(sum(gone.bytes), 0) into v_bytes from gone;
    perform shelf_grow(p_tenant, -v_bytes, 0);
end
$$;

ALTER FUNCTION public.data_clear(p_tenant uuid, p_id text, p_now bigint, rows_max bigint) OWNER TO nightdesk_owner;

CREATE FUNCTION public.data_keys_newest(p_tenants uuid[]) RETURNS TABLE(tenant_id uuid, key_id bigint, wrapped bytea)
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
begin
    perform works_for_all(p_tenants);
    return query
    select distinct on (k.tenant_id) k.tenant_id, k.key_id, k.wrapped from tenant_keys k
    where k.tenant_id = any (p_tenants)
    order by k.tenant_id, k.key_id desc;
end
$$;

ALTER FUNCTION public.data_keys_newest(p_tenants uuid[]) OWNER TO nightdesk_owner;

CREATE FUNCTION public.data_keys_numbered(p_tenant uuid[], p_key bigint[]) RETURNS TABLE(tenant_id uuid, key_id bigint, wrapped bytea)
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
begin
    perform works_for_all(p_tenant);
    return query
    select k.tenant_id, k.key_id, k.wrapped
    from unnest(p_tenant, p_key) as w (tenant, key)
        join tenant_keys k on k.tenant_id = w.tenant and k.key_id = w.key;
end
$$;

ALTER FUNCTION public.data_keys_numbered(p_tenant uuid[], p_key bigint[]) OWNER TO nightdesk_owner;

CREATE FUNCTION public.data_put(p_tenant uuid, p_id text, p_content text, p_tags text[], p_recipients text[], p_end_said boolean, p_expires_at bigint, p_fields jsonb, p_metadata jsonb, p_bytes bigint) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
declare
    v_allowed bigint := quota_of(p_tenant, 'data-entries');
begin
    insert into data_entries (tenant_id, data_id, content, tags, recipients, end_said, expires_at,
        fields, metadata, bytes, created_at)
    values (p_tenant, p_id, p_content, p_tags, p_recipients, p_end_said, p_expires_at, p_fields,
        p_metadata, p_bytes, clock_timestamp())
    on conflict do nothing;
    if found then
        if (select count(*) from data_entries d where d.tenant_id = p_tenant) > v_allowed then
            raise exception 'data-entries' using errcode = 'ND001', detail = v_allowed::text;
        end if;
        perform shelf_grow(p_tenant, p_bytes, 0);
    end if;
    return (
        select floor(extract(epoch from d.created_at))::bigint from data_entries d
        where d.tenant_id = p_tenant and d.data_id = p_id
    );
end
$$;

ALTER FUNCTION public.data_put(p_tenant uuid, p_id text, p_content text, p_tags text[], p_recipients text[], p_end_said boolean, p_expires_at bigint, p_fields jsonb, p_metadata jsonb, p_bytes bigint) OWNER TO nightdesk_owner;

CREATE FUNCTION public.day_is_empty(day date) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
    begins timestamptz := day::timestamp at time zone 'utc';
    ends   timestamptz := (day + 1)::timestamp at time zone 'utc';
begin
    return not exists (
        select from inbox_cursors c
            join inbox_heads h on h.tenant_id = c.tenant_id and h.agent_id = c.agent_id
                and h.next_seq - 1 > c.acked_seq
        where c.acked_at < ends and exists (
            select from inbox_entries e
            where e.tenant_id = c.tenant_id and e.agent_id = c.agent_id
              and e.at >= begins and e.at < ends
              and e.seq > c.acked_seq and not e.seq <@ c.ahead
        )
    );
end
$$;

ALTER FUNCTION public.day_is_empty(day date) OWNER TO nightdesk_doors;

CREATE FUNCTION public.deprovision(p_tenant uuid, p_agent uuid) RETURNS TABLE(gateway_id uuid)
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
begin
    delete from link_codes c where c.tenant_id = p_tenant and c.agent_id = p_agent;
    delete from relevance_policies r where r.tenant_id = p_tenant and r.agent_id = p_agent;
    delete from listed_authors l where l.tenant_id = p_tenant and l.agent_id = p_agent;
    delete from scope_grants g where g.tenant_id = p_tenant and g.agent_id = p_agent;
    delete from bindings b where b.tenant_id = p_tenant and b.agent_id = p_agent;
    -- Agents of others reach it no more, and nobody writes for it.
    delete from letter_grants g where g.tenant_id = p_tenant and g.agent_id = p_agent;
    delete from letter_hooks h where h.tenant_id = p_tenant and h.agent_id = p_agent;
    -- As when a gateway is revoked: nobody is woken any more where it said.
    delete from wakers w
    where w.tenant_id = p_tenant and w.agent_id = p_agent and w.gateway_id is not null;
    update oauth_clients o set revoked_at = now()
    where o.tenant_id = p_tenant and o.agent_id = p_agent and o.revoked_at is null;
    update bootstrap_sessions s set revoked_at = now()
    where s.tenant_id = p_tenant and s.agent_id = p_agent and s.revoked_at is null;
    return query
    update gateways g set revoked_at = now()
    where g.tenant_id = p_tenant and g.agent_id = p_agent and g.revoked_at is null
    returning g.gateway_id;
end
$$;

ALTER FUNCTION public.deprovision(p_tenant uuid, p_agent uuid) OWNER TO nightdesk_owner;

CREATE FUNCTION public.door_alert_causes(p_kinds text[], p_full_for interval, p_event_for interval, p_loss_for interval, p_calls integer, p_percent bigint, p_findings_last interval, samples_max integer, causes_max integer) RETURNS TABLE(tenant_id uuid, kind text, count bigint, subjects bigint, samples text[], since timestamp with time zone)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
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

ALTER FUNCTION public.door_alert_causes(p_kinds text[], p_full_for interval, p_event_for interval, p_loss_for interval, p_calls integer, p_percent bigint, p_findings_last interval, samples_max integer, causes_max integer) OWNER TO nightdesk_doors;

CREATE FUNCTION public.door_asker(p_bot uuid, p_prompt text) RETURNS TABLE(tenant_id uuid, agent_id uuid)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
#variable_conflict use_column
begin
    return query
    select p.tenant_id, p.agent_id from prompts p where p.bot_id = p_bot and p.prompt_id = p_prompt;
end
$$;

ALTER FUNCTION public.door_asker(p_bot uuid, p_prompt text) OWNER TO nightdesk_doors;

CREATE FUNCTION public.door_audit_heads(p_after uuid, lately interval, rows_max integer) RETURNS TABLE(tenant_id uuid, seq bigint, hash bytea)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
#variable_conflict use_column
begin
    return query
    select h.tenant_id, h.seq, h.hash from audit_heads h
    where coalesce(h.tenant_id > p_after, true) and coalesce(h.at > now() - lately, true)
    order by h.tenant_id limit rows_max;
end
$$;

ALTER FUNCTION public.door_audit_heads(p_after uuid, lately interval, rows_max integer) OWNER TO nightdesk_doors;

CREATE FUNCTION public.door_bot(p_paths text[], p_bots uuid[], keys_max integer) RETURNS TABLE(path text, tenant_id uuid, bot_id uuid, platform text, adapter text, handle text, settings jsonb, bot_key_id uuid, sealed bytea, wrapped bytea, key_id bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
#variable_conflict use_column
begin
    return query
    select b.path, b.tenant_id, b.bot_id, b.platform, b.adapter, b.handle, b.settings, k.bot_key_id,
        k.sealed, t.wrapped, k.key_id
    from bots b
        left join lateral (
            select k.bot_key_id, k.sealed, k.key_id, k.created_at from bot_keys k
            where k.tenant_id = b.tenant_id and k.bot_id = b.bot_id
                and coalesce(k.expires_at > now(), true)
            order by k.created_at desc
            limit keys_max
        ) as k on true
        left join tenant_keys t on t.tenant_id = b.tenant_id and t.key_id = k.key_id
    where b.path = any (p_paths) or b.bot_id = any (p_bots)
    order by b.bot_id, k.created_at desc;
end
$$;

ALTER FUNCTION public.door_bot(p_paths text[], p_bots uuid[], keys_max integer) OWNER TO nightdesk_doors;

CREATE FUNCTION public.door_bots_of(p_tenant uuid, p_agent uuid) RETURNS TABLE(bot_id uuid, platform text, handle text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
#variable_conflict use_column
begin
    return query
    select b.bot_id, b.platform, b.handle from bots b
    where b.bot_id in (
        select i.bot_id from bindings i where i.tenant_id = p_tenant and i.agent_id = p_agent
        union
        select g.bot_id from scope_grants g where g.tenant_id = p_tenant and g.agent_id = p_agent
    )
    order by b.bot_id
    limit 256;
end
$$;

ALTER FUNCTION public.door_bots_of(p_tenant uuid, p_agent uuid) OWNER TO nightdesk_doors;

CREATE FUNCTION public.door_changed(p_bots uuid[], p_versions bigint[]) RETURNS TABLE(bot_id uuid)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
#variable_conflict use_column
begin
    return query
    select a.bot_id from unnest(p_bots, p_versions) as a (bot_id, version)
        left join reach_heads h on h.bot_id = a.bot_id
    where coalesce(h.version, 0) <> a.version;
end
$$;

ALTER FUNCTION public.door_changed(p_bots uuid[], p_versions bigint[]) OWNER TO nightdesk_doors;

CREATE FUNCTION public.door_chats_of(p_tenant uuid, p_bot uuid, p_kept interval, chats_max integer) RETURNS TABLE(chat_id text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
#variable_conflict use_column
begin
    if array_position(current_setting('app.tenants')::uuid[], p_tenant) is null or not exists (
        select from bots b where b.tenant_id = p_tenant and b.bot_id = p_bot
    ) then
        return;
    end if;
    return query
    select c.chat_id from (
        select r.chat_id, r.at from reached r
        where r.bot_id = p_bot and r.at > clock_timestamp() - p_kept
        union all
        select g.chat_id, g.created_at from scope_grants g
        where g.bot_id = p_bot and g.chat_id not in ('', '*')
    ) as c
    group by c.chat_id
    order by max(c.at) desc
    limit chats_max;
end
$$;

ALTER FUNCTION public.door_chats_of(p_tenant uuid, p_bot uuid, p_kept interval, chats_max integer) OWNER TO nightdesk_doors;

CREATE FUNCTION public.door_claim_command(p_tenant uuid, p_agent uuid, p_bot uuid, p_scope text, p_name text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
    delete from commands c
    where c.bot_id = p_bot and c.scope_id = p_scope and c.name = p_name
      and not exists (
          select from scope_grants g
          where g.tenant_id = c.tenant_id and g.agent_id = c.agent_id
            and g.bot_id = c.bot_id and g.scope_id = c.scope_id and g.chat_id = '*');
    insert into commands (tenant_id, bot_id, scope_id, name, agent_id)
    select p_tenant, p_bot, p_scope, p_name, p_agent
    where array_position(current_setting('app.tenants')::uuid[], p_tenant) is not null
      and exists (
          select from scope_grants g
          where g.tenant_id = p_tenant and g.agent_id = p_agent
            and g.bot_id = p_bot and g.scope_id = p_scope and g.chat_id = '*')
    on conflict do nothing;
    return exists (
        select from commands c
        where c.tenant_id = p_tenant and c.agent_id = p_agent
          and c.bot_id = p_bot and c.scope_id = p_scope and c.name = p_name);
end
$$;

ALTER FUNCTION public.door_claim_command(p_tenant uuid, p_agent uuid, p_bot uuid, p_scope text, p_name text) OWNER TO nightdesk_doors;

CREATE FUNCTION public.door_claim_roles(p_user uuid, p_tenants uuid[], p_roles text[]) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
    delete from user_roles r
    where r.user_id = p_user and r.source = 'claim' and not exists (
        select from unnest(p_tenants, p_roles) as n (tenant_id, role)
        where n.tenant_id = r.tenant_id and n.role = r.role
    );
    insert into user_roles (tenant_id, user_id, role, source)
    select n.tenant_id, p_user, n.role, 'claim' from unnest(p_tenants, p_roles) as n (tenant_id, role)
    order by n.tenant_id, n.role
    on conflict do nothing;
end
$$;

ALTER FUNCTION public.door_claim_roles(p_user uuid, p_tenants uuid[], p_roles text[]) OWNER TO nightdesk_doors;

CREATE FUNCTION public.door_client(p_clients uuid[]) RETURNS TABLE(client_id uuid, tenant_id uuid, agent_id uuid, secret_sha256 bytea, live boolean)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
#variable_conflict use_column
begin
    return query
    select c.client_id, c.tenant_id, c.agent_id, c.secret_sha256,
        c.revoked_at is null and coalesce(c.expires_at > now(), true)
    from oauth_clients c where c.client_id = any (p_clients) and tenant_lives(c.tenant_id);
end
$$;

ALTER FUNCTION public.door_client(p_clients uuid[]) OWNER TO nightdesk_doors;

CREATE TABLE public.alert_deliveries (
    tenant_id uuid NOT NULL,
    kind text NOT NULL,
    way_tenant uuid NOT NULL,
    way_id uuid NOT NULL,
    opened_at timestamp with time zone NOT NULL,
    told_version integer NOT NULL,
    is_known boolean NOT NULL,
    began_at timestamp with time zone,
    failures integer NOT NULL,
    next_at timestamp with time zone
)
WITH (fillfactor='50');

ALTER TABLE ONLY public.alert_deliveries FORCE ROW LEVEL SECURITY;

ALTER TABLE public.alert_deliveries OWNER TO nightdesk_owner;

CREATE TABLE public.alert_ways (
    tenant_id uuid NOT NULL,
    way_id uuid DEFAULT gen_random_uuid() NOT NULL,
    kind text NOT NULL,
    target text NOT NULL,
    salt text,
    agent_tenant uuid,
    agent_id uuid,
    bot_id uuid,
    coverage text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    told_at timestamp with time zone,
    failure text,
    tested_at timestamp with time zone,
    CONSTRAINT alert_ways_known_coverage CHECK (((coverage = 'own'::text) OR ((coverage = 'all-tenants'::text) AND (tenant_id = '00000000-0000-0000-0000-000000000000'::uuid)))),
    CONSTRAINT alert_ways_known_kind CHECK ((kind = ANY (ARRAY['webhook'::text, 'mail'::text, 'chat'::text]))),
    CONSTRAINT alert_ways_salted CHECK (((kind = 'webhook'::text) = (salt IS NOT NULL))),
    CONSTRAINT alert_ways_spoken CHECK ((num_nonnulls(agent_tenant, agent_id, bot_id) =
CASE kind
    WHEN 'chat'::text THEN 3
    ELSE 0
END))
);

ALTER TABLE ONLY public.alert_ways FORCE ROW LEVEL SECURITY;

ALTER TABLE public.alert_ways OWNER TO nightdesk_owner;

CREATE TABLE public.alerts (
    tenant_id uuid NOT NULL,
    kind text NOT NULL,
    opened_at timestamp with time zone NOT NULL,
    seen_at timestamp with time zone NOT NULL,
    resolved_at timestamp with time zone,
    version integer NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    repeats integer NOT NULL,
    is_return boolean NOT NULL,
    count bigint NOT NULL,
    subjects bigint NOT NULL,
    samples text NOT NULL,
    since timestamp with time zone NOT NULL,
    CONSTRAINT alerts_known_kind CHECK ((kind = ANY (ARRAY['parked'::text, 'inbox-full'::text, 'quarantined'::text, 'deaf-bot'::text, 'failing-wake'::text, 'missed-fire'::text, 'lost-commits'::text, 'quota'::text, 'expiring-key'::text, 'disk'::text])))
)
WITH (fillfactor='50');

ALTER TABLE ONLY public.alerts FORCE ROW LEVEL SECURITY;

ALTER TABLE public.alerts OWNER TO nightdesk_owner;

CREATE FUNCTION public.door_due_alerts(p_within interval, pairs_max integer) RETURNS TABLE(alert public.alerts, way public.alert_ways, delivery public.alert_deliveries, tenant_name text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
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

ALTER FUNCTION public.door_due_alerts(p_within interval, pairs_max integer) OWNER TO nightdesk_doors;

CREATE FUNCTION public.door_erasures(p_listed uuid[]) RETURNS TABLE(tenant_id uuid, is_erased boolean)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
#variable_conflict use_column
begin
    return query
    select t.tenant_id, t.erased_at is not null from tenants t
    where (t.erased_at is null) = (t.tenant_id = any (p_listed));
end
$$;

ALTER FUNCTION public.door_erasures(p_listed uuid[]) OWNER TO nightdesk_doors;

CREATE FUNCTION public.door_gateways(p_names text[]) RETURNS TABLE(name text, tenant_id uuid, gateway_id uuid, agent_id uuid, acks boolean, revoked boolean, secret_id uuid, sealed bytea, wrapped bytea, key_id bigint, expired boolean)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
#variable_conflict use_column
begin
    return query
    select f.*
    from unnest(p_names) as n (name) cross join lateral (
        select g.name, g.tenant_id, g.gateway_id, g.agent_id, g.acks, g.revoked_at is not null,
            s.secret_id, s.sealed, k.wrapped, s.key_id, coalesce(s.expires_at <= now(), false)
        from gateways g
            join gateway_secrets s on s.tenant_id = g.tenant_id and s.gateway_id = g.gateway_id
            join tenant_keys k on k.tenant_id = s.tenant_id and k.key_id = s.key_id
        where g.name = n.name
        -- Far more than any name is used by, and still soon tried through.
        limit 10000
    ) as f;
end
$$;

ALTER FUNCTION public.door_gateways(p_names text[]) OWNER TO nightdesk_doors;

CREATE FUNCTION public.door_give_up_sends(sends_max integer) RETURNS TABLE(agent_id uuid, request_id text, asked_on text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
#variable_conflict use_column
begin
    return query
    update sends s set state = 'ambiguous', settled_at = now(), body = ''
    where (s.tenant_id, s.agent_id, s.request_id) in (
        select c.tenant_id, c.agent_id, c.request_id from sends c
        where c.state = 'calling' and not node_lives(c.node, c.node_epoch)
        order by c.asked_at
        limit sends_max
        for update skip locked
    )
    returning s.agent_id, s.request_id, s.asked_on;
end
$$;

ALTER FUNCTION public.door_give_up_sends(sends_max integer) OWNER TO nightdesk_doors;

CREATE FUNCTION public.door_glass(p_tenant uuid, p_request uuid, requests_max integer) RETURNS TABLE(tenant_id uuid, request_id uuid, asked_by uuid, asked_at timestamp with time zone, reason text, lasts_s bigint, approved_by uuid, open_until timestamp with time zone, ended_at timestamp with time zone)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
#variable_conflict use_column
begin
    return query
    select g.tenant_id, g.request_id, g.asked_by, g.asked_at, g.reason,
        extract(epoch from g.lasts)::bigint, g.approved_by, g.open_until, g.ended_at
    from glass_requests g
    where g.tenant_id = coalesce(p_tenant, g.tenant_id) and g.request_id = coalesce(p_request, g.request_id)
    order by g.asked_at desc limit requests_max;
end
$$;

ALTER FUNCTION public.door_glass(p_tenant uuid, p_request uuid, requests_max integer) OWNER TO nightdesk_doors;

CREATE FUNCTION public.door_letter_hook(p_digests bytea[]) RETURNS TABLE(digest bytea, tenant uuid, agent uuid)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    select h.digest, h.tenant_id, h.agent_id from letter_hooks h
    where h.digest = any (p_digests) and tenant_lives(h.tenant_id)
$$;

ALTER FUNCTION public.door_letter_hook(p_digests bytea[]) OWNER TO nightdesk_doors;

CREATE FUNCTION public.door_link(p_bot uuid, p_author text, p_code bytea, tries_max integer) RETURNS TABLE(outcome text, tenant_id uuid, agent_id uuid, agent text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
#variable_conflict use_column
declare
    v_bot  bots;
    v_code link_codes;
    v_said text;
begin
    select b.* into strict v_bot from bots b where b.bot_id = p_bot;
    select c.* into v_code from link_codes c where c.code_sha256 = p_code for update;
    if v_code.used_bot = p_bot and v_code.used_author = p_author then
        v_said := 'linked';
    elsif not link_try(v_bot.tenant_id, p_bot, p_author, tries_max) then
        v_said := 'too-many';
    elsif v_code.agent_id is null then
        v_said := 'unknown';
    elsif v_code.used_bot is not null then
        v_said := 'used';
    elsif v_code.expires_at <= now() then
        v_said := 'expired';
    elsif v_bot.tenant_id <> v_code.tenant_id and not v_bot.shared then
        v_said := 'not-here';
    else
        update link_codes c set used_bot = p_bot, used_author = p_author
        where c.tenant_id = v_code.tenant_id and c.code_sha256 = p_code;
        insert into bindings (tenant_id, bot_id, author_id, agent_id)
        values (v_code.tenant_id, p_bot, p_author, v_code.agent_id)
        on conflict do nothing;
        v_said := 'linked';
    end if;
    if v_said <> 'linked' then
        return query select v_said, null::uuid, null::uuid, null::text;
        return;
    end if;
    return query
    select v_said, a.tenant_id, a.agent_id, a.name from agents a
    where a.tenant_id = v_code.tenant_id and a.agent_id = v_code.agent_id;
end
$$;

ALTER FUNCTION public.door_link(p_bot uuid, p_author text, p_code bytea, tries_max integer) OWNER TO nightdesk_doors;

CREATE FUNCTION public.door_listening_bots(p_adapters text[], bots_max integer) RETURNS TABLE(bot_id uuid)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
#variable_conflict use_column
begin
    return query
    select b.bot_id from bots b
    where b.adapter = any(p_adapters)
    order by b.bot_id
    limit bots_max;
end
$$;

ALTER FUNCTION public.door_listening_bots(p_adapters text[], bots_max integer) OWNER TO nightdesk_doors;

CREATE FUNCTION public.door_lock_alerts(p_kinds text[], c_tenants uuid[], c_kinds text[]) RETURNS SETOF public.alerts
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
    return query
    select a.* from alerts a
    where (a.resolved_at is null and a.kind = any (p_kinds))
       or (a.tenant_id, a.kind) in (select c.* from unnest(c_tenants, c_kinds) as c)
    order by a.tenant_id, a.kind for update;
end
$$;

ALTER FUNCTION public.door_lock_alerts(p_kinds text[], c_tenants uuid[], c_kinds text[]) OWNER TO nightdesk_doors;

CREATE FUNCTION public.door_message_sender(p_bot uuid, p_chat text, p_message text) RETURNS TABLE(tenant_id uuid, agent_id uuid)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
#variable_conflict use_column
begin
    return query
    select m.tenant_id, m.agent_id from sent_messages m
    where m.bot_id = p_bot and m.chat_id = p_chat and m.message_id = p_message;
end
$$;

ALTER FUNCTION public.door_message_sender(p_bot uuid, p_chat text, p_message text) OWNER TO nightdesk_doors;

CREATE FUNCTION public.door_node_lines(p_nodes text[], p_epochs bigint[], lines_max integer) RETURNS TABLE(node text, lines bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
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

ALTER FUNCTION public.door_node_lines(p_nodes text[], p_epochs bigint[], lines_max integer) OWNER TO nightdesk_doors;

CREATE FUNCTION public.door_open_alerts(alerts_max integer) RETURNS TABLE(alert public.alerts, tenant_name text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
    return query
    select a, t.name from alerts a left join tenants t on t.tenant_id = a.tenant_id
    where a.resolved_at is null
    order by a.opened_at desc, a.tenant_id, a.kind limit alerts_max;
end
$$;

ALTER FUNCTION public.door_open_alerts(alerts_max integer) OWNER TO nightdesk_doors;

CREATE FUNCTION public.door_open_bots(p_tenant uuid, bots_max integer) RETURNS TABLE(bot_id uuid, platform text, handle text, is_own boolean)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
#variable_conflict use_column
begin
    return query
    select b.bot_id, b.platform, b.handle, b.tenant_id = p_tenant from bots b
    where b.tenant_id = p_tenant or b.shared
    order by b.tenant_id <> p_tenant, b.created_at, b.bot_id
    limit bots_max;
end
$$;

ALTER FUNCTION public.door_open_bots(p_tenant uuid, bots_max integer) OWNER TO nightdesk_doors;

CREATE FUNCTION public.door_ownerless_bots(bots_max integer) RETURNS TABLE(bot_id uuid)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
#variable_conflict use_column
begin
    return query
    select distinct s.bot_id from sends s
    where s.state = 'asked' and (
        select node_lives(o.node, o.node_epoch) from owners o where o.resource = 'bot/' || s.bot_id
    ) is not true
    limit bots_max;
end
$$;

ALTER FUNCTION public.door_ownerless_bots(bots_max integer) OWNER TO nightdesk_doors;

CREATE FUNCTION public.door_reach(p_bot uuid, p_since bigint) RETURNS TABLE(kind text, version bigint, whole boolean, author_id text, scope_id text, chat_id text, tenant_id uuid, agent_id uuid, principal text, listed text[], owners text[], require_address boolean, free_scopes text[], allow_other_bots boolean, client_rules text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
#variable_conflict use_column
declare
    v_head     bigint := coalesce((select h.version from reach_heads h where h.bot_id = p_bot), 0);
    v_platform text   := (select b.platform from bots b where b.bot_id = p_bot);
    -- Its log begins later, or the head is not the one that was seen.
    v_whole    boolean := p_since is null or p_since > v_head or p_since < v_head and not exists (
        select from reach_changes c where c.bot_id = p_bot and c.version = p_since + 1
    );
begin
    return query
    select 'head', v_head, v_whole, null::text, null::text, null::text, null::uuid, null::uuid,
        null::text, null::text[], null::text[], null::boolean, null::text[], null::boolean, null::text;
    return query
    select 'author', null::bigint, null::boolean, a.author_id, null::text, null::text, b.tenant_id,
        b.agent_id, null::text, null::text[], null::text[], null::boolean, null::text[],
        null::boolean, null::text
    from (
        select distinct i.author_id from bindings i where v_whole and i.bot_id = p_bot
        union
        select c.author_id from reach_changes c
        where not v_whole and c.bot_id = p_bot and c.version > p_since and c.author_id is not null
    ) as a left join lateral (
        select i.tenant_id, i.agent_id from bindings i
        where i.bot_id = p_bot and i.author_id = a.author_id
        order by i.preferred_at desc nulls last, i.created_at, i.agent_id
        limit 64
    ) as b on true;
    return query
    select 'grant', null::bigint, null::boolean, null::text, a.scope_id, a.chat_id, g.tenant_id,
        g.agent_id, g.principal, null::text[], null::text[], null::boolean, null::text[],
        null::boolean, null::text
    from (
        select i.scope_id, i.chat_id from scope_grants i where v_whole and i.bot_id = p_bot
        union
        select c.scope_id, c.chat_id from reach_changes c
        where not v_whole and c.bot_id = p_bot and c.version > p_since and c.chat_id is not null
    ) as a left join scope_grants g
        on g.bot_id = p_bot and g.scope_id = a.scope_id and g.chat_id = a.chat_id;
    return query
    select 'agent', h.reach_version, null::boolean, null::text, null::text, null::text,
        h.tenant_id, h.agent_id, null::text,
        array(
            select l.author_id from listed_authors l
            where l.tenant_id = h.tenant_id and l.agent_id = h.agent_id and l.bot_id = p_bot
        ),
        array(
            select i.author_id from bindings i
            where i.tenant_id = h.tenant_id and i.agent_id = h.agent_id and i.bot_id = p_bot
            order by i.created_at
            limit 64
        ),
        r.require_address, r.free_scopes, r.allow_other_bots, o.client_rules
    from (
        select i.tenant_id, i.agent_id from bindings i where v_whole and i.bot_id = p_bot
        union
        select i.tenant_id, i.agent_id from scope_grants i where v_whole and i.bot_id = p_bot
        union
        select c.agent_tenant, c.agent_id from reach_changes c
        where not v_whole and c.bot_id = p_bot and c.version > p_since
    ) as a
        join inbox_heads h on h.tenant_id = a.tenant_id and h.agent_id = a.agent_id
        join agents o on o.tenant_id = a.tenant_id and o.agent_id = a.agent_id
        left join relevance_policies r on r.tenant_id = a.tenant_id and r.agent_id = a.agent_id
            and r.platform = v_platform;
end
$$;

ALTER FUNCTION public.door_reach(p_bot uuid, p_since bigint) OWNER TO nightdesk_doors;

CREATE FUNCTION public.door_reaches(p_tenant uuid, p_agent uuid, p_chat text, p_kept interval) RETURNS TABLE(bot_id uuid, platform text, handle text, speaks_as text, is_moderator boolean)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
#variable_conflict use_column
begin
    return query
    select b.bot_id, b.platform, b.handle, (
        select a.display_name from agents a
        where a.tenant_id = p_tenant and a.agent_id = p_agent
          and exists (
              select from reached o
              where o.bot_id = b.bot_id and o.chat_id = p_chat and o.agent_id <> p_agent
                and o.at > now() - p_kept)
    ), exists (
        select from scope_grants m
        where m.tenant_id = p_tenant and m.agent_id = p_agent and m.bot_id = b.bot_id
          and m.is_moderator
          -- A send names its scope itself, so a grant of a scope proves nothing about its chats.
          and (m.chat_id = p_chat or (m.chat_id = '*' and m.scope_id = ''))
    ) from bots b
    where b.bot_id in (
        select r.bot_id from reached r
        where r.tenant_id = p_tenant and r.agent_id = p_agent and r.chat_id = p_chat
          and r.at > now() - p_kept
          and (exists (
                select from bindings i
                where i.tenant_id = p_tenant and i.agent_id = p_agent and i.bot_id = r.bot_id)
            or exists (
                select from scope_grants g
                where g.tenant_id = p_tenant and g.agent_id = p_agent and g.bot_id = r.bot_id))
        union
        select i.bot_id from bindings i
        where i.tenant_id = p_tenant and i.agent_id = p_agent and i.author_id = p_chat
        union
        select g.bot_id from scope_grants g
        where g.tenant_id = p_tenant and g.agent_id = p_agent and g.chat_id = p_chat
          -- Every chat is not one an agent may write to first.
          and g.chat_id <> '*'
    );
end
$$;

ALTER FUNCTION public.door_reaches(p_tenant uuid, p_agent uuid, p_chat text, p_kept interval) OWNER TO nightdesk_doors;

CREATE FUNCTION public.door_refresh_tokens(p_tenants uuid[], p_sessions text[], p_digests bytea[]) RETURNS TABLE(token_sha256 bytea)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
#variable_conflict use_column
begin
    return query
    select t.token_sha256
    from unnest(p_tenants, p_sessions, p_digests) as n (tenant_id, session, token_sha256)
        join refresh_tokens t using (tenant_id, session, token_sha256);
end
$$;

ALTER FUNCTION public.door_refresh_tokens(p_tenants uuid[], p_sessions text[], p_digests bytea[]) OWNER TO nightdesk_doors;

CREATE FUNCTION public.door_remove_bot(p_tenant uuid, p_bot uuid) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
    perform from bots b
    where b.tenant_id = p_tenant and b.bot_id = p_bot
      and array_position(current_setting('app.tenants')::uuid[], p_tenant) is not null
    for update;
    if not found then
        return false;
    end if;
    -- First: what follows is part of it.
    perform tell(p_tenant, 'bot-removed', jsonb_build_object('bot_id', p_bot));
    delete from bindings b where b.bot_id = p_bot;
    delete from scope_grants g where g.bot_id = p_bot;
    delete from listed_authors l where l.bot_id = p_bot;
    delete from capabilities c where c.bot_id = p_bot;
    delete from commands c where c.bot_id = p_bot;
    delete from link_tries t where t.tenant_id = p_tenant and t.bot_id = p_bot;
    delete from source_cursors s where s.tenant_id = p_tenant and s.bot_id = p_bot;
    delete from bot_hearings h where h.tenant_id = p_tenant and h.bot_id = p_bot;
    delete from bot_keys k where k.tenant_id = p_tenant and k.bot_id = p_bot;
    delete from bots b where b.tenant_id = p_tenant and b.bot_id = p_bot;
    return true;
end
$$;

ALTER FUNCTION public.door_remove_bot(p_tenant uuid, p_bot uuid) OWNER TO nightdesk_doors;

CREATE FUNCTION public.door_revoked(p_since interval) RETURNS TABLE(tenant_id uuid, gateway_id uuid)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
#variable_conflict use_column
begin
    return query
    select g.tenant_id, g.gateway_id from gateways g
    where g.revoked_at > now() - p_since;
end
$$;

ALTER FUNCTION public.door_revoked(p_since interval) OWNER TO nightdesk_doors;

CREATE FUNCTION public.door_rewrap(p_tenant uuid[], p_key bigint[], p_was bytea[], p_wrapped bytea[]) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
    rewrapped bigint;
begin
    with ordered as (
        select r.* from unnest(p_tenant, p_key, p_was, p_wrapped) as r (tenant, key, was, wrapped)
            join tenant_keys k on k.tenant_id = r.tenant and k.key_id = r.key
        where k.wrapped = r.was
        order by r.tenant, r.key
        for update of k
    )
    update tenant_keys k set wrapped = ordered.wrapped from ordered
    where k.tenant_id = ordered.tenant and k.key_id = ordered.key and k.wrapped = ordered.was;
    get diagnostics rewrapped = row_count;
    return rewrapped;
end
$$;

ALTER FUNCTION public.door_rewrap(p_tenant uuid[], p_key bigint[], p_was bytea[], p_wrapped bytea[]) OWNER TO nightdesk_doors;

CREATE FUNCTION public.door_tenant(p_called text, p_id uuid) RETURNS TABLE(tenant_id uuid, name text, created_at timestamp with time zone)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
#variable_conflict use_column
begin
    return query
    select t.tenant_id, t.name, t.created_at from tenants t
    where (t.name = p_called or t.tenant_id = p_id) and t.erased_at is null;
end
$$;

ALTER FUNCTION public.door_tenant(p_called text, p_id uuid) OWNER TO nightdesk_doors;

CREATE FUNCTION public.door_tenants(p_after text, tenants_max integer) RETURNS TABLE(tenant_id uuid, name text, created_at timestamp with time zone)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
#variable_conflict use_column
begin
    return query
    select t.tenant_id, t.name, t.created_at from tenants t
    where t.name > p_after and t.erased_at is null order by t.name limit tenants_max;
end
$$;

ALTER FUNCTION public.door_tenants(p_after text, tenants_max integer) OWNER TO nightdesk_doors;

CREATE FUNCTION public.door_user_access(p_users uuid[]) RETURNS TABLE(user_id uuid, role_tenants uuid[], roles text[], glass_tenants uuid[])
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
#variable_conflict use_column
begin
    return query
    select u.user_id,
        coalesce(r.tenants, '{}'), coalesce(r.roles, '{}'), coalesce(g.tenants, '{}')
    from unnest(p_users) as u (user_id)
        left join lateral (
            select array_agg(r.tenant_id order by r.tenant_id, r.role) as tenants,
                array_agg(r.role order by r.tenant_id, r.role) as roles
            from (
                select distinct r.tenant_id, r.role from user_roles r
                where r.user_id = u.user_id
                    and (r.tenant_id = '00000000-0000-0000-0000-000000000000' or tenant_lives(r.tenant_id))
            ) as r
        ) as r on true
        left join lateral (
            select array_agg(distinct g.tenant_id) as tenants from glass_requests g
            where g.asked_by = u.user_id and g.ended_at is null and g.open_until > now()
        ) as g on true;
end
$$;

ALTER FUNCTION public.door_user_access(p_users uuid[]) OWNER TO nightdesk_doors;

CREATE FUNCTION public.door_users(p_tenant uuid, p_user uuid, p_after uuid, users_max integer) RETURNS TABLE(user_id uuid, name text, email text, issuer text, created_at timestamp with time zone, used_at timestamp with time zone, role_tenants uuid[], roles text[], sources text[], sessions bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
#variable_conflict use_column
declare
    -- One user is a range of ids too, which the index serves.
    v_first uuid := coalesce(p_user, '00000000-0000-0000-0000-000000000000');
    v_last  uuid := coalesce(p_user, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
begin
    return query
    -- Those of a tenant are found by their roles. Those of the desk are all users, and there the first page ends the look.
    with page (user_id) as materialized (
        (
            select distinct r.user_id from user_roles r
            where r.tenant_id = p_tenant and coalesce(r.user_id > p_after, true)
              and r.user_id between v_first and v_last
            order by r.user_id limit users_max
        )
        union all
        (
            select u.user_id from users u
            where p_tenant is null and coalesce(u.user_id > p_after, true)
              and u.user_id between v_first and v_last
            order by u.user_id limit users_max
        )
    )
    select u.user_id, u.name, u.email, u.issuer, u.created_at, u.used_at,
        coalesce(r.tenants, '{}'), coalesce(r.roles, '{}'), coalesce(r.sources, '{}'),
        (select count(*) from user_sessions s where s.user_id = u.user_id and s.ended_at is null)
    from page p
        join users u on u.user_id = p.user_id
        left join lateral (
            select array_agg(r.tenant_id order by r.tenant_id, r.role, r.source) as tenants,
                array_agg(r.role order by r.tenant_id, r.role, r.source) as roles,
                array_agg(r.source order by r.tenant_id, r.role, r.source) as sources
            from user_roles r
            where r.user_id = u.user_id and r.tenant_id = coalesce(p_tenant, r.tenant_id)
        ) as r on true
    order by u.user_id;
end
$$;

ALTER FUNCTION public.door_users(p_tenant uuid, p_user uuid, p_after uuid, users_max integer) OWNER TO nightdesk_doors;

CREATE FUNCTION public.door_vault_keys() RETURNS TABLE(vault_key bytea)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
#variable_conflict use_column
begin
    return query
    with recursive found as (
        (select vault_key(k.wrapped) as id from tenant_keys k order by 1 limit 1)
        union all
        select (
            select vault_key(k.wrapped) from tenant_keys k
            where vault_key(k.wrapped) > found.id order by 1 limit 1
        ) from found where found.id is not null
    )
    select found.id from found where found.id is not null;
end
$$;

ALTER FUNCTION public.door_vault_keys() OWNER TO nightdesk_doors;

CREATE FUNCTION public.door_waiting_sends(p_node text, p_epoch bigint, sends_max integer) RETURNS TABLE(tenant_id uuid, agent_id uuid, request_id text, bot_id uuid, body bytea, key_id bigint, body_id uuid, asked_on text, asked_ago_ms bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
#variable_conflict use_column
begin
    return query
    select s.tenant_id, s.agent_id, s.request_id, s.bot_id, s.body, s.key_id, s.body_id, s.asked_on,
        (extract(epoch from clock_timestamp() - s.asked_at) * 1000)::bigint
    from sends s
    where s.state = 'asked' and (
        select o.node = p_node and o.node_epoch = p_epoch from owners o
        where o.resource = 'bot/' || s.bot_id
    )
    order by s.asked_at
    limit sends_max;
end
$$;

ALTER FUNCTION public.door_waiting_sends(p_node text, p_epoch bigint, sends_max integer) OWNER TO nightdesk_doors;

CREATE FUNCTION public.door_wrapped_by(p_vault_key bytea, rows_max bigint) RETURNS TABLE(tenant_id uuid, key_id bigint, wrapped bytea)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
#variable_conflict use_column
begin
    return query
    select k.tenant_id, k.key_id, k.wrapped from tenant_keys k
    where vault_key(k.wrapped) = p_vault_key
    limit rows_max;
end
$$;

ALTER FUNCTION public.door_wrapped_by(p_vault_key bytea, rows_max bigint) OWNER TO nightdesk_doors;

CREATE FUNCTION public.entry_bytes_max() RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    select 524288::bigint
$$;

ALTER FUNCTION public.entry_bytes_max() OWNER TO nightdesk_owner;

CREATE FUNCTION public.erasure_plan() RETURNS TABLE(nth bigint, relation text, fate text, reason text)
    LANGUAGE sql IMMUTABLE
    AS $$
    select p.nth, p.relation, 'at-once', null from unnest(array[
        'schedules', 'schedule_rooms', 'capabilities', 'commands', 'bindings', 'scope_grants',
        'listed_authors', 'relevance_policies', 'enrolments', 'link_codes', 'letter_grants',
        'letter_hooks', 'oauth_clients', 'refresh_tokens', 'bootstrap_sessions', 'wakers', 'agent_webhooks',
        'gateway_secrets', 'gateway_platforms', 'bot_keys', 'bot_hearings', 'bot_sessions', 'bots',
        'tenant_keys', 'user_roles', 'api_tokens', 'glass_requests', 'alert_deliveries', 'alerts',
        'alert_ways'
    ]) with ordinality as p (relation, nth)
    union all
    select p.nth, p.relation, 'in-steps', null from unnest(array[
        'inbox_entries', 'inbox_parked', 'inbox_acks', 'dedupe_keys', 'quarantined', 'quarantine_heads',
        'sent_messages', 'sends', 'refusals', 'refusal_heads', 'reached', 'notices', 'notice_heads', 'webchat_messages',
        'webchat_chats', 'prompts', 'media', 'fires', 'letters', 'letters_in', 'letter_receipts',
        'skill_revisions', 'data_entries', 'skills', 'shelves', 'wakes', 'source_cursors', 'link_tries',
        'quotas', 'wake_log', 'tenant_usage'
    ]) with ordinality as p (relation, nth)
    union all
    select 0, p.relation, 'kept', p.reason from (values
        ('tenants', 'the id, so that no other tenant gets it; the name is given back'),
        ('agents', 'the id, to which the audit log refers; the names are removed'),
        ('gateways', 'the revocation, by which every node closes the lines; the name is removed'),
        ('lines', 'numbers and times: the node of a line writes its end'),
        ('inbox_heads', 'numbers: the version of the reach refuses events that were admitted earlier'),
        ('inbox_cursors', 'numbers: the end of a line reads them'),
        ('reach_heads', 'numbers: nodes that know a bot of the tenant compare them'),
        ('reach_changes', 'nodes read changes of the reach there; forget_changes removes them in an hour'),
        ('audit_heads', 'the end of the chain of the audit log'),
        ('audit_log', 'ids of acts, without texts; forget_audit removes them after their retention')
    ) as p (relation, reason)
$$;

ALTER FUNCTION public.erasure_plan() OWNER TO nightdesk_owner;

CREATE FUNCTION public.expire_entries(kept interval, entries_max integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
    before  timestamptz := clock_timestamp() - kept;
    expired bigint := 0;
    late    record;
begin
    perform check_retention('pending', kept);
    -- By the cursors of agents for which something waits: a look into their inboxes, and not at every
    -- entry of seven days.
    for late in
        select e.tenant_id, e.agent_id, array_agg(e.seq order by e.seq) as seqs
        from (
            select e.tenant_id, e.agent_id, e.seq
            from inbox_cursors c
                join inbox_heads h on h.tenant_id = c.tenant_id and h.agent_id = c.agent_id
                    and h.next_seq - 1 > c.acked_seq
                cross join lateral (
                    select i.tenant_id, i.agent_id, i.seq from inbox_entries i
                    where i.tenant_id = c.tenant_id and i.agent_id = c.agent_id
                      and i.seq > c.acked_seq and not i.seq <@ c.ahead and i.at < before
                    order by i.seq limit entries_max
                ) as e
            where c.acked_at < before
            order by c.tenant_id, c.agent_id
            limit entries_max
        ) as e
        group by 1, 2 order by 1, 2
    loop
        perform from inbox_cursors c
        where c.tenant_id = late.tenant_id and c.agent_id = late.agent_id for update;
        expired := expired + (
            select count(*) from unnest(late.seqs) as s (seq)
            where set_aside(late.tenant_id, late.agent_id, s.seq, 'expired')
        );
    end loop;
    return expired;
end
$$;

ALTER FUNCTION public.expire_entries(kept interval, entries_max integer) OWNER TO nightdesk_doors;

CREATE FUNCTION public.fires_begin(p_node text, p_now timestamp with time zone, p_tenant uuid[], p_agent uuid[], p_job text[], p_watch_at timestamp with time zone[], p_fire uuid[], p_state text[], p_cause text[], p_tries integer[], p_calling boolean[], p_next_at timestamp with time zone[], p_ended_at timestamp with time zone[]) RETURNS void
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET enable_material TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
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

ALTER FUNCTION public.fires_begin(p_node text, p_now timestamp with time zone, p_tenant uuid[], p_agent uuid[], p_job text[], p_watch_at timestamp with time zone[], p_fire uuid[], p_state text[], p_cause text[], p_tries integer[], p_calling boolean[], p_next_at timestamp with time zone[], p_ended_at timestamp with time zone[]) OWNER TO nightdesk_owner;

CREATE FUNCTION public.fires_due(p_node text, p_epoch bigint, fires_max integer) RETURNS TABLE(now_at timestamp with time zone, tenant_id uuid, agent_id uuid, job_id text, schedule_id uuid, arming bigint, fire_at text, due_at timestamp with time zone, next_at timestamp with time zone, by_inbox boolean, target text, recurring boolean, recurs boolean, reports boolean, overlap text, catch_up_ms bigint, jitter_ms bigint, fired_before boolean, cancelled boolean, watch_at timestamp with time zone, flagged_at timestamp with time zone, changed_at timestamp with time zone, fire_id uuid, fire_arming bigint, fire_fire_at text, fire_due_at timestamp with time zone, state text, cause text, tries integer, calling boolean, fire_next_at timestamp with time zone, outcome text, began_at timestamp with time zone, ended_at timestamp with time zone, fire_reports boolean)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET enable_material TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
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

ALTER FUNCTION public.fires_due(p_node text, p_epoch bigint, fires_max integer) OWNER TO nightdesk_doors;

CREATE TABLE public.fires (
    tenant_id uuid NOT NULL,
    fire_id uuid NOT NULL,
    agent_id uuid NOT NULL,
    job_id text NOT NULL COLLATE pg_catalog."C",
    arming bigint NOT NULL,
    fire_at text NOT NULL,
    due_at timestamp with time zone NOT NULL,
    state text NOT NULL,
    cause text,
    tries integer NOT NULL,
    calling boolean NOT NULL,
    next_at timestamp with time zone,
    outcome text,
    node text NOT NULL,
    began_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    reports boolean NOT NULL,
    run_ended_at timestamp with time zone,
    run_ok boolean,
    run_note text,
    CONSTRAINT fires_known_cause CHECK ((cause = ANY (ARRAY['overlap'::text, 'cancelled'::text, 'superseded'::text, 'too-late'::text, 'gave-up'::text, 'refused'::text]))),
    CONSTRAINT fires_known_state CHECK ((state = ANY (ARRAY['open'::text, 'held'::text, 'fired'::text, 'late'::text, 'skipped'::text, 'missed'::text]))),
    CONSTRAINT fires_open_or_over CHECK ((((state = ANY (ARRAY['open'::text, 'held'::text])) = (next_at IS NOT NULL)) AND ((next_at IS NULL) = (ended_at IS NOT NULL)))),
    CONSTRAINT fires_ran_when_taken CHECK (((run_ended_at IS NULL) OR (state = ANY (ARRAY['fired'::text, 'late'::text])))),
    CONSTRAINT fires_say_why CHECK (((state = ANY (ARRAY['skipped'::text, 'missed'::text])) = (cause IS NOT NULL)))
)
WITH (fillfactor='70');

ALTER TABLE ONLY public.fires FORCE ROW LEVEL SECURITY;

ALTER TABLE public.fires OWNER TO nightdesk_owner;

CREATE TABLE public.schedules (
    tenant_id uuid NOT NULL,
    agent_id uuid NOT NULL,
    job_id text NOT NULL COLLATE pg_catalog."C",
    schedule_id uuid DEFAULT gen_random_uuid() NOT NULL,
    arming bigint DEFAULT 0 NOT NULL,
    fire_at text NOT NULL,
    due_at timestamp with time zone NOT NULL,
    next_at timestamp with time zone,
    by_inbox boolean NOT NULL,
    target text NOT NULL,
    recurring boolean NOT NULL,
    recurs boolean DEFAULT false NOT NULL,
    reports boolean NOT NULL,
    overlap text NOT NULL,
    catch_up_ms bigint NOT NULL,
    jitter_ms bigint NOT NULL,
    fired_before boolean DEFAULT false NOT NULL,
    cancelled boolean DEFAULT false NOT NULL,
    watch_at timestamp with time zone,
    flagged_at timestamp with time zone,
    changed_at timestamp with time zone NOT NULL,
    CONSTRAINT schedules_armed_or_cancelled CHECK (((next_at IS NULL) OR (NOT cancelled))),
    CONSTRAINT schedules_known_overlap CHECK ((overlap = ANY (ARRAY['skip'::text, 'buffer_one'::text, 'allow_all'::text])))
)
WITH (fillfactor='70');

ALTER TABLE ONLY public.schedules FORCE ROW LEVEL SECURITY;

ALTER TABLE public.schedules OWNER TO nightdesk_owner;

CREATE FUNCTION public.fires_lock(p_tenant uuid[], p_fire uuid[]) RETURNS TABLE(now_at timestamp with time zone, job public.schedules, fire public.fires)
    LANGUAGE plpgsql
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
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

ALTER FUNCTION public.fires_lock(p_tenant uuid[], p_fire uuid[]) OWNER TO nightdesk_owner;

CREATE FUNCTION public.fires_next_ms() RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
begin
    return (extract(epoch from least(
        (select min(s.next_at) from schedules s where s.next_at is not null),
        (select min(f.next_at) from fires f where f.next_at is not null)
    ) - clock_timestamp()) * 1000)::bigint;
end
$$;

ALTER FUNCTION public.fires_next_ms() OWNER TO nightdesk_doors;

CREATE FUNCTION public.fires_page(p_tenant uuid, p_agent uuid, p_job text, p_before uuid, fires_max integer) RETURNS SETOF public.fires
    LANGUAGE plpgsql STABLE
    AS $$
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

ALTER FUNCTION public.fires_page(p_tenant uuid, p_agent uuid, p_job text, p_before uuid, fires_max integer) OWNER TO nightdesk_owner;

CREATE FUNCTION public.fires_running(p_tenant uuid[], p_agent uuid[], p_job text[], p_since timestamp with time zone) RETURNS TABLE(tenant uuid, agent uuid, job text, running_since timestamp with time zone)
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    AS $$
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

ALTER FUNCTION public.fires_running(p_tenant uuid[], p_agent uuid[], p_job text[], p_since timestamp with time zone) OWNER TO nightdesk_owner;

CREATE FUNCTION public.fires_write(p_node text, p_tenant uuid[], p_fire uuid[], p_state text[], p_cause text[], p_tries integer[], p_calling boolean[], p_next_at timestamp with time zone[], p_ended_at timestamp with time zone[], p_outcome text[]) RETURNS void
    LANGUAGE plpgsql
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
begin
    update fires f
    set state = k.state, cause = k.cause, tries = k.tries, calling = k.calling, next_at = k.next_at,
        ended_at = k.ended_at, outcome = coalesce(k.outcome, f.outcome), node = coalesce(p_node, f.node)
    from unnest(p_tenant, p_fire, p_state, p_cause, p_tries, p_calling, p_next_at, p_ended_at, p_outcome)
            as k (tenant, fire, state, cause, tries, calling, next_at, ended_at, outcome)
    where f.tenant_id = k.tenant and f.fire_id = k.fire;
end
$$;

ALTER FUNCTION public.fires_write(p_node text, p_tenant uuid[], p_fire uuid[], p_state text[], p_cause text[], p_tries integer[], p_calling boolean[], p_next_at timestamp with time zone[], p_ended_at timestamp with time zone[], p_outcome text[]) OWNER TO nightdesk_owner;

CREATE FUNCTION public.flag_unarmed(jobs_max integer, notices_max bigint) RETURNS TABLE(tenant uuid, agent uuid, job text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
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

ALTER FUNCTION public.flag_unarmed(jobs_max integer, notices_max bigint) OWNER TO nightdesk_doors;

CREATE FUNCTION public.forget_acked(kept interval, blocks_max integer, OUT forgotten bigint, OUT is_done boolean) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
    before   timestamptz := clock_timestamp() - kept;
    stored   record;
    place    upkeep_passes;
    begins   timestamptz;
    ends     timestamptz;
    blocks   bigint;
    gone     bigint;
    is_young boolean;
begin
    perform check_retention('acked', kept);
    forgotten := 0;
    is_done := true;
    for stored in
        select d.name, d.day from stored_days() d
        where d.parent = 'inbox_entries' and d.day::timestamp at time zone 'utc' < before
        order by d.day
    loop
        begins := stored.day::timestamp at time zone 'utc';
        ends := (stored.day + 1)::timestamp at time zone 'utc';
        blocks := pg_relation_size(stored.name::regclass) / current_setting('block_size')::bigint;
        insert into upkeep_passes (day) values (stored.day) on conflict do nothing;
        -- A day that another node works at is skipped.
        select p.* into place from upkeep_passes p
        where p.day = stored.day and (
            p.next_block > 0 or blocks <= blocks_max
            or p.passed_at < clock_timestamp() - interval '6 hours'
        )
        for update skip locked;
        continue when not found;

        -- The limits are written into the statement, so that it is planned for this day alone.
        execute format(
            'with removed as (
                 delete from inbox_entries e using inbox_cursors c
                 where e.at >= %L and e.at < %L and e.ctid >= %L::tid and e.ctid < %L::tid
                   and c.tenant_id = e.tenant_id and c.agent_id = e.agent_id
                   and (e.seq <= c.acked_seq or e.seq <@ c.ahead)
                 returning true
             ) select count(*) from removed',
            begins, least(ends, before), format('(%s,0)', place.next_block),
            format('(%s,0)', place.next_block + blocks_max)
        ) into gone;
        execute format(
            'select exists (
                 select from inbox_entries e
                 where e.at >= %L and e.at < %L and e.ctid >= %L::tid and e.ctid < %L::tid
             )',
            greatest(begins, before), ends, format('(%s,0)', place.next_block),
            format('(%s,0)', place.next_block + blocks_max)
        ) into is_young;
        forgotten := forgotten + gone;
        if is_young then
            -- The rest of the day is younger still.
            continue;
        elsif place.next_block + blocks_max < blocks then
            is_done := false;
            place.next_block := place.next_block + blocks_max;
        elsif ends <= before then
            place.next_block := 0;
            place.passed_at := clock_timestamp();
        else
            -- More comes after the last block, and into it.
            place.next_block := greatest(blocks - 1, 0);
        end if;
        update upkeep_passes p
        set next_block = place.next_block, passed_at = place.passed_at
        where p.day = stored.day;
    end loop;
end
$$;

ALTER FUNCTION public.forget_acked(kept interval, blocks_max integer, OUT forgotten bigint, OUT is_done boolean) OWNER TO nightdesk_doors;

CREATE FUNCTION public.forget_audit(kept interval, rows_max integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
    forgotten bigint;
begin
    perform check_retention('audit', kept);
    with old as (
        select a.tenant_id, a.seq from audit_log a where a.at < clock_timestamp() - kept
        order by a.at, a.seq
        limit rows_max
    ), gone as (
        delete from audit_log a using old
        where a.tenant_id = old.tenant_id and a.seq = old.seq
        returning a.tenant_id, a.seq, a.hash
    ), noted as (
        update audit_heads h set begins_seq = l.seq, begins_hash = l.hash
        from (
            select distinct on (gone.tenant_id) gone.* from gone
            order by gone.tenant_id, gone.seq desc
        ) as l
        where h.tenant_id = l.tenant_id
    )
    select count(*) from gone into forgotten;
    return forgotten;
end
$$;

ALTER FUNCTION public.forget_audit(kept interval, rows_max integer) OWNER TO nightdesk_doors;

CREATE FUNCTION public.forget_changes(kept interval, rows_max integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
    forgotten bigint;
begin
    perform check_retention('reach-changes', kept);
    with old as (
        select c.bot_id, c.version from reach_changes c where c.at < clock_timestamp() - kept
        order by c.at
        limit rows_max
    )
    delete from reach_changes c using old where c.bot_id = old.bot_id and c.version = old.version;
    get diagnostics forgotten = row_count;
    return forgotten;
end
$$;

ALTER FUNCTION public.forget_changes(kept interval, rows_max integer) OWNER TO nightdesk_doors;

CREATE FUNCTION public.forget_chats(kept interval, rows_max integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
    lines bigint;
    chats bigint;
begin
    perform check_retention('chats', kept);
    delete from webchat_messages m using (
        select o.tenant_id, o.bot_id, o.visitor, o.message_id from webchat_messages o
        where o.at < clock_timestamp() - kept
        order by o.at limit rows_max
    ) as old
    where m.tenant_id = old.tenant_id and m.bot_id = old.bot_id and m.visitor = old.visitor
      and m.message_id = old.message_id;
    get diagnostics lines = row_count;
    delete from webchat_chats c using (
        select o.tenant_id, o.bot_id, o.visitor from webchat_chats o
        where o.seen_at < clock_timestamp() - kept
          and not exists (
              select from webchat_messages m
              where m.tenant_id = o.tenant_id and m.bot_id = o.bot_id and m.visitor = o.visitor
          )
        order by o.seen_at limit rows_max
        -- Whoever writes just now keeps it.
        for update skip locked
    ) as old
    where c.tenant_id = old.tenant_id and c.bot_id = old.bot_id and c.visitor = old.visitor;
    get diagnostics chats = row_count;
    return greatest(lines, chats);
end
$$;

ALTER FUNCTION public.forget_chats(kept interval, rows_max integer) OWNER TO nightdesk_doors;

CREATE FUNCTION public.forget_data_keys(kept interval, rows_max bigint) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
    gone bigint;
begin
    perform check_retention('data-keys', kept);
    delete from tenant_keys k
    where (k.tenant_id, k.key_id) in (
        select r.tenant_id, r.key_id from tenant_keys r
        where r.replaced_at < now() - kept
          and not exists (
              select from gateway_secrets s where s.tenant_id = r.tenant_id and s.key_id = r.key_id)
          and not exists (
              select from bot_keys b where b.tenant_id = r.tenant_id and b.key_id = r.key_id)
          and not exists (
              select from capabilities c where c.tenant_id = r.tenant_id and c.key_id = r.key_id
                and octet_length(c.sealed) > 0)
          and not exists (
              select from inbox_entries e where e.tenant_id = r.tenant_id
                and e.at < (
                    ((greatest(r.replaced_at, r.used_at) + kept) at time zone 'utc')::date + 1
                )::timestamp at time zone 'utc')
          and not exists (
              select from inbox_parked p where p.tenant_id = r.tenant_id and p.key_id = r.key_id)
          and not exists (
              select from quarantined q where q.tenant_id = r.tenant_id and q.key_id = r.key_id)
          and not exists (
              select from sends s where s.tenant_id = r.tenant_id and s.key_id = r.key_id
                and s.state in ('asked', 'calling'))
          and not exists (
              select from letters l where l.to_tenant_id = r.tenant_id and l.key_id = r.key_id)
          and not exists (
              select from letters l where l.tenant_id = r.tenant_id and l.reply_key_id = r.key_id)
          and not exists (
              select from media m where m.tenant_id = r.tenant_id and m.key_id = r.key_id)
          and not exists (
              select from webchat_messages m where m.tenant_id = r.tenant_id and m.key_id = r.key_id
                and not m.deleted)
          and not exists (
              select from webchat_messages m
              where m.tenant_id = r.tenant_id and m.prompt_key_id = r.key_id)
          and not exists (
              select from webchat_chats c
              where c.tenant_id = r.tenant_id and c.status_key_id = r.key_id)
        limit rows_max
        for update skip locked
    );
    get diagnostics gone = row_count;
    return gone;
end
$$;

ALTER FUNCTION public.forget_data_keys(kept interval, rows_max bigint) OWNER TO nightdesk_doors;

CREATE FUNCTION public.forget_ended(kept interval, rows_max bigint) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
    step bigint;
    gone bigint;
begin
    update capabilities c set sealed = ''
    where (c.tenant_id, c.agent_id, c.session_sha256, c.kind) in (
        select e.tenant_id, e.agent_id, e.session_sha256, e.kind from capabilities e
        where e.expires_at <= now() and octet_length(e.sealed) > 0
        order by e.expires_at limit rows_max
        for update skip locked
    );
    get diagnostics gone = row_count;
    delete from capabilities c
    where (c.tenant_id, c.agent_id, c.session_sha256, c.kind) in (
        select e.tenant_id, e.agent_id, e.session_sha256, e.kind from capabilities e
        where e.expires_at <= now() - interval '1 day' order by e.expires_at limit rows_max
        for update skip locked
    );
    get diagnostics step = row_count;
    gone := gone + step;
    delete from bot_keys k
    where (k.tenant_id, k.bot_id, k.bot_key_id) in (
        select e.tenant_id, e.bot_id, e.bot_key_id from bot_keys e
        where e.expires_at <= now() order by e.expires_at limit rows_max
        for update skip locked
    );
    get diagnostics step = row_count;
    return gone + step + forget_data_keys(kept, rows_max);
end
$$;

ALTER FUNCTION public.forget_ended(kept interval, rows_max bigint) OWNER TO nightdesk_doors;

CREATE FUNCTION public.forget_fires(kept interval, rows_max integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
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

ALTER FUNCTION public.forget_fires(kept interval, rows_max integer) OWNER TO nightdesk_doors;

CREATE FUNCTION public.forget_letters(kept interval, rows_max integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
    step bigint;
    most bigint := 0;
begin
    perform check_retention('letters', kept);
    delete from letters l
    where (l.tenant_id, l.letter_id) in (
        select o.tenant_id, o.letter_id from letters o
        where o.sent_at < clock_timestamp() - kept and o.state <> 'scheduled'
        order by o.sent_at limit rows_max for update skip locked
    );
    get diagnostics most = row_count;
    delete from letters_in i
    where (i.tenant_id, i.agent_id, i.letter_id) in (
        select o.tenant_id, o.agent_id, o.letter_id from letters_in o
        where o.put_at < clock_timestamp() - kept
        order by o.put_at limit rows_max for update skip locked
    );
    get diagnostics step = row_count;
    most := greatest(most, step);
    delete from letter_receipts r
    where (r.tenant_id, r.dispatch_id, r.connector, r.address) in (
        select o.tenant_id, o.dispatch_id, o.connector, o.address from letter_receipts o
        where o.noted_at < clock_timestamp() - kept
        order by o.noted_at limit rows_max for update skip locked
    );
    get diagnostics step = row_count;
    -- A full round of any is worth another.
    return greatest(most, step);
end
$$;

ALTER FUNCTION public.forget_letters(kept interval, rows_max integer) OWNER TO nightdesk_doors;

CREATE FUNCTION public.forget_links(kept interval, rows_max integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
    v_codes bigint;
    v_tries bigint;
begin
    perform check_retention('links', kept);
    with old as (
        select c.code_sha256 from link_codes c where c.created_at < now() - kept
        order by c.created_at limit rows_max
    )
    delete from link_codes c using old where c.code_sha256 = old.code_sha256;
    get diagnostics v_codes = row_count;
    with old as (
        select t.bot_id, t.author_id from link_tries t where t.hour_began_at < now() - kept
        order by t.hour_began_at limit rows_max
    )
    delete from link_tries t using old where t.bot_id = old.bot_id and t.author_id = old.author_id;
    get diagnostics v_tries = row_count;
    return v_codes + v_tries;
end
$$;

ALTER FUNCTION public.forget_links(kept interval, rows_max integer) OWNER TO nightdesk_doors;

CREATE FUNCTION public.forget_media(media_max integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
    forgotten bigint;
begin
    delete from media m using (
        select o.tenant_id, o.agent_id, o.media_id from media o
        where o.expires_at < clock_timestamp()
        order by o.expires_at limit media_max
    ) as old
    where m.tenant_id = old.tenant_id and m.agent_id = old.agent_id and m.media_id = old.media_id;
    get diagnostics forgotten = row_count;
    return forgotten;
end
$$;

ALTER FUNCTION public.forget_media(media_max integer) OWNER TO nightdesk_doors;

CREATE FUNCTION public.forget_parked(kept interval, entries_max integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
declare
    forgotten bigint;
begin
    perform check_retention('parked', kept);
    delete from inbox_parked p
    where (p.tenant_id, p.agent_id, p.seq) in (
        select o.tenant_id, o.agent_id, o.seq from inbox_parked o
        where o.parked_at < now() - kept
        order by o.parked_at limit entries_max for update skip locked
    );
    get diagnostics forgotten = row_count;
    return forgotten;
end
$$;

ALTER FUNCTION public.forget_parked(kept interval, entries_max integer) OWNER TO nightdesk_doors;

CREATE FUNCTION public.forget_prompts(kept interval, prompts_max integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
    forgotten bigint;
begin
    perform check_retention('prompts', kept);
    delete from prompts p using (
        select o.bot_id, o.prompt_id from prompts o
        where o.asked_at < clock_timestamp() - kept
        order by o.asked_at limit prompts_max
    ) as old
    where p.bot_id = old.bot_id and p.prompt_id = old.prompt_id;
    get diagnostics forgotten = row_count;
    return forgotten;
end
$$;

ALTER FUNCTION public.forget_prompts(kept interval, prompts_max integer) OWNER TO nightdesk_doors;

CREATE FUNCTION public.forget_sends(kept interval, sends_max integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
    forgotten bigint;
begin
    perform check_retention('sends', kept);
    delete from sends s using (
        select o.tenant_id, o.agent_id, o.request_id from sends o
        where o.asked_at < clock_timestamp() - kept and o.state in ('settled', 'ambiguous')
        order by o.asked_at limit sends_max
    ) as old
    where s.tenant_id = old.tenant_id and s.agent_id = old.agent_id
      and s.request_id = old.request_id;
    get diagnostics forgotten = row_count;
    return forgotten;
end
$$;

ALTER FUNCTION public.forget_sends(kept interval, sends_max integer) OWNER TO nightdesk_doors;

CREATE FUNCTION public.forget_sessions() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    new.sessions := '{}';
    return new;
end
$$;

ALTER FUNCTION public.forget_sessions() OWNER TO nightdesk_owner;

CREATE FUNCTION public.high_quotas(p_percent bigint) RETURNS TABLE(tenant_id uuid, quota text, used bigint, allowed bigint)
    LANGUAGE plpgsql STABLE
    AS $$
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

ALTER FUNCTION public.high_quotas(p_percent bigint) OWNER TO nightdesk_owner;

CREATE FUNCTION public.inbox_accept(tenants uuid[], e_operator uuid[], e_bot uuid[], e_key bytea[], e_chat text[], e_unsendable boolean[], e_source text[], e_epoch bigint[], e_cursor text[], r_event integer[], r_tenant uuid[], r_agent uuid[], r_version bigint[], r_body bytea[], r_key_id bigint[], r_body_id uuid[], r_pace text[], entries_max bigint, dedupe_days integer) RETURNS TABLE(event integer, outcome text, tenant uuid, agent uuid, seq bigint, at timestamp with time zone, parked boolean, presence text, incarnation bigint, generation bigint)
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
#variable_conflict use_column
declare
    s_event integer[]; s_outcome text[]; s_tenant uuid[]; s_agent uuid[]; s_seq bigint[];
    s_at timestamptz[]; s_parked boolean[]; s_wakes boolean[];
    z_tenant uuid[]; z_agent uuid[]; z_held boolean[];
    v_incarnation bigint := current_incarnation();
begin
    select array_agg(s.event), array_agg(s.outcome), array_agg(s.tenant), array_agg(s.agent),
        array_agg(s.seq), array_agg(s.at), array_agg(s.parked), array_agg(s.wakes)
    into s_event, s_outcome, s_tenant, s_agent, s_seq, s_at, s_parked, s_wakes
    from inbox_store(
        tenants, e_operator, e_bot, e_key, e_chat, e_unsendable, e_source, e_epoch, e_cursor,
        r_event, r_tenant, r_agent, r_version, r_body, r_key_id, r_body_id, r_pace, entries_max,
        dedupe_days
    ) as s;
    if true = any (s_wakes) then
        select array_agg(z.tenant), array_agg(z.agent), array_agg(z.held)
        into z_tenant, z_agent, z_held
        from wake_sleepers(
            array(select s.t from unnest(s_tenant, s_wakes) as s (t, wakes) where s.wakes),
            array(select s.a from unnest(s_agent, s_wakes) as s (a, wakes) where s.wakes)
        ) as z;
    end if;
    return query
    select s.event, s.outcome, s.tenant, s.agent, s.seq, s.at, s.parked, (
            select case when z.held then 'held' else 'asleep' end
            from unnest(z_tenant, z_agent, z_held) as z (tenant, agent, held)
            where z.tenant = s.tenant and z.agent = s.agent and s.wakes
        ),
        v_incarnation, (
            select c.generation from inbox_cursors c
            where c.tenant_id = s.tenant and c.agent_id = s.agent
        )
    from unnest(s_event, s_outcome, s_tenant, s_agent, s_seq, s_at, s_parked, s_wakes)
        as s (event, outcome, tenant, agent, seq, at, parked, wakes);
end
$$;

ALTER FUNCTION public.inbox_accept(tenants uuid[], e_operator uuid[], e_bot uuid[], e_key bytea[], e_chat text[], e_unsendable boolean[], e_source text[], e_epoch bigint[], e_cursor text[], r_event integer[], r_tenant uuid[], r_agent uuid[], r_version bigint[], r_body bytea[], r_key_id bigint[], r_body_id uuid[], r_pace text[], entries_max bigint, dedupe_days integer) OWNER TO nightdesk_owner;

CREATE FUNCTION public.inbox_accept_bound(tenants uuid[], e_operator uuid[], e_bot uuid[], e_key bytea[], e_chat text[], e_unsendable boolean[], e_source text[], e_epoch bigint[], e_cursor text[], r_event integer[], r_tenant uuid[], r_agent uuid[], r_version bigint[], r_body bytea[], r_key_id bigint[], r_body_id uuid[], r_pace text[], entries_max bigint, dedupe_days integer, c_event integer[], c_tenant uuid[], c_agent uuid[], c_session bytea[], c_kind text[], c_sealed bytea[], c_key_id bigint[], c_secs double precision[]) RETURNS TABLE(event integer, outcome text, tenant uuid, agent uuid, seq bigint, at timestamp with time zone, parked boolean, presence text, incarnation bigint, generation bigint)
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
declare
    stored integer[];
begin
    stored := '{}';
    for event, outcome, tenant, agent, seq, at, parked, presence, incarnation, generation in
        select a.event, a.outcome, a.tenant, a.agent, a.seq, a.at, a.parked, a.presence,
            a.incarnation, a.generation
        from inbox_accept(
            tenants, e_operator, e_bot, e_key, e_chat, e_unsendable, e_source, e_epoch, e_cursor,
            r_event, r_tenant, r_agent, r_version, r_body, r_key_id, r_body_id, r_pace, entries_max,
            dedupe_days
        ) as a
    loop
        if outcome = 'stored' then
            stored := stored || event;
        end if;
        return next;
    end loop;

    insert into capabilities as c
        (tenant_id, agent_id, session_sha256, kind, bot_id, chat_id, sealed, key_id, expires_at)
    -- The last of a batch counts: a platform lends anew what is about to end.
    select distinct on (b.tenant, b.agent, b.session, b.kind)
        b.tenant, b.agent, b.session, b.kind, e_bot[b.event], e_chat[b.event], b.sealed, b.key_id,
        clock_timestamp() + make_interval(secs => b.secs)
    from unnest(c_event, c_tenant, c_agent, c_session, c_kind, c_sealed, c_key_id, c_secs)
        as b (event, tenant, agent, session, kind, sealed, key_id, secs)
    where b.event = any (stored)
    order by b.tenant, b.agent, b.session, b.kind, b.event desc
    on conflict (tenant_id, agent_id, session_sha256, kind) do update
    set bot_id = excluded.bot_id, chat_id = excluded.chat_id, sealed = excluded.sealed,
        key_id = excluded.key_id, bound_at = now(), expires_at = excluded.expires_at;
end
$$;

ALTER FUNCTION public.inbox_accept_bound(tenants uuid[], e_operator uuid[], e_bot uuid[], e_key bytea[], e_chat text[], e_unsendable boolean[], e_source text[], e_epoch bigint[], e_cursor text[], r_event integer[], r_tenant uuid[], r_agent uuid[], r_version bigint[], r_body bytea[], r_key_id bigint[], r_body_id uuid[], r_pace text[], entries_max bigint, dedupe_days integer, c_event integer[], c_tenant uuid[], c_agent uuid[], c_session bytea[], c_kind text[], c_sealed bytea[], c_key_id bigint[], c_secs double precision[]) OWNER TO nightdesk_owner;

CREATE FUNCTION public.inbox_ack(tenants uuid[], a_tenant uuid[], a_agent uuid[], a_incarnation bigint[], a_generation bigint[], r_ack integer[], r_from bigint[], r_to bigint[], r_at timestamp with time zone[], r_handed_at timestamp with time zone[]) RETURNS TABLE(ack integer, acked_seq bigint, refusal text)
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
#variable_conflict use_column
declare
    now_at timestamptz := clock_timestamp();
    v_incarnation bigint := current_incarnation();
begin
    perform set_config('app.tenants', tenants::text, true);
    return query
    with r as materialized (
        select r.* from unnest(r_ack, r_from, r_to, r_at, r_handed_at)
            as r (o, from_seq, to_seq, at, handed_at)
    ), a as materialized (
        select a.*, case when a.incarnation <> v_incarnation then 'history'
            when (select max(r.to_seq) from r where r.o = a.o) >= (
                select h.next_seq from inbox_heads h
                where h.tenant_id = a.tenant and h.agent_id = a.agent
            ) then 'beyond-head' end as refusal
        from unnest(a_tenant, a_agent, a_incarnation, a_generation)
            with ordinality as a (tenant, agent, incarnation, generation, o)
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
        where l.generation = a.generation and a.refusal is null
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
    select a.o::integer, moved.seq,
        case when moved.o is not null then null
            when a.refusal = 'history' or exists (
                select from locked l where l.tenant_id = a.tenant and l.agent_id = a.agent
                  and l.generation = a.generation
            ) then a.refusal
            else 'replaced' end
    from a left join moved on moved.o = a.o order by a.o;
end
$$;

ALTER FUNCTION public.inbox_ack(tenants uuid[], a_tenant uuid[], a_agent uuid[], a_incarnation bigint[], a_generation bigint[], r_ack integer[], r_from bigint[], r_to bigint[], r_at timestamp with time zone[], r_handed_at timestamp with time zone[]) OWNER TO nightdesk_owner;

CREATE FUNCTION public.inbox_is_full(p_tenant uuid, p_agent uuid, p_seq bigint, p_bytes bigint, v_entries bigint, v_bytes bigint) RETURNS boolean
    LANGUAGE plpgsql STABLE
    AS $$
declare
    mine inbox_cursors;
begin
    select c.* into mine from inbox_cursors c
    where c.tenant_id = p_tenant and c.agent_id = p_agent;
    -- A parked entry does not wait, so once there are so many numbers, the entries are counted. Numbers that this
    -- statement does not see yet, those of its own batch and of one that it waited for, count as waiting.
    if p_seq - mine.acked_seq > v_entries and (
        select count(*) from (
            select from inbox_entries e
            where e.tenant_id = p_tenant and e.agent_id = p_agent
              and e.at >= mine.acked_at and e.seq > mine.acked_seq and not e.seq <@ mine.ahead
            limit v_entries
        ) as waiting
    ) + p_seq - (
        select h.next_seq from inbox_heads h
        where h.tenant_id = p_tenant and h.agent_id = p_agent
    ) >= v_entries then
        return true;
    end if;
    -- So few cannot be so much.
    if (p_seq - mine.acked_seq) * entry_bytes_max() <= v_bytes then
        return false;
    end if;
    return p_bytes - coalesce((
        select e.bytes_before from inbox_entries e
        where e.tenant_id = p_tenant and e.agent_id = p_agent
          and e.at >= mine.acked_at and e.seq > mine.acked_seq
        order by e.seq limit 1
    ), p_bytes) > v_bytes;
end
$$;

ALTER FUNCTION public.inbox_is_full(p_tenant uuid, p_agent uuid, p_seq bigint, p_bytes bigint, v_entries bigint, v_bytes bigint) OWNER TO nightdesk_owner;

CREATE FUNCTION public.inbox_last_seqs(a_tenant uuid[], a_agent uuid[]) RETURNS TABLE(seq bigint)
    LANGUAGE plpgsql
    AS $$
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

ALTER FUNCTION public.inbox_last_seqs(a_tenant uuid[], a_agent uuid[]) OWNER TO nightdesk_owner;

CREATE FUNCTION public.inbox_put_test(p_tenant uuid, p_agent uuid, p_bot uuid, p_chat text, p_body bytea, p_key bigint, p_body_id uuid) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
declare
    mine inbox_heads;
begin
    update inbox_heads h
    set next_seq = h.next_seq + 1, last_at = greatest(h.last_at, clock_timestamp()),
        bytes = h.bytes + body_bytes(p_body)
    where h.tenant_id = p_tenant and h.agent_id = p_agent
    returning h.* into mine;
    if not found then
        return null;
    end if;
    perform check_data_key(p_tenant, p_key);
    insert into inbox_entries
        (tenant_id, agent_id, seq, at, bot_id, chat_id, body, key_id, body_id, bytes_before)
    values (p_tenant, p_agent, mine.next_seq - 1, mine.last_at, p_bot, p_chat, p_body, p_key,
        p_body_id, mine.bytes - body_bytes(p_body));
    perform wake_sleepers(array[p_tenant], array[p_agent]);
    return mine.next_seq - 1;
end
$$;

ALTER FUNCTION public.inbox_put_test(p_tenant uuid, p_agent uuid, p_bot uuid, p_chat text, p_body bytea, p_key bigint, p_body_id uuid) OWNER TO nightdesk_owner;

CREATE FUNCTION public.inbox_resubmit(p_tenant uuid, p_agent uuid, p_seq bigint) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
declare
    aside inbox_parked;
    mine  inbox_heads;
begin
    select p.* into aside from inbox_parked p
    where p.tenant_id = p_tenant and p.agent_id = p_agent and p.seq = p_seq
      and p.resubmitted_as is null
    for update;
    if not found then
        return null;
    end if;
    update inbox_heads h
    set next_seq = h.next_seq + 1, last_at = greatest(h.last_at, clock_timestamp()),
        bytes = h.bytes + body_bytes(aside.body)
    where h.tenant_id = p_tenant and h.agent_id = p_agent
    returning h.* into strict mine;
    perform use_data_key(p_tenant, aside.key_id);
    insert into inbox_entries
        (tenant_id, agent_id, seq, at, bot_id, chat_id, body, key_id, body_id, bytes_before)
    values (p_tenant, p_agent, mine.next_seq - 1, mine.last_at, aside.bot_id, aside.chat_id,
        aside.body, aside.key_id, aside.body_id, mine.bytes - body_bytes(aside.body));
    update inbox_parked p set resubmitted_as = mine.next_seq - 1
    where p.tenant_id = p_tenant and p.agent_id = p_agent and p.seq = p_seq;
    perform wake_sleepers(array[p_tenant], array[p_agent]);
    return mine.next_seq - 1;
end
$$;

ALTER FUNCTION public.inbox_resubmit(p_tenant uuid, p_agent uuid, p_seq bigint) OWNER TO nightdesk_owner;

CREATE FUNCTION public.inbox_store(tenants uuid[], e_operator uuid[], e_bot uuid[], e_key bytea[], e_chat text[], e_unsendable boolean[], e_source text[], e_epoch bigint[], e_cursor text[], r_event integer[], r_tenant uuid[], r_agent uuid[], r_version bigint[], r_body bytea[], r_key_id bigint[], r_body_id uuid[], r_pace text[], entries_max bigint, dedupe_days integer) RETURNS TABLE(event integer, outcome text, tenant uuid, agent uuid, seq bigint, at timestamp with time zone, parked boolean, wakes boolean)
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
#variable_conflict use_column
declare
    now_at timestamptz := clock_timestamp();
    today  date := (now_at at time zone 'utc')::date;
    -- For a minute after midnight both days are written, so that a writer that still thinks
    -- it is yesterday meets us.
    days   date[] := case
        when now_at - (today::timestamp at time zone 'utc') < interval '60 seconds'
        then array[today - 1, today] else array[today] end;
    fenced integer[] := '{}';
    behind integer[] := '{}';
    v_incarnation bigint := current_incarnation();
begin
    perform set_config('app.tenants', tenants::text, true);
    if e_source is not null then
        select h.fenced, h.behind into fenced, behind from source_holds(
            e_operator, e_bot, e_source, e_epoch, r_event, r_tenant, r_agent, r_version
        ) as h;
    end if;

    return query
    with ev as materialized (
        select e.* from unnest(e_operator, e_bot, e_key, e_chat, e_unsendable)
            with ordinality as e (operator, bot, key, chat, unsendable, o)
    ), rc as materialized (
        select r.* from unnest(
            r_event, r_tenant, r_agent, r_version, r_body, r_key_id, r_body_id, r_pace
        ) with ordinality as r (o, tenant, agent, version, body, key_id, body_id, pace, n)
    ), stale as materialized (
        select rc.o from rc
        where rc.version <> (
            select h.reach_version from inbox_heads h
            where h.tenant_id = rc.tenant and h.agent_id = rc.agent
        )
        union select unnest(behind)
    ), wanted as materialized (
        select ev.* from ev
        where ev.o <> all (fenced) and ev.o not in (select stale.o from stale)
    ), deduped as (
        insert into dedupe_keys as d (tenant_id, key, day)
        select wanted.operator, wanted.key, day
        from wanted cross join unnest(days) as day
        where (
            select true from dedupe_keys d
            where d.tenant_id = wanted.operator and d.key = wanted.key
              -- Today's key is found by the insert.
              and d.day >= today - dedupe_days and d.day < today
            limit 1
        ) is null
        order by day, wanted.operator, wanted.key
        on conflict do nothing
        returning d.tenant_id, d.key
    ), fresh as materialized (
        -- The first of a key: a batch may hold the same event twice.
        select distinct on (wanted.operator, wanted.key) wanted.*
        from wanted join (
            select deduped.tenant_id, deduped.key from deduped
            group by 1, 2 having count(*) = cardinality(days)
        ) as d on d.tenant_id = wanted.operator and d.key = wanted.key
        order by wanted.operator, wanted.key, wanted.o
    ), due as materialized (
        select rc.*, fresh.bot, fresh.chat, fresh.unsendable,
            row_number() over mine as nth,
            -- Entries that an author's rate parks take no room from others.
            sum(case when rc.pace = 'park' then 0 else body_bytes(rc.body) end) over mine as bytes
        from fresh join rc on rc.o = fresh.o
        window mine as (partition by rc.tenant, rc.agent order by rc.o, rc.n)
    ), counted as materialized (
        select due.tenant, due.agent, count(*) as n, max(due.bytes) as bytes
        from due group by 1, 2
    ), taken as (
        update inbox_heads h
        set next_seq = h.next_seq + ordered.n, last_at = greatest(h.last_at, now_at),
            bytes = h.bytes + ordered.bytes
        from (select c.* from counted c order by c.tenant, c.agent) as ordered
        where h.tenant_id = ordered.tenant and h.agent_id = ordered.agent
        returning h.tenant_id, h.agent_id, h.next_seq - ordered.n as base, h.last_at,
            h.reach_version, h.bytes - ordered.bytes as bytes_base
    ), allowed as materialized (
        select c.tenant, c.agent, q.entries, q.bytes, coalesce((
                select k.acked_seq from inbox_cursors k
                where k.tenant_id = c.tenant and k.agent_id = c.agent
            ), 0) as acked_seq
        from counted c
            cross join lateral (
                select coalesce(max(q.allowed) filter (where q.quota = 'pending-entries'),
                        entries_max) as entries,
                    coalesce(max(q.allowed) filter (where q.quota = 'pending-bytes'),
                        quota_default('pending-bytes')) as bytes
                from quotas q where q.tenant_id = c.tenant
            ) as q
    ), numbered as materialized (
        select due.*, taken.base + due.nth - 1 as seq, taken.last_at as at,
            taken.reach_version,
            taken.bytes_base + due.bytes - body_bytes(due.body) as bytes_before,
            due.unsendable or due.pace = 'park' or (
                -- Most inboxes hold so few that they cannot be full.
                taken.base + due.nth - 1 - allowed.acked_seq
                    > least(allowed.entries, allowed.bytes / entry_bytes_max())
                and inbox_is_full(
                    due.tenant, due.agent, taken.base + due.nth - 1,
                    taken.bytes_base + due.bytes, allowed.entries, allowed.bytes
                )
            ) as aside
        from due
            left join taken on taken.tenant_id = due.tenant and taken.agent_id = due.agent
            left join allowed on allowed.tenant = due.tenant and allowed.agent = due.agent
    ), held as (
        insert into inbox_entries
            (tenant_id, agent_id, seq, at, bot_id, chat_id, body, key_id, body_id, bytes_before,
            incarnation)
        select n.tenant, n.agent, n.seq, n.at, n.bot, n.chat, n.body, n.key_id, n.body_id,
            n.bytes_before, v_incarnation
        from numbered n where not n.aside
    ), set_aside as (
        insert into inbox_parked
            (tenant_id, agent_id, seq, at, bot_id, chat_id, body, key_id, body_id, reason)
        select n.tenant, n.agent, n.seq, n.at, n.bot, n.chat, n.body, n.key_id, n.body_id,
            case when n.unsendable then 'unsendable' when n.pace = 'park' then 'rate-limit'
                else 'full' end
        from numbered n where n.aside
        -- The order in which chains are locked.
        order by n.tenant, n.agent, n.seq
    ), touched as (
        insert into reached as r (tenant_id, agent_id, chat_id, bot_id, at)
        select distinct n.tenant, n.agent, n.chat, n.bot, now_at
        from numbered n
        where coalesce((
            select r.at < now_at - interval '1 day' from reached r
            where r.tenant_id = n.tenant and r.agent_id = n.agent
              and r.chat_id = n.chat and r.bot_id = n.bot
        ), true)
        order by n.tenant, n.agent, n.chat, n.bot
        on conflict (tenant_id, agent_id, chat_id, bot_id) do update set at = excluded.at
    )
    select ev.o::integer,
        case
            when ev.o = any (fenced) then 'fenced'
            when ev.o in (select stale.o from stale) then 'stale'
            when ev.o not in (select fresh.o from fresh) then 'duplicate'
            -- Also when the version moved while we waited for the head: the batch is run again.
            when n.seq is null or n.reach_version <> n.version then no_outcome('an event')
            -- A body that no node could open is not stored: it is sealed anew.
            when (
                select true from tenant_keys k where k.tenant_id = n.tenant and k.key_id = n.key_id
            ) is null then no_data_key(n.key_id)
            else 'stored'
        end,
        n.tenant, n.agent, n.seq, n.at, n.aside, not n.aside and n.pace = 'deliver'
    from ev left join numbered n on n.o = ev.o
    order by ev.o, n.n;

    if e_source is not null then
        perform source_moves(e_operator, e_bot, e_source, e_cursor, fenced || behind || array(
            select r.o from unnest(r_event, r_tenant, r_agent, r_version) as r (o, tenant, agent, version)
                join inbox_heads h on h.tenant_id = r.tenant and h.agent_id = r.agent
            where h.reach_version <> r.version
        ));
    end if;
end
$$;

ALTER FUNCTION public.inbox_store(tenants uuid[], e_operator uuid[], e_bot uuid[], e_key bytea[], e_chat text[], e_unsendable boolean[], e_source text[], e_epoch bigint[], e_cursor text[], r_event integer[], r_tenant uuid[], r_agent uuid[], r_version bigint[], r_body bytea[], r_key_id bigint[], r_body_id uuid[], r_pace text[], entries_max bigint, dedupe_days integer) OWNER TO nightdesk_owner;

CREATE FUNCTION public.inbox_waiting(tenants uuid[], a_tenant uuid[], a_agent uuid[], a_incarnation bigint[], a_generation bigint[], a_after bigint[], a_since timestamp with time zone[], a_entries_max integer[], bytes_max bigint) RETURNS TABLE(ask integer, refusal text, seq bigint, at timestamp with time zone, bot uuid, chat text, body bytea, key_id bigint, body_id uuid, incarnation bigint)
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
#variable_conflict use_column
declare
    v_incarnation bigint := current_incarnation();
begin
    perform set_config('app.tenants', tenants::text, true);
    return query
    select a.o::integer, case when a.incarnation <> v_incarnation then 'history'
            when c.generation <> a.generation then 'replaced' end,
        e.seq, e.at, e.bot_id, e.chat_id, e.body, e.key_id, e.body_id, e.incarnation
    from unnest(a_tenant, a_agent, a_incarnation, a_generation, a_after, a_since, a_entries_max)
            with ordinality
            as a (tenant, agent, incarnation, generation, after, since, entries_max, o)
        join inbox_cursors c on c.tenant_id = a.tenant and c.agent_id = a.agent
        left join lateral (
            select w.* from (
                select i.*,
                    sum(body_bytes(i.body)) over (order by i.seq) - body_bytes(i.body) as before
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
        ) as e on c.generation = a.generation and a.incarnation = v_incarnation
    order by a.o, e.seq;
end
$$;

ALTER FUNCTION public.inbox_waiting(tenants uuid[], a_tenant uuid[], a_agent uuid[], a_incarnation bigint[], a_generation bigint[], a_after bigint[], a_since timestamp with time zone[], a_entries_max integer[], bytes_max bigint) OWNER TO nightdesk_owner;

CREATE FUNCTION public.inbox_waits(p_tenant uuid, p_agent uuid) RETURNS boolean
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    AS $$
begin
    return exists (
        select from inbox_cursors c
            join inbox_entries e on e.tenant_id = c.tenant_id and e.agent_id = c.agent_id
        where c.tenant_id = p_tenant and c.agent_id = p_agent
          and e.at >= c.acked_at and e.seq > c.acked_seq and not e.seq <@ c.ahead
    );
end
$$;

ALTER FUNCTION public.inbox_waits(p_tenant uuid, p_agent uuid) OWNER TO nightdesk_owner;

CREATE FUNCTION public.is_told(p_tenant uuid, p_kind text, p_about text) RETURNS boolean
    LANGUAGE sql
    SET search_path TO 'public', 'pg_temp'
    AS $$
    select exists (
        select from audit_heads h join audit_log a on a.tenant_id = h.tenant_id and a.seq = h.seq
        where h.tenant_id = p_tenant and a.xmin = pg_current_xact_id()::xid and (
            a.kind in ('bot-created', 'bot-removed', 'gateway-created', 'gateway-enrolled',
                'gateway-provisioned', 'gateway-revoked', 'linked', 'agent-deprovisioned')
            or (a.kind = p_kind and a.about = p_about)
        )
    ) or (p_kind <> 'tenant-erased' and exists (
        select from tenants t where t.tenant_id = p_tenant and t.erased_at is not null
    ))
$$;

ALTER FUNCTION public.is_told(p_tenant uuid, p_kind text, p_about text) OWNER TO nightdesk_owner;

CREATE FUNCTION public.keep_agent_quota() RETURNS trigger
    LANGUAGE plpgsql
    AS $_$
declare
    v_allowed bigint := quota_of(new.tenant_id, tg_argv[0]);
    v_more    boolean;
begin
    if v_allowed > 1000 and random() >= 1.0 / 64 then
        return null;
    end if;
    execute format(
        'select count(*) > $3
         from (select from %I where tenant_id = $1 and agent_id = $2 limit $3 + 1) as enough',
        tg_table_name
    ) into v_more using new.tenant_id, new.agent_id, v_allowed;
    if v_more then
        raise exception '%', tg_argv[0] using errcode = 'ND001', detail = v_allowed::text;
    end if;
    return null;
end
$_$;

ALTER FUNCTION public.keep_agent_quota() OWNER TO nightdesk_owner;

CREATE FUNCTION public.keep_armed(p_tenant uuid, p_agent uuid, p_quota text) RETURNS void
    LANGUAGE plpgsql
    AS $$
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

ALTER FUNCTION public.keep_armed(p_tenant uuid, p_agent uuid, p_quota text) OWNER TO nightdesk_owner;

CREATE FUNCTION public.keep_quota() RETURNS trigger
    LANGUAGE plpgsql
    AS $_$
declare
    v_tenant  uuid;
    v_allowed bigint;
    v_more    boolean;
begin
    for v_tenant in select distinct n.tenant_id from entered n order by 1 loop
        perform from tenants t where t.tenant_id = v_tenant for no key update;
        v_allowed := quota_of(v_tenant, tg_argv[0]);
        execute format(
            'select count(*) > $2 from (select from %I where tenant_id = $1 limit $2 + 1) as enough',
            tg_table_name
        ) into v_more using v_tenant, v_allowed;
        if v_more then
            raise exception '%', tg_argv[0] using errcode = 'ND001', detail = v_allowed::text;
        end if;
    end loop;
    return null;
end
$_$;

ALTER FUNCTION public.keep_quota() OWNER TO nightdesk_owner;

CREATE FUNCTION public.letter_addresses(tenants uuid[], a_tenant uuid[], a_agent uuid[], a_called text[], a_called_id uuid[]) RETURNS TABLE(nth integer, sender text, own_id uuid, own_name text, peer_tenant uuid, is_granted_back boolean)
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    AS $$
#variable_conflict use_column
declare
    v_peers uuid[];
begin
    perform set_config('app.tenants', tenants::text, true);
    select array_agg((
        select g.peer_tenant_id from letter_grants g
        where g.tenant_id = a.tenant and g.agent_id = a.agent and g.peer_agent_id = a.called_id
          and a.called_id is not null
        limit 1
    ) order by a.nth) into v_peers
    from unnest(a_tenant, a_agent, a_called_id) with ordinality as a (tenant, agent, called_id, nth);
    perform set_config('app.tenants', (tenants || array_remove(v_peers, null))::text, true);
    return query
    select a.nth::integer,
        (select s.name from agents s where s.tenant_id = a.tenant and s.agent_id = a.agent),
        own.agent_id, own.name, a.peer,
        coalesce((
            select true from letter_grants g
            where g.tenant_id = a.peer and g.agent_id = a.called_id
              and g.peer_tenant_id = a.tenant and g.peer_agent_id = a.agent
        ), false)
    from unnest(a_tenant, a_agent, a_called, a_called_id, v_peers)
            with ordinality as a (tenant, agent, called, called_id, peer, nth)
        left join lateral (
            select o.agent_id, o.name from agents o
            where o.tenant_id = a.tenant and o.agent_id = a.called_id
            union all
            select o.agent_id, o.name from agents o
            where o.tenant_id = a.tenant and o.name = a.called
            limit 1
        ) as own on true;
end
$$;

ALTER FUNCTION public.letter_addresses(tenants uuid[], a_tenant uuid[], a_agent uuid[], a_called text[], a_called_id uuid[]) OWNER TO nightdesk_owner;

CREATE FUNCTION public.letter_bytes(p_tenant uuid, p_agent uuid, p_bytes bigint) RETURNS bigint
    LANGUAGE plpgsql STABLE
    AS $$
declare
    mine inbox_cursors;
begin
    select c.* into mine from inbox_cursors c where c.tenant_id = p_tenant and c.agent_id = p_agent;
    return coalesce(p_bytes - (
        select e.bytes_before from inbox_entries e
        where e.tenant_id = p_tenant and e.agent_id = p_agent
          and e.at >= mine.acked_at and e.seq > mine.acked_seq
        order by e.seq limit 1
    ), 0);
end
$$;

ALTER FUNCTION public.letter_bytes(p_tenant uuid, p_agent uuid, p_bytes bigint) OWNER TO nightdesk_owner;

CREATE FUNCTION public.letter_came(p_tenant uuid, p_agent uuid, p_letter uuid, p_seq bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
    v_from uuid;
begin
    perform works_for(p_tenant);
    select i.from_tenant_id into v_from from letters_in i
    where i.tenant_id = p_tenant and i.agent_id = p_agent and i.letter_id = p_letter;
    perform works_for_both(p_tenant, v_from);
    update letters l
    set body = null, key_id = null, body_id = null, seq = p_seq, state = case l.state when 'scheduled' then 'put' else l.state end
    where l.tenant_id = v_from and l.letter_id = p_letter and l.seq is null;
end
$$;

ALTER FUNCTION public.letter_came(p_tenant uuid, p_agent uuid, p_letter uuid, p_seq bigint) OWNER TO nightdesk_owner;

CREATE FUNCTION public.letter_due_facts(p_tenant uuid, p_agent uuid, p_letter uuid, OUT from_tenant uuid, OUT from_agent uuid, OUT bot uuid, OUT chat text, OUT body bytea, OUT key_id bigint, OUT body_id uuid, OUT route text, OUT is_granted boolean, OUT is_granted_back boolean, OUT entries bigint, OUT entries_max bigint, OUT bytes bigint, OUT bytes_max bigint) RETURNS record
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
begin
    perform works_for(p_tenant);
    select i.from_tenant_id, i.from_agent_id into from_tenant, from_agent from letters_in i
    where i.tenant_id = p_tenant and i.agent_id = p_agent and i.letter_id = p_letter;
    if not found then
        return;
    end if;
    select f.is_granted, f.is_granted_back, f.entries, f.entries_max, f.bytes, f.bytes_max
    into is_granted, is_granted_back, entries, entries_max, bytes, bytes_max
    from letter_facts(array[p_tenant, from_tenant], array[from_tenant], array[from_agent],
        array[p_tenant], array[p_agent], array[''], interval '0') as f;
    select l.bot_id, l.chat_id, l.body, l.key_id, l.body_id, l.route
    into bot, chat, body, key_id, body_id, route from letters l
    where l.tenant_id = from_tenant and l.letter_id = p_letter for update;
end
$$;

ALTER FUNCTION public.letter_due_facts(p_tenant uuid, p_agent uuid, p_letter uuid, OUT from_tenant uuid, OUT from_agent uuid, OUT bot uuid, OUT chat text, OUT body bytea, OUT key_id bigint, OUT body_id uuid, OUT route text, OUT is_granted boolean, OUT is_granted_back boolean, OUT entries bigint, OUT entries_max bigint, OUT bytes bigint, OUT bytes_max bigint) OWNER TO nightdesk_owner;

CREATE FUNCTION public.letter_facts(tenants uuid[], l_tenant uuid[], l_agent uuid[], l_to_tenant uuid[], l_to_agent uuid[], l_dispatch text[], p_hop_remembered interval) RETURNS TABLE(nth integer, now_at timestamp with time zone, repeated uuid, is_granted boolean, is_granted_back boolean, highest_hop integer, entries bigint, entries_max bigint, bytes bigint, bytes_max bigint)
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    AS $$
#variable_conflict use_column
declare
    v_now timestamptz;
begin
    perform set_config('app.tenants', tenants::text, true);
    perform from inbox_heads h
    where (h.tenant_id, h.agent_id) in (
        select l.tenant, l.agent from unnest(l_to_tenant, l_to_agent) as l (tenant, agent)
    )
    order by h.tenant_id, h.agent_id
    for no key update;
    v_now := clock_timestamp();
    return query
    select l.nth::integer, v_now, (
            select k.letter_id from letters k
            where k.tenant_id = l.tenant and k.agent_id = l.agent and k.dispatch_id = l.dispatch
              and k.to_tenant_id = l.to_tenant and k.to_agent_id = l.to_agent
        ),
        l.tenant <> l.to_tenant and coalesce((
            select true from letter_grants g
            where g.tenant_id = l.tenant and g.agent_id = l.agent
              and g.peer_tenant_id = l.to_tenant and g.peer_agent_id = l.to_agent
        ), false),
        l.tenant <> l.to_tenant and coalesce((
            select true from letter_grants g
            where g.tenant_id = l.to_tenant and g.agent_id = l.to_agent
              and g.peer_tenant_id = l.tenant and g.peer_agent_id = l.agent
        ), false),
        coalesce((
            select max(i.hop) from letters_in i
            where i.tenant_id = l.tenant and i.agent_id = l.agent
              and i.put_at > v_now - p_hop_remembered
        ), 0),
        r.entries, r.entries_max,
        case when r.entries is null then null
            when (r.entries + cardinality(l_tenant)) * entry_bytes_max() > r.bytes_max
                then letter_bytes(l.to_tenant, l.to_agent, r.bytes)
            else 0 end,
        r.bytes_max
    from unnest(l_tenant, l_agent, l_to_tenant, l_to_agent, l_dispatch)
            with ordinality as l (tenant, agent, to_tenant, to_agent, dispatch, nth)
        left join lateral (
            select h.bytes, h.next_seq - 1 - (
                    select c.acked_seq from inbox_cursors c
                    where c.tenant_id = h.tenant_id and c.agent_id = h.agent_id
                ) as entries,
                coalesce((
                    select q.allowed from quotas q
                    where q.tenant_id = h.tenant_id and q.quota = 'pending-entries'
                ), quota_default('pending-entries')) as entries_max,
                coalesce((
                    select q.allowed from quotas q
                    where q.tenant_id = h.tenant_id and q.quota = 'pending-bytes'
                ), quota_default('pending-bytes')) as bytes_max
            from inbox_heads h
            where h.tenant_id = l.to_tenant and h.agent_id = l.to_agent
            limit 1
        ) as r on true;
end
$$;

ALTER FUNCTION public.letter_facts(tenants uuid[], l_tenant uuid[], l_agent uuid[], l_to_tenant uuid[], l_to_agent uuid[], l_dispatch text[], p_hop_remembered interval) OWNER TO nightdesk_owner;

CREATE FUNCTION public.letter_grants_of(p_tenant uuid, p_agent uuid, grants_max bigint) RETURNS TABLE(agent uuid, peer_tenant uuid, peer_agent uuid, granted_at timestamp with time zone, is_mutual boolean)
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
declare
    mine letter_grants;
begin
    for mine in
        select g.* from letter_grants g
        where g.tenant_id = p_tenant and (p_agent is null or g.agent_id = p_agent)
        order by g.agent_id, g.peer_tenant_id, g.peer_agent_id limit grants_max
    loop
        perform works_for_both(p_tenant, mine.peer_tenant_id);
        return query select mine.agent_id, mine.peer_tenant_id, mine.peer_agent_id, mine.granted_at,
            exists (
                select from letter_grants g
                where g.tenant_id = mine.peer_tenant_id and g.agent_id = mine.peer_agent_id
                  and g.peer_tenant_id = p_tenant and g.peer_agent_id = mine.agent_id
            );
    end loop;
    perform works_for(p_tenant);
end
$$;

ALTER FUNCTION public.letter_grants_of(p_tenant uuid, p_agent uuid, grants_max bigint) OWNER TO nightdesk_owner;

CREATE FUNCTION public.letter_live(p_tenant uuid, p_agent uuid, OUT session text, OUT is_busy boolean, OUT sessions text[]) RETURNS record
    LANGUAGE sql STABLE
    AS $$
    select g.name, h.next_seq - 1 > c.acked_seq, l.sessions
    from lines l
        join gateways g on g.tenant_id = l.tenant_id and g.gateway_id = l.gateway_id
        join inbox_heads h on h.tenant_id = l.tenant_id and h.agent_id = l.agent_id
        join inbox_cursors c on c.tenant_id = l.tenant_id and c.agent_id = l.agent_id
    where l.tenant_id = p_tenant and l.agent_id = p_agent
      and l.closed_at is null and node_lives(l.node, l.node_epoch)
$$;

ALTER FUNCTION public.letter_live(p_tenant uuid, p_agent uuid, OUT session text, OUT is_busy boolean, OUT sessions text[]) OWNER TO nightdesk_owner;

CREATE FUNCTION public.letter_look(p_tenant uuid, p_agent uuid, p_letter uuid) RETURNS TABLE(letter_id uuid, agent_id uuid, to_agent_id uuid, dispatch_id text, route text, kind text, session text, correlation_id text, hop integer, state text, seq bigint, is_acked boolean, sent_at timestamp with time zone, due_at timestamp with time zone, reply_by timestamp with time zone, reply bytea, reply_key_id bigint, reply_body_id uuid, replied_at timestamp with time zone)
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
declare
    v_to uuid;
begin
    perform works_for(p_tenant);
    update letters l set state = 'timed-out'
    where l.tenant_id = p_tenant and l.agent_id = p_agent and l.letter_id = p_letter
      and l.state = 'put' and clock_timestamp() >= l.reply_by;
    select l.to_tenant_id into v_to from letters l
    where l.tenant_id = p_tenant and l.agent_id = p_agent and l.letter_id = p_letter;
    perform works_for_both(p_tenant, v_to);
    return query
    select l.letter_id, l.agent_id, l.to_agent_id, l.dispatch_id, l.route, l.kind, l.session,
        l.correlation_id, l.hop, l.state, l.seq,
        coalesce(l.seq <= c.acked_seq or l.seq <@ c.ahead, false), l.sent_at, l.due_at,
        l.reply_by, l.reply, l.reply_key_id, l.reply_body_id, l.replied_at
    from letters l
        left join inbox_cursors c
            on c.tenant_id = l.to_tenant_id and c.agent_id = l.to_agent_id
    where l.tenant_id = p_tenant and l.agent_id = p_agent and l.letter_id = p_letter;
end
$$;

ALTER FUNCTION public.letter_look(p_tenant uuid, p_agent uuid, p_letter uuid) OWNER TO nightdesk_owner;

CREATE FUNCTION public.letter_note(tenants uuid[], r_tenant uuid[], r_dispatch text[], r_connector text[], r_address text[], r_route text[], r_came jsonb[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    perform set_config('app.tenants', tenants::text, true);
    insert into letter_receipts (tenant_id, dispatch_id, connector, address, route, came)
    select r.* from unnest(r_tenant, r_dispatch, r_connector, r_address, r_route, r_came)
        as r (tenant, dispatch, connector, address, route, came)
    order by r.tenant, r.dispatch collate "C", r.connector collate "C", r.address collate "C"
    on conflict (tenant_id, dispatch_id, connector, address) do update
    set route = excluded.route, came = excluded.came, noted_at = excluded.noted_at;
end
$$;

ALTER FUNCTION public.letter_note(tenants uuid[], r_tenant uuid[], r_dispatch text[], r_connector text[], r_address text[], r_route text[], r_came jsonb[]) OWNER TO nightdesk_owner;

CREATE FUNCTION public.letter_park_unreadable(p_tenant uuid, p_agent uuid, p_letter uuid) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
declare
    v_from uuid;
    mine   letters;
    head   inbox_heads;
begin
    perform works_for(p_tenant);
    select i.from_tenant_id into v_from from letters_in i
    where i.tenant_id = p_tenant and i.agent_id = p_agent and i.letter_id = p_letter;
    perform works_for_both(p_tenant, v_from);
    -- The inbox is locked first, as by every letter.
    perform from inbox_heads h where h.tenant_id = p_tenant and h.agent_id = p_agent
    for no key update;
    select l.* into mine from letters l
    where l.tenant_id = v_from and l.letter_id = p_letter and l.seq is null and l.body is not null
    for update;
    if not found then
        return null;
    end if;
    update inbox_heads h
    set next_seq = h.next_seq + 1, last_at = greatest(h.last_at, clock_timestamp())
    where h.tenant_id = p_tenant and h.agent_id = p_agent
    returning h.* into strict head;
    insert into inbox_parked
        (tenant_id, agent_id, seq, at, bot_id, chat_id, body, key_id, body_id, reason)
    values (p_tenant, p_agent, head.next_seq - 1, head.last_at, mine.bot_id, mine.chat_id,
        mine.body, mine.key_id, mine.body_id, 'unreadable');
    update letters l
    set body = null, key_id = null, body_id = null, seq = head.next_seq - 1,
        state = case l.state when 'scheduled' then 'put' else l.state end
    where l.tenant_id = v_from and l.letter_id = p_letter;
    return head.next_seq - 1;
end
$$;

ALTER FUNCTION public.letter_park_unreadable(p_tenant uuid, p_agent uuid, p_letter uuid) OWNER TO nightdesk_owner;

CREATE FUNCTION public.letter_peers(p_tenant uuid, p_agent uuid, peers_max integer) RETURNS TABLE(tenant uuid, agent uuid, name text, session text, is_busy boolean, sessions text[])
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
declare
    v_tenants uuid[];
    v_agents  uuid[];
begin
    perform works_for(p_tenant);
    select array_agg(g.peer_tenant), array_agg(g.peer_agent) into v_tenants, v_agents
    from letter_grants_of(p_tenant, p_agent, null) as g where g.is_mutual;
    perform set_config('app.tenants', (v_tenants || p_tenant)::text, true);
    return query
    select k.tenant, k.agent, k.name, l.session, l.is_busy, l.sessions
    from (
        (select a.tenant_id as tenant, a.agent_id as agent, a.name, 0 as of_others from agents a
        where a.tenant_id = p_tenant order by a.name limit peers_max)
        union all
        select g.tenant, g.agent, null, 1 from unnest(v_tenants, v_agents) as g (tenant, agent)
        order by of_others, name, agent limit peers_max
    ) as k cross join lateral letter_live(k.tenant, k.agent) as l
    order by k.of_others, k.name, k.agent;
end
$$;

ALTER FUNCTION public.letter_peers(p_tenant uuid, p_agent uuid, peers_max integer) OWNER TO nightdesk_owner;

CREATE FUNCTION public.letter_reply_facts(p_tenant uuid, p_agent uuid, p_letter uuid, OUT from_tenant uuid, OUT state text, OUT reply_by timestamp with time zone, OUT now_at timestamp with time zone) RETURNS record
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
declare
    mine letters;
begin
    perform works_for(p_tenant);
    select i.from_tenant_id into from_tenant from letters_in i
    where i.tenant_id = p_tenant and i.agent_id = p_agent and i.letter_id = p_letter;
    if not found then
        return;
    end if;
    perform works_for_both(p_tenant, from_tenant);
    select l.* into mine from letters l
    where l.tenant_id = from_tenant and l.letter_id = p_letter for update;
    state := mine.state;
    reply_by := mine.reply_by;
    now_at := clock_timestamp();
end
$$;

ALTER FUNCTION public.letter_reply_facts(p_tenant uuid, p_agent uuid, p_letter uuid, OUT from_tenant uuid, OUT state text, OUT reply_by timestamp with time zone, OUT now_at timestamp with time zone) OWNER TO nightdesk_owner;

CREATE FUNCTION public.letter_sender(p_tenant uuid, p_agent uuid, p_letter uuid, OUT from_tenant uuid, OUT from_agent uuid) RETURNS record
    LANGUAGE plpgsql
    AS $$
begin
    perform works_for(p_tenant);
    select i.from_tenant_id, i.from_agent_id into from_tenant, from_agent from letters_in i
    where i.tenant_id = p_tenant and i.agent_id = p_agent and i.letter_id = p_letter;
end
$$;

ALTER FUNCTION public.letter_sender(p_tenant uuid, p_agent uuid, p_letter uuid, OUT from_tenant uuid, OUT from_agent uuid) OWNER TO nightdesk_owner;

CREATE FUNCTION public.letter_write(l_letter uuid[], l_tenant uuid[], l_agent uuid[], l_to_tenant uuid[], l_to_agent uuid[], l_dispatch text[], l_route text[], l_kind text[], l_session text[], l_correlation text[], l_hop integer[], l_due timestamp with time zone[], l_wait_secs double precision[], l_bot uuid[], l_chat text[], l_body bytea[], l_key bigint[], l_body_id uuid[], l_is_put boolean[], p_now timestamp with time zone) RETURNS TABLE(nth integer, seq bigint, session text)
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    AS $$
#variable_conflict use_column
begin
    perform check_data_key(k.tenant, k.key)
    from (select distinct l.* from unnest(l_to_tenant, l_key) as l (tenant, key)) as k;
    return query
    with l as materialized (
        select l.* from unnest(
            l_letter, l_tenant, l_agent, l_to_tenant, l_to_agent, l_dispatch, l_route, l_kind,
            l_session, l_correlation, l_hop, l_due, l_wait_secs, l_bot, l_chat, l_body, l_key,
            l_body_id, l_is_put
        ) with ordinality as l (
            letter, tenant, agent, to_tenant, to_agent, dispatch, route, kind,
            session, correlation, hop, due, wait_secs, bot, chat, body, key, body_id, is_put, nth
        )
    ), into_inbox as materialized (
        select l.nth, l.to_tenant, l.to_agent, l.bot, l.chat, l.body, l.key, l.body_id,
            row_number() over mine as n, sum(body_bytes(l.body)) over mine as bytes
        from l where l.is_put
        window mine as (partition by l.to_tenant, l.to_agent order by l.nth)
    ), counted as materialized (
        select i.to_tenant, i.to_agent, count(*) as n, max(i.bytes) as bytes
        from into_inbox i group by 1, 2
    ), taken as (
        update inbox_heads h
        set next_seq = h.next_seq + c.n, last_at = greatest(h.last_at, clock_timestamp()),
            bytes = h.bytes + c.bytes
        from counted c
        where h.tenant_id = c.to_tenant and h.agent_id = c.to_agent
        returning h.tenant_id, h.agent_id, h.next_seq - c.n as base, h.last_at,
            h.bytes - c.bytes as bytes_base
    ), numbered as materialized (
        select i.*, t.base + i.n - 1 as seq, t.last_at as at,
            t.bytes_base + i.bytes - body_bytes(i.body) as bytes_before
        from into_inbox i
            join taken t on t.tenant_id = i.to_tenant and t.agent_id = i.to_agent
    ), held as (
        insert into inbox_entries
            (tenant_id, agent_id, seq, at, bot_id, chat_id, body, key_id, body_id, bytes_before)
        select n.to_tenant, n.to_agent, n.seq, n.at, n.bot, n.chat, n.body, n.key, n.body_id,
            n.bytes_before
        from numbered n
    ), written as (
        insert into letters (
            tenant_id, letter_id, agent_id, to_tenant_id, to_agent_id, dispatch_id, route, kind,
            session, correlation_id, hop, state, seq, sent_at, due_at, reply_by, chat_id, bot_id,
            body, key_id, body_id)
        select l.tenant, l.letter, l.agent, l.to_tenant, l.to_agent, l.dispatch, l.route, l.kind,
            l.session, l.correlation, l.hop,
            case when l.due is null then 'put' else 'scheduled' end, n.seq, p_now, l.due,
            p_now + make_interval(secs => l.wait_secs), l.chat, l.bot,
            case when l.due is not null then l.body end,
            case when l.due is not null then l.key end,
            case when l.due is not null then l.body_id end
        from l left join numbered n on n.nth = l.nth
    ), came as (
        insert into letters_in
            (tenant_id, agent_id, letter_id, from_tenant_id, from_agent_id, hop, put_at)
        select l.to_tenant, l.to_agent, l.letter, l.tenant, l.agent, l.hop, coalesce(l.due, p_now)
        from l
    )
    select l.nth::integer, n.seq, case when l.is_put then (
            select g.name from lines o
                join gateways g on g.tenant_id = o.tenant_id and g.gateway_id = o.gateway_id
            where o.tenant_id = l.to_tenant and o.agent_id = l.to_agent
              and o.closed_at is null and exists (
                  select from nodes d
                  where d.node = o.node and d.epoch = o.node_epoch and not d.is_over
              )
        ) end
    from l left join numbered n on n.nth = l.nth;
    perform wake_sleepers(array_agg(l.to_tenant), array_agg(l.to_agent))
    from unnest(l_to_tenant, l_to_agent, l_is_put) as l (to_tenant, to_agent, is_put)
    where l.is_put;
end
$$;

ALTER FUNCTION public.letter_write(l_letter uuid[], l_tenant uuid[], l_agent uuid[], l_to_tenant uuid[], l_to_agent uuid[], l_dispatch text[], l_route text[], l_kind text[], l_session text[], l_correlation text[], l_hop integer[], l_due timestamp with time zone[], l_wait_secs double precision[], l_bot uuid[], l_chat text[], l_body bytea[], l_key bigint[], l_body_id uuid[], l_is_put boolean[], p_now timestamp with time zone) OWNER TO nightdesk_owner;

CREATE FUNCTION public.letters_page(p_tenant uuid, p_agent uuid, p_before uuid, letters_max integer) RETURNS TABLE(letter_id uuid, agent_id uuid, to_agent_id uuid, dispatch_id text, route text, kind text, session text, correlation_id text, hop integer, state text, seq bigint, is_acked boolean, sent_at timestamp with time zone, due_at timestamp with time zone, reply_by timestamp with time zone, reply bytea, reply_key_id bigint, reply_body_id uuid, replied_at timestamp with time zone)
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
declare
    v_sent    timestamptz := 'infinity';
    v_letter  uuid := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
    v_letters uuid[];
    v_tenants uuid[];
begin
    perform works_for(p_tenant);
    if p_before is not null then
        select l.sent_at, l.letter_id into v_sent, v_letter from letters l
        where l.tenant_id = p_tenant and l.agent_id = p_agent and l.letter_id = p_before;
    end if;
    select array_agg(o.letter_id), array_agg(distinct o.to_tenant_id) into v_letters, v_tenants
    from (
        select l.letter_id, l.to_tenant_id from letters l
        where l.tenant_id = p_tenant and l.agent_id = p_agent
          and (l.sent_at, l.letter_id) < (v_sent, v_letter)
        order by l.sent_at desc, l.letter_id desc limit letters_max
    ) as o;
    update letters l set state = 'timed-out'
    where l.tenant_id = p_tenant and l.letter_id = any (v_letters)
      and l.state = 'put' and clock_timestamp() >= l.reply_by;
    perform set_config('app.tenants', (v_tenants || p_tenant)::text, true);
    return query
    select l.letter_id, l.agent_id, l.to_agent_id, l.dispatch_id, l.route, l.kind, l.session,
        l.correlation_id, l.hop, l.state, l.seq,
        coalesce(l.seq <= c.acked_seq or l.seq <@ c.ahead, false), l.sent_at, l.due_at,
        l.reply_by, l.reply, l.reply_key_id, l.reply_body_id, l.replied_at
    from letters l
        left join inbox_cursors c
            on c.tenant_id = l.to_tenant_id and c.agent_id = l.to_agent_id
    where l.tenant_id = p_tenant and l.letter_id = any (v_letters)
    order by l.sent_at desc, l.letter_id desc;
end
$$;

ALTER FUNCTION public.letters_page(p_tenant uuid, p_agent uuid, p_before uuid, letters_max integer) OWNER TO nightdesk_owner;

CREATE FUNCTION public.line_close(p_tenant uuid, p_agent uuid, p_incarnation bigint, p_generation bigint, p_code integer, p_tried bigint, p_parting text, p_grace interval) RETURNS timestamp with time zone
    LANGUAGE plpgsql
    AS $$
declare
    ended_at timestamptz;
begin
    perform from inbox_heads h
    where h.tenant_id = p_tenant and h.agent_id = p_agent for update;
    -- Also for a line that was replaced: that the client dialled again is the very sign.
    update inbox_cursors c
    set tries = case when c.tried_seq = p_tried then c.tries + 1 else 1 end, tried_seq = p_tried
    where c.tenant_id = p_tenant and c.agent_id = p_agent
      and p_tried > c.acked_seq and not p_tried <@ c.ahead
      and p_incarnation = current_incarnation();
    update lines l
    set closed_at = clock_timestamp(), close_code = p_code, parting = p_parting, grace = p_grace
    where l.tenant_id = p_tenant and l.agent_id = p_agent and l.generation = p_generation
      and l.incarnation = p_incarnation and l.closed_at is null
    returning l.closed_at into ended_at;
    if ended_at is null or not inbox_waits(p_tenant, p_agent) then
        return null;
    end if;
    return ended_at;
end
$$;

ALTER FUNCTION public.line_close(p_tenant uuid, p_agent uuid, p_incarnation bigint, p_generation bigint, p_code integer, p_tried bigint, p_parting text, p_grace interval) OWNER TO nightdesk_owner;

CREATE FUNCTION public.line_park(p_tenant uuid, p_agent uuid, p_incarnation bigint, p_generation bigint, p_seq bigint, p_reason text) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
begin
    perform from inbox_cursors c
    where c.tenant_id = p_tenant and c.agent_id = p_agent and c.generation = p_generation
      and p_incarnation = current_incarnation()
    for update;
    if not found then
        return null;
    end if;
    return set_aside(p_tenant, p_agent, p_seq, p_reason);
end
$$;

ALTER FUNCTION public.line_park(p_tenant uuid, p_agent uuid, p_incarnation bigint, p_generation bigint, p_seq bigint, p_reason text) OWNER TO nightdesk_owner;

CREATE FUNCTION public.line_take(p_tenant uuid, p_agent uuid, p_gateway uuid, p_node text, p_node_epoch bigint, tries_max integer, p_grace interval DEFAULT '00:00:35'::interval, p_rules text DEFAULT NULL::text, p_transport text DEFAULT 'websocket'::text) RETURNS TABLE(incarnation bigint, generation bigint, acked_seq bigint, acked_at timestamp with time zone, head_seq bigint, ended_ago_ms bigint, parked_seq bigint, client_rules text)
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
declare
    mine   inbox_cursors;
    before lines;
    parked bigint;
begin
    -- Before the cursor is locked: a change of the rules can lock the inbox's head (`note_reach`), and heads are locked
    -- before cursors.
    update agents a set client_rules = p_rules
    where a.tenant_id = p_tenant and a.agent_id = p_agent and a.client_rules <> p_rules;
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
    insert into lines
        (tenant_id, agent_id, gateway_id, generation, transport, node, node_epoch, opened_at, grace)
    values (p_tenant, p_agent, p_gateway, mine.generation, p_transport, p_node, p_node_epoch,
        clock_timestamp(), p_grace)
    on conflict (tenant_id, agent_id) do update
    set gateway_id = excluded.gateway_id, generation = excluded.generation,
        incarnation = excluded.incarnation, transport = excluded.transport, node = excluded.node,
        node_epoch = excluded.node_epoch, opened_at = excluded.opened_at, grace = excluded.grace,
        closed_at = null, close_code = null, parting = null;
    update wakes w
    set state = 'woken', woken_at = clock_timestamp(), due_at = null, asked = false,
        suspect_generation = null
    where w.tenant_id = p_tenant and w.agent_id = p_agent
      and w.state in ('due', 'held', 'unreachable');

    return query select current_incarnation(), mine.generation, mine.acked_seq, mine.acked_at,
        (select h.next_seq - 1 from inbox_heads h
         where h.tenant_id = p_tenant and h.agent_id = p_agent),
        -- 1012: the desk restarted. Otherwise the gateway may be a new process, however soon it comes.
        case when before.gateway_id = p_gateway and before.close_code = 1012 then
            (extract(epoch from clock_timestamp() - before.closed_at) * 1000)::bigint
        end,
        parked,
        (select a.client_rules from agents a
         where a.tenant_id = p_tenant and a.agent_id = p_agent);
end
$$;

ALTER FUNCTION public.line_take(p_tenant uuid, p_agent uuid, p_gateway uuid, p_node text, p_node_epoch bigint, tries_max integer, p_grace interval, p_rules text, p_transport text) OWNER TO nightdesk_owner;

CREATE FUNCTION public.link_try(p_operator uuid, p_bot uuid, p_author text, tries_max integer) RETURNS boolean
    LANGUAGE sql
    AS $$
    insert into link_tries as t (tenant_id, bot_id, author_id, hour_began_at, tries)
    values (p_operator, p_bot, p_author, now(), 1)
    on conflict (tenant_id, bot_id, author_id) do update
    set hour_began_at = case when t.hour_began_at > now() - interval '1 hour'
            then t.hour_began_at else now() end,
        tries = case when t.hour_began_at > now() - interval '1 hour'
            then t.tries + 1 else 1 end
    returning t.tries <= tries_max
$$;

ALTER FUNCTION public.link_try(p_operator uuid, p_bot uuid, p_author text, tries_max integer) OWNER TO nightdesk_owner;

CREATE FUNCTION public.lock_due_wakes(p_tenant uuid, p_agent uuid, wakes_max integer, places_max integer) RETURNS TABLE(now_at timestamp with time zone, tenant uuid, agent uuid, state text, since timestamp with time zone, due_at timestamp with time zone, calls integer, called_at timestamp with time zone, outcome text, rests_until timestamp with time zone, woken_at timestamp with time zone, suspect_generation bigint, suspect_acked_seq bigint, asked boolean, delay_told boolean, hour_began_at timestamp with time zone, hour_wakes integer, version bigint, line_generation bigint, line_opened_at timestamp with time zone, acked_seq bigint, parting text, urls text[], has_webhook boolean, bots uuid[], chats text[])
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
#variable_conflict use_column
declare
    v_now    timestamptz := clock_timestamp();
    v_tenant uuid[];
    v_agent  uuid[];
begin
    if p_agent is null then
        select array_agg(d.tenant_id), array_agg(d.agent_id) into v_tenant, v_agent
        from (
            select w.tenant_id, w.agent_id from wakes w
            where w.due_at <= v_now
            order by w.due_at limit wakes_max for update skip locked
        ) as d;
    else
        select array[w.tenant_id], array[w.agent_id] into v_tenant, v_agent
        from wakes w
        where w.tenant_id = p_tenant and w.agent_id = p_agent and w.due_at <= v_now
        for update skip locked;
    end if;
    if v_tenant is null then
        return;
    end if;
    perform set_config('app.tenants', v_tenant::text, true);
    v_now := clock_timestamp();
    -- A new statement: it sees what the transaction that held a row before did.
    return query
    select v_now, w.tenant_id, w.agent_id, w.state, w.since, w.due_at, w.calls, w.called_at,
        w.outcome, w.rests_until, w.woken_at, w.suspect_generation, w.suspect_acked_seq, w.asked,
        w.delay_told, w.hour_began_at, w.hour_wakes, w.xmin::text::bigint,
        case when l.closed_at is null and node_lives(l.node, l.node_epoch) then l.generation end,
        l.opened_at, c.acked_seq, l.parting,
        array(
            select k.url from wakers k
            where k.tenant_id = w.tenant_id and k.agent_id = w.agent_id order by k.position
        ),
        exists (
            select from agent_webhooks h
            where h.tenant_id = w.tenant_id and h.agent_id = w.agent_id
        ),
        p.bots, p.chats
    from unnest(v_tenant, v_agent) with ordinality as d (tenant, agent, nth)
        join wakes w on w.tenant_id = d.tenant and w.agent_id = d.agent
        left join inbox_cursors c on c.tenant_id = d.tenant and c.agent_id = d.agent
        left join lines l on l.tenant_id = d.tenant and l.agent_id = d.agent
        cross join lateral wake_places(d.tenant, d.agent, places_max) as p
    order by d.nth;
end
$$;

ALTER FUNCTION public.lock_due_wakes(p_tenant uuid, p_agent uuid, wakes_max integer, places_max integer) OWNER TO nightdesk_doors;

CREATE FUNCTION public.log_wake() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
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

ALTER FUNCTION public.log_wake() OWNER TO nightdesk_owner;

CREATE FUNCTION public.new_incarnation() RETURNS bigint
    LANGUAGE sql
    AS $$
    select ('x' || left(replace(gen_random_uuid()::text, '-', ''), 12))::bit(48)::bigint
$$;

ALTER FUNCTION public.new_incarnation() OWNER TO nightdesk_owner;

CREATE FUNCTION public.no_data_key(p_key bigint) RETURNS text
    LANGUAGE plpgsql
    AS $$
begin
    raise exception 'data key % of the tenant is gone', p_key using errcode = 'ND004';
end
$$;

ALTER FUNCTION public.no_data_key(p_key bigint) OWNER TO nightdesk_owner;

CREATE FUNCTION public.no_outcome(what text) RETURNS text
    LANGUAGE plpgsql
    AS $$
begin
    raise exception 'no outcome for %', what using errcode = 'data_exception';
end
$$;

ALTER FUNCTION public.no_outcome(what text) OWNER TO nightdesk_owner;

CREATE FUNCTION public.node_ended_at(p_node text, p_epoch bigint) RETURNS timestamp with time zone
    LANGUAGE sql STABLE
    AS $$
    select case when n.epoch = p_epoch then least(n.expires_at, clock_timestamp())
        else n.started_at end
    from nodes n where n.node = p_node
$$;

ALTER FUNCTION public.node_ended_at(p_node text, p_epoch bigint) OWNER TO nightdesk_owner;

CREATE FUNCTION public.node_lives(p_node text, p_epoch bigint) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
    select exists (
        select from nodes n
        where n.node = p_node and n.epoch = p_epoch and not n.is_over
    )
$$;

ALTER FUNCTION public.node_lives(p_node text, p_epoch bigint) OWNER TO nightdesk_owner;

CREATE FUNCTION public.note_binding() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
    was record := case tg_op when 'DELETE' then old else new end;
begin
    perform note_reach(was.bot_id, was.tenant_id, was.agent_id, was.author_id, null, null);
    return null;
end
$$;

ALTER FUNCTION public.note_binding() OWNER TO nightdesk_owner;

CREATE FUNCTION public.note_grant() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
    was record := case tg_op when 'DELETE' then old else new end;
begin
    perform note_reach(was.bot_id, was.tenant_id, was.agent_id, null, was.scope_id, was.chat_id);
    return null;
end
$$;

ALTER FUNCTION public.note_grant() OWNER TO nightdesk_owner;

CREATE FUNCTION public.note_listed() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
    was record := case tg_op when 'DELETE' then old else new end;
begin
    perform note_reach(was.bot_id, was.tenant_id, was.agent_id, null, null, null);
    return null;
end
$$;

ALTER FUNCTION public.note_listed() OWNER TO nightdesk_owner;

CREATE FUNCTION public.note_reach(p_bot uuid, p_tenant uuid, p_agent uuid, p_author text, p_scope text, p_chat text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
    v_operator uuid;
    v_version  bigint;
begin
    update inbox_heads set reach_version = reach_version + 1
    where tenant_id = p_tenant and agent_id = p_agent;
    select b.tenant_id into v_operator from bots b where b.bot_id = p_bot;
    if not found then
        return;
    end if;
    insert into reach_heads as h (tenant_id, bot_id, version) values (v_operator, p_bot, 1)
    on conflict (tenant_id, bot_id) do update set version = h.version + 1
    returning h.version into v_version;
    insert into reach_changes
        (tenant_id, bot_id, version, agent_tenant, agent_id, author_id, scope_id, chat_id)
    values (v_operator, p_bot, v_version, p_tenant, p_agent, p_author, p_scope, p_chat);
end
$$;

ALTER FUNCTION public.note_reach(p_bot uuid, p_tenant uuid, p_agent uuid, p_author text, p_scope text, p_chat text) OWNER TO nightdesk_doors;

CREATE FUNCTION public.note_relevance() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
    was record := case tg_op when 'DELETE' then old else new end;
begin
    perform note_reach(b.bot_id, was.tenant_id, was.agent_id, null, null, null)
    from (
        select g.bot_id from scope_grants g
        where g.tenant_id = was.tenant_id and g.agent_id = was.agent_id
        union
        select i.bot_id from bindings i
        where i.tenant_id = was.tenant_id and i.agent_id = was.agent_id
        order by 1
    ) as b;
    return null;
end
$$;

ALTER FUNCTION public.note_relevance() OWNER TO nightdesk_owner;

CREATE FUNCTION public.notice(p_tenant uuid, p_agent uuid, p_kind text, p_outcome text, p_calls integer, kept_max bigint) RETURNS void
    LANGUAGE sql
    AS $$
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
        agent_id = excluded.agent_id, bot_id = null, outcome = excluded.outcome,
        calls = excluded.calls
$$;

ALTER FUNCTION public.notice(p_tenant uuid, p_agent uuid, p_kind text, p_outcome text, p_calls integer, kept_max bigint) OWNER TO nightdesk_owner;

CREATE FUNCTION public.notice_of_bot(p_tenant uuid, p_bot uuid, p_kind text, p_outcome text, kept_max bigint) RETURNS void
    LANGUAGE sql
    AS $$
    with head as (
        insert into notice_heads as h (tenant_id, next_number) values (p_tenant, 1)
        on conflict (tenant_id) do update set next_number = h.next_number + 1
        returning h.next_number
    )
    insert into notices (tenant_id, slot, number, at, kind, bot_id, outcome, calls)
    select p_tenant, head.next_number % kept_max, head.next_number, clock_timestamp(), p_kind,
        p_bot, p_outcome, 0
    from head
    on conflict (tenant_id, slot) do update
    set number = excluded.number, at = excluded.at, kind = excluded.kind, agent_id = null,
        bot_id = excluded.bot_id, outcome = excluded.outcome, calls = excluded.calls
$$;

ALTER FUNCTION public.notice_of_bot(p_tenant uuid, p_bot uuid, p_kind text, p_outcome text, kept_max bigint) OWNER TO nightdesk_owner;

CREATE FUNCTION public.open_days(behind integer, ahead integer) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
    today  date := (clock_timestamp() at time zone 'utc')::date;
    day    date;
    parent text;
    name   text;
begin
    for day in select generate_series(today - behind, today + ahead, interval '1 day')::date loop
        foreach parent in array array['inbox_entries', 'inbox_acks', 'dedupe_keys'] loop
            name := format('%s_%s', parent, to_char(day, 'YYYYMMDD'));
            continue when to_regclass(name) is not null;
            begin
                execute format('create table %I (like %I including all)', name, parent);
                execute format(
                    'alter table %I attach partition %I for values from (%L) to (%L)', parent, name,
                    case parent when 'dedupe_keys' then day::text else day::text || ' 00:00:00+00' end,
                    case parent when 'dedupe_keys' then (day + 1)::text
                        else (day + 1)::text || ' 00:00:00+00' end
                );
            exception when duplicate_table or unique_violation then
                -- Another node was faster.
                null;
            end;
        end loop;
    end loop;
end
$$;

ALTER FUNCTION public.open_days(behind integer, ahead integer) OWNER TO nightdesk_owner;

CREATE FUNCTION public.own(p_resource text, p_node text, p_node_epoch bigint) RETURNS TABLE(node text, node_epoch bigint, epoch bigint)
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
begin
    -- Most often somebody does.
    return query select o.node, o.node_epoch, o.epoch from owners o
        where o.resource = p_resource and node_lives(o.node, o.node_epoch);
    if found or not node_lives(p_node, p_node_epoch) then
        return;
    end if;
    insert into owners as o (resource, epoch, node, node_epoch, since)
    values (p_resource, 1, p_node, p_node_epoch, clock_timestamp())
    on conflict (resource) do update
    set epoch = o.epoch + 1, node = excluded.node, node_epoch = excluded.node_epoch,
        since = excluded.since
    where not node_lives(o.node, o.node_epoch);
    -- Ours, or that of somebody who was faster.
    return query select o.node, o.node_epoch, o.epoch from owners o where o.resource = p_resource;
end
$$;

ALTER FUNCTION public.own(p_resource text, p_node text, p_node_epoch bigint) OWNER TO nightdesk_owner;

CREATE FUNCTION public.owns(p_resource text, p_node text, p_node_epoch bigint, p_epoch bigint) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
begin
    perform from owners o
    where o.resource = p_resource and o.epoch = p_epoch
      and o.node = p_node and o.node_epoch = p_node_epoch
    for share;
    return found;
end
$$;

ALTER FUNCTION public.owns(p_resource text, p_node text, p_node_epoch bigint, p_epoch bigint) OWNER TO nightdesk_owner;

CREATE FUNCTION public.prompt_ask(p_tenant uuid, p_agent uuid, p_bot uuid, p_prompt text) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
begin
    insert into prompts (tenant_id, agent_id, bot_id, prompt_id)
    values (p_tenant, p_agent, p_bot, p_prompt)
    on conflict do nothing;
    return exists (
        select from prompts p
        where p.bot_id = p_bot and p.prompt_id = p_prompt
          and p.tenant_id = p_tenant and p.agent_id = p_agent
    );
end
$$;

ALTER FUNCTION public.prompt_ask(p_tenant uuid, p_agent uuid, p_bot uuid, p_prompt text) OWNER TO nightdesk_owner;

CREATE FUNCTION public.quota_default(p_quota text) RETURNS bigint
    LANGUAGE sql IMMUTABLE
    AS $$
    select case p_quota when 'agents' then 50 when 'grants' then 100
        when 'pending-entries' then 10000 when 'pending-bytes' then 268435456
        when 'armed-jobs' then 2000 when 'agent-jobs' then 200
        when 'skills' then 500 when 'data-entries' then 10000 when 'shelf-bytes' then 268435456
        when 'gateways' then 500 when 'agent-sends' then 100000 when 'agent-prompts' then 10000
        when 'parked-entries' then 10000 when 'parked-bytes' then 268435456 end
$$;

ALTER FUNCTION public.quota_default(p_quota text) OWNER TO nightdesk_owner;

CREATE FUNCTION public.quota_of(p_tenant uuid, p_quota text) RETURNS bigint
    LANGUAGE plpgsql STABLE
    AS $$
begin
    return coalesce((
        select q.allowed from quotas q where q.tenant_id = p_tenant and q.quota = p_quota
    ), quota_default(p_quota));
end
$$;

ALTER FUNCTION public.quota_of(p_tenant uuid, p_quota text) OWNER TO nightdesk_owner;

CREATE FUNCTION public.retention_min(p_rows text) RETURNS interval
    LANGUAGE sql IMMUTABLE
    AS $$
    select case p_rows when 'acked' then interval '24 hours' when 'audit' then interval '400 days'
        when 'chats' then interval '90 days' when 'data-keys' then interval '10 minutes'
        when 'days' then interval '8 days' when 'fires' then interval '30 days'
        when 'letters' then interval '30 days' when 'links' then interval '24 hours'
        when 'parked' then interval '30 days' when 'pending' then interval '7 days'
        when 'prompts' then interval '7 days' when 'reach-changes' then interval '1 hour'
        when 'sends' then interval '24 hours' end
$$;

ALTER FUNCTION public.retention_min(p_rows text) OWNER TO nightdesk_owner;

CREATE FUNCTION public.sample_tenant(p_tenant uuid, p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    AS $$
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

ALTER FUNCTION public.sample_tenant(p_tenant uuid, p_now timestamp with time zone) OWNER TO nightdesk_owner;

CREATE FUNCTION public.sample_usage(p_after uuid, p_every interval, tenants_max integer) RETURNS uuid
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
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

ALTER FUNCTION public.sample_usage(p_after uuid, p_every interval, tenants_max integer) OWNER TO nightdesk_doors;

CREATE FUNCTION public.schedule_lock(p_tenant uuid, p_agent uuid, p_job text) RETURNS TABLE(now_at timestamp with time zone, job public.schedules, fire public.fires)
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    AS $$
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

ALTER FUNCTION public.schedule_lock(p_tenant uuid, p_agent uuid, p_job text) OWNER TO nightdesk_owner;

CREATE FUNCTION public.schedule_open(p_tenant uuid, p_agent uuid, p_job text, p_fire_at text, p_instant timestamp with time zone, p_by_inbox boolean, p_target text, p_recurring boolean, p_reports boolean, p_overlap text, p_catch_up_ms bigint, p_jitter_ms bigint) RETURNS TABLE(now_at timestamp with time zone, job public.schedules, fire public.fires)
    LANGUAGE plpgsql
    AS $$
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

ALTER FUNCTION public.schedule_open(p_tenant uuid, p_agent uuid, p_job text, p_fire_at text, p_instant timestamp with time zone, p_by_inbox boolean, p_target text, p_recurring boolean, p_reports boolean, p_overlap text, p_catch_up_ms bigint, p_jitter_ms bigint) OWNER TO nightdesk_owner;

CREATE FUNCTION public.schedules_armed_for(p_tenant uuid, p_agent uuid) RETURNS SETOF public.schedules
    LANGUAGE plpgsql STABLE
    AS $$
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

ALTER FUNCTION public.schedules_armed_for(p_tenant uuid, p_agent uuid) OWNER TO nightdesk_owner;

CREATE FUNCTION public.schedules_lock(p_tenant uuid, p_agent uuid) RETURNS TABLE(now_at timestamp with time zone, job public.schedules, fire public.fires)
    LANGUAGE plpgsql
    AS $$
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

ALTER FUNCTION public.schedules_lock(p_tenant uuid, p_agent uuid) OWNER TO nightdesk_owner;

CREATE FUNCTION public.schedules_write(p_tenant uuid[], p_agent uuid[], p_job text[], p_next_at timestamp with time zone[], p_recurs boolean[], p_fired_before boolean[], p_cancelled boolean[], p_watch_at timestamp with time zone[], p_flagged_at timestamp with time zone[], p_changed_at timestamp with time zone[]) RETURNS void
    LANGUAGE plpgsql
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
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

ALTER FUNCTION public.schedules_write(p_tenant uuid[], p_agent uuid[], p_job text[], p_next_at timestamp with time zone[], p_recurs boolean[], p_fired_before boolean[], p_cancelled boolean[], p_watch_at timestamp with time zone[], p_flagged_at timestamp with time zone[], p_changed_at timestamp with time zone[]) OWNER TO nightdesk_owner;

CREATE FUNCTION public.server_timeline() RETURNS integer
    LANGUAGE sql
    AS $$
    select ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::integer
$$;

ALTER FUNCTION public.server_timeline() OWNER TO nightdesk_owner;

CREATE FUNCTION public.set_aside(p_tenant uuid, p_agent uuid, p_seq bigint, p_reason text) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare
    moved boolean;
begin
    insert into inbox_parked
        (tenant_id, agent_id, seq, at, bot_id, chat_id, body, key_id, body_id, reason, incarnation)
    select e.tenant_id, e.agent_id, e.seq, e.at, e.bot_id, e.chat_id, e.body, e.key_id, e.body_id,
        p_reason, e.incarnation
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

ALTER FUNCTION public.set_aside(p_tenant uuid, p_agent uuid, p_seq bigint, p_reason text) OWNER TO nightdesk_owner;

CREATE FUNCTION public.shelf_grow(p_tenant uuid, p_more bigint, seen integer) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
    v_bytes   bigint;
    v_allowed bigint := quota_of(p_tenant, 'shelf-bytes');
begin
    update shelves s set bytes = s.bytes + p_more, revision = s.revision + seen
    where s.tenant_id = p_tenant returning s.bytes into strict v_bytes;
    if p_more > 0 and v_bytes > v_allowed then
        raise exception 'shelf-bytes' using errcode = 'ND001', detail = v_allowed::text;
    end if;
end
$$;

ALTER FUNCTION public.shelf_grow(p_tenant uuid, p_more bigint, seen integer) OWNER TO nightdesk_owner;

CREATE FUNCTION public.shelf_lock(p_tenant uuid) RETURNS TABLE(approval_key bytea, now_secs bigint)
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
begin
    insert into shelves (tenant_id) values (p_tenant) on conflict do nothing;
    return query
    select s.approval_key, extract(epoch from clock_timestamp())::bigint from shelves s
    where s.tenant_id = p_tenant for update;
end
$$;

ALTER FUNCTION public.shelf_lock(p_tenant uuid) OWNER TO nightdesk_owner;

CREATE FUNCTION public.skill_delete(p_tenant uuid, p_name text) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare
    v_bytes bigint;
begin
    select coalesce(sum(octet_length(r.source)), 0) into v_bytes from skill_revisions r
    where r.tenant_id = p_tenant and r.name = p_name;
    delete from skills s where s.tenant_id = p_tenant and s.name = p_name;
    if not found then
        return false;
    end if;
    perform shelf_grow(p_tenant, -v_bytes, 1);
    return true;
end
$$;

ALTER FUNCTION public.skill_delete(p_tenant uuid, p_name text) OWNER TO nightdesk_owner;

CREATE FUNCTION public.skill_put(p_tenant uuid, p_name text, p_meta jsonb, p_source bytea, p_version text, p_hash text, p_status text, p_previous text, p_changed_at bigint, p_by text, revisions_max bigint, skills_max bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
    v_allowed  bigint := least(quota_of(p_tenant, 'skills'), skills_max);
    v_revision bigint;
    v_gone     bigint;
begin
    insert into skills as s (tenant_id, name, revision, meta) values (p_tenant, p_name, 1, p_meta)
    on conflict (tenant_id, name) do update set revision = s.revision + 1, meta = excluded.meta
    returning s.revision into v_revision;
    if v_revision = 1 and (select count(*) from skills s where s.tenant_id = p_tenant) > v_allowed then
        raise exception 'skills' using errcode = 'ND001', detail = v_allowed::text;
    end if;
    insert into skill_revisions (tenant_id, name, revision, source, version, content_hash, status,
        previous_status, changed_at, changed_by)
    values (p_tenant, p_name, v_revision, p_source, p_version, p_hash, p_status, p_previous,
        to_timestamp(p_changed_at), p_by);
    with gone as (
        delete from skill_revisions r
        where r.tenant_id = p_tenant and r.name = p_name
          and r.revision <= v_revision - revisions_max
        returning octet_length(r.source) as bytes
    )
    select coalesce(sum(gone.bytes), 0) into v_gone from gone;
    perform shelf_grow(p_tenant, octet_length(p_source) - v_gone, 1);
end
$$;

ALTER FUNCTION public.skill_put(p_tenant uuid, p_name text, p_meta jsonb, p_source bytea, p_version text, p_hash text, p_status text, p_previous text, p_changed_at bigint, p_by text, revisions_max bigint, skills_max bigint) OWNER TO nightdesk_owner;

CREATE FUNCTION public.source_holds(e_operator uuid[], e_bot uuid[], e_source text[], e_epoch bigint[], r_event integer[], r_tenant uuid[], r_agent uuid[], r_version bigint[], OUT fenced integer[], OUT behind integer[]) RETURNS record
    LANGUAGE plpgsql
    AS $$
begin
    perform from source_cursors c
    where (c.tenant_id, c.bot_id, c.source) in (
        select e.* from unnest(e_operator, e_bot, e_source) as e where e_source is not null
    )
    order by c.tenant_id, c.bot_id, c.source
    for update;

    select coalesce(array_agg(e.o), '{}') into fenced
    from unnest(e_operator, e_bot, e_source, e_epoch)
        with ordinality as e (operator, bot, source, epoch, o)
    where e.source is not null and not exists (
        select from source_cursors c
        where c.tenant_id = e.operator and c.bot_id = e.bot and c.source = e.source
          and c.epoch = e.epoch
    );

    select coalesce(array_agg(e.o), '{}') into behind
    from unnest(e_bot, e_source) with ordinality as e (bot, source, o)
    where e.source is not null and exists (
        select from unnest(r_event, r_tenant, r_agent, r_version) as r (o, tenant, agent, version)
            join inbox_heads h on h.tenant_id = r.tenant and h.agent_id = r.agent
        where h.reach_version <> r.version and r.o < e.o
          and e_bot[r.o] = e.bot and e_source[r.o] = e.source
    );
end
$$;

ALTER FUNCTION public.source_holds(e_operator uuid[], e_bot uuid[], e_source text[], e_epoch bigint[], r_event integer[], r_tenant uuid[], r_agent uuid[], r_version bigint[], OUT fenced integer[], OUT behind integer[]) OWNER TO nightdesk_owner;

CREATE FUNCTION public.source_moves(e_operator uuid[], e_bot uuid[], e_source text[], e_cursor text[], undone integer[]) RETURNS void
    LANGUAGE sql
    AS $$
    update source_cursors c set cursor = last.cursor, moved_at = now()
    from (
        select distinct on (e.operator, e.bot, e.source) e.*
        from unnest(e_operator, e_bot, e_source, e_cursor)
            with ordinality as e (operator, bot, source, cursor, o)
        where e.source is not null and e.o <> all (undone)
        order by e.operator, e.bot, e.source, e.o desc
    ) as last
    where c.tenant_id = last.operator and c.bot_id = last.bot and c.source = last.source
$$;

ALTER FUNCTION public.source_moves(e_operator uuid[], e_bot uuid[], e_source text[], e_cursor text[], undone integer[]) OWNER TO nightdesk_owner;

CREATE FUNCTION public.stored_days() RETURNS TABLE(name text, parent text, day date)
    LANGUAGE sql STABLE
    AS $$
    select child.relname::text, parent.relname::text, to_date(right(child.relname, 8), 'YYYYMMDD')
    from pg_inherits i
        join pg_class child on child.oid = i.inhrelid
        join pg_class parent on parent.oid = i.inhparent
    where parent.relnamespace = 'public'::regnamespace and parent.relkind = 'p'
      and parent.relname in ('inbox_entries', 'inbox_acks', 'dedupe_keys')
$$;

ALTER FUNCTION public.stored_days() OWNER TO nightdesk_owner;

CREATE FUNCTION public.tell(p_tenant uuid, p_kind text, p_about jsonb) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
declare
    v_actor text := coalesce(nullif(current_setting('app.actor', true), ''), 'desk');
    v_about text := jsonb_strip_nulls(p_about)::text;
    v_head  audit_heads;
begin
    if is_told(p_tenant, p_kind, v_about) then
        return;
    end if;
    insert into audit_heads as h (tenant_id, seq, hash, at)
    values (p_tenant, 0, decode(repeat('00', 32), 'hex'), clock_timestamp())
    on conflict (tenant_id) do nothing;
    select h.* into v_head from audit_heads h where h.tenant_id = p_tenant for update;
    v_head.seq := v_head.seq + 1;
    -- It rises with the number, whatever the clock does.
    v_head.at := greatest(v_head.at, clock_timestamp());
    v_head.hash := sha256(v_head.hash
        || audit_bytes(p_tenant, v_head.seq, v_head.at, v_actor, p_kind, v_about));
    insert into audit_log (tenant_id, seq, at, actor, kind, about, hash)
    values (p_tenant, v_head.seq, v_head.at, v_actor, p_kind, v_about, v_head.hash);
    update audit_heads h set seq = v_head.seq, hash = v_head.hash, at = v_head.at
    where h.tenant_id = p_tenant;
end
$$;

ALTER FUNCTION public.tell(p_tenant uuid, p_kind text, p_about jsonb) OWNER TO nightdesk_doors;

CREATE FUNCTION public.tell_act(p_tenant uuid, p_kind text, p_about jsonb) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
    if array_position(current_setting('app.tenants')::uuid[], p_tenant) is null then
        raise exception 'not an act of this tenant';
    end if;
    perform tell(p_tenant, p_kind, p_about);
end
$$;

ALTER FUNCTION public.tell_act(p_tenant uuid, p_kind text, p_about jsonb) OWNER TO nightdesk_doors;

CREATE FUNCTION public.tell_linked() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
    perform set_config('app.actor', 'person', true);
    perform tell(new.tenant_id, 'linked', jsonb_build_object(
        'agent_id', new.agent_id, 'bot_id', new.used_bot, 'author_id', new.used_author));
    return null;
end
$$;

ALTER FUNCTION public.tell_linked() OWNER TO nightdesk_doors;

CREATE FUNCTION public.tell_own() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
    perform tell('00000000-0000-0000-0000-000000000000', tg_argv[0],
        jsonb_build_object(tg_argv[1], to_jsonb(new) -> tg_argv[1]));
    return null;
end
$$;

ALTER FUNCTION public.tell_own() OWNER TO nightdesk_doors;

CREATE FUNCTION public.tell_parked() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
    if not exists (
        select from (
            select p.reason, p.parked_at from inbox_parked p
            where p.tenant_id = new.tenant_id and p.agent_id = new.agent_id and p.seq < new.seq
            order by p.seq desc limit 64
        ) as p
        where p.reason = new.reason and p.parked_at >= new.parked_at - interval '1 hour'
    ) then
        perform tell(new.tenant_id, 'entries-parked', jsonb_build_object(
            'agent_id', new.agent_id, 'reason', new.reason, 'seq', new.seq));
    end if;
    return null;
end
$$;

ALTER FUNCTION public.tell_parked() OWNER TO nightdesk_doors;

CREATE FUNCTION public.tell_row() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
    was jsonb := case tg_op when 'DELETE' then to_jsonb(old) else to_jsonb(new) end;
begin
    perform tell((was ->> 'tenant_id')::uuid, tg_argv[0], coalesce((
        select jsonb_object_agg(c.name, was -> c.name) from unnest(tg_argv[1:]) as c (name)
    ), '{}'));
    return null;
end
$$;

ALTER FUNCTION public.tell_row() OWNER TO nightdesk_doors;

CREATE FUNCTION public.tenant_erase(p_tenant uuid) RETURNS void
    LANGUAGE plpgsql
    AS $_$
declare
    v_relation text;
begin
    perform from tenants t where t.tenant_id = p_tenant for update;
    for v_relation in
        select p.relation from erasure_plan() p where p.fate = 'at-once' order by p.nth
    loop
        execute format('delete from %I where tenant_id = $1', v_relation) using p_tenant;
    end loop;
    -- Of the rows that are erased in steps these would still be delivered.
    delete from fires where tenant_id = p_tenant and next_at is not null;
    delete from letters where tenant_id = p_tenant and state = 'scheduled';
    update gateways set revoked_at = coalesce(revoked_at, now()), name = gateway_id::text
    where tenant_id = p_tenant;
    update agents set name = agent_id::text, display_name = null where tenant_id = p_tenant;
    update tenants set erased_at = coalesce(erased_at, now()), name = tenant_id::text
    where tenant_id = p_tenant;
end
$_$;

ALTER FUNCTION public.tenant_erase(p_tenant uuid) OWNER TO nightdesk_owner;

CREATE FUNCTION public.tenant_erase_texts(p_tenant uuid, rows_max bigint) RETURNS bigint
    LANGUAGE plpgsql
    AS $_$
declare
    v_relation text;
    step       bigint;
    gone       bigint := 0;
begin
    for v_relation in
        select p.relation from erasure_plan() p where p.fate = 'in-steps' order by p.nth
    loop
        execute format(
            'delete from %I where (tableoid, ctid) in (
                 select tableoid, ctid from %1$I where tenant_id = $1 limit $2
             ) and tenant_id = $1', v_relation
        ) using p_tenant, rows_max - gone;
        get diagnostics step = row_count;
        gone := gone + step;
        exit when gone >= rows_max;
    end loop;
    return gone;
end
$_$;

ALTER FUNCTION public.tenant_erase_texts(p_tenant uuid, rows_max bigint) OWNER TO nightdesk_owner;

CREATE FUNCTION public.tenant_lives(p_tenant uuid) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
    select exists (select from tenants t where t.tenant_id = p_tenant and t.erased_at is null)
$$;

ALTER FUNCTION public.tenant_lives(p_tenant uuid) OWNER TO nightdesk_owner;

CREATE FUNCTION public.trim_parked(entries_max integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
declare
    trimmed bigint := 0;
    mine    record;
    gone    record;
begin
    perform set_config('app.trims', 'on', true);
    for mine in
        select distinct p.tenant_id, p.agent_id from inbox_parked p
        where p.parked_at > clock_timestamp() - interval '2 hours'
        order by 1, 2
    loop
        with extra as (
            select p.seq from (
                select p.seq, row_number() over parked as n,
                    sum(body_bytes(p.body)) over parked as bytes
                from inbox_parked p
                where p.tenant_id = mine.tenant_id and p.agent_id = mine.agent_id
                -- As `ParkReason::is_discarded_first`.
                window parked as (order by p.reason = 'rate-limit', p.seq)
            ) as p
            where p.n > quota_of(mine.tenant_id, 'parked-entries')
               or p.bytes > quota_of(mine.tenant_id, 'parked-bytes')
            order by p.n desc limit entries_max - trimmed
        ), removed as (
            delete from inbox_parked p using extra
            where p.tenant_id = mine.tenant_id and p.agent_id = mine.agent_id and p.seq = extra.seq
            returning p.seq
        )
        select count(*) as n, min(r.seq) as first, max(r.seq) as last into gone from removed r;
        if gone.n > 0 then
            perform tell(mine.tenant_id, 'entries-discarded', jsonb_build_object(
                'agent_id', mine.agent_id, 'count', gone.n, 'first', gone.first, 'last', gone.last));
        end if;
        trimmed := trimmed + gone.n;
        exit when trimmed >= entries_max;
    end loop;
    return trimmed;
end
$$;

ALTER FUNCTION public.trim_parked(entries_max integer) OWNER TO nightdesk_doors;

CREATE FUNCTION public.use_data_key(p_tenant uuid, p_key bigint) RETURNS void
    LANGUAGE sql
    AS $$
    update tenant_keys k set used_at = now()
    where k.tenant_id = p_tenant and k.key_id = p_key and k.replaced_at is not null
$$;

ALTER FUNCTION public.use_data_key(p_tenant uuid, p_key bigint) OWNER TO nightdesk_owner;

CREATE FUNCTION public.vault_key(sealed bytea) RETURNS bytea
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    select case when length(sealed) > 9 and get_byte(sealed, 0) = 2
        then substring(sealed from 2 for 8) else ''::bytea end
$$;

ALTER FUNCTION public.vault_key(sealed bytea) OWNER TO nightdesk_owner;

CREATE FUNCTION public.wake_log_max() RETURNS integer
    LANGUAGE sql IMMUTABLE
    AS $$
    select 8
$$;

ALTER FUNCTION public.wake_log_max() OWNER TO nightdesk_owner;

CREATE FUNCTION public.wake_places(p_tenant uuid, p_agent uuid, places_max integer, OUT bots uuid[], OUT chats text[]) RETURNS record
    LANGUAGE sql STABLE
    AS $$
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

ALTER FUNCTION public.wake_places(p_tenant uuid, p_agent uuid, places_max integer, OUT bots uuid[], OUT chats text[]) OWNER TO nightdesk_owner;

CREATE TABLE public.wakes (
    tenant_id uuid NOT NULL,
    agent_id uuid NOT NULL,
    state text NOT NULL,
    since timestamp with time zone NOT NULL,
    due_at timestamp with time zone,
    calls integer DEFAULT 0 NOT NULL,
    called_at timestamp with time zone,
    outcome text,
    rests_until timestamp with time zone DEFAULT '1970-01-01 00:00:00+00'::timestamp with time zone NOT NULL,
    woken_at timestamp with time zone,
    suspect_generation bigint,
    suspect_acked_seq bigint,
    asked boolean DEFAULT false NOT NULL,
    delay_told boolean DEFAULT false NOT NULL,
    hour_began_at timestamp with time zone DEFAULT '1970-01-01 00:00:00+00'::timestamp with time zone NOT NULL,
    hour_wakes integer DEFAULT 0 NOT NULL,
    ended_count bigint DEFAULT 0 NOT NULL,
    CONSTRAINT wakes_known_state CHECK ((state = ANY (ARRAY['due'::text, 'held'::text, 'woken'::text, 'settled'::text, 'unreachable'::text]))),
    CONSTRAINT wakes_looked_at_again CHECK (((state <> ALL (ARRAY['due'::text, 'held'::text])) OR (due_at IS NOT NULL)))
)
WITH (fillfactor='50');

ALTER TABLE ONLY public.wakes FORCE ROW LEVEL SECURITY;

ALTER TABLE public.wakes OWNER TO nightdesk_owner;

CREATE FUNCTION public.wake_read(p_tenant uuid, p_agent uuid) RETURNS TABLE(now_at timestamp with time zone, version bigint, wake public.wakes)
    LANGUAGE plpgsql STABLE
    SET enable_seqscan TO 'off'
    AS $$
begin
    return query
    select clock_timestamp(), w.xmin::text::bigint, w from wakes w
    where w.tenant_id = p_tenant and w.agent_id = p_agent;
end
$$;

ALTER FUNCTION public.wake_read(p_tenant uuid, p_agent uuid) OWNER TO nightdesk_owner;

CREATE FUNCTION public.wake_replace(p_tenant uuid, p_agent uuid, p_version bigint, p_state text, p_since timestamp with time zone, p_due_at timestamp with time zone, p_calls integer, p_called_at timestamp with time zone, p_outcome text, p_rests_until timestamp with time zone, p_woken_at timestamp with time zone, p_suspect_generation bigint, p_suspect_acked_seq bigint, p_asked boolean, p_delay_told boolean, p_hour_began_at timestamp with time zone, p_hour_wakes integer) RETURNS boolean
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    AS $$
begin
    update wakes
    set state = p_state, since = p_since, due_at = p_due_at, calls = p_calls,
        called_at = p_called_at, outcome = p_outcome, rests_until = p_rests_until,
        woken_at = p_woken_at, suspect_generation = p_suspect_generation,
        suspect_acked_seq = p_suspect_acked_seq, asked = p_asked, delay_told = p_delay_told,
        hour_began_at = p_hour_began_at, hour_wakes = p_hour_wakes
    where tenant_id = p_tenant and agent_id = p_agent and xmin::text::bigint = p_version;
    return found;
end
$$;

ALTER FUNCTION public.wake_replace(p_tenant uuid, p_agent uuid, p_version bigint, p_state text, p_since timestamp with time zone, p_due_at timestamp with time zone, p_calls integer, p_called_at timestamp with time zone, p_outcome text, p_rests_until timestamp with time zone, p_woken_at timestamp with time zone, p_suspect_generation bigint, p_suspect_acked_seq bigint, p_asked boolean, p_delay_told boolean, p_hour_began_at timestamp with time zone, p_hour_wakes integer) OWNER TO nightdesk_owner;

CREATE FUNCTION public.wake_sleepers(a_tenant uuid[], a_agent uuid[]) RETURNS TABLE(tenant uuid, agent uuid, held boolean)
    LANGUAGE plpgsql
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
#variable_conflict use_column
declare
    now_at   timestamptz := clock_timestamp();
    s_tenant uuid[];
    s_agent  uuid[];
    s_due    timestamptz[];
begin
    select array_agg(a.tenant), array_agg(a.agent), array_agg(greatest(
            now_at, coalesce(l.closed_at, node_ended_at(l.node, l.node_epoch)) + l.grace
        ))
    into s_tenant, s_agent, s_due
    from (
        select distinct a.tenant, a.agent from unnest(a_tenant, a_agent) as a (tenant, agent)
        order by 1, 2
    ) as a
        left join lines l on l.tenant_id = a.tenant and l.agent_id = a.agent
    where l.closed_at is not null or not exists (
        select from nodes n
        where n.node = l.node and n.epoch = l.node_epoch and not n.is_over
    );
    if s_tenant is null then
        return;
    end if;

    -- One that is due already is left as it is, but locked: whoever claims it sees our entry.
    insert into wakes as w (tenant_id, agent_id, state, since, due_at)
    select s.tenant, s.agent, 'due', now_at, s.due
    from unnest(s_tenant, s_agent, s_due) as s (tenant, agent, due)
    on conflict (tenant_id, agent_id) do update
    set state = 'due', since = excluded.since, due_at = greatest(excluded.due_at, w.rests_until),
        calls = 0, outcome = null, suspect_generation = null, delay_told = false
    where w.state not in ('due', 'held');

    return query
    select w.tenant_id, w.agent_id, w.state = 'held'
    from unnest(s_tenant, s_agent) as s (tenant, agent)
        join wakes w on w.tenant_id = s.tenant and w.agent_id = s.agent;
end
$$;

ALTER FUNCTION public.wake_sleepers(a_tenant uuid[], a_agent uuid[]) OWNER TO nightdesk_owner;

CREATE FUNCTION public.wall_off(walled text) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    execute format('alter table %I enable row level security', walled);
    execute format('alter table %I force row level security', walled);
    execute format(
        'create policy own_tenants on %I
             using (array_position((select current_setting(''app.tenants'')::uuid[]), tenant_id) is not null)
             with check (array_position((select current_setting(''app.tenants'')::uuid[]), tenant_id) is not null)',
        walled
    );
    execute format(
        'grant select, insert, update, delete on %I to nightdesk_app, nightdesk_doors', walled
    );
end
$$;

ALTER FUNCTION public.wall_off(walled text) OWNER TO nightdesk_owner;

CREATE FUNCTION public.works_for(p_tenant uuid) RETURNS uuid
    LANGUAGE plpgsql
    AS $$
begin
    perform set_config('app.tenants', array[p_tenant]::text, true);
    return p_tenant;
end
$$;

ALTER FUNCTION public.works_for(p_tenant uuid) OWNER TO nightdesk_owner;

CREATE FUNCTION public.works_for_all(p_tenants uuid[]) RETURNS uuid[]
    LANGUAGE plpgsql
    AS $$
begin
    perform set_config('app.tenants', array(select distinct t from unnest(p_tenants) as t)::text, true);
    return p_tenants;
end
$$;

ALTER FUNCTION public.works_for_all(p_tenants uuid[]) OWNER TO nightdesk_owner;

CREATE FUNCTION public.works_for_both(p_one uuid, p_other uuid) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    perform set_config('app.tenants', array[p_one, p_other]::text, true);
end
$$;

ALTER FUNCTION public.works_for_both(p_one uuid, p_other uuid) OWNER TO nightdesk_owner;

CREATE TABLE public.agent_webhooks (
    tenant_id uuid NOT NULL,
    agent_id uuid NOT NULL,
    url text NOT NULL,
    salt text NOT NULL,
    old_salt text,
    old_until timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE ONLY public.agent_webhooks FORCE ROW LEVEL SECURITY;

ALTER TABLE public.agent_webhooks OWNER TO nightdesk_owner;

CREATE TABLE public.agents (
    tenant_id uuid NOT NULL,
    agent_id uuid DEFAULT gen_random_uuid() NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    principal text DEFAULT 'owner-only'::text NOT NULL,
    client_rules text DEFAULT 'hermes-0.19'::text NOT NULL,
    display_name text,
    stops_others boolean DEFAULT false NOT NULL,
    CONSTRAINT agents_known_client_rules CHECK ((client_rules = ANY (ARRAY['hermes-0.19'::text, 'hermes-0.20'::text, 'nightdesk-sdk'::text]))),
    CONSTRAINT agents_known_principal CHECK ((principal = ANY (ARRAY['owner-only'::text, 'allow-list'::text, 'any'::text]))),
    CONSTRAINT agents_short_display_name CHECK (((char_length(display_name) >= 1) AND (char_length(display_name) <= 64)))
);

ALTER TABLE ONLY public.agents FORCE ROW LEVEL SECURITY;

ALTER TABLE public.agents OWNER TO nightdesk_owner;

CREATE TABLE public.api_tokens (
    token_id uuid DEFAULT gen_random_uuid() NOT NULL,
    secret_sha256 bytea NOT NULL,
    user_id uuid NOT NULL,
    name text NOT NULL,
    rights text[] NOT NULL,
    tenant_id uuid,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone,
    revoked_at timestamp with time zone,
    CONSTRAINT api_tokens_whole_digest CHECK ((octet_length(secret_sha256) = 32))
);

ALTER TABLE public.api_tokens OWNER TO nightdesk_owner;

CREATE TABLE public.audit_heads (
    tenant_id uuid NOT NULL,
    seq bigint NOT NULL,
    hash bytea NOT NULL,
    at timestamp with time zone NOT NULL,
    begins_seq bigint DEFAULT 0 NOT NULL,
    begins_hash bytea DEFAULT decode(repeat('00'::text, 32), 'hex'::text) NOT NULL
)
WITH (fillfactor='50');

ALTER TABLE ONLY public.audit_heads FORCE ROW LEVEL SECURITY;

ALTER TABLE public.audit_heads OWNER TO nightdesk_owner;

CREATE TABLE public.audit_log (
    tenant_id uuid NOT NULL,
    seq bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    actor text NOT NULL,
    kind text NOT NULL,
    about text NOT NULL,
    hash bytea NOT NULL
);

ALTER TABLE ONLY public.audit_log FORCE ROW LEVEL SECURITY;

ALTER TABLE public.audit_log OWNER TO nightdesk_owner;

CREATE TABLE public.bindings (
    tenant_id uuid NOT NULL,
    bot_id uuid NOT NULL,
    author_id text NOT NULL,
    agent_id uuid NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    preferred_at timestamp with time zone
);

ALTER TABLE ONLY public.bindings FORCE ROW LEVEL SECURITY;

ALTER TABLE public.bindings OWNER TO nightdesk_owner;

CREATE TABLE public.bootstrap_sessions (
    tenant_id uuid NOT NULL,
    issuer text NOT NULL,
    session text NOT NULL,
    agent_id uuid NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    revoked_at timestamp with time zone
);

ALTER TABLE ONLY public.bootstrap_sessions FORCE ROW LEVEL SECURITY;

ALTER TABLE public.bootstrap_sessions OWNER TO nightdesk_owner;

CREATE TABLE public.bot_hearings (
    tenant_id uuid NOT NULL,
    bot_id uuid NOT NULL,
    heard_at timestamp with time zone,
    said_at timestamp with time zone,
    unheard_since timestamp with time zone,
    why text,
    told_at timestamp with time zone,
    CONSTRAINT bot_hearings_say_why CHECK (((unheard_since IS NULL) = (why IS NULL))),
    CONSTRAINT bot_hearings_told_of_something CHECK (((told_at IS NULL) OR (unheard_since IS NOT NULL)))
)
WITH (fillfactor='50');

ALTER TABLE ONLY public.bot_hearings FORCE ROW LEVEL SECURITY;

ALTER TABLE public.bot_hearings OWNER TO nightdesk_owner;

CREATE TABLE public.bot_keys (
    tenant_id uuid NOT NULL,
    bot_id uuid NOT NULL,
    bot_key_id uuid NOT NULL,
    sealed bytea NOT NULL,
    key_id bigint NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone
);

ALTER TABLE ONLY public.bot_keys FORCE ROW LEVEL SECURITY;

ALTER TABLE public.bot_keys OWNER TO nightdesk_owner;

CREATE TABLE public.bot_sessions (
    tenant_id uuid NOT NULL,
    bot_id uuid NOT NULL,
    hour timestamp with time zone NOT NULL,
    begun integer NOT NULL
);

ALTER TABLE ONLY public.bot_sessions FORCE ROW LEVEL SECURITY;

ALTER TABLE public.bot_sessions OWNER TO nightdesk_owner;

CREATE TABLE public.bots (
    tenant_id uuid NOT NULL,
    bot_id uuid DEFAULT gen_random_uuid() NOT NULL,
    platform text NOT NULL,
    adapter text NOT NULL,
    handle text NOT NULL,
    path text NOT NULL,
    settings jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    shared boolean DEFAULT false NOT NULL
);

ALTER TABLE ONLY public.bots FORCE ROW LEVEL SECURITY;

ALTER TABLE public.bots OWNER TO nightdesk_owner;

CREATE TABLE public.capabilities (
    tenant_id uuid NOT NULL,
    agent_id uuid NOT NULL,
    session_sha256 bytea NOT NULL,
    kind text NOT NULL,
    bot_id uuid NOT NULL,
    chat_id text NOT NULL,
    sealed bytea NOT NULL,
    key_id bigint NOT NULL,
    bound_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT capabilities_whole_digest CHECK ((octet_length(session_sha256) = 32))
);

ALTER TABLE ONLY public.capabilities FORCE ROW LEVEL SECURITY;

ALTER TABLE public.capabilities OWNER TO nightdesk_owner;

CREATE TABLE public.commands (
    tenant_id uuid NOT NULL,
    bot_id uuid NOT NULL,
    scope_id text NOT NULL,
    name text NOT NULL,
    agent_id uuid NOT NULL,
    told_sha256 bytea,
    command_id text,
    CONSTRAINT commands_told_or_not CHECK (((told_sha256 IS NULL) = (command_id IS NULL)))
);

ALTER TABLE ONLY public.commands FORCE ROW LEVEL SECURITY;

ALTER TABLE public.commands OWNER TO nightdesk_owner;

CREATE TABLE public.data_entries (
    tenant_id uuid NOT NULL,
    data_id text NOT NULL COLLATE pg_catalog."C",
    content text NOT NULL,
    tags text[],
    recipients text[],
    end_said boolean NOT NULL,
    expires_at bigint,
    fields jsonb NOT NULL,
    metadata jsonb,
    bytes bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    words tsvector GENERATED ALWAYS AS (to_tsvector('simple'::regconfig, content)) STORED NOT NULL,
    CONSTRAINT data_entries_end_is_said CHECK ((end_said OR (expires_at IS NULL)))
);

ALTER TABLE ONLY public.data_entries FORCE ROW LEVEL SECURITY;

ALTER TABLE public.data_entries OWNER TO nightdesk_owner;

CREATE TABLE public.dedupe_keys (
    tenant_id uuid NOT NULL,
    key bytea NOT NULL,
    day date NOT NULL
)
PARTITION BY RANGE (day);

ALTER TABLE ONLY public.dedupe_keys FORCE ROW LEVEL SECURITY;

ALTER TABLE public.dedupe_keys OWNER TO nightdesk_owner;

CREATE TABLE public.desk_secrets (
    secret_id uuid NOT NULL,
    name text NOT NULL,
    sealed bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE public.desk_secrets OWNER TO nightdesk_owner;

CREATE TABLE public.enrolments (
    tenant_id uuid NOT NULL,
    token_sha256 bytea NOT NULL,
    agent_id uuid NOT NULL,
    gateway_name text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone,
    gateway_id uuid,
    CONSTRAINT enrolments_used_for_a_gateway CHECK (((used_at IS NULL) = (gateway_id IS NULL))),
    CONSTRAINT enrolments_whole_digest CHECK ((octet_length(token_sha256) = 32))
);

ALTER TABLE ONLY public.enrolments FORCE ROW LEVEL SECURITY;

ALTER TABLE public.enrolments OWNER TO nightdesk_owner;

CREATE TABLE public.gateway_platforms (
    tenant_id uuid NOT NULL,
    gateway_id uuid NOT NULL,
    platform text NOT NULL,
    bot_handle text NOT NULL,
    route_keys text[] NOT NULL,
    instance text,
    provisioned_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE ONLY public.gateway_platforms FORCE ROW LEVEL SECURITY;

ALTER TABLE public.gateway_platforms OWNER TO nightdesk_owner;

CREATE TABLE public.gateway_secrets (
    tenant_id uuid NOT NULL,
    gateway_id uuid NOT NULL,
    secret_id uuid DEFAULT gen_random_uuid() NOT NULL,
    sealed bytea NOT NULL,
    key_id bigint NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone,
    provisioned boolean DEFAULT false NOT NULL
);

ALTER TABLE ONLY public.gateway_secrets FORCE ROW LEVEL SECURITY;

ALTER TABLE public.gateway_secrets OWNER TO nightdesk_owner;

CREATE TABLE public.gateways (
    tenant_id uuid NOT NULL,
    gateway_id uuid DEFAULT gen_random_uuid() NOT NULL,
    name text NOT NULL,
    agent_id uuid NOT NULL,
    acks boolean DEFAULT true NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    revoked_at timestamp with time zone
);

ALTER TABLE ONLY public.gateways FORCE ROW LEVEL SECURITY;

ALTER TABLE public.gateways OWNER TO nightdesk_owner;

CREATE TABLE public.glass_requests (
    tenant_id uuid NOT NULL,
    request_id uuid DEFAULT gen_random_uuid() NOT NULL,
    asked_by uuid NOT NULL,
    asked_at timestamp with time zone DEFAULT now() NOT NULL,
    reason text NOT NULL,
    lasts interval NOT NULL,
    approved_by uuid,
    open_until timestamp with time zone,
    ended_at timestamp with time zone,
    CONSTRAINT glass_requests_approved_by_another CHECK ((approved_by <> asked_by)),
    CONSTRAINT glass_requests_whole_approval CHECK (((approved_by IS NULL) = (open_until IS NULL)))
);

ALTER TABLE ONLY public.glass_requests FORCE ROW LEVEL SECURITY;

ALTER TABLE public.glass_requests OWNER TO nightdesk_owner;

CREATE TABLE public.history (
    is_only boolean DEFAULT true NOT NULL,
    incarnation bigint NOT NULL,
    system_id bigint NOT NULL,
    timeline integer NOT NULL,
    table_id bigint NOT NULL,
    begun_at timestamp with time zone DEFAULT now() NOT NULL,
    breaks integer DEFAULT 0 NOT NULL,
    CONSTRAINT history_one_row CHECK (is_only)
);

ALTER TABLE public.history OWNER TO nightdesk_owner;

CREATE TABLE public.inbox_acks (
    tenant_id uuid NOT NULL,
    agent_id uuid NOT NULL,
    from_seq bigint NOT NULL,
    to_seq bigint NOT NULL,
    generation bigint NOT NULL,
    handed_at timestamp with time zone NOT NULL,
    acked_at timestamp with time zone NOT NULL
)
PARTITION BY RANGE (acked_at);

ALTER TABLE ONLY public.inbox_acks FORCE ROW LEVEL SECURITY;

ALTER TABLE public.inbox_acks OWNER TO nightdesk_owner;

CREATE TABLE public.inbox_cursors (
    tenant_id uuid NOT NULL,
    agent_id uuid NOT NULL,
    acked_seq bigint DEFAULT 0 NOT NULL,
    acked_at timestamp with time zone DEFAULT '1970-01-01 00:00:00+00'::timestamp with time zone NOT NULL,
    ahead int8multirange DEFAULT '{}'::int8multirange NOT NULL,
    generation bigint DEFAULT 0 NOT NULL,
    tried_seq bigint DEFAULT 0 NOT NULL,
    tries integer DEFAULT 0 NOT NULL
)
WITH (fillfactor='50');

ALTER TABLE ONLY public.inbox_cursors FORCE ROW LEVEL SECURITY;

ALTER TABLE public.inbox_cursors OWNER TO nightdesk_owner;

CREATE TABLE public.inbox_entries (
    tenant_id uuid NOT NULL,
    agent_id uuid NOT NULL,
    seq bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    bot_id uuid NOT NULL,
    chat_id text NOT NULL,
    body bytea NOT NULL,
    key_id bigint NOT NULL,
    body_id uuid NOT NULL,
    bytes_before bigint DEFAULT 0 NOT NULL,
    incarnation bigint DEFAULT public.current_incarnation() NOT NULL
)
PARTITION BY RANGE (at);

ALTER TABLE ONLY public.inbox_entries FORCE ROW LEVEL SECURITY;

ALTER TABLE public.inbox_entries OWNER TO nightdesk_owner;

CREATE TABLE public.inbox_heads (
    tenant_id uuid NOT NULL,
    agent_id uuid NOT NULL,
    next_seq bigint DEFAULT 1 NOT NULL,
    last_at timestamp with time zone DEFAULT '1970-01-01 00:00:00+00'::timestamp with time zone NOT NULL,
    reach_version bigint DEFAULT 0 NOT NULL,
    bytes bigint DEFAULT 0 NOT NULL
)
WITH (fillfactor='50');

ALTER TABLE ONLY public.inbox_heads FORCE ROW LEVEL SECURITY;

ALTER TABLE public.inbox_heads OWNER TO nightdesk_owner;

CREATE TABLE public.inbox_parked (
    tenant_id uuid NOT NULL,
    agent_id uuid NOT NULL,
    seq bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    bot_id uuid NOT NULL,
    chat_id text NOT NULL,
    body bytea NOT NULL,
    key_id bigint NOT NULL,
    body_id uuid NOT NULL,
    reason text NOT NULL,
    parked_at timestamp with time zone DEFAULT now() NOT NULL,
    resubmitted_as bigint,
    incarnation bigint DEFAULT public.current_incarnation() NOT NULL
);

ALTER TABLE ONLY public.inbox_parked FORCE ROW LEVEL SECURITY;

ALTER TABLE public.inbox_parked OWNER TO nightdesk_owner;

CREATE TABLE public.letter_grants (
    tenant_id uuid NOT NULL,
    agent_id uuid NOT NULL,
    peer_tenant_id uuid NOT NULL,
    peer_agent_id uuid NOT NULL,
    granted_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT letter_grants_between_tenants CHECK ((tenant_id <> peer_tenant_id))
);

ALTER TABLE ONLY public.letter_grants FORCE ROW LEVEL SECURITY;

ALTER TABLE public.letter_grants OWNER TO nightdesk_owner;

CREATE TABLE public.letter_hooks (
    tenant_id uuid NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    agent_id uuid NOT NULL,
    digest bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE ONLY public.letter_hooks FORCE ROW LEVEL SECURITY;

ALTER TABLE public.letter_hooks OWNER TO nightdesk_owner;

CREATE TABLE public.letter_receipts (
    tenant_id uuid NOT NULL,
    dispatch_id text NOT NULL COLLATE pg_catalog."C",
    connector text NOT NULL COLLATE pg_catalog."C",
    address text NOT NULL COLLATE pg_catalog."C",
    route text NOT NULL,
    came jsonb NOT NULL,
    noted_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT letter_receipts_known_route CHECK ((route = ANY (ARRAY['deliver'::text, 'wake'::text])))
);

ALTER TABLE ONLY public.letter_receipts FORCE ROW LEVEL SECURITY;

ALTER TABLE public.letter_receipts OWNER TO nightdesk_owner;

CREATE TABLE public.letters (
    tenant_id uuid NOT NULL,
    letter_id uuid NOT NULL,
    agent_id uuid NOT NULL,
    to_tenant_id uuid NOT NULL,
    to_agent_id uuid NOT NULL,
    dispatch_id text NOT NULL COLLATE pg_catalog."C",
    route text NOT NULL,
    kind text NOT NULL,
    session text,
    correlation_id text,
    hop integer NOT NULL,
    state text NOT NULL,
    seq bigint,
    sent_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone,
    reply_by timestamp with time zone,
    reply bytea,
    reply_key_id bigint,
    reply_body_id uuid,
    replied_at timestamp with time zone,
    chat_id text NOT NULL,
    bot_id uuid NOT NULL,
    body bytea,
    key_id bigint,
    body_id uuid,
    CONSTRAINT letters_kept_until_due CHECK (((state <> 'scheduled'::text) OR (body IS NOT NULL))),
    CONSTRAINT letters_known_kind CHECK ((kind = ANY (ARRAY['augment'::text, 'template'::text]))),
    CONSTRAINT letters_known_route CHECK ((route = ANY (ARRAY['deliver'::text, 'wake'::text]))),
    CONSTRAINT letters_known_state CHECK ((state = ANY (ARRAY['scheduled'::text, 'put'::text, 'replied'::text, 'timed-out'::text]))),
    CONSTRAINT letters_replied_with_words CHECK ((((state = 'replied'::text) = (reply IS NOT NULL)) AND ((reply IS NULL) = (replied_at IS NULL)))),
    CONSTRAINT letters_sealed CHECK (((num_nulls(body, key_id, body_id) = ANY (ARRAY[0, 3])) AND (num_nulls(reply, reply_key_id, reply_body_id) = ANY (ARRAY[0, 3])))),
    CONSTRAINT letters_time_out_if_waited_for CHECK (((state <> 'timed-out'::text) OR (reply_by IS NOT NULL)))
)
WITH (fillfactor='70');

ALTER TABLE ONLY public.letters FORCE ROW LEVEL SECURITY;

ALTER TABLE public.letters OWNER TO nightdesk_owner;

CREATE TABLE public.letters_in (
    tenant_id uuid NOT NULL,
    agent_id uuid NOT NULL,
    letter_id uuid NOT NULL,
    from_tenant_id uuid NOT NULL,
    from_agent_id uuid NOT NULL,
    hop integer NOT NULL,
    put_at timestamp with time zone NOT NULL
);

ALTER TABLE ONLY public.letters_in FORCE ROW LEVEL SECURITY;

ALTER TABLE public.letters_in OWNER TO nightdesk_owner;

CREATE TABLE public.lines (
    tenant_id uuid NOT NULL,
    agent_id uuid NOT NULL,
    gateway_id uuid NOT NULL,
    generation bigint NOT NULL,
    incarnation bigint DEFAULT public.current_incarnation() NOT NULL,
    transport text DEFAULT 'websocket'::text NOT NULL,
    node text NOT NULL,
    node_epoch bigint NOT NULL,
    opened_at timestamp with time zone NOT NULL,
    closed_at timestamp with time zone,
    close_code integer,
    grace interval DEFAULT '00:00:35'::interval NOT NULL,
    parting text,
    sessions text[] DEFAULT '{}'::text[] NOT NULL,
    awake_ms bigint DEFAULT 0 NOT NULL,
    CONSTRAINT lines_known_parting CHECK ((parting = ANY (ARRAY['idle'::text, 'client'::text, 'desk'::text, 'undelivered'::text, 'node'::text]))),
    CONSTRAINT lines_known_transport CHECK ((transport = ANY (ARRAY['websocket'::text, 'polling'::text, 'webhook'::text, 'mcp'::text])))
)
WITH (fillfactor='50');

ALTER TABLE ONLY public.lines FORCE ROW LEVEL SECURITY;

ALTER TABLE public.lines OWNER TO nightdesk_owner;

CREATE TABLE public.link_codes (
    tenant_id uuid NOT NULL,
    code_sha256 bytea NOT NULL,
    agent_id uuid NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    used_bot uuid,
    used_author text,
    CONSTRAINT link_codes_used_by_somebody CHECK (((used_bot IS NULL) = (used_author IS NULL)))
);

ALTER TABLE ONLY public.link_codes FORCE ROW LEVEL SECURITY;

ALTER TABLE public.link_codes OWNER TO nightdesk_owner;

CREATE TABLE public.link_tries (
    tenant_id uuid NOT NULL,
    bot_id uuid NOT NULL,
    author_id text NOT NULL,
    hour_began_at timestamp with time zone NOT NULL,
    tries integer NOT NULL
);

ALTER TABLE ONLY public.link_tries FORCE ROW LEVEL SECURITY;

ALTER TABLE public.link_tries OWNER TO nightdesk_owner;

CREATE TABLE public.listed_authors (
    tenant_id uuid NOT NULL,
    agent_id uuid NOT NULL,
    bot_id uuid NOT NULL,
    author_id text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE ONLY public.listed_authors FORCE ROW LEVEL SECURITY;

ALTER TABLE public.listed_authors OWNER TO nightdesk_owner;

CREATE TABLE public.login_links (
    code_sha256 bytea NOT NULL,
    user_id uuid NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone,
    CONSTRAINT login_links_whole_digest CHECK ((octet_length(code_sha256) = 32))
);

ALTER TABLE public.login_links OWNER TO nightdesk_owner;

CREATE TABLE public.media (
    tenant_id uuid NOT NULL,
    agent_id uuid NOT NULL,
    media_id uuid NOT NULL,
    bot_id uuid,
    body bytea NOT NULL,
    key_id bigint NOT NULL,
    body_id uuid NOT NULL,
    size_bytes bigint,
    expires_at timestamp with time zone NOT NULL
);

ALTER TABLE ONLY public.media FORCE ROW LEVEL SECURITY;

ALTER TABLE public.media OWNER TO nightdesk_owner;

CREATE TABLE public.node_findings (
    node text NOT NULL,
    nth integer NOT NULL,
    kind text NOT NULL,
    subject text NOT NULL,
    since timestamp with time zone NOT NULL,
    reported_at timestamp with time zone NOT NULL
);

ALTER TABLE public.node_findings OWNER TO nightdesk_owner;

CREATE TABLE public.nodes (
    node text NOT NULL,
    epoch bigint NOT NULL,
    started_at timestamp with time zone NOT NULL,
    beat bigint DEFAULT 0 NOT NULL,
    expires_at timestamp with time zone DEFAULT 'infinity'::timestamp with time zone NOT NULL,
    is_over boolean DEFAULT false NOT NULL,
    peer_url text
);

ALTER TABLE public.nodes OWNER TO nightdesk_owner;

CREATE TABLE public.notice_heads (
    tenant_id uuid NOT NULL,
    next_number bigint DEFAULT 0 NOT NULL
);

ALTER TABLE ONLY public.notice_heads FORCE ROW LEVEL SECURITY;

ALTER TABLE public.notice_heads OWNER TO nightdesk_owner;

CREATE TABLE public.notices (
    tenant_id uuid NOT NULL,
    slot bigint NOT NULL,
    number bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    kind text NOT NULL,
    agent_id uuid,
    outcome text,
    calls integer NOT NULL,
    bot_id uuid,
    CONSTRAINT notices_about_somebody CHECK ((num_nonnulls(agent_id, bot_id) = 1)),
    CONSTRAINT notices_known_kind CHECK ((kind = ANY (ARRAY['unreachable'::text, 'held'::text, 'deaf'::text, 'missed'::text, 'sessions'::text, 'fire-missed'::text, 'unarmed'::text])))
);

ALTER TABLE ONLY public.notices FORCE ROW LEVEL SECURITY;

ALTER TABLE public.notices OWNER TO nightdesk_owner;

CREATE TABLE public.oauth_clients (
    tenant_id uuid NOT NULL,
    client_id uuid NOT NULL,
    agent_id uuid NOT NULL,
    gateway_name text,
    secret_sha256 bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone,
    revoked_at timestamp with time zone,
    CONSTRAINT oauth_clients_whole_digest CHECK ((octet_length(secret_sha256) = 32))
);

ALTER TABLE ONLY public.oauth_clients FORCE ROW LEVEL SECURITY;

ALTER TABLE public.oauth_clients OWNER TO nightdesk_owner;

CREATE TABLE public.owners (
    resource text NOT NULL,
    epoch bigint NOT NULL,
    node text NOT NULL,
    node_epoch bigint NOT NULL,
    since timestamp with time zone NOT NULL
);

ALTER TABLE public.owners OWNER TO nightdesk_owner;

CREATE TABLE public.prompts (
    tenant_id uuid NOT NULL,
    agent_id uuid NOT NULL,
    bot_id uuid NOT NULL,
    prompt_id text NOT NULL,
    asked_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE ONLY public.prompts FORCE ROW LEVEL SECURITY;

ALTER TABLE public.prompts OWNER TO nightdesk_owner;

CREATE TABLE public.quarantine_heads (
    tenant_id uuid NOT NULL,
    bot_id uuid NOT NULL,
    next_number bigint DEFAULT 0 NOT NULL
);

ALTER TABLE ONLY public.quarantine_heads FORCE ROW LEVEL SECURITY;

ALTER TABLE public.quarantine_heads OWNER TO nightdesk_owner;

CREATE TABLE public.quarantined (
    tenant_id uuid NOT NULL,
    bot_id uuid NOT NULL,
    slot bigint NOT NULL,
    number bigint NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL,
    problem text NOT NULL,
    body bytea NOT NULL,
    key_id bigint NOT NULL,
    body_id uuid NOT NULL
);

ALTER TABLE ONLY public.quarantined FORCE ROW LEVEL SECURITY;

ALTER TABLE public.quarantined OWNER TO nightdesk_owner;

CREATE TABLE public.quotas (
    tenant_id uuid NOT NULL,
    quota text NOT NULL,
    allowed bigint NOT NULL,
    set_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT quotas_known_quota CHECK ((quota = ANY (ARRAY['agents'::text, 'grants'::text, 'pending-entries'::text, 'pending-bytes'::text, 'armed-jobs'::text, 'agent-jobs'::text, 'skills'::text, 'data-entries'::text, 'shelf-bytes'::text, 'gateways'::text, 'agent-sends'::text, 'agent-prompts'::text, 'parked-entries'::text, 'parked-bytes'::text]))),
    CONSTRAINT quotas_not_negative CHECK ((allowed >= 0))
);

ALTER TABLE ONLY public.quotas FORCE ROW LEVEL SECURITY;

ALTER TABLE public.quotas OWNER TO nightdesk_owner;

CREATE TABLE public.reach_changes (
    tenant_id uuid NOT NULL,
    bot_id uuid NOT NULL,
    version bigint NOT NULL,
    agent_tenant uuid NOT NULL,
    agent_id uuid NOT NULL,
    author_id text,
    scope_id text,
    chat_id text,
    at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE ONLY public.reach_changes FORCE ROW LEVEL SECURITY;

ALTER TABLE public.reach_changes OWNER TO nightdesk_owner;

CREATE TABLE public.reach_heads (
    tenant_id uuid NOT NULL,
    bot_id uuid NOT NULL,
    version bigint NOT NULL
)
WITH (fillfactor='50');

ALTER TABLE ONLY public.reach_heads FORCE ROW LEVEL SECURITY;

ALTER TABLE public.reach_heads OWNER TO nightdesk_owner;

CREATE TABLE public.reached (
    tenant_id uuid NOT NULL,
    agent_id uuid NOT NULL,
    chat_id text NOT NULL,
    bot_id uuid NOT NULL,
    at timestamp with time zone NOT NULL
);

ALTER TABLE ONLY public.reached FORCE ROW LEVEL SECURITY;

ALTER TABLE public.reached OWNER TO nightdesk_owner;

CREATE TABLE public.refresh_tokens (
    tenant_id uuid NOT NULL,
    session text NOT NULL,
    token_sha256 bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    traded_at timestamp with time zone,
    successor_sha256 bytea,
    seed bytea,
    CONSTRAINT refresh_tokens_whole_digest CHECK ((octet_length(token_sha256) = 32)),
    CONSTRAINT refresh_tokens_whole_successor CHECK ((((traded_at IS NULL) = (successor_sha256 IS NULL)) AND ((traded_at IS NULL) = (seed IS NULL)) AND (octet_length(successor_sha256) = 32) AND (octet_length(seed) = 32)))
);

ALTER TABLE ONLY public.refresh_tokens FORCE ROW LEVEL SECURITY;

ALTER TABLE public.refresh_tokens OWNER TO nightdesk_owner;

CREATE TABLE public.refusal_heads (
    tenant_id uuid NOT NULL,
    next_number bigint DEFAULT 0 NOT NULL
);

ALTER TABLE ONLY public.refusal_heads FORCE ROW LEVEL SECURITY;

ALTER TABLE public.refusal_heads OWNER TO nightdesk_owner;

CREATE TABLE public.refusals (
    tenant_id uuid NOT NULL,
    slot bigint NOT NULL,
    number bigint NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL,
    bot_id uuid NOT NULL,
    event_key text NOT NULL,
    reason text NOT NULL,
    agent_id uuid
);

ALTER TABLE ONLY public.refusals FORCE ROW LEVEL SECURITY;

ALTER TABLE public.refusals OWNER TO nightdesk_owner;

CREATE TABLE public.relevance_policies (
    tenant_id uuid NOT NULL,
    agent_id uuid NOT NULL,
    platform text NOT NULL,
    require_address boolean NOT NULL,
    free_scopes text[] NOT NULL,
    allow_other_bots boolean NOT NULL,
    declared_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE ONLY public.relevance_policies FORCE ROW LEVEL SECURITY;

ALTER TABLE public.relevance_policies OWNER TO nightdesk_owner;

CREATE TABLE public.schedule_rooms (
    tenant_id uuid NOT NULL,
    agent_id uuid NOT NULL,
    room bigint NOT NULL,
    allowed bigint NOT NULL
)
WITH (fillfactor='50');

ALTER TABLE ONLY public.schedule_rooms FORCE ROW LEVEL SECURITY;

ALTER TABLE public.schedule_rooms OWNER TO nightdesk_owner;

CREATE TABLE public.scope_grants (
    tenant_id uuid NOT NULL,
    bot_id uuid NOT NULL,
    chat_id text NOT NULL,
    agent_id uuid NOT NULL,
    principal text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    scope_id text DEFAULT ''::text NOT NULL,
    is_moderator boolean DEFAULT false NOT NULL,
    CONSTRAINT scope_grants_known_principal CHECK ((principal = ANY (ARRAY['owner-only'::text, 'allow-list'::text, 'any'::text])))
);

ALTER TABLE ONLY public.scope_grants FORCE ROW LEVEL SECURITY;

ALTER TABLE public.scope_grants OWNER TO nightdesk_owner;

CREATE TABLE public.sends (
    tenant_id uuid NOT NULL,
    agent_id uuid NOT NULL,
    request_id text NOT NULL,
    bot_id uuid NOT NULL,
    chat_id text NOT NULL,
    body bytea NOT NULL,
    key_id bigint NOT NULL,
    body_id uuid NOT NULL,
    state text DEFAULT 'asked'::text NOT NULL,
    node text,
    node_epoch bigint,
    asked_at timestamp with time zone DEFAULT now() NOT NULL,
    called_at timestamp with time zone,
    settled_at timestamp with time zone,
    receipt bytea,
    asked_on text,
    makes_message boolean NOT NULL,
    CONSTRAINT sends_called_by_somebody CHECK (((state = 'asked'::text) OR ((node IS NOT NULL) AND (called_at IS NOT NULL)))),
    CONSTRAINT sends_known_state CHECK ((state = ANY (ARRAY['asked'::text, 'calling'::text, 'settled'::text, 'ambiguous'::text]))),
    CONSTRAINT sends_settled_with_a_receipt CHECK (((state = 'settled'::text) = (receipt IS NOT NULL)))
)
WITH (fillfactor='50');

ALTER TABLE ONLY public.sends FORCE ROW LEVEL SECURITY;

ALTER TABLE public.sends OWNER TO nightdesk_owner;

CREATE TABLE public.sent_messages (
    tenant_id uuid NOT NULL,
    agent_id uuid NOT NULL,
    request_id text NOT NULL,
    bot_id uuid NOT NULL,
    chat_id text NOT NULL,
    message_id text NOT NULL
);

ALTER TABLE ONLY public.sent_messages FORCE ROW LEVEL SECURITY;

ALTER TABLE public.sent_messages OWNER TO nightdesk_owner;

CREATE TABLE public.shelves (
    tenant_id uuid NOT NULL,
    revision bigint DEFAULT 0 NOT NULL,
    bytes bigint DEFAULT 0 NOT NULL,
    approval_key bytea,
    CONSTRAINT shelves_bytes_not_negative CHECK ((bytes >= 0)),
    CONSTRAINT shelves_key_of_32_bytes CHECK ((octet_length(approval_key) = 32))
)
WITH (fillfactor='50');

ALTER TABLE ONLY public.shelves FORCE ROW LEVEL SECURITY;

ALTER TABLE public.shelves OWNER TO nightdesk_owner;

CREATE TABLE public.signing_keys (
    number bigint NOT NULL,
    kid text NOT NULL,
    sealed bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    used_from timestamp with time zone NOT NULL,
    retired_at timestamp with time zone,
    algorithm text DEFAULT 'ES256'::text NOT NULL,
    CONSTRAINT signing_keys_known_algorithm CHECK ((algorithm = ANY (ARRAY['ES256'::text, 'RS256'::text])))
);

ALTER TABLE public.signing_keys OWNER TO nightdesk_owner;

CREATE TABLE public.skill_revisions (
    tenant_id uuid NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    revision bigint NOT NULL,
    source bytea NOT NULL,
    version text NOT NULL COLLATE pg_catalog."C",
    content_hash text NOT NULL COLLATE pg_catalog."C",
    status text NOT NULL,
    previous_status text,
    changed_at timestamp with time zone NOT NULL,
    changed_by text,
    CONSTRAINT skill_revisions_known_previous CHECK ((previous_status = ANY (ARRAY['Draft'::text, 'Approved'::text, 'Disabled'::text]))),
    CONSTRAINT skill_revisions_known_status CHECK ((status = ANY (ARRAY['Draft'::text, 'Approved'::text, 'Disabled'::text]))),
    CONSTRAINT skill_revisions_version_of_hash CHECK (("left"(content_hash, 12) = version))
);

ALTER TABLE ONLY public.skill_revisions FORCE ROW LEVEL SECURITY;

ALTER TABLE public.skill_revisions OWNER TO nightdesk_owner;

CREATE TABLE public.skills (
    tenant_id uuid NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    revision bigint NOT NULL,
    meta jsonb NOT NULL
)
WITH (fillfactor='70');

ALTER TABLE ONLY public.skills FORCE ROW LEVEL SECURITY;

ALTER TABLE public.skills OWNER TO nightdesk_owner;

CREATE TABLE public.source_cursors (
    tenant_id uuid NOT NULL,
    bot_id uuid NOT NULL,
    source text NOT NULL,
    epoch bigint NOT NULL,
    cursor text,
    moved_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE ONLY public.source_cursors FORCE ROW LEVEL SECURITY;

ALTER TABLE public.source_cursors OWNER TO nightdesk_owner;

CREATE TABLE public.tenant_keys (
    tenant_id uuid NOT NULL,
    key_id bigint NOT NULL,
    wrapped bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    replaced_at timestamp with time zone,
    used_at timestamp with time zone
);

ALTER TABLE ONLY public.tenant_keys FORCE ROW LEVEL SECURITY;

ALTER TABLE public.tenant_keys OWNER TO nightdesk_owner;

CREATE TABLE public.tenant_usage (
    tenant_id uuid NOT NULL,
    hour timestamp with time zone NOT NULL,
    sampled_at timestamp with time zone NOT NULL,
    agents bigint NOT NULL,
    messages bigint NOT NULL,
    wakes bigint NOT NULL,
    awake_ms bigint NOT NULL,
    fires bigint NOT NULL
);

ALTER TABLE ONLY public.tenant_usage FORCE ROW LEVEL SECURITY;

ALTER TABLE public.tenant_usage OWNER TO nightdesk_owner;

CREATE TABLE public.tenants (
    tenant_id uuid DEFAULT gen_random_uuid() NOT NULL,
    name text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    erased_at timestamp with time zone,
    gateways_may_widen boolean DEFAULT false NOT NULL
);

ALTER TABLE ONLY public.tenants FORCE ROW LEVEL SECURITY;

ALTER TABLE public.tenants OWNER TO nightdesk_owner;

CREATE TABLE public.upkeep_passes (
    day date NOT NULL,
    next_block bigint DEFAULT 0 NOT NULL,
    passed_at timestamp with time zone DEFAULT '1970-01-01 00:00:00+00'::timestamp with time zone NOT NULL
);

ALTER TABLE public.upkeep_passes OWNER TO nightdesk_owner;

CREATE TABLE public.user_roles (
    tenant_id uuid NOT NULL,
    user_id uuid NOT NULL,
    role text NOT NULL,
    source text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT user_roles_known_role CHECK (
CASE
    WHEN (tenant_id = '00000000-0000-0000-0000-000000000000'::uuid) THEN (role = ANY (ARRAY['operator'::text, 'auditor'::text]))
    ELSE (role = ANY (ARRAY['admin'::text, 'member'::text, 'auditor'::text]))
END),
    CONSTRAINT user_roles_known_source CHECK ((source = ANY (ARRAY['hand'::text, 'claim'::text])))
);

ALTER TABLE ONLY public.user_roles FORCE ROW LEVEL SECURITY;

ALTER TABLE public.user_roles OWNER TO nightdesk_owner;

CREATE TABLE public.user_sessions (
    cookie_sha256 bytea NOT NULL,
    user_id uuid NOT NULL,
    begun_at timestamp with time zone DEFAULT now() NOT NULL,
    used_at timestamp with time zone DEFAULT now() NOT NULL,
    ended_at timestamp with time zone,
    CONSTRAINT user_sessions_whole_digest CHECK ((octet_length(cookie_sha256) = 32))
);

ALTER TABLE public.user_sessions OWNER TO nightdesk_owner;

CREATE TABLE public.users (
    user_id uuid DEFAULT gen_random_uuid() NOT NULL,
    name text NOT NULL,
    email text,
    issuer text,
    subject text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    used_at timestamp with time zone,
    CONSTRAINT users_login_is_whole CHECK (((issuer IS NULL) = (subject IS NULL)))
);

ALTER TABLE public.users OWNER TO nightdesk_owner;

CREATE TABLE public.wake_log (
    tenant_id uuid NOT NULL,
    agent_id uuid NOT NULL,
    slot integer NOT NULL,
    number bigint NOT NULL,
    since timestamp with time zone NOT NULL,
    calls integer NOT NULL,
    called_at timestamp with time zone,
    outcome text,
    woken_at timestamp with time zone,
    ended_at timestamp with time zone NOT NULL
);

ALTER TABLE ONLY public.wake_log FORCE ROW LEVEL SECURITY;

ALTER TABLE public.wake_log OWNER TO nightdesk_owner;

CREATE TABLE public.wakers (
    tenant_id uuid NOT NULL,
    agent_id uuid NOT NULL,
    "position" integer NOT NULL,
    url text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    gateway_id uuid
);

ALTER TABLE ONLY public.wakers FORCE ROW LEVEL SECURITY;

ALTER TABLE public.wakers OWNER TO nightdesk_owner;

CREATE TABLE public.webchat_chats (
    tenant_id uuid NOT NULL,
    bot_id uuid NOT NULL,
    visitor text NOT NULL,
    last_seq bigint DEFAULT 0 NOT NULL,
    status bytea,
    status_key_id bigint,
    status_body_id uuid,
    status_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    seen_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT webchat_chats_status_has_a_time CHECK ((num_nulls(status, status_key_id, status_body_id, status_at) = ANY (ARRAY[0, 4])))
)
WITH (fillfactor='50');

ALTER TABLE ONLY public.webchat_chats FORCE ROW LEVEL SECURITY;

ALTER TABLE public.webchat_chats OWNER TO nightdesk_owner;

CREATE TABLE public.webchat_messages (
    tenant_id uuid NOT NULL,
    bot_id uuid NOT NULL,
    visitor text NOT NULL,
    message_id bigint NOT NULL,
    seq bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    author text NOT NULL,
    body bytea NOT NULL,
    key_id bigint NOT NULL,
    body_id uuid NOT NULL,
    nonce text,
    prompt bytea,
    prompt_key_id bigint,
    prompt_body_id uuid,
    edited_at timestamp with time zone,
    deleted boolean DEFAULT false NOT NULL,
    CONSTRAINT webchat_messages_deleted_says_nothing CHECK (((NOT deleted) OR ((body = '\x'::bytea) AND (prompt IS NULL)))),
    CONSTRAINT webchat_messages_known_author CHECK ((author = ANY (ARRAY['visitor'::text, 'agent'::text]))),
    CONSTRAINT webchat_messages_sealed_prompt CHECK ((num_nulls(prompt, prompt_key_id, prompt_body_id) = ANY (ARRAY[0, 3]))),
    CONSTRAINT webchat_messages_visitors_have_a_nonce CHECK (((author = 'visitor'::text) = (nonce IS NOT NULL)))
);

ALTER TABLE ONLY public.webchat_messages FORCE ROW LEVEL SECURITY;

ALTER TABLE public.webchat_messages OWNER TO nightdesk_owner;

ALTER TABLE ONLY public.agent_webhooks
    ADD CONSTRAINT agent_webhooks_pkey PRIMARY KEY (tenant_id, agent_id);

ALTER TABLE ONLY public.agents
    ADD CONSTRAINT agents_one_per_name UNIQUE (tenant_id, name);

ALTER TABLE ONLY public.agents
    ADD CONSTRAINT agents_pkey PRIMARY KEY (tenant_id, agent_id);

ALTER TABLE ONLY public.alert_deliveries
    ADD CONSTRAINT alert_deliveries_pkey PRIMARY KEY (tenant_id, kind, way_tenant, way_id);

ALTER TABLE ONLY public.alert_ways
    ADD CONSTRAINT alert_ways_one_per_target UNIQUE NULLS NOT DISTINCT (tenant_id, kind, target, bot_id);

ALTER TABLE ONLY public.alert_ways
    ADD CONSTRAINT alert_ways_pkey PRIMARY KEY (tenant_id, way_id);

ALTER TABLE ONLY public.alerts
    ADD CONSTRAINT alerts_pkey PRIMARY KEY (tenant_id, kind);

ALTER TABLE ONLY public.api_tokens
    ADD CONSTRAINT api_tokens_one_per_secret UNIQUE (secret_sha256);

ALTER TABLE ONLY public.api_tokens
    ADD CONSTRAINT api_tokens_pkey PRIMARY KEY (token_id);

ALTER TABLE ONLY public.audit_heads
    ADD CONSTRAINT audit_heads_pkey PRIMARY KEY (tenant_id);

ALTER TABLE public.audit_log
    ADD CONSTRAINT audit_log_known_kind CHECK ((kind = ANY (ARRAY['tenant-created'::text, 'tenant-erased'::text, 'keys-rotated'::text, 'quota-set'::text, 'gateways-trusted'::text, 'stops-allowed'::text, 'turn-stopped'::text, 'agent-created'::text, 'agent-deprovisioned'::text, 'agent-token-made'::text, 'bot-created'::text, 'bot-shared'::text, 'bot-key-rotated'::text, 'bot-removed'::text, 'gateway-created'::text, 'gateway-invited'::text, 'gateway-enrolled'::text, 'gateway-provisioned'::text, 'gateway-rotated'::text, 'gateway-revoked'::text, 'client-revoked'::text, 'session-begun'::text, 'session-ended'::text, 'bound'::text, 'unbound'::text, 'preferred'::text, 'link-made'::text, 'linked'::text, 'granted'::text, 'moderation-granted'::text, 'released'::text, 'principal-opened'::text, 'list-replaced'::text, 'relevance-declared'::text, 'wake-url-set'::text, 'wake-asked'::text, 'job-armed'::text, 'job-cancelled'::text, 'skill-written'::text, 'skill-status-set'::text, 'skill-deleted'::text, 'shelf-secured'::text, 'letters-granted'::text, 'letters-released'::text, 'letter-hook-made'::text, 'letter-hook-removed'::text, 'entry-put'::text, 'entry-set-aside'::text, 'entry-resubmitted'::text, 'entry-removed'::text, 'entries-parked'::text, 'entries-discarded'::text, 'capability-used'::text, 'signing-key-made'::text, 'signing-key-retired'::text, 'vault-rotated'::text, 'history-begun'::text, 'auth-failed'::text, 'user-created'::text, 'role-given'::text, 'role-taken'::text, 'login-link-made'::text, 'user-logged-in'::text, 'user-logged-out'::text, 'api-token-made'::text, 'api-token-revoked'::text, 'glass-asked'::text, 'glass-approved'::text, 'glass-ended'::text, 'alert-way-added'::text, 'alert-way-removed'::text]))) NOT VALID;

ALTER TABLE ONLY public.audit_log
    ADD CONSTRAINT audit_log_pkey PRIMARY KEY (tenant_id, seq);

ALTER TABLE ONLY public.bindings
    ADD CONSTRAINT bindings_pkey PRIMARY KEY (tenant_id, bot_id, author_id, agent_id);

ALTER TABLE ONLY public.bootstrap_sessions
    ADD CONSTRAINT bootstrap_sessions_pkey PRIMARY KEY (tenant_id, issuer, session);

ALTER TABLE ONLY public.bot_hearings
    ADD CONSTRAINT bot_hearings_pkey PRIMARY KEY (tenant_id, bot_id);

ALTER TABLE ONLY public.bot_keys
    ADD CONSTRAINT bot_keys_pkey PRIMARY KEY (tenant_id, bot_id, bot_key_id);

ALTER TABLE ONLY public.bot_sessions
    ADD CONSTRAINT bot_sessions_pkey PRIMARY KEY (tenant_id, bot_id, hour);

ALTER TABLE ONLY public.bots
    ADD CONSTRAINT bots_one_per_handle UNIQUE (tenant_id, platform, handle);

ALTER TABLE ONLY public.bots
    ADD CONSTRAINT bots_one_per_id UNIQUE (bot_id);

ALTER TABLE ONLY public.bots
    ADD CONSTRAINT bots_one_per_path UNIQUE (path);

ALTER TABLE ONLY public.bots
    ADD CONSTRAINT bots_pkey PRIMARY KEY (tenant_id, bot_id);

ALTER TABLE ONLY public.capabilities
    ADD CONSTRAINT capabilities_pkey PRIMARY KEY (tenant_id, agent_id, session_sha256, kind);

ALTER TABLE ONLY public.commands
    ADD CONSTRAINT commands_of_one_agent UNIQUE (bot_id, scope_id, name);

ALTER TABLE ONLY public.commands
    ADD CONSTRAINT commands_pkey PRIMARY KEY (tenant_id, bot_id, scope_id, name);

ALTER TABLE ONLY public.data_entries
    ADD CONSTRAINT data_entries_pkey PRIMARY KEY (tenant_id, data_id);

ALTER TABLE ONLY public.dedupe_keys
    ADD CONSTRAINT dedupe_keys_pkey PRIMARY KEY (tenant_id, key, day);

ALTER TABLE ONLY public.desk_secrets
    ADD CONSTRAINT desk_secrets_one_per_name UNIQUE (name);

ALTER TABLE ONLY public.desk_secrets
    ADD CONSTRAINT desk_secrets_pkey PRIMARY KEY (secret_id);

ALTER TABLE ONLY public.enrolments
    ADD CONSTRAINT enrolments_pkey PRIMARY KEY (tenant_id, token_sha256);

ALTER TABLE ONLY public.fires
    ADD CONSTRAINT fires_pkey PRIMARY KEY (tenant_id, fire_id);

ALTER TABLE ONLY public.gateway_platforms
    ADD CONSTRAINT gateway_platforms_pkey PRIMARY KEY (tenant_id, gateway_id, platform);

ALTER TABLE ONLY public.gateway_secrets
    ADD CONSTRAINT gateway_secrets_pkey PRIMARY KEY (tenant_id, gateway_id, secret_id);

ALTER TABLE ONLY public.gateways
    ADD CONSTRAINT gateways_one_per_name UNIQUE (tenant_id, name);

ALTER TABLE ONLY public.gateways
    ADD CONSTRAINT gateways_pkey PRIMARY KEY (tenant_id, gateway_id);

ALTER TABLE ONLY public.glass_requests
    ADD CONSTRAINT glass_requests_pkey PRIMARY KEY (tenant_id, request_id);

ALTER TABLE ONLY public.history
    ADD CONSTRAINT history_pkey PRIMARY KEY (is_only);

ALTER TABLE ONLY public.inbox_acks
    ADD CONSTRAINT inbox_acks_pkey PRIMARY KEY (tenant_id, agent_id, to_seq, acked_at);

ALTER TABLE ONLY public.inbox_cursors
    ADD CONSTRAINT inbox_cursors_pkey PRIMARY KEY (tenant_id, agent_id);

ALTER TABLE ONLY public.inbox_entries
    ADD CONSTRAINT inbox_entries_pkey PRIMARY KEY (tenant_id, agent_id, seq, at);

ALTER TABLE ONLY public.inbox_heads
    ADD CONSTRAINT inbox_heads_pkey PRIMARY KEY (tenant_id, agent_id);

ALTER TABLE public.inbox_parked
    ADD CONSTRAINT inbox_parked_known_reason CHECK ((reason = ANY (ARRAY['unsendable'::text, 'tries'::text, 'full'::text, 'rate-limit'::text, 'expired'::text, 'unreadable'::text, 'operator'::text, 'stopped'::text]))) NOT VALID;

ALTER TABLE ONLY public.inbox_parked
    ADD CONSTRAINT inbox_parked_pkey PRIMARY KEY (tenant_id, agent_id, seq);

ALTER TABLE ONLY public.letter_grants
    ADD CONSTRAINT letter_grants_pkey PRIMARY KEY (tenant_id, agent_id, peer_tenant_id, peer_agent_id);

ALTER TABLE ONLY public.letter_hooks
    ADD CONSTRAINT letter_hooks_one_per_secret UNIQUE (digest);

ALTER TABLE ONLY public.letter_hooks
    ADD CONSTRAINT letter_hooks_pkey PRIMARY KEY (tenant_id, name);

ALTER TABLE ONLY public.letter_receipts
    ADD CONSTRAINT letter_receipts_pkey PRIMARY KEY (tenant_id, dispatch_id, connector, address);

ALTER TABLE ONLY public.letters_in
    ADD CONSTRAINT letters_in_pkey PRIMARY KEY (tenant_id, agent_id, letter_id);

ALTER TABLE ONLY public.letters
    ADD CONSTRAINT letters_one_per_dispatch UNIQUE (tenant_id, agent_id, dispatch_id, to_tenant_id, to_agent_id);

ALTER TABLE ONLY public.letters
    ADD CONSTRAINT letters_pkey PRIMARY KEY (tenant_id, letter_id);

ALTER TABLE ONLY public.lines
    ADD CONSTRAINT lines_pkey PRIMARY KEY (tenant_id, agent_id);

ALTER TABLE ONLY public.link_codes
    ADD CONSTRAINT link_codes_pkey PRIMARY KEY (tenant_id, code_sha256);

ALTER TABLE ONLY public.link_tries
    ADD CONSTRAINT link_tries_pkey PRIMARY KEY (tenant_id, bot_id, author_id);

ALTER TABLE ONLY public.listed_authors
    ADD CONSTRAINT listed_authors_pkey PRIMARY KEY (tenant_id, agent_id, bot_id, author_id);

ALTER TABLE ONLY public.login_links
    ADD CONSTRAINT login_links_pkey PRIMARY KEY (code_sha256);

ALTER TABLE ONLY public.media
    ADD CONSTRAINT media_pkey PRIMARY KEY (tenant_id, agent_id, media_id);

ALTER TABLE ONLY public.node_findings
    ADD CONSTRAINT node_findings_pkey PRIMARY KEY (node, nth);

ALTER TABLE ONLY public.nodes
    ADD CONSTRAINT nodes_pkey PRIMARY KEY (node);

ALTER TABLE ONLY public.notice_heads
    ADD CONSTRAINT notice_heads_pkey PRIMARY KEY (tenant_id);

ALTER TABLE ONLY public.notices
    ADD CONSTRAINT notices_pkey PRIMARY KEY (tenant_id, slot);

ALTER TABLE ONLY public.oauth_clients
    ADD CONSTRAINT oauth_clients_one_per_id UNIQUE (client_id);

ALTER TABLE ONLY public.oauth_clients
    ADD CONSTRAINT oauth_clients_pkey PRIMARY KEY (tenant_id, client_id);

ALTER TABLE ONLY public.owners
    ADD CONSTRAINT owners_pkey PRIMARY KEY (resource);

ALTER TABLE ONLY public.prompts
    ADD CONSTRAINT prompts_of_one_agent UNIQUE (bot_id, prompt_id);

ALTER TABLE ONLY public.prompts
    ADD CONSTRAINT prompts_pkey PRIMARY KEY (tenant_id, agent_id, bot_id, prompt_id);

ALTER TABLE ONLY public.quarantine_heads
    ADD CONSTRAINT quarantine_heads_pkey PRIMARY KEY (tenant_id, bot_id);

ALTER TABLE ONLY public.quarantined
    ADD CONSTRAINT quarantined_pkey PRIMARY KEY (tenant_id, bot_id, slot);

ALTER TABLE ONLY public.quotas
    ADD CONSTRAINT quotas_pkey PRIMARY KEY (tenant_id, quota);

ALTER TABLE ONLY public.reach_changes
    ADD CONSTRAINT reach_changes_pkey PRIMARY KEY (tenant_id, bot_id, version);

ALTER TABLE ONLY public.reach_heads
    ADD CONSTRAINT reach_heads_pkey PRIMARY KEY (tenant_id, bot_id);

ALTER TABLE ONLY public.reached
    ADD CONSTRAINT reached_pkey PRIMARY KEY (tenant_id, agent_id, chat_id, bot_id);

ALTER TABLE ONLY public.refresh_tokens
    ADD CONSTRAINT refresh_tokens_pkey PRIMARY KEY (tenant_id, session, token_sha256);

ALTER TABLE ONLY public.refusal_heads
    ADD CONSTRAINT refusal_heads_pkey PRIMARY KEY (tenant_id);

ALTER TABLE ONLY public.refusals
    ADD CONSTRAINT refusals_pkey PRIMARY KEY (tenant_id, slot);

ALTER TABLE ONLY public.relevance_policies
    ADD CONSTRAINT relevance_policies_pkey PRIMARY KEY (tenant_id, agent_id, platform);

ALTER TABLE ONLY public.schedule_rooms
    ADD CONSTRAINT schedule_rooms_pkey PRIMARY KEY (tenant_id, agent_id);

ALTER TABLE ONLY public.schedules
    ADD CONSTRAINT schedules_pkey PRIMARY KEY (tenant_id, agent_id, job_id);

ALTER TABLE ONLY public.scope_grants
    ADD CONSTRAINT scope_grants_pkey PRIMARY KEY (tenant_id, bot_id, scope_id, chat_id);

ALTER TABLE ONLY public.sends
    ADD CONSTRAINT sends_pkey PRIMARY KEY (tenant_id, agent_id, request_id);

ALTER TABLE ONLY public.sent_messages
    ADD CONSTRAINT sent_messages_of_one_send UNIQUE (bot_id, chat_id, message_id);

ALTER TABLE ONLY public.sent_messages
    ADD CONSTRAINT sent_messages_pkey PRIMARY KEY (tenant_id, agent_id, request_id, chat_id, message_id);

ALTER TABLE ONLY public.shelves
    ADD CONSTRAINT shelves_pkey PRIMARY KEY (tenant_id);

ALTER TABLE ONLY public.signing_keys
    ADD CONSTRAINT signing_keys_one_per_kid UNIQUE (kid);

ALTER TABLE ONLY public.signing_keys
    ADD CONSTRAINT signing_keys_pkey PRIMARY KEY (number);

ALTER TABLE ONLY public.skill_revisions
    ADD CONSTRAINT skill_revisions_pkey PRIMARY KEY (tenant_id, name, revision);

ALTER TABLE ONLY public.skills
    ADD CONSTRAINT skills_pkey PRIMARY KEY (tenant_id, name);

ALTER TABLE ONLY public.source_cursors
    ADD CONSTRAINT source_cursors_pkey PRIMARY KEY (tenant_id, bot_id, source);

ALTER TABLE ONLY public.tenant_keys
    ADD CONSTRAINT tenant_keys_pkey PRIMARY KEY (tenant_id, key_id);

ALTER TABLE ONLY public.tenant_usage
    ADD CONSTRAINT tenant_usage_pkey PRIMARY KEY (tenant_id, hour);

ALTER TABLE ONLY public.tenants
    ADD CONSTRAINT tenants_one_per_name UNIQUE (name);

ALTER TABLE ONLY public.tenants
    ADD CONSTRAINT tenants_pkey PRIMARY KEY (tenant_id);

ALTER TABLE ONLY public.upkeep_passes
    ADD CONSTRAINT upkeep_passes_pkey PRIMARY KEY (day);

ALTER TABLE ONLY public.user_roles
    ADD CONSTRAINT user_roles_pkey PRIMARY KEY (tenant_id, user_id, role, source);

ALTER TABLE ONLY public.user_sessions
    ADD CONSTRAINT user_sessions_pkey PRIMARY KEY (cookie_sha256);

ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_one_per_login UNIQUE (issuer, subject);

ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (user_id);

ALTER TABLE ONLY public.wake_log
    ADD CONSTRAINT wake_log_pkey PRIMARY KEY (tenant_id, agent_id, slot);

ALTER TABLE ONLY public.wakers
    ADD CONSTRAINT wakers_pkey PRIMARY KEY (tenant_id, agent_id, "position");

ALTER TABLE ONLY public.wakes
    ADD CONSTRAINT wakes_pkey PRIMARY KEY (tenant_id, agent_id);

ALTER TABLE ONLY public.webchat_chats
    ADD CONSTRAINT webchat_chats_pkey PRIMARY KEY (tenant_id, bot_id, visitor);

ALTER TABLE ONLY public.webchat_messages
    ADD CONSTRAINT webchat_messages_one_per_change UNIQUE (tenant_id, bot_id, visitor, seq);

ALTER TABLE ONLY public.webchat_messages
    ADD CONSTRAINT webchat_messages_one_per_nonce UNIQUE (tenant_id, bot_id, visitor, nonce);

ALTER TABLE ONLY public.webchat_messages
    ADD CONSTRAINT webchat_messages_pkey PRIMARY KEY (tenant_id, bot_id, visitor, message_id);

CREATE INDEX alert_deliveries_by_way ON public.alert_deliveries USING btree (way_tenant, way_id);

CREATE INDEX alerts_by_change ON public.alerts USING btree (changed_at);

CREATE INDEX alerts_open ON public.alerts USING btree (tenant_id, kind) WHERE (resolved_at IS NULL);

CREATE INDEX api_tokens_by_tenant ON public.api_tokens USING btree (tenant_id) WHERE (tenant_id IS NOT NULL);

CREATE INDEX api_tokens_by_user ON public.api_tokens USING btree (user_id);

CREATE INDEX audit_log_by_age ON public.audit_log USING btree (at);

CREATE INDEX bindings_by_agent ON public.bindings USING btree (tenant_id, agent_id);

CREATE INDEX bindings_by_author ON public.bindings USING btree (bot_id, author_id);

CREATE INDEX bot_keys_by_expiry ON public.bot_keys USING btree (expires_at) WHERE (expires_at IS NOT NULL);

CREATE INDEX bots_by_adapter ON public.bots USING btree (adapter, tenant_id, bot_id);

CREATE INDEX bots_shared ON public.bots USING btree (created_at) WHERE shared;

CREATE INDEX capabilities_by_expiry ON public.capabilities USING btree (expires_at);

CREATE INDEX capabilities_to_wipe ON public.capabilities USING btree (expires_at) WHERE (octet_length(sealed) > 0);

CREATE INDEX commands_by_agent ON public.commands USING btree (tenant_id, agent_id, bot_id);

CREATE INDEX data_entries_by_age ON public.data_entries USING btree (tenant_id, created_at DESC);

CREATE INDEX data_entries_by_end ON public.data_entries USING btree (tenant_id, expires_at) WHERE (expires_at IS NOT NULL);

CREATE INDEX fires_by_end ON public.fires USING btree (ended_at) WHERE (ended_at IS NOT NULL);

CREATE INDEX fires_by_next ON public.fires USING btree (next_at) WHERE (next_at IS NOT NULL);

CREATE INDEX fires_missed ON public.fires USING btree (ended_at) WHERE (state = 'missed'::text);

CREATE INDEX fires_of_job ON public.fires USING btree (tenant_id, agent_id, job_id, began_at, fire_id);

CREATE INDEX fires_of_tenant ON public.fires USING btree (tenant_id, began_at, fire_id);

CREATE INDEX fires_open ON public.fires USING btree (tenant_id, agent_id, job_id) WHERE (next_at IS NOT NULL);

CREATE INDEX fires_running ON public.fires USING btree (tenant_id, agent_id, job_id, ended_at) WHERE (reports AND (run_ended_at IS NULL) AND (state = ANY (ARRAY['fired'::text, 'late'::text])));

CREATE INDEX gateways_by_agent ON public.gateways USING btree (tenant_id, agent_id, name);

CREATE INDEX gateways_by_name ON public.gateways USING btree (name);

CREATE INDEX gateways_by_revocation ON public.gateways USING btree (revoked_at) WHERE (revoked_at IS NOT NULL);

CREATE INDEX glass_requests_by_id ON public.glass_requests USING btree (request_id);

CREATE INDEX glass_requests_open ON public.glass_requests USING btree (asked_by, open_until) WHERE (ended_at IS NULL);

CREATE INDEX inbox_parked_by_age ON public.inbox_parked USING btree (parked_at);

CREATE INDEX inbox_parked_by_key ON public.inbox_parked USING btree (tenant_id, key_id);

CREATE INDEX inbox_parked_stuck ON public.inbox_parked USING btree (tenant_id, reason, parked_at, agent_id, seq) WHERE (resubmitted_as IS NULL);

CREATE INDEX inbox_parked_stuck_by_agent ON public.inbox_parked USING btree (tenant_id, agent_id, seq) WHERE (resubmitted_as IS NULL);

CREATE INDEX letter_receipts_by_time ON public.letter_receipts USING btree (noted_at);

CREATE INDEX letters_by_key ON public.letters USING btree (to_tenant_id, key_id) WHERE (key_id IS NOT NULL);

CREATE INDEX letters_by_reply_key ON public.letters USING btree (tenant_id, reply_key_id) WHERE (reply_key_id IS NOT NULL);

CREATE INDEX letters_by_time ON public.letters USING btree (sent_at);

CREATE INDEX letters_in_by_time ON public.letters_in USING btree (put_at);

CREATE INDEX letters_in_lately ON public.letters_in USING btree (tenant_id, agent_id, put_at);

CREATE INDEX letters_of_agent ON public.letters USING btree (tenant_id, agent_id, sent_at, letter_id);

CREATE INDEX lines_open_by_node ON public.lines USING btree (node, node_epoch, incarnation, tenant_id, agent_id) WHERE (closed_at IS NULL);

CREATE INDEX lines_open_by_tenant ON public.lines USING btree (tenant_id, agent_id) WHERE (closed_at IS NULL);

CREATE INDEX link_codes_by_age ON public.link_codes USING btree (created_at);

CREATE INDEX link_codes_by_agent ON public.link_codes USING btree (tenant_id, agent_id, created_at);

CREATE UNIQUE INDEX link_codes_by_digest ON public.link_codes USING btree (code_sha256);

CREATE INDEX link_tries_by_age ON public.link_tries USING btree (hour_began_at);

CREATE INDEX login_links_by_user ON public.login_links USING btree (user_id);

CREATE INDEX media_by_expiry ON public.media USING btree (expires_at);

CREATE INDEX media_by_key ON public.media USING btree (tenant_id, key_id);

CREATE INDEX prompts_by_age ON public.prompts USING btree (asked_at);

CREATE INDEX quarantined_by_time ON public.quarantined USING btree (at);

CREATE INDEX reach_changes_by_age ON public.reach_changes USING btree (at);

CREATE UNIQUE INDEX reach_changes_by_bot ON public.reach_changes USING btree (bot_id, version);

CREATE INDEX reach_heads_by_bot ON public.reach_heads USING btree (bot_id);

CREATE INDEX reached_by_chat ON public.reached USING btree (bot_id, chat_id);

CREATE INDEX refusals_by_event ON public.refusals USING btree (tenant_id, event_key);

CREATE INDEX schedules_armed ON public.schedules USING btree (tenant_id, agent_id) WHERE (next_at IS NOT NULL);

CREATE INDEX schedules_by_next ON public.schedules USING btree (next_at) WHERE (next_at IS NOT NULL);

CREATE INDEX schedules_unarmed ON public.schedules USING btree (changed_at) WHERE (next_at IS NULL);

CREATE INDEX schedules_watched ON public.schedules USING btree (watch_at) WHERE (watch_at IS NOT NULL);

CREATE INDEX scope_grants_by_agent ON public.scope_grants USING btree (tenant_id, agent_id);

CREATE UNIQUE INDEX scope_grants_one_agent_per_chat ON public.scope_grants USING btree (bot_id, chat_id) WHERE (chat_id <> '*'::text);

CREATE UNIQUE INDEX scope_grants_one_agent_per_scope ON public.scope_grants USING btree (bot_id, scope_id) WHERE (chat_id = '*'::text);

CREATE INDEX sends_by_age ON public.sends USING btree (asked_at);

CREATE INDEX sends_by_chat ON public.sends USING btree (tenant_id, agent_id, bot_id, chat_id, asked_at);

CREATE INDEX sends_left_over ON public.sends USING btree (asked_at) WHERE (state = ANY (ARRAY['asked'::text, 'calling'::text]));

CREATE INDEX tenant_keys_by_vault_key ON public.tenant_keys USING btree (public.vault_key(wrapped));

CREATE INDEX tenant_keys_replaced ON public.tenant_keys USING btree (replaced_at) WHERE (replaced_at IS NOT NULL);

CREATE INDEX user_roles_by_user ON public.user_roles USING btree (user_id);

CREATE INDEX user_sessions_by_user ON public.user_sessions USING btree (user_id);

CREATE INDEX users_by_email ON public.users USING btree (email) WHERE (issuer IS NULL);

CREATE INDEX wakes_by_due ON public.wakes USING btree (due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX wakes_needed ON public.wakes USING btree (tenant_id, since) WHERE (state = ANY (ARRAY['due'::text, 'held'::text, 'unreachable'::text]));

CREATE INDEX webchat_chats_by_age ON public.webchat_chats USING btree (seen_at);

CREATE INDEX webchat_chats_by_key ON public.webchat_chats USING btree (tenant_id, status_key_id) WHERE (status_key_id IS NOT NULL);

CREATE INDEX webchat_messages_by_age ON public.webchat_messages USING btree (at);

CREATE INDEX webchat_messages_by_key ON public.webchat_messages USING btree (tenant_id, key_id) WHERE (NOT deleted);

CREATE INDEX webchat_messages_by_prompt_key ON public.webchat_messages USING btree (tenant_id, prompt_key_id) WHERE (prompt_key_id IS NOT NULL);

CREATE TRIGGER keep_prompts AFTER INSERT ON public.prompts FOR EACH ROW EXECUTE FUNCTION public.keep_agent_quota('agent-prompts');

CREATE TRIGGER keep_quota AFTER INSERT ON public.agents REFERENCING NEW TABLE AS entered FOR EACH STATEMENT EXECUTE FUNCTION public.keep_quota('agents');

CREATE TRIGGER keep_quota AFTER INSERT ON public.gateways REFERENCING NEW TABLE AS entered FOR EACH STATEMENT EXECUTE FUNCTION public.keep_quota('gateways');

CREATE TRIGGER keep_quota AFTER INSERT ON public.scope_grants REFERENCING NEW TABLE AS entered FOR EACH STATEMENT EXECUTE FUNCTION public.keep_quota('grants');

CREATE TRIGGER keep_sends AFTER INSERT ON public.sends FOR EACH ROW EXECUTE FUNCTION public.keep_agent_quota('agent-sends');

CREATE TRIGGER lines_count_awake BEFORE UPDATE ON public.lines FOR EACH ROW WHEN (((old.closed_at IS NULL) AND ((new.generation <> old.generation) OR (new.closed_at IS NOT NULL)))) EXECUTE FUNCTION public.count_awake();

CREATE TRIGGER lines_forget_sessions BEFORE UPDATE ON public.lines FOR EACH ROW WHEN (((new.generation <> old.generation) OR ((old.closed_at IS NULL) AND (new.closed_at IS NOT NULL)))) EXECUTE FUNCTION public.forget_sessions();

CREATE TRIGGER note_binding AFTER INSERT OR DELETE OR UPDATE ON public.bindings FOR EACH ROW EXECUTE FUNCTION public.note_binding();

CREATE TRIGGER note_client_rules AFTER UPDATE OF client_rules ON public.agents FOR EACH ROW WHEN (((old.client_rules = 'hermes-0.20'::text) <> (new.client_rules = 'hermes-0.20'::text))) EXECUTE FUNCTION public.note_relevance();

CREATE TRIGGER note_grant AFTER INSERT OR DELETE OR UPDATE ON public.scope_grants FOR EACH ROW EXECUTE FUNCTION public.note_grant();

CREATE TRIGGER note_listed AFTER INSERT OR DELETE ON public.listed_authors FOR EACH ROW EXECUTE FUNCTION public.note_listed();

CREATE TRIGGER note_relevance AFTER INSERT OR DELETE OR UPDATE ON public.relevance_policies FOR EACH ROW EXECUTE FUNCTION public.note_relevance();

CREATE CONSTRAINT TRIGGER tell_agent AFTER INSERT ON public.agents DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.tell_row('agent-created', 'agent_id');

CREATE CONSTRAINT TRIGGER tell_alert_way AFTER INSERT ON public.alert_ways DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.tell_row('alert-way-added', 'way_id', 'kind', 'coverage');

CREATE CONSTRAINT TRIGGER tell_alert_way_removed AFTER DELETE ON public.alert_ways DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.tell_row('alert-way-removed', 'way_id', 'kind');

CREATE CONSTRAINT TRIGGER tell_api_token AFTER INSERT ON public.api_tokens DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.tell_own('api-token-made', 'token_id');

CREATE CONSTRAINT TRIGGER tell_api_token_revoked AFTER UPDATE OF revoked_at ON public.api_tokens DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (((old.revoked_at IS NULL) AND (new.revoked_at IS NOT NULL))) EXECUTE FUNCTION public.tell_own('api-token-revoked', 'token_id');

CREATE CONSTRAINT TRIGGER tell_bot AFTER INSERT ON public.bots DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.tell_row('bot-created', 'bot_id', 'platform');

CREATE CONSTRAINT TRIGGER tell_bot_key AFTER INSERT ON public.bot_keys DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.tell_row('bot-key-rotated', 'bot_id');

CREATE CONSTRAINT TRIGGER tell_bound AFTER INSERT ON public.bindings DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.tell_row('bound', 'agent_id', 'bot_id', 'author_id');

CREATE CONSTRAINT TRIGGER tell_client AFTER UPDATE OF revoked_at ON public.oauth_clients DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (((old.revoked_at IS NULL) AND (new.revoked_at IS NOT NULL))) EXECUTE FUNCTION public.tell_row('client-revoked', 'client_id');

CREATE CONSTRAINT TRIGGER tell_erased AFTER UPDATE OF erased_at ON public.tenants DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (((old.erased_at IS NULL) AND (new.erased_at IS NOT NULL))) EXECUTE FUNCTION public.tell_row('tenant-erased');

CREATE CONSTRAINT TRIGGER tell_gateway AFTER INSERT ON public.gateways DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.tell_row('gateway-created', 'gateway_id');

CREATE CONSTRAINT TRIGGER tell_glass AFTER INSERT ON public.glass_requests DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.tell_row('glass-asked', 'request_id', 'asked_by');

CREATE CONSTRAINT TRIGGER tell_glass_approved AFTER UPDATE OF approved_by ON public.glass_requests DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (((old.approved_by IS NULL) AND (new.approved_by IS NOT NULL))) EXECUTE FUNCTION public.tell_row('glass-approved', 'request_id', 'asked_by', 'approved_by');

CREATE CONSTRAINT TRIGGER tell_glass_ended AFTER UPDATE OF ended_at ON public.glass_requests DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (((old.ended_at IS NULL) AND (new.ended_at IS NOT NULL))) EXECUTE FUNCTION public.tell_row('glass-ended', 'request_id', 'asked_by');

CREATE CONSTRAINT TRIGGER tell_granted AFTER INSERT ON public.scope_grants DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.tell_row('granted', 'agent_id', 'bot_id', 'scope_id', 'chat_id', 'principal');

CREATE CONSTRAINT TRIGGER tell_invited AFTER INSERT ON public.oauth_clients DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.tell_row('gateway-invited', 'agent_id', 'client_id');

CREATE CONSTRAINT TRIGGER tell_keys AFTER INSERT ON public.tenant_keys DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ((new.key_id > 1)) EXECUTE FUNCTION public.tell_row('keys-rotated', 'key_id');

CREATE CONSTRAINT TRIGGER tell_link AFTER INSERT ON public.link_codes DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.tell_row('link-made', 'agent_id');

CREATE CONSTRAINT TRIGGER tell_linked AFTER UPDATE OF used_author ON public.link_codes DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (((old.used_author IS NULL) AND (new.used_author IS NOT NULL))) EXECUTE FUNCTION public.tell_linked();

CREATE CONSTRAINT TRIGGER tell_listed AFTER INSERT OR DELETE ON public.listed_authors DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.tell_row('list-replaced', 'agent_id', 'bot_id');

CREATE CONSTRAINT TRIGGER tell_login AFTER INSERT ON public.user_sessions DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.tell_own('user-logged-in', 'user_id');

CREATE CONSTRAINT TRIGGER tell_login_link AFTER INSERT ON public.login_links DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.tell_own('login-link-made', 'user_id');

CREATE CONSTRAINT TRIGGER tell_logout AFTER UPDATE OF ended_at ON public.user_sessions DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (((old.ended_at IS NULL) AND (new.ended_at IS NOT NULL))) EXECUTE FUNCTION public.tell_own('user-logged-out', 'user_id');

CREATE CONSTRAINT TRIGGER tell_moderation AFTER UPDATE OF is_moderator ON public.scope_grants DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.tell_row('moderation-granted', 'agent_id', 'bot_id', 'scope_id', 'chat_id');

CREATE CONSTRAINT TRIGGER tell_parked AFTER INSERT ON public.inbox_parked DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ((new.reason <> 'operator'::text)) EXECUTE FUNCTION public.tell_parked();

CREATE CONSTRAINT TRIGGER tell_preferred AFTER UPDATE OF preferred_at ON public.bindings DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.tell_row('preferred', 'agent_id', 'bot_id', 'author_id');

CREATE CONSTRAINT TRIGGER tell_principal AFTER UPDATE OF principal ON public.agents DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.tell_row('principal-opened', 'agent_id', 'principal');

CREATE CONSTRAINT TRIGGER tell_quota AFTER INSERT OR UPDATE ON public.quotas DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.tell_row('quota-set', 'quota', 'allowed');

CREATE CONSTRAINT TRIGGER tell_released AFTER DELETE ON public.scope_grants DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.tell_row('released', 'agent_id', 'bot_id', 'scope_id', 'chat_id');

CREATE CONSTRAINT TRIGGER tell_relevance AFTER INSERT OR UPDATE ON public.relevance_policies DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.tell_row('relevance-declared', 'agent_id', 'platform');

CREATE CONSTRAINT TRIGGER tell_removed AFTER DELETE ON public.inbox_parked DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (((old.parked_at > (now() - public.retention_min('parked'::text))) AND (current_setting('app.trims'::text, true) IS DISTINCT FROM 'on'::text))) EXECUTE FUNCTION public.tell_row('entry-removed', 'agent_id', 'seq');

CREATE CONSTRAINT TRIGGER tell_resubmitted AFTER UPDATE OF resubmitted_as ON public.inbox_parked DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.tell_row('entry-resubmitted', 'agent_id', 'seq', 'resubmitted_as');

CREATE CONSTRAINT TRIGGER tell_retired AFTER UPDATE OF retired_at ON public.signing_keys DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (((old.retired_at IS NULL) AND (new.retired_at IS NOT NULL))) EXECUTE FUNCTION public.tell_own('signing-key-retired', 'kid');

CREATE CONSTRAINT TRIGGER tell_revoked AFTER UPDATE OF revoked_at ON public.gateways DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (((old.revoked_at IS NULL) AND (new.revoked_at IS NOT NULL))) EXECUTE FUNCTION public.tell_row('gateway-revoked', 'gateway_id');

CREATE CONSTRAINT TRIGGER tell_role AFTER INSERT ON public.user_roles DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.tell_row('role-given', 'user_id', 'role', 'source');

CREATE CONSTRAINT TRIGGER tell_role_taken AFTER DELETE ON public.user_roles DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.tell_row('role-taken', 'user_id', 'role', 'source');

CREATE CONSTRAINT TRIGGER tell_secret AFTER INSERT ON public.gateway_secrets DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.tell_row('gateway-rotated', 'gateway_id');

CREATE CONSTRAINT TRIGGER tell_session AFTER INSERT ON public.bootstrap_sessions DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.tell_row('session-begun', 'agent_id', 'issuer', 'session');

CREATE CONSTRAINT TRIGGER tell_session_ended AFTER UPDATE OF revoked_at ON public.bootstrap_sessions DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (((old.revoked_at IS NULL) AND (new.revoked_at IS NOT NULL))) EXECUTE FUNCTION public.tell_row('session-ended', 'agent_id', 'issuer', 'session');

CREATE CONSTRAINT TRIGGER tell_set_aside AFTER INSERT ON public.inbox_parked DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ((new.reason = 'operator'::text)) EXECUTE FUNCTION public.tell_row('entry-set-aside', 'agent_id', 'seq');

CREATE CONSTRAINT TRIGGER tell_shared AFTER UPDATE OF shared ON public.bots DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.tell_row('bot-shared', 'bot_id', 'shared');

CREATE CONSTRAINT TRIGGER tell_shelf_secured AFTER UPDATE OF approval_key ON public.shelves DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ((old.approval_key IS DISTINCT FROM new.approval_key)) EXECUTE FUNCTION public.tell_row('shelf-secured');

CREATE CONSTRAINT TRIGGER tell_signing_key AFTER INSERT ON public.signing_keys DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.tell_own('signing-key-made', 'kid');

CREATE CONSTRAINT TRIGGER tell_skill AFTER INSERT ON public.skill_revisions DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ((new.previous_status IS NULL)) EXECUTE FUNCTION public.tell_row('skill-written', 'name', 'version', 'status');

CREATE CONSTRAINT TRIGGER tell_skill_deleted AFTER DELETE ON public.skills DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.tell_row('skill-deleted', 'name');

CREATE CONSTRAINT TRIGGER tell_skill_status AFTER INSERT ON public.skill_revisions DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ((new.previous_status IS NOT NULL)) EXECUTE FUNCTION public.tell_row('skill-status-set', 'name', 'version', 'status');

CREATE CONSTRAINT TRIGGER tell_stops_allowed AFTER UPDATE OF stops_others ON public.agents DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.tell_row('stops-allowed', 'agent_id', 'stops_others');

CREATE CONSTRAINT TRIGGER tell_tenant AFTER INSERT ON public.tenants DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.tell_row('tenant-created');

CREATE CONSTRAINT TRIGGER tell_trusted AFTER UPDATE OF gateways_may_widen ON public.tenants DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.tell_row('gateways-trusted', 'gateways_may_widen');

CREATE CONSTRAINT TRIGGER tell_unbound AFTER DELETE ON public.bindings DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.tell_row('unbound', 'agent_id', 'bot_id', 'author_id');

CREATE CONSTRAINT TRIGGER tell_user AFTER INSERT ON public.users DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.tell_own('user-created', 'user_id');

CREATE CONSTRAINT TRIGGER tell_wakers AFTER INSERT OR DELETE ON public.wakers DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.tell_row('wake-url-set', 'agent_id');

CREATE TRIGGER wakes_log BEFORE UPDATE ON public.wakes FOR EACH ROW WHEN (((new.state <> old.state) AND (new.state = ANY (ARRAY['woken'::text, 'unreachable'::text])))) EXECUTE FUNCTION public.log_wake();

ALTER TABLE ONLY public.agent_webhooks
    ADD CONSTRAINT agent_webhooks_tenant_id_agent_id_fkey FOREIGN KEY (tenant_id, agent_id) REFERENCES public.agents(tenant_id, agent_id);

ALTER TABLE ONLY public.alert_deliveries
    ADD CONSTRAINT alert_deliveries_way_tenant_way_id_fkey FOREIGN KEY (way_tenant, way_id) REFERENCES public.alert_ways(tenant_id, way_id) ON DELETE CASCADE;

ALTER TABLE ONLY public.api_tokens
    ADD CONSTRAINT api_tokens_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(user_id);

ALTER TABLE ONLY public.bindings
    ADD CONSTRAINT bindings_tenant_id_agent_id_fkey FOREIGN KEY (tenant_id, agent_id) REFERENCES public.agents(tenant_id, agent_id);

ALTER TABLE ONLY public.bootstrap_sessions
    ADD CONSTRAINT bootstrap_sessions_tenant_id_agent_id_fkey FOREIGN KEY (tenant_id, agent_id) REFERENCES public.agents(tenant_id, agent_id);

ALTER TABLE ONLY public.bot_keys
    ADD CONSTRAINT bot_keys_tenant_id_bot_id_fkey FOREIGN KEY (tenant_id, bot_id) REFERENCES public.bots(tenant_id, bot_id);

ALTER TABLE ONLY public.bot_keys
    ADD CONSTRAINT bot_keys_tenant_id_key_id_fkey FOREIGN KEY (tenant_id, key_id) REFERENCES public.tenant_keys(tenant_id, key_id);

ALTER TABLE ONLY public.bot_sessions
    ADD CONSTRAINT bot_sessions_tenant_id_bot_id_fkey FOREIGN KEY (tenant_id, bot_id) REFERENCES public.bots(tenant_id, bot_id) ON DELETE CASCADE;

ALTER TABLE ONLY public.capabilities
    ADD CONSTRAINT capabilities_tenant_id_agent_id_fkey FOREIGN KEY (tenant_id, agent_id) REFERENCES public.agents(tenant_id, agent_id);

ALTER TABLE ONLY public.capabilities
    ADD CONSTRAINT capabilities_tenant_id_key_id_fkey FOREIGN KEY (tenant_id, key_id) REFERENCES public.tenant_keys(tenant_id, key_id);

ALTER TABLE ONLY public.commands
    ADD CONSTRAINT commands_tenant_id_agent_id_fkey FOREIGN KEY (tenant_id, agent_id) REFERENCES public.agents(tenant_id, agent_id);

ALTER TABLE ONLY public.enrolments
    ADD CONSTRAINT enrolments_tenant_id_agent_id_fkey FOREIGN KEY (tenant_id, agent_id) REFERENCES public.agents(tenant_id, agent_id);

ALTER TABLE ONLY public.enrolments
    ADD CONSTRAINT enrolments_tenant_id_gateway_id_fkey FOREIGN KEY (tenant_id, gateway_id) REFERENCES public.gateways(tenant_id, gateway_id);

ALTER TABLE ONLY public.gateway_platforms
    ADD CONSTRAINT gateway_platforms_tenant_id_gateway_id_fkey FOREIGN KEY (tenant_id, gateway_id) REFERENCES public.gateways(tenant_id, gateway_id);

ALTER TABLE ONLY public.gateway_secrets
    ADD CONSTRAINT gateway_secrets_tenant_id_gateway_id_fkey FOREIGN KEY (tenant_id, gateway_id) REFERENCES public.gateways(tenant_id, gateway_id);

ALTER TABLE ONLY public.gateway_secrets
    ADD CONSTRAINT gateway_secrets_tenant_id_key_id_fkey FOREIGN KEY (tenant_id, key_id) REFERENCES public.tenant_keys(tenant_id, key_id);

ALTER TABLE ONLY public.gateways
    ADD CONSTRAINT gateways_tenant_id_agent_id_fkey FOREIGN KEY (tenant_id, agent_id) REFERENCES public.agents(tenant_id, agent_id);

ALTER TABLE ONLY public.glass_requests
    ADD CONSTRAINT glass_requests_approved_by_fkey FOREIGN KEY (approved_by) REFERENCES public.users(user_id);

ALTER TABLE ONLY public.glass_requests
    ADD CONSTRAINT glass_requests_asked_by_fkey FOREIGN KEY (asked_by) REFERENCES public.users(user_id);

ALTER TABLE ONLY public.glass_requests
    ADD CONSTRAINT glass_requests_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id);

ALTER TABLE ONLY public.letter_grants
    ADD CONSTRAINT letter_grants_tenant_id_agent_id_fkey FOREIGN KEY (tenant_id, agent_id) REFERENCES public.agents(tenant_id, agent_id);

ALTER TABLE ONLY public.letter_hooks
    ADD CONSTRAINT letter_hooks_tenant_id_agent_id_fkey FOREIGN KEY (tenant_id, agent_id) REFERENCES public.agents(tenant_id, agent_id);

ALTER TABLE ONLY public.link_codes
    ADD CONSTRAINT link_codes_tenant_id_agent_id_fkey FOREIGN KEY (tenant_id, agent_id) REFERENCES public.agents(tenant_id, agent_id);

ALTER TABLE ONLY public.listed_authors
    ADD CONSTRAINT listed_authors_tenant_id_agent_id_fkey FOREIGN KEY (tenant_id, agent_id) REFERENCES public.agents(tenant_id, agent_id);

ALTER TABLE ONLY public.login_links
    ADD CONSTRAINT login_links_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(user_id);

ALTER TABLE ONLY public.media
    ADD CONSTRAINT media_tenant_id_agent_id_fkey FOREIGN KEY (tenant_id, agent_id) REFERENCES public.agents(tenant_id, agent_id);

ALTER TABLE ONLY public.oauth_clients
    ADD CONSTRAINT oauth_clients_tenant_id_agent_id_fkey FOREIGN KEY (tenant_id, agent_id) REFERENCES public.agents(tenant_id, agent_id);

ALTER TABLE ONLY public.prompts
    ADD CONSTRAINT prompts_tenant_id_agent_id_fkey FOREIGN KEY (tenant_id, agent_id) REFERENCES public.agents(tenant_id, agent_id);

ALTER TABLE ONLY public.relevance_policies
    ADD CONSTRAINT relevance_policies_tenant_id_agent_id_fkey FOREIGN KEY (tenant_id, agent_id) REFERENCES public.agents(tenant_id, agent_id);

ALTER TABLE ONLY public.schedules
    ADD CONSTRAINT schedules_tenant_id_agent_id_fkey FOREIGN KEY (tenant_id, agent_id) REFERENCES public.agents(tenant_id, agent_id);

ALTER TABLE ONLY public.scope_grants
    ADD CONSTRAINT scope_grants_tenant_id_agent_id_fkey FOREIGN KEY (tenant_id, agent_id) REFERENCES public.agents(tenant_id, agent_id);

ALTER TABLE ONLY public.sent_messages
    ADD CONSTRAINT sent_messages_tenant_id_agent_id_request_id_fkey FOREIGN KEY (tenant_id, agent_id, request_id) REFERENCES public.sends(tenant_id, agent_id, request_id) ON DELETE CASCADE;

ALTER TABLE ONLY public.shelves
    ADD CONSTRAINT shelves_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id);

ALTER TABLE ONLY public.skill_revisions
    ADD CONSTRAINT skill_revisions_tenant_id_name_fkey FOREIGN KEY (tenant_id, name) REFERENCES public.skills(tenant_id, name) ON DELETE CASCADE;

ALTER TABLE ONLY public.user_roles
    ADD CONSTRAINT user_roles_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(user_id);

ALTER TABLE ONLY public.user_sessions
    ADD CONSTRAINT user_sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(user_id);

ALTER TABLE ONLY public.wakers
    ADD CONSTRAINT wakers_tenant_id_agent_id_fkey FOREIGN KEY (tenant_id, agent_id) REFERENCES public.agents(tenant_id, agent_id);

ALTER TABLE ONLY public.wakers
    ADD CONSTRAINT wakers_tenant_id_gateway_id_fkey FOREIGN KEY (tenant_id, gateway_id) REFERENCES public.gateways(tenant_id, gateway_id);

ALTER TABLE public.agent_webhooks ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.agents ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.alert_deliveries ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.alert_ways ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.alerts ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.audit_heads ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.audit_log ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.bindings ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.bootstrap_sessions ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.bot_hearings ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.bot_keys ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.bot_sessions ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.bots ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.capabilities ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.commands ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.data_entries ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.dedupe_keys ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.enrolments ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.fires ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.gateway_platforms ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.gateway_secrets ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.gateways ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.glass_requests ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.inbox_acks ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.inbox_cursors ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.inbox_entries ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.inbox_heads ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.inbox_parked ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.letter_grants ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.letter_hooks ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.letter_receipts ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.letters ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.letters_in ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.lines ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.link_codes ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.link_tries ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.listed_authors ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.media ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.notice_heads ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.notices ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.oauth_clients ENABLE ROW LEVEL SECURITY;

CREATE POLICY own_tenants ON public.agent_webhooks USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.agents USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.alert_deliveries USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.alert_ways USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.alerts USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.audit_heads USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.audit_log USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.bindings USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.bootstrap_sessions USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.bot_hearings USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.bot_keys USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.bot_sessions USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.bots USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.capabilities USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.commands USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.data_entries USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.dedupe_keys USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.enrolments USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.fires USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.gateway_platforms USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.gateway_secrets USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.gateways USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.glass_requests USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.inbox_acks USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.inbox_cursors USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.inbox_entries USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.inbox_heads USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.inbox_parked USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.letter_grants USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.letter_hooks USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.letter_receipts USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.letters USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.letters_in USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.lines USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.link_codes USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.link_tries USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.listed_authors USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.media USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.notice_heads USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.notices USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.oauth_clients USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.prompts USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.quarantine_heads USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.quarantined USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.quotas USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.reach_changes USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.reach_heads USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.reached USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.refresh_tokens USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.refusal_heads USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.refusals USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.relevance_policies USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.schedule_rooms USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.schedules USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.scope_grants USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.sends USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.sent_messages USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.shelves USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.skill_revisions USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.skills USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.source_cursors USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.tenant_keys USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.tenant_usage USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.tenants USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.user_roles USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.wake_log USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.wakers USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.wakes USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.webchat_chats USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

CREATE POLICY own_tenants ON public.webchat_messages USING ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL)) WITH CHECK ((array_position(( SELECT (current_setting('app.tenants'::text))::uuid[] AS current_setting), tenant_id) IS NOT NULL));

ALTER TABLE public.prompts ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.quarantine_heads ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.quarantined ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.quotas ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.reach_changes ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.reach_heads ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.reached ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.refresh_tokens ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.refusal_heads ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.refusals ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.relevance_policies ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.schedule_rooms ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.schedules ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.scope_grants ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.sends ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.sent_messages ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.shelves ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.skill_revisions ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.skills ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.source_cursors ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.tenant_keys ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.tenant_usage ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.tenants ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.user_roles ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.wake_log ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.wakers ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.wakes ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.webchat_chats ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.webchat_messages ENABLE ROW LEVEL SECURITY;

GRANT ALL ON SCHEMA public TO nightdesk_owner;
GRANT ALL ON SCHEMA public TO nightdesk_doors;
GRANT USAGE ON SCHEMA public TO nightdesk_app;

REVOKE ALL ON FUNCTION public.agent_name(p_tenant uuid, p_agent uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION public.agent_name(p_tenant uuid, p_agent uuid) TO nightdesk_doors;

REVOKE ALL ON FUNCTION public.audit_bytes(p_tenant uuid, p_seq bigint, p_at timestamp with time zone, p_actor text, p_kind text, p_about text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.audit_bytes(p_tenant uuid, p_seq bigint, p_at timestamp with time zone, p_actor text, p_kind text, p_about text) TO nightdesk_doors;

REVOKE ALL ON FUNCTION public.body_bytes(sealed bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION public.body_bytes(sealed bytea) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.body_bytes(sealed bytea) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.bot_begins(p_tenant uuid, p_bot uuid, p_alarm integer, p_stop integer, p_words text, notices_max bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.bot_begins(p_tenant uuid, p_bot uuid, p_alarm integer, p_stop integer, p_words text, notices_max bigint) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.bot_begins(p_tenant uuid, p_bot uuid, p_alarm integer, p_stop integer, p_words text, notices_max bigint) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.bot_heard(p_tenant uuid, p_bot uuid, p_kept interval, p_lost text, notices_max bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.bot_heard(p_tenant uuid, p_bot uuid, p_kept interval, p_lost text, notices_max bigint) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.bot_heard(p_tenant uuid, p_bot uuid, p_kept interval, p_lost text, notices_max bigint) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.bot_missed(p_tenant uuid, p_bot uuid, p_words text, notices_max bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.bot_missed(p_tenant uuid, p_bot uuid, p_words text, notices_max bigint) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.bot_missed(p_tenant uuid, p_bot uuid, p_words text, notices_max bigint) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.bot_unheard(p_tenant uuid, p_bot uuid, p_why text, p_deaf_after interval, notices_max bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.bot_unheard(p_tenant uuid, p_bot uuid, p_why text, p_deaf_after interval, notices_max bigint) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.bot_unheard(p_tenant uuid, p_bot uuid, p_why text, p_deaf_after interval, notices_max bigint) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.bury_lines(lines_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.bury_lines(lines_max integer) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.check_data_key(p_tenant uuid, p_key bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.check_data_key(p_tenant uuid, p_key bigint) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.check_data_key(p_tenant uuid, p_key bigint) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.check_retention(p_rows text, kept interval) FROM PUBLIC;
GRANT ALL ON FUNCTION public.check_retention(p_rows text, kept interval) TO nightdesk_doors;

REVOKE ALL ON FUNCTION public.close_day(p_name text, kept_days integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.close_day(p_name text, kept_days integer) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.close_day(p_name text, kept_days integer) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.count_awake() FROM PUBLIC;
GRANT ALL ON FUNCTION public.count_awake() TO nightdesk_doors;

REVOKE ALL ON FUNCTION public.current_incarnation() FROM PUBLIC;
GRANT ALL ON FUNCTION public.current_incarnation() TO nightdesk_doors;
GRANT ALL ON FUNCTION public.current_incarnation() TO nightdesk_app;

REVOKE ALL ON FUNCTION public.cursor_after(acked_seq bigint, done int8multirange) FROM PUBLIC;
GRANT ALL ON FUNCTION public.cursor_after(acked_seq bigint, done int8multirange) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.cursor_after(acked_seq bigint, done int8multirange) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.data_clear(p_tenant uuid, p_id text, p_now bigint, rows_max bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.data_clear(p_tenant uuid, p_id text, p_now bigint, rows_max bigint) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.data_clear(p_tenant uuid, p_id text, p_now bigint, rows_max bigint) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.data_keys_newest(p_tenants uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.data_keys_newest(p_tenants uuid[]) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.data_keys_newest(p_tenants uuid[]) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.data_keys_numbered(p_tenant uuid[], p_key bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.data_keys_numbered(p_tenant uuid[], p_key bigint[]) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.data_keys_numbered(p_tenant uuid[], p_key bigint[]) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.data_put(p_tenant uuid, p_id text, p_content text, p_tags text[], p_recipients text[], p_end_said boolean, p_expires_at bigint, p_fields jsonb, p_metadata jsonb, p_bytes bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.data_put(p_tenant uuid, p_id text, p_content text, p_tags text[], p_recipients text[], p_end_said boolean, p_expires_at bigint, p_fields jsonb, p_metadata jsonb, p_bytes bigint) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.data_put(p_tenant uuid, p_id text, p_content text, p_tags text[], p_recipients text[], p_end_said boolean, p_expires_at bigint, p_fields jsonb, p_metadata jsonb, p_bytes bigint) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.day_is_empty(day date) FROM PUBLIC;

REVOKE ALL ON FUNCTION public.deprovision(p_tenant uuid, p_agent uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION public.deprovision(p_tenant uuid, p_agent uuid) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.deprovision(p_tenant uuid, p_agent uuid) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.door_alert_causes(p_kinds text[], p_full_for interval, p_event_for interval, p_loss_for interval, p_calls integer, p_percent bigint, p_findings_last interval, samples_max integer, causes_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.door_alert_causes(p_kinds text[], p_full_for interval, p_event_for interval, p_loss_for interval, p_calls integer, p_percent bigint, p_findings_last interval, samples_max integer, causes_max integer) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.door_asker(p_bot uuid, p_prompt text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.door_asker(p_bot uuid, p_prompt text) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.door_audit_heads(p_after uuid, lately interval, rows_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.door_audit_heads(p_after uuid, lately interval, rows_max integer) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.door_bot(p_paths text[], p_bots uuid[], keys_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.door_bot(p_paths text[], p_bots uuid[], keys_max integer) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.door_bots_of(p_tenant uuid, p_agent uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION public.door_bots_of(p_tenant uuid, p_agent uuid) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.door_changed(p_bots uuid[], p_versions bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.door_changed(p_bots uuid[], p_versions bigint[]) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.door_chats_of(p_tenant uuid, p_bot uuid, p_kept interval, chats_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.door_chats_of(p_tenant uuid, p_bot uuid, p_kept interval, chats_max integer) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.door_claim_command(p_tenant uuid, p_agent uuid, p_bot uuid, p_scope text, p_name text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.door_claim_command(p_tenant uuid, p_agent uuid, p_bot uuid, p_scope text, p_name text) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.door_claim_roles(p_user uuid, p_tenants uuid[], p_roles text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.door_claim_roles(p_user uuid, p_tenants uuid[], p_roles text[]) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.door_client(p_clients uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.door_client(p_clients uuid[]) TO nightdesk_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.alert_deliveries TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.alert_deliveries TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.alert_ways TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.alert_ways TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.alerts TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.alerts TO nightdesk_doors;

REVOKE ALL ON FUNCTION public.door_due_alerts(p_within interval, pairs_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.door_due_alerts(p_within interval, pairs_max integer) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.door_erasures(p_listed uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.door_erasures(p_listed uuid[]) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.door_gateways(p_names text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.door_gateways(p_names text[]) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.door_give_up_sends(sends_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.door_give_up_sends(sends_max integer) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.door_glass(p_tenant uuid, p_request uuid, requests_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.door_glass(p_tenant uuid, p_request uuid, requests_max integer) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.door_letter_hook(p_digests bytea[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.door_letter_hook(p_digests bytea[]) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.door_link(p_bot uuid, p_author text, p_code bytea, tries_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.door_link(p_bot uuid, p_author text, p_code bytea, tries_max integer) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.door_listening_bots(p_adapters text[], bots_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.door_listening_bots(p_adapters text[], bots_max integer) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.door_lock_alerts(p_kinds text[], c_tenants uuid[], c_kinds text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.door_lock_alerts(p_kinds text[], c_tenants uuid[], c_kinds text[]) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.door_message_sender(p_bot uuid, p_chat text, p_message text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.door_message_sender(p_bot uuid, p_chat text, p_message text) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.door_node_lines(p_nodes text[], p_epochs bigint[], lines_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.door_node_lines(p_nodes text[], p_epochs bigint[], lines_max integer) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.door_open_alerts(alerts_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.door_open_alerts(alerts_max integer) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.door_open_bots(p_tenant uuid, bots_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.door_open_bots(p_tenant uuid, bots_max integer) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.door_ownerless_bots(bots_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.door_ownerless_bots(bots_max integer) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.door_reach(p_bot uuid, p_since bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.door_reach(p_bot uuid, p_since bigint) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.door_reaches(p_tenant uuid, p_agent uuid, p_chat text, p_kept interval) FROM PUBLIC;
GRANT ALL ON FUNCTION public.door_reaches(p_tenant uuid, p_agent uuid, p_chat text, p_kept interval) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.door_refresh_tokens(p_tenants uuid[], p_sessions text[], p_digests bytea[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.door_refresh_tokens(p_tenants uuid[], p_sessions text[], p_digests bytea[]) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.door_remove_bot(p_tenant uuid, p_bot uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION public.door_remove_bot(p_tenant uuid, p_bot uuid) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.door_revoked(p_since interval) FROM PUBLIC;
GRANT ALL ON FUNCTION public.door_revoked(p_since interval) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.door_rewrap(p_tenant uuid[], p_key bigint[], p_was bytea[], p_wrapped bytea[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.door_rewrap(p_tenant uuid[], p_key bigint[], p_was bytea[], p_wrapped bytea[]) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.door_tenant(p_called text, p_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION public.door_tenant(p_called text, p_id uuid) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.door_tenants(p_after text, tenants_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.door_tenants(p_after text, tenants_max integer) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.door_user_access(p_users uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.door_user_access(p_users uuid[]) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.door_users(p_tenant uuid, p_user uuid, p_after uuid, users_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.door_users(p_tenant uuid, p_user uuid, p_after uuid, users_max integer) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.door_vault_keys() FROM PUBLIC;
GRANT ALL ON FUNCTION public.door_vault_keys() TO nightdesk_app;

REVOKE ALL ON FUNCTION public.door_waiting_sends(p_node text, p_epoch bigint, sends_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.door_waiting_sends(p_node text, p_epoch bigint, sends_max integer) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.door_wrapped_by(p_vault_key bytea, rows_max bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.door_wrapped_by(p_vault_key bytea, rows_max bigint) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.entry_bytes_max() FROM PUBLIC;
GRANT ALL ON FUNCTION public.entry_bytes_max() TO nightdesk_doors;
GRANT ALL ON FUNCTION public.entry_bytes_max() TO nightdesk_app;

REVOKE ALL ON FUNCTION public.erasure_plan() FROM PUBLIC;
GRANT ALL ON FUNCTION public.erasure_plan() TO nightdesk_doors;
GRANT ALL ON FUNCTION public.erasure_plan() TO nightdesk_app;

REVOKE ALL ON FUNCTION public.expire_entries(kept interval, entries_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.expire_entries(kept interval, entries_max integer) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.fires_begin(p_node text, p_now timestamp with time zone, p_tenant uuid[], p_agent uuid[], p_job text[], p_watch_at timestamp with time zone[], p_fire uuid[], p_state text[], p_cause text[], p_tries integer[], p_calling boolean[], p_next_at timestamp with time zone[], p_ended_at timestamp with time zone[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.fires_begin(p_node text, p_now timestamp with time zone, p_tenant uuid[], p_agent uuid[], p_job text[], p_watch_at timestamp with time zone[], p_fire uuid[], p_state text[], p_cause text[], p_tries integer[], p_calling boolean[], p_next_at timestamp with time zone[], p_ended_at timestamp with time zone[]) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.fires_begin(p_node text, p_now timestamp with time zone, p_tenant uuid[], p_agent uuid[], p_job text[], p_watch_at timestamp with time zone[], p_fire uuid[], p_state text[], p_cause text[], p_tries integer[], p_calling boolean[], p_next_at timestamp with time zone[], p_ended_at timestamp with time zone[]) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.fires_due(p_node text, p_epoch bigint, fires_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.fires_due(p_node text, p_epoch bigint, fires_max integer) TO nightdesk_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.fires TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.fires TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.schedules TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.schedules TO nightdesk_doors;

REVOKE ALL ON FUNCTION public.fires_lock(p_tenant uuid[], p_fire uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.fires_lock(p_tenant uuid[], p_fire uuid[]) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.fires_lock(p_tenant uuid[], p_fire uuid[]) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.fires_next_ms() FROM PUBLIC;
GRANT ALL ON FUNCTION public.fires_next_ms() TO nightdesk_app;

REVOKE ALL ON FUNCTION public.fires_page(p_tenant uuid, p_agent uuid, p_job text, p_before uuid, fires_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.fires_page(p_tenant uuid, p_agent uuid, p_job text, p_before uuid, fires_max integer) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.fires_page(p_tenant uuid, p_agent uuid, p_job text, p_before uuid, fires_max integer) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.fires_running(p_tenant uuid[], p_agent uuid[], p_job text[], p_since timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.fires_running(p_tenant uuid[], p_agent uuid[], p_job text[], p_since timestamp with time zone) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.fires_running(p_tenant uuid[], p_agent uuid[], p_job text[], p_since timestamp with time zone) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.fires_write(p_node text, p_tenant uuid[], p_fire uuid[], p_state text[], p_cause text[], p_tries integer[], p_calling boolean[], p_next_at timestamp with time zone[], p_ended_at timestamp with time zone[], p_outcome text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.fires_write(p_node text, p_tenant uuid[], p_fire uuid[], p_state text[], p_cause text[], p_tries integer[], p_calling boolean[], p_next_at timestamp with time zone[], p_ended_at timestamp with time zone[], p_outcome text[]) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.fires_write(p_node text, p_tenant uuid[], p_fire uuid[], p_state text[], p_cause text[], p_tries integer[], p_calling boolean[], p_next_at timestamp with time zone[], p_ended_at timestamp with time zone[], p_outcome text[]) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.flag_unarmed(jobs_max integer, notices_max bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.flag_unarmed(jobs_max integer, notices_max bigint) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.forget_acked(kept interval, blocks_max integer, OUT forgotten bigint, OUT is_done boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION public.forget_acked(kept interval, blocks_max integer, OUT forgotten bigint, OUT is_done boolean) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.forget_audit(kept interval, rows_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.forget_audit(kept interval, rows_max integer) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.forget_changes(kept interval, rows_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.forget_changes(kept interval, rows_max integer) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.forget_chats(kept interval, rows_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.forget_chats(kept interval, rows_max integer) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.forget_data_keys(kept interval, rows_max bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION public.forget_ended(kept interval, rows_max bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.forget_ended(kept interval, rows_max bigint) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.forget_fires(kept interval, rows_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.forget_fires(kept interval, rows_max integer) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.forget_letters(kept interval, rows_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.forget_letters(kept interval, rows_max integer) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.forget_links(kept interval, rows_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.forget_links(kept interval, rows_max integer) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.forget_media(media_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.forget_media(media_max integer) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.forget_parked(kept interval, entries_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.forget_parked(kept interval, entries_max integer) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.forget_prompts(kept interval, prompts_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.forget_prompts(kept interval, prompts_max integer) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.forget_sends(kept interval, sends_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.forget_sends(kept interval, sends_max integer) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.forget_sessions() FROM PUBLIC;
GRANT ALL ON FUNCTION public.forget_sessions() TO nightdesk_doors;

REVOKE ALL ON FUNCTION public.high_quotas(p_percent bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.high_quotas(p_percent bigint) TO nightdesk_doors;

REVOKE ALL ON FUNCTION public.inbox_accept(tenants uuid[], e_operator uuid[], e_bot uuid[], e_key bytea[], e_chat text[], e_unsendable boolean[], e_source text[], e_epoch bigint[], e_cursor text[], r_event integer[], r_tenant uuid[], r_agent uuid[], r_version bigint[], r_body bytea[], r_key_id bigint[], r_body_id uuid[], r_pace text[], entries_max bigint, dedupe_days integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.inbox_accept(tenants uuid[], e_operator uuid[], e_bot uuid[], e_key bytea[], e_chat text[], e_unsendable boolean[], e_source text[], e_epoch bigint[], e_cursor text[], r_event integer[], r_tenant uuid[], r_agent uuid[], r_version bigint[], r_body bytea[], r_key_id bigint[], r_body_id uuid[], r_pace text[], entries_max bigint, dedupe_days integer) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.inbox_accept(tenants uuid[], e_operator uuid[], e_bot uuid[], e_key bytea[], e_chat text[], e_unsendable boolean[], e_source text[], e_epoch bigint[], e_cursor text[], r_event integer[], r_tenant uuid[], r_agent uuid[], r_version bigint[], r_body bytea[], r_key_id bigint[], r_body_id uuid[], r_pace text[], entries_max bigint, dedupe_days integer) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.inbox_accept_bound(tenants uuid[], e_operator uuid[], e_bot uuid[], e_key bytea[], e_chat text[], e_unsendable boolean[], e_source text[], e_epoch bigint[], e_cursor text[], r_event integer[], r_tenant uuid[], r_agent uuid[], r_version bigint[], r_body bytea[], r_key_id bigint[], r_body_id uuid[], r_pace text[], entries_max bigint, dedupe_days integer, c_event integer[], c_tenant uuid[], c_agent uuid[], c_session bytea[], c_kind text[], c_sealed bytea[], c_key_id bigint[], c_secs double precision[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.inbox_accept_bound(tenants uuid[], e_operator uuid[], e_bot uuid[], e_key bytea[], e_chat text[], e_unsendable boolean[], e_source text[], e_epoch bigint[], e_cursor text[], r_event integer[], r_tenant uuid[], r_agent uuid[], r_version bigint[], r_body bytea[], r_key_id bigint[], r_body_id uuid[], r_pace text[], entries_max bigint, dedupe_days integer, c_event integer[], c_tenant uuid[], c_agent uuid[], c_session bytea[], c_kind text[], c_sealed bytea[], c_key_id bigint[], c_secs double precision[]) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.inbox_accept_bound(tenants uuid[], e_operator uuid[], e_bot uuid[], e_key bytea[], e_chat text[], e_unsendable boolean[], e_source text[], e_epoch bigint[], e_cursor text[], r_event integer[], r_tenant uuid[], r_agent uuid[], r_version bigint[], r_body bytea[], r_key_id bigint[], r_body_id uuid[], r_pace text[], entries_max bigint, dedupe_days integer, c_event integer[], c_tenant uuid[], c_agent uuid[], c_session bytea[], c_kind text[], c_sealed bytea[], c_key_id bigint[], c_secs double precision[]) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.inbox_ack(tenants uuid[], a_tenant uuid[], a_agent uuid[], a_incarnation bigint[], a_generation bigint[], r_ack integer[], r_from bigint[], r_to bigint[], r_at timestamp with time zone[], r_handed_at timestamp with time zone[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.inbox_ack(tenants uuid[], a_tenant uuid[], a_agent uuid[], a_incarnation bigint[], a_generation bigint[], r_ack integer[], r_from bigint[], r_to bigint[], r_at timestamp with time zone[], r_handed_at timestamp with time zone[]) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.inbox_ack(tenants uuid[], a_tenant uuid[], a_agent uuid[], a_incarnation bigint[], a_generation bigint[], r_ack integer[], r_from bigint[], r_to bigint[], r_at timestamp with time zone[], r_handed_at timestamp with time zone[]) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.inbox_is_full(p_tenant uuid, p_agent uuid, p_seq bigint, p_bytes bigint, v_entries bigint, v_bytes bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.inbox_is_full(p_tenant uuid, p_agent uuid, p_seq bigint, p_bytes bigint, v_entries bigint, v_bytes bigint) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.inbox_is_full(p_tenant uuid, p_agent uuid, p_seq bigint, p_bytes bigint, v_entries bigint, v_bytes bigint) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.inbox_last_seqs(a_tenant uuid[], a_agent uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.inbox_last_seqs(a_tenant uuid[], a_agent uuid[]) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.inbox_last_seqs(a_tenant uuid[], a_agent uuid[]) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.inbox_put_test(p_tenant uuid, p_agent uuid, p_bot uuid, p_chat text, p_body bytea, p_key bigint, p_body_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION public.inbox_put_test(p_tenant uuid, p_agent uuid, p_bot uuid, p_chat text, p_body bytea, p_key bigint, p_body_id uuid) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.inbox_put_test(p_tenant uuid, p_agent uuid, p_bot uuid, p_chat text, p_body bytea, p_key bigint, p_body_id uuid) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.inbox_resubmit(p_tenant uuid, p_agent uuid, p_seq bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.inbox_resubmit(p_tenant uuid, p_agent uuid, p_seq bigint) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.inbox_resubmit(p_tenant uuid, p_agent uuid, p_seq bigint) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.inbox_store(tenants uuid[], e_operator uuid[], e_bot uuid[], e_key bytea[], e_chat text[], e_unsendable boolean[], e_source text[], e_epoch bigint[], e_cursor text[], r_event integer[], r_tenant uuid[], r_agent uuid[], r_version bigint[], r_body bytea[], r_key_id bigint[], r_body_id uuid[], r_pace text[], entries_max bigint, dedupe_days integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.inbox_store(tenants uuid[], e_operator uuid[], e_bot uuid[], e_key bytea[], e_chat text[], e_unsendable boolean[], e_source text[], e_epoch bigint[], e_cursor text[], r_event integer[], r_tenant uuid[], r_agent uuid[], r_version bigint[], r_body bytea[], r_key_id bigint[], r_body_id uuid[], r_pace text[], entries_max bigint, dedupe_days integer) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.inbox_store(tenants uuid[], e_operator uuid[], e_bot uuid[], e_key bytea[], e_chat text[], e_unsendable boolean[], e_source text[], e_epoch bigint[], e_cursor text[], r_event integer[], r_tenant uuid[], r_agent uuid[], r_version bigint[], r_body bytea[], r_key_id bigint[], r_body_id uuid[], r_pace text[], entries_max bigint, dedupe_days integer) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.inbox_waiting(tenants uuid[], a_tenant uuid[], a_agent uuid[], a_incarnation bigint[], a_generation bigint[], a_after bigint[], a_since timestamp with time zone[], a_entries_max integer[], bytes_max bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.inbox_waiting(tenants uuid[], a_tenant uuid[], a_agent uuid[], a_incarnation bigint[], a_generation bigint[], a_after bigint[], a_since timestamp with time zone[], a_entries_max integer[], bytes_max bigint) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.inbox_waiting(tenants uuid[], a_tenant uuid[], a_agent uuid[], a_incarnation bigint[], a_generation bigint[], a_after bigint[], a_since timestamp with time zone[], a_entries_max integer[], bytes_max bigint) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.inbox_waits(p_tenant uuid, p_agent uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION public.inbox_waits(p_tenant uuid, p_agent uuid) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.inbox_waits(p_tenant uuid, p_agent uuid) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.is_told(p_tenant uuid, p_kind text, p_about text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.is_told(p_tenant uuid, p_kind text, p_about text) TO nightdesk_doors;

REVOKE ALL ON FUNCTION public.keep_agent_quota() FROM PUBLIC;
GRANT ALL ON FUNCTION public.keep_agent_quota() TO nightdesk_doors;

REVOKE ALL ON FUNCTION public.keep_armed(p_tenant uuid, p_agent uuid, p_quota text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.keep_armed(p_tenant uuid, p_agent uuid, p_quota text) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.keep_armed(p_tenant uuid, p_agent uuid, p_quota text) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.keep_quota() FROM PUBLIC;
GRANT ALL ON FUNCTION public.keep_quota() TO nightdesk_doors;

REVOKE ALL ON FUNCTION public.letter_addresses(tenants uuid[], a_tenant uuid[], a_agent uuid[], a_called text[], a_called_id uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.letter_addresses(tenants uuid[], a_tenant uuid[], a_agent uuid[], a_called text[], a_called_id uuid[]) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.letter_addresses(tenants uuid[], a_tenant uuid[], a_agent uuid[], a_called text[], a_called_id uuid[]) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.letter_bytes(p_tenant uuid, p_agent uuid, p_bytes bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.letter_bytes(p_tenant uuid, p_agent uuid, p_bytes bigint) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.letter_bytes(p_tenant uuid, p_agent uuid, p_bytes bigint) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.letter_came(p_tenant uuid, p_agent uuid, p_letter uuid, p_seq bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.letter_came(p_tenant uuid, p_agent uuid, p_letter uuid, p_seq bigint) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.letter_came(p_tenant uuid, p_agent uuid, p_letter uuid, p_seq bigint) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.letter_due_facts(p_tenant uuid, p_agent uuid, p_letter uuid, OUT from_tenant uuid, OUT from_agent uuid, OUT bot uuid, OUT chat text, OUT body bytea, OUT key_id bigint, OUT body_id uuid, OUT route text, OUT is_granted boolean, OUT is_granted_back boolean, OUT entries bigint, OUT entries_max bigint, OUT bytes bigint, OUT bytes_max bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.letter_due_facts(p_tenant uuid, p_agent uuid, p_letter uuid, OUT from_tenant uuid, OUT from_agent uuid, OUT bot uuid, OUT chat text, OUT body bytea, OUT key_id bigint, OUT body_id uuid, OUT route text, OUT is_granted boolean, OUT is_granted_back boolean, OUT entries bigint, OUT entries_max bigint, OUT bytes bigint, OUT bytes_max bigint) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.letter_due_facts(p_tenant uuid, p_agent uuid, p_letter uuid, OUT from_tenant uuid, OUT from_agent uuid, OUT bot uuid, OUT chat text, OUT body bytea, OUT key_id bigint, OUT body_id uuid, OUT route text, OUT is_granted boolean, OUT is_granted_back boolean, OUT entries bigint, OUT entries_max bigint, OUT bytes bigint, OUT bytes_max bigint) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.letter_facts(tenants uuid[], l_tenant uuid[], l_agent uuid[], l_to_tenant uuid[], l_to_agent uuid[], l_dispatch text[], p_hop_remembered interval) FROM PUBLIC;
GRANT ALL ON FUNCTION public.letter_facts(tenants uuid[], l_tenant uuid[], l_agent uuid[], l_to_tenant uuid[], l_to_agent uuid[], l_dispatch text[], p_hop_remembered interval) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.letter_facts(tenants uuid[], l_tenant uuid[], l_agent uuid[], l_to_tenant uuid[], l_to_agent uuid[], l_dispatch text[], p_hop_remembered interval) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.letter_grants_of(p_tenant uuid, p_agent uuid, grants_max bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.letter_grants_of(p_tenant uuid, p_agent uuid, grants_max bigint) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.letter_grants_of(p_tenant uuid, p_agent uuid, grants_max bigint) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.letter_live(p_tenant uuid, p_agent uuid, OUT session text, OUT is_busy boolean, OUT sessions text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.letter_live(p_tenant uuid, p_agent uuid, OUT session text, OUT is_busy boolean, OUT sessions text[]) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.letter_live(p_tenant uuid, p_agent uuid, OUT session text, OUT is_busy boolean, OUT sessions text[]) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.letter_look(p_tenant uuid, p_agent uuid, p_letter uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION public.letter_look(p_tenant uuid, p_agent uuid, p_letter uuid) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.letter_look(p_tenant uuid, p_agent uuid, p_letter uuid) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.letter_note(tenants uuid[], r_tenant uuid[], r_dispatch text[], r_connector text[], r_address text[], r_route text[], r_came jsonb[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.letter_note(tenants uuid[], r_tenant uuid[], r_dispatch text[], r_connector text[], r_address text[], r_route text[], r_came jsonb[]) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.letter_note(tenants uuid[], r_tenant uuid[], r_dispatch text[], r_connector text[], r_address text[], r_route text[], r_came jsonb[]) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.letter_park_unreadable(p_tenant uuid, p_agent uuid, p_letter uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION public.letter_park_unreadable(p_tenant uuid, p_agent uuid, p_letter uuid) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.letter_park_unreadable(p_tenant uuid, p_agent uuid, p_letter uuid) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.letter_peers(p_tenant uuid, p_agent uuid, peers_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.letter_peers(p_tenant uuid, p_agent uuid, peers_max integer) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.letter_peers(p_tenant uuid, p_agent uuid, peers_max integer) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.letter_reply_facts(p_tenant uuid, p_agent uuid, p_letter uuid, OUT from_tenant uuid, OUT state text, OUT reply_by timestamp with time zone, OUT now_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.letter_reply_facts(p_tenant uuid, p_agent uuid, p_letter uuid, OUT from_tenant uuid, OUT state text, OUT reply_by timestamp with time zone, OUT now_at timestamp with time zone) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.letter_reply_facts(p_tenant uuid, p_agent uuid, p_letter uuid, OUT from_tenant uuid, OUT state text, OUT reply_by timestamp with time zone, OUT now_at timestamp with time zone) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.letter_sender(p_tenant uuid, p_agent uuid, p_letter uuid, OUT from_tenant uuid, OUT from_agent uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION public.letter_sender(p_tenant uuid, p_agent uuid, p_letter uuid, OUT from_tenant uuid, OUT from_agent uuid) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.letter_sender(p_tenant uuid, p_agent uuid, p_letter uuid, OUT from_tenant uuid, OUT from_agent uuid) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.letter_write(l_letter uuid[], l_tenant uuid[], l_agent uuid[], l_to_tenant uuid[], l_to_agent uuid[], l_dispatch text[], l_route text[], l_kind text[], l_session text[], l_correlation text[], l_hop integer[], l_due timestamp with time zone[], l_wait_secs double precision[], l_bot uuid[], l_chat text[], l_body bytea[], l_key bigint[], l_body_id uuid[], l_is_put boolean[], p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.letter_write(l_letter uuid[], l_tenant uuid[], l_agent uuid[], l_to_tenant uuid[], l_to_agent uuid[], l_dispatch text[], l_route text[], l_kind text[], l_session text[], l_correlation text[], l_hop integer[], l_due timestamp with time zone[], l_wait_secs double precision[], l_bot uuid[], l_chat text[], l_body bytea[], l_key bigint[], l_body_id uuid[], l_is_put boolean[], p_now timestamp with time zone) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.letter_write(l_letter uuid[], l_tenant uuid[], l_agent uuid[], l_to_tenant uuid[], l_to_agent uuid[], l_dispatch text[], l_route text[], l_kind text[], l_session text[], l_correlation text[], l_hop integer[], l_due timestamp with time zone[], l_wait_secs double precision[], l_bot uuid[], l_chat text[], l_body bytea[], l_key bigint[], l_body_id uuid[], l_is_put boolean[], p_now timestamp with time zone) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.letters_page(p_tenant uuid, p_agent uuid, p_before uuid, letters_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.letters_page(p_tenant uuid, p_agent uuid, p_before uuid, letters_max integer) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.letters_page(p_tenant uuid, p_agent uuid, p_before uuid, letters_max integer) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.line_close(p_tenant uuid, p_agent uuid, p_incarnation bigint, p_generation bigint, p_code integer, p_tried bigint, p_parting text, p_grace interval) FROM PUBLIC;
GRANT ALL ON FUNCTION public.line_close(p_tenant uuid, p_agent uuid, p_incarnation bigint, p_generation bigint, p_code integer, p_tried bigint, p_parting text, p_grace interval) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.line_close(p_tenant uuid, p_agent uuid, p_incarnation bigint, p_generation bigint, p_code integer, p_tried bigint, p_parting text, p_grace interval) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.line_park(p_tenant uuid, p_agent uuid, p_incarnation bigint, p_generation bigint, p_seq bigint, p_reason text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.line_park(p_tenant uuid, p_agent uuid, p_incarnation bigint, p_generation bigint, p_seq bigint, p_reason text) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.line_park(p_tenant uuid, p_agent uuid, p_incarnation bigint, p_generation bigint, p_seq bigint, p_reason text) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.line_take(p_tenant uuid, p_agent uuid, p_gateway uuid, p_node text, p_node_epoch bigint, tries_max integer, p_grace interval, p_rules text, p_transport text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.line_take(p_tenant uuid, p_agent uuid, p_gateway uuid, p_node text, p_node_epoch bigint, tries_max integer, p_grace interval, p_rules text, p_transport text) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.line_take(p_tenant uuid, p_agent uuid, p_gateway uuid, p_node text, p_node_epoch bigint, tries_max integer, p_grace interval, p_rules text, p_transport text) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.link_try(p_operator uuid, p_bot uuid, p_author text, tries_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.link_try(p_operator uuid, p_bot uuid, p_author text, tries_max integer) TO nightdesk_doors;

REVOKE ALL ON FUNCTION public.lock_due_wakes(p_tenant uuid, p_agent uuid, wakes_max integer, places_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.lock_due_wakes(p_tenant uuid, p_agent uuid, wakes_max integer, places_max integer) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.log_wake() FROM PUBLIC;
GRANT ALL ON FUNCTION public.log_wake() TO nightdesk_doors;

REVOKE ALL ON FUNCTION public.new_incarnation() FROM PUBLIC;
GRANT ALL ON FUNCTION public.new_incarnation() TO nightdesk_doors;
GRANT ALL ON FUNCTION public.new_incarnation() TO nightdesk_app;

REVOKE ALL ON FUNCTION public.no_data_key(p_key bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.no_data_key(p_key bigint) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.no_data_key(p_key bigint) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.no_outcome(what text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.no_outcome(what text) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.no_outcome(what text) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.node_ended_at(p_node text, p_epoch bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.node_ended_at(p_node text, p_epoch bigint) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.node_ended_at(p_node text, p_epoch bigint) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.node_lives(p_node text, p_epoch bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.node_lives(p_node text, p_epoch bigint) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.node_lives(p_node text, p_epoch bigint) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.note_binding() FROM PUBLIC;
GRANT ALL ON FUNCTION public.note_binding() TO nightdesk_doors;

REVOKE ALL ON FUNCTION public.note_grant() FROM PUBLIC;
GRANT ALL ON FUNCTION public.note_grant() TO nightdesk_doors;

REVOKE ALL ON FUNCTION public.note_listed() FROM PUBLIC;
GRANT ALL ON FUNCTION public.note_listed() TO nightdesk_doors;

REVOKE ALL ON FUNCTION public.note_reach(p_bot uuid, p_tenant uuid, p_agent uuid, p_author text, p_scope text, p_chat text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.note_reach(p_bot uuid, p_tenant uuid, p_agent uuid, p_author text, p_scope text, p_chat text) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.note_relevance() FROM PUBLIC;
GRANT ALL ON FUNCTION public.note_relevance() TO nightdesk_doors;

REVOKE ALL ON FUNCTION public.notice(p_tenant uuid, p_agent uuid, p_kind text, p_outcome text, p_calls integer, kept_max bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.notice(p_tenant uuid, p_agent uuid, p_kind text, p_outcome text, p_calls integer, kept_max bigint) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.notice(p_tenant uuid, p_agent uuid, p_kind text, p_outcome text, p_calls integer, kept_max bigint) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.notice_of_bot(p_tenant uuid, p_bot uuid, p_kind text, p_outcome text, kept_max bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.notice_of_bot(p_tenant uuid, p_bot uuid, p_kind text, p_outcome text, kept_max bigint) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.notice_of_bot(p_tenant uuid, p_bot uuid, p_kind text, p_outcome text, kept_max bigint) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.open_days(behind integer, ahead integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.open_days(behind integer, ahead integer) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.open_days(behind integer, ahead integer) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.own(p_resource text, p_node text, p_node_epoch bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.own(p_resource text, p_node text, p_node_epoch bigint) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.own(p_resource text, p_node text, p_node_epoch bigint) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.owns(p_resource text, p_node text, p_node_epoch bigint, p_epoch bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.owns(p_resource text, p_node text, p_node_epoch bigint, p_epoch bigint) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.owns(p_resource text, p_node text, p_node_epoch bigint, p_epoch bigint) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.prompt_ask(p_tenant uuid, p_agent uuid, p_bot uuid, p_prompt text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.prompt_ask(p_tenant uuid, p_agent uuid, p_bot uuid, p_prompt text) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.prompt_ask(p_tenant uuid, p_agent uuid, p_bot uuid, p_prompt text) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.quota_default(p_quota text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.quota_default(p_quota text) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.quota_default(p_quota text) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.quota_of(p_tenant uuid, p_quota text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.quota_of(p_tenant uuid, p_quota text) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.quota_of(p_tenant uuid, p_quota text) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.retention_min(p_rows text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.retention_min(p_rows text) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.retention_min(p_rows text) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.sample_tenant(p_tenant uuid, p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.sample_tenant(p_tenant uuid, p_now timestamp with time zone) TO nightdesk_doors;

REVOKE ALL ON FUNCTION public.sample_usage(p_after uuid, p_every interval, tenants_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.sample_usage(p_after uuid, p_every interval, tenants_max integer) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.schedule_lock(p_tenant uuid, p_agent uuid, p_job text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.schedule_lock(p_tenant uuid, p_agent uuid, p_job text) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.schedule_lock(p_tenant uuid, p_agent uuid, p_job text) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.schedule_open(p_tenant uuid, p_agent uuid, p_job text, p_fire_at text, p_instant timestamp with time zone, p_by_inbox boolean, p_target text, p_recurring boolean, p_reports boolean, p_overlap text, p_catch_up_ms bigint, p_jitter_ms bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.schedule_open(p_tenant uuid, p_agent uuid, p_job text, p_fire_at text, p_instant timestamp with time zone, p_by_inbox boolean, p_target text, p_recurring boolean, p_reports boolean, p_overlap text, p_catch_up_ms bigint, p_jitter_ms bigint) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.schedule_open(p_tenant uuid, p_agent uuid, p_job text, p_fire_at text, p_instant timestamp with time zone, p_by_inbox boolean, p_target text, p_recurring boolean, p_reports boolean, p_overlap text, p_catch_up_ms bigint, p_jitter_ms bigint) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.schedules_armed_for(p_tenant uuid, p_agent uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION public.schedules_armed_for(p_tenant uuid, p_agent uuid) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.schedules_armed_for(p_tenant uuid, p_agent uuid) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.schedules_lock(p_tenant uuid, p_agent uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION public.schedules_lock(p_tenant uuid, p_agent uuid) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.schedules_lock(p_tenant uuid, p_agent uuid) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.schedules_write(p_tenant uuid[], p_agent uuid[], p_job text[], p_next_at timestamp with time zone[], p_recurs boolean[], p_fired_before boolean[], p_cancelled boolean[], p_watch_at timestamp with time zone[], p_flagged_at timestamp with time zone[], p_changed_at timestamp with time zone[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.schedules_write(p_tenant uuid[], p_agent uuid[], p_job text[], p_next_at timestamp with time zone[], p_recurs boolean[], p_fired_before boolean[], p_cancelled boolean[], p_watch_at timestamp with time zone[], p_flagged_at timestamp with time zone[], p_changed_at timestamp with time zone[]) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.schedules_write(p_tenant uuid[], p_agent uuid[], p_job text[], p_next_at timestamp with time zone[], p_recurs boolean[], p_fired_before boolean[], p_cancelled boolean[], p_watch_at timestamp with time zone[], p_flagged_at timestamp with time zone[], p_changed_at timestamp with time zone[]) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.server_timeline() FROM PUBLIC;
GRANT ALL ON FUNCTION public.server_timeline() TO nightdesk_doors;
GRANT ALL ON FUNCTION public.server_timeline() TO nightdesk_app;

REVOKE ALL ON FUNCTION public.set_aside(p_tenant uuid, p_agent uuid, p_seq bigint, p_reason text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.set_aside(p_tenant uuid, p_agent uuid, p_seq bigint, p_reason text) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.set_aside(p_tenant uuid, p_agent uuid, p_seq bigint, p_reason text) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.shelf_grow(p_tenant uuid, p_more bigint, seen integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.shelf_grow(p_tenant uuid, p_more bigint, seen integer) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.shelf_grow(p_tenant uuid, p_more bigint, seen integer) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.shelf_lock(p_tenant uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION public.shelf_lock(p_tenant uuid) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.shelf_lock(p_tenant uuid) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.skill_delete(p_tenant uuid, p_name text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.skill_delete(p_tenant uuid, p_name text) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.skill_delete(p_tenant uuid, p_name text) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.skill_put(p_tenant uuid, p_name text, p_meta jsonb, p_source bytea, p_version text, p_hash text, p_status text, p_previous text, p_changed_at bigint, p_by text, revisions_max bigint, skills_max bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.skill_put(p_tenant uuid, p_name text, p_meta jsonb, p_source bytea, p_version text, p_hash text, p_status text, p_previous text, p_changed_at bigint, p_by text, revisions_max bigint, skills_max bigint) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.skill_put(p_tenant uuid, p_name text, p_meta jsonb, p_source bytea, p_version text, p_hash text, p_status text, p_previous text, p_changed_at bigint, p_by text, revisions_max bigint, skills_max bigint) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.source_holds(e_operator uuid[], e_bot uuid[], e_source text[], e_epoch bigint[], r_event integer[], r_tenant uuid[], r_agent uuid[], r_version bigint[], OUT fenced integer[], OUT behind integer[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.source_holds(e_operator uuid[], e_bot uuid[], e_source text[], e_epoch bigint[], r_event integer[], r_tenant uuid[], r_agent uuid[], r_version bigint[], OUT fenced integer[], OUT behind integer[]) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.source_holds(e_operator uuid[], e_bot uuid[], e_source text[], e_epoch bigint[], r_event integer[], r_tenant uuid[], r_agent uuid[], r_version bigint[], OUT fenced integer[], OUT behind integer[]) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.source_moves(e_operator uuid[], e_bot uuid[], e_source text[], e_cursor text[], undone integer[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.source_moves(e_operator uuid[], e_bot uuid[], e_source text[], e_cursor text[], undone integer[]) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.source_moves(e_operator uuid[], e_bot uuid[], e_source text[], e_cursor text[], undone integer[]) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.stored_days() FROM PUBLIC;
GRANT ALL ON FUNCTION public.stored_days() TO nightdesk_doors;
GRANT ALL ON FUNCTION public.stored_days() TO nightdesk_app;

REVOKE ALL ON FUNCTION public.tell(p_tenant uuid, p_kind text, p_about jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION public.tell_act(p_tenant uuid, p_kind text, p_about jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION public.tell_act(p_tenant uuid, p_kind text, p_about jsonb) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.tell_linked() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.tell_own() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.tell_parked() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.tell_row() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.tenant_erase(p_tenant uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION public.tenant_erase(p_tenant uuid) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.tenant_erase(p_tenant uuid) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.tenant_erase_texts(p_tenant uuid, rows_max bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.tenant_erase_texts(p_tenant uuid, rows_max bigint) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.tenant_erase_texts(p_tenant uuid, rows_max bigint) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.tenant_lives(p_tenant uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION public.tenant_lives(p_tenant uuid) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.tenant_lives(p_tenant uuid) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.trim_parked(entries_max integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.trim_parked(entries_max integer) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.use_data_key(p_tenant uuid, p_key bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.use_data_key(p_tenant uuid, p_key bigint) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.use_data_key(p_tenant uuid, p_key bigint) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.vault_key(sealed bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION public.vault_key(sealed bytea) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.vault_key(sealed bytea) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.wake_log_max() FROM PUBLIC;
GRANT ALL ON FUNCTION public.wake_log_max() TO nightdesk_doors;
GRANT ALL ON FUNCTION public.wake_log_max() TO nightdesk_app;

REVOKE ALL ON FUNCTION public.wake_places(p_tenant uuid, p_agent uuid, places_max integer, OUT bots uuid[], OUT chats text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.wake_places(p_tenant uuid, p_agent uuid, places_max integer, OUT bots uuid[], OUT chats text[]) TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.wakes TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.wakes TO nightdesk_doors;

REVOKE ALL ON FUNCTION public.wake_read(p_tenant uuid, p_agent uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION public.wake_read(p_tenant uuid, p_agent uuid) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.wake_read(p_tenant uuid, p_agent uuid) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.wake_replace(p_tenant uuid, p_agent uuid, p_version bigint, p_state text, p_since timestamp with time zone, p_due_at timestamp with time zone, p_calls integer, p_called_at timestamp with time zone, p_outcome text, p_rests_until timestamp with time zone, p_woken_at timestamp with time zone, p_suspect_generation bigint, p_suspect_acked_seq bigint, p_asked boolean, p_delay_told boolean, p_hour_began_at timestamp with time zone, p_hour_wakes integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.wake_replace(p_tenant uuid, p_agent uuid, p_version bigint, p_state text, p_since timestamp with time zone, p_due_at timestamp with time zone, p_calls integer, p_called_at timestamp with time zone, p_outcome text, p_rests_until timestamp with time zone, p_woken_at timestamp with time zone, p_suspect_generation bigint, p_suspect_acked_seq bigint, p_asked boolean, p_delay_told boolean, p_hour_began_at timestamp with time zone, p_hour_wakes integer) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.wake_replace(p_tenant uuid, p_agent uuid, p_version bigint, p_state text, p_since timestamp with time zone, p_due_at timestamp with time zone, p_calls integer, p_called_at timestamp with time zone, p_outcome text, p_rests_until timestamp with time zone, p_woken_at timestamp with time zone, p_suspect_generation bigint, p_suspect_acked_seq bigint, p_asked boolean, p_delay_told boolean, p_hour_began_at timestamp with time zone, p_hour_wakes integer) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.wake_sleepers(a_tenant uuid[], a_agent uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.wake_sleepers(a_tenant uuid[], a_agent uuid[]) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.wake_sleepers(a_tenant uuid[], a_agent uuid[]) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.wall_off(walled text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.wall_off(walled text) TO nightdesk_doors;

REVOKE ALL ON FUNCTION public.works_for(p_tenant uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION public.works_for(p_tenant uuid) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.works_for(p_tenant uuid) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.works_for_all(p_tenants uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.works_for_all(p_tenants uuid[]) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.works_for_all(p_tenants uuid[]) TO nightdesk_app;

REVOKE ALL ON FUNCTION public.works_for_both(p_one uuid, p_other uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION public.works_for_both(p_one uuid, p_other uuid) TO nightdesk_doors;
GRANT ALL ON FUNCTION public.works_for_both(p_one uuid, p_other uuid) TO nightdesk_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.agent_webhooks TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.agent_webhooks TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.agents TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.agents TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE ON TABLE public.api_tokens TO nightdesk_app;

GRANT UPDATE(used_at) ON TABLE public.api_tokens TO nightdesk_app;

GRANT UPDATE(revoked_at) ON TABLE public.api_tokens TO nightdesk_app;

GRANT SELECT ON TABLE public.audit_heads TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.audit_heads TO nightdesk_doors;

GRANT SELECT ON TABLE public.audit_log TO nightdesk_app;
GRANT SELECT,INSERT,DELETE ON TABLE public.audit_log TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.bindings TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.bindings TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.bootstrap_sessions TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.bootstrap_sessions TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.bot_hearings TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.bot_hearings TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.bot_keys TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.bot_keys TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.bot_sessions TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.bot_sessions TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.bots TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.bots TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.capabilities TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.capabilities TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.commands TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.commands TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.data_entries TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.data_entries TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.dedupe_keys TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.dedupe_keys TO nightdesk_doors;

GRANT SELECT,INSERT,UPDATE ON TABLE public.desk_secrets TO nightdesk_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.enrolments TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.enrolments TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.gateway_platforms TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.gateway_platforms TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.gateway_secrets TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.gateway_secrets TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.gateways TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.gateways TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.glass_requests TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.glass_requests TO nightdesk_doors;

GRANT SELECT,UPDATE ON TABLE public.history TO nightdesk_app;
GRANT SELECT ON TABLE public.history TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.inbox_acks TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.inbox_acks TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.inbox_cursors TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.inbox_cursors TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.inbox_entries TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.inbox_entries TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.inbox_heads TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.inbox_heads TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.inbox_parked TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.inbox_parked TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.letter_grants TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.letter_grants TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.letter_hooks TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.letter_hooks TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.letter_receipts TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.letter_receipts TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.letters TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.letters TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.letters_in TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.letters_in TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.lines TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.lines TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.link_codes TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.link_codes TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.link_tries TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.link_tries TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.listed_authors TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.listed_authors TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE ON TABLE public.login_links TO nightdesk_app;

GRANT UPDATE(used_at) ON TABLE public.login_links TO nightdesk_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.media TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.media TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.node_findings TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.node_findings TO nightdesk_doors;

GRANT SELECT,INSERT,UPDATE ON TABLE public.nodes TO nightdesk_app;
GRANT SELECT ON TABLE public.nodes TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.notice_heads TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.notice_heads TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.notices TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.notices TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.oauth_clients TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.oauth_clients TO nightdesk_doors;

GRANT SELECT,INSERT,UPDATE ON TABLE public.owners TO nightdesk_app;
GRANT SELECT,INSERT,UPDATE ON TABLE public.owners TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.prompts TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.prompts TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.quarantine_heads TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.quarantine_heads TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.quarantined TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.quarantined TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.quotas TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.quotas TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.reach_changes TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.reach_changes TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.reach_heads TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.reach_heads TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.reached TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.reached TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.refresh_tokens TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.refresh_tokens TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.refusal_heads TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.refusal_heads TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.refusals TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.refusals TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.relevance_policies TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.relevance_policies TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.schedule_rooms TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.schedule_rooms TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.scope_grants TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.scope_grants TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.sends TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.sends TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.sent_messages TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.sent_messages TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.shelves TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.shelves TO nightdesk_doors;

GRANT SELECT,INSERT ON TABLE public.signing_keys TO nightdesk_app;

GRANT UPDATE(sealed) ON TABLE public.signing_keys TO nightdesk_app;

GRANT UPDATE(retired_at) ON TABLE public.signing_keys TO nightdesk_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.skill_revisions TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.skill_revisions TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.skills TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.skills TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.source_cursors TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.source_cursors TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.tenant_keys TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.tenant_keys TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.tenant_usage TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.tenant_usage TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.tenants TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.tenants TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.upkeep_passes TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.user_roles TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.user_roles TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE ON TABLE public.user_sessions TO nightdesk_app;
GRANT SELECT,INSERT,DELETE ON TABLE public.user_sessions TO nightdesk_doors;

GRANT UPDATE(used_at) ON TABLE public.user_sessions TO nightdesk_app;
GRANT UPDATE(used_at) ON TABLE public.user_sessions TO nightdesk_doors;

GRANT UPDATE(ended_at) ON TABLE public.user_sessions TO nightdesk_app;
GRANT UPDATE(ended_at) ON TABLE public.user_sessions TO nightdesk_doors;

GRANT SELECT,INSERT ON TABLE public.users TO nightdesk_app;
GRANT SELECT,INSERT ON TABLE public.users TO nightdesk_doors;

GRANT UPDATE(name) ON TABLE public.users TO nightdesk_app;
GRANT UPDATE(name) ON TABLE public.users TO nightdesk_doors;

GRANT UPDATE(email) ON TABLE public.users TO nightdesk_app;
GRANT UPDATE(email) ON TABLE public.users TO nightdesk_doors;

GRANT UPDATE(issuer) ON TABLE public.users TO nightdesk_app;
GRANT UPDATE(issuer) ON TABLE public.users TO nightdesk_doors;

GRANT UPDATE(subject) ON TABLE public.users TO nightdesk_app;
GRANT UPDATE(subject) ON TABLE public.users TO nightdesk_doors;

GRANT UPDATE(used_at) ON TABLE public.users TO nightdesk_app;
GRANT UPDATE(used_at) ON TABLE public.users TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.wake_log TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.wake_log TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.wakers TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.wakers TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.webchat_chats TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.webchat_chats TO nightdesk_doors;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.webchat_messages TO nightdesk_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.webchat_messages TO nightdesk_doors;

ALTER DEFAULT PRIVILEGES FOR ROLE nightdesk_doors REVOKE ALL ON FUNCTIONS  FROM PUBLIC;

ALTER DEFAULT PRIVILEGES FOR ROLE nightdesk_owner REVOKE ALL ON FUNCTIONS  FROM PUBLIC;
ALTER DEFAULT PRIVILEGES FOR ROLE nightdesk_owner GRANT ALL ON FUNCTIONS  TO nightdesk_doors;
