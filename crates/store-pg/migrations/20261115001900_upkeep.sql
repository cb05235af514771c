-- Upkeep: days come and go, so partitions ahead are opened and those behind are closed; entries, keys and
-- capabilities that ended are removed.

-- Opens the days around today. By the owner: only the owner of a table may add to it.
create function open_days(behind integer, ahead integer) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    today date := (clock_timestamp() at time zone 'utc')::date;
    day   date;
    parent text;
begin
    for day in select generate_series(today - behind, today + ahead, interval '1 day')::date loop
        foreach parent in array array['inbox_entries', 'inbox_acks', 'dedupe_keys'] loop
            if to_regclass(format('%s_%s', parent, to_char(day, 'YYYYMMDD'))) is null then
                execute format(
                    'create table %I partition of %I for values from (%L) to (%L)',
                    format('%s_%s', parent, to_char(day, 'YYYYMMDD')), parent,
                    case parent when 'dedupe_keys' then day::text else day::text || ' 00:00:00+00' end,
                    case parent when 'dedupe_keys' then (day + 1)::text
                        else (day + 1)::text || ' 00:00:00+00' end
                );
            end if;
        end loop;
    end loop;
end
$$;
select open_days(1, 2);

-- Sets entries aside that nobody took in time, at most so many. Over all tenants, so it is a door.
create function expire_entries(kept interval, entries_max integer) returns bigint
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    expired bigint := 0;
    late    record;
begin
    perform check_retention('pending', kept);
    for late in
        select e.tenant_id, e.agent_id, array_agg(e.seq order by e.seq) as seqs
        from (
            select e.tenant_id, e.agent_id, e.seq
            from inbox_entries e join inbox_cursors c
                on c.tenant_id = e.tenant_id and c.agent_id = e.agent_id
            where e.at < clock_timestamp() - kept and e.seq > c.acked_seq and not e.seq <@ c.ahead
            order by e.tenant_id, e.agent_id, e.seq
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
alter function expire_entries(interval, integer) owner to nightdesk_doors;

-- Forgets entries that were set aside long ago, at most so many. Over all tenants: a door.
create function forget_parked(kept interval, entries_max integer) returns bigint
language plpgsql security definer set search_path = public, pg_temp set enable_seqscan = off as $$
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
alter function forget_parked(interval, integer) owner to nightdesk_doors;

-- Forgets entries that were acknowledged a while ago, at most so many. Over all tenants: a door.
create function forget_acked(kept interval, entries_max integer) returns bigint
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    forgotten bigint;
begin
    perform check_retention('acked', kept);
    with old as (
        select e.tenant_id, e.agent_id, e.seq, e.at
        from inbox_entries e join inbox_cursors c
            on c.tenant_id = e.tenant_id and c.agent_id = e.agent_id
        where e.at < clock_timestamp() - kept and (e.seq <= c.acked_seq or e.seq <@ c.ahead)
        limit entries_max
    )
    delete from inbox_entries e using old
    where e.tenant_id = old.tenant_id and e.agent_id = old.agent_id
      and e.seq = old.seq and e.at = old.at;
    get diagnostics forgotten = row_count;
    return forgotten;
end
$$;
alter function forget_acked(interval, integer) owner to nightdesk_doors;

-- Returns whether no entry of a day still waits for its agent. Over all tenants: a door.
create function day_is_empty(day date) returns boolean
language sql security definer set search_path = public, pg_temp as $$
    select not exists (
        select from inbox_entries e join inbox_cursors c
            on c.tenant_id = e.tenant_id and c.agent_id = e.agent_id
        where e.at >= day::timestamp at time zone 'utc'
          and e.at < (day + 1)::timestamp at time zone 'utc'
          and e.seq > c.acked_seq and not e.seq <@ c.ahead
    )
$$;
alter function day_is_empty(date) owner to nightdesk_doors;

-- Drops the days before the kept ones. A day in which something waits is not dropped.
create function close_days(kept_days integer) returns bigint
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    oldest  date := (clock_timestamp() at time zone 'utc')::date - kept_days;
    dropped bigint := 0;
    old     record;
begin
    perform check_retention('days', make_interval(days => kept_days));
    for old in
        select child.relname, parent.relname as parent,
            to_date(right(child.relname, 8), 'YYYYMMDD') as day
        from pg_inherits i
            join pg_class child on child.oid = i.inhrelid
            join pg_class parent on parent.oid = i.inhparent
        where parent.relname in ('inbox_entries', 'inbox_acks', 'dedupe_keys')
          and parent.relkind = 'p'
          and to_date(right(child.relname, 8), 'YYYYMMDD') < oldest
    loop
        if old.parent <> 'inbox_entries' or day_is_empty(old.day) then
            execute format('drop table %I', old.relname);
            dropped := dropped + 1;
        end if;
    end loop;
    return dropped;
end
$$;

-- Wipes and removes capabilities and keys that ended, at most so many of each. A door: of all tenants.
create function forget_ended(kept interval, rows_max bigint) returns bigint
language plpgsql security definer set search_path = public, pg_temp as $$
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
alter function forget_ended(interval, bigint) owner to nightdesk_doors;

grant execute on function
    open_days, expire_entries, forget_parked, forget_acked, close_days, forget_ended
to nightdesk_app;
