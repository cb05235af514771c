-- Days come and go: partitions ahead are opened, those behind are closed.

-- Opens the days around today. By the owner: only who owns a table may add to it.
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

-- Sets aside what nobody took in time, at most so many. Over all tenants, so it is a door.
create function expire_entries(kept interval, entries_max integer) returns bigint
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    expired bigint := 0;
    late    record;
begin
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

-- Forgets what was acknowledged a while ago, at most so many. Over all tenants: a door.
create function forget_acked(kept interval, entries_max integer) returns bigint
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    forgotten bigint;
begin
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

-- Whether anything of a day still waits for its agent. Over all tenants: a door.
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

-- Drops the days before the kept ones. A day in which something waits is not dropped.
create function close_days(kept_days integer) returns bigint
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    oldest  date := (clock_timestamp() at time zone 'utc')::date - kept_days;
    dropped bigint := 0;
    old     record;
begin
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

-- Forgets sends that no repeat can mean any more, at most so many. Over all tenants: a door.
create function forget_sends(kept interval, sends_max integer) returns bigint
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    forgotten bigint;
begin
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

alter function expire_entries(interval, integer) owner to nightdesk_doors;
alter function forget_acked(interval, integer) owner to nightdesk_doors;
alter function day_is_empty(date) owner to nightdesk_doors;
alter function forget_sends(interval, integer) owner to nightdesk_doors;

select open_days(1, 2);
