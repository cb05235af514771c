-- Upkeep: days come and go, so partitions ahead are opened and those behind are closed; entries, keys and
-- capabilities that ended are removed.

-- Returns the partitions of single days.
create function stored_days() returns table (name text, parent text, day date)
language sql stable as $$
    select child.relname::text, parent.relname::text, to_date(right(child.relname, 8), 'YYYYMMDD')
    from pg_inherits i
        join pg_class child on child.oid = i.inhrelid
        join pg_class parent on parent.oid = i.inhparent
    where parent.relnamespace = 'public'::regnamespace and parent.relkind = 'p'
      and parent.relname in ('inbox_entries', 'inbox_acks', 'dedupe_keys')
$$;

-- Opens the days around today. By the owner: only the owner of a table may add to it.
--
-- A day is made as a table of its own and attached afterwards. That locks its parent against other
-- changes of the schema only: neither does it wait for readers and writers, however long they last,
-- nor do they wait for it. `create table … partition of` would wait for every reader, and every
-- accept would wait behind it.
create function open_days(behind integer, ahead integer) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
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
select open_days(1, 2);

-- Sets entries aside that nobody took in time, at most so many. Over all tenants, so it is a door.
create function expire_entries(kept interval, entries_max integer) returns bigint
language plpgsql security definer set search_path = public, pg_temp as $$
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

-- Removes parked entries above the quotas of their agent, at most so many, and tells the tenant. Entries of authors over
-- their rate go first, and the newest before older ones: an author who floods an agent pushes out neither the entries of
-- others nor earlier ones. Looks at agents that parked something lately. Over all tenants: a door.
create function trim_parked(entries_max integer) returns bigint
language plpgsql security definer set search_path = public, pg_temp set enable_seqscan = off as $$
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
alter function trim_parked(integer) owner to nightdesk_doors;

-- The place up to which the acknowledged entries of a day were removed. The entries of a day lie in the
-- order of their time, so a pass over a day reads each of its blocks once, however many rows were
-- removed before.
create table upkeep_passes (
    day        date        not null primary key,
    next_block bigint      not null default 0,
    -- The end of the last whole pass.
    passed_at  timestamptz not null default 'epoch'
);
grant select, insert, update, delete on upkeep_passes to nightdesk_doors;

-- Forgets entries that were acknowledged a while ago, from at most so many blocks of each day. Entries
-- that still wait when a pass comes to them are looked at again by the next pass of the day: at once if
-- the day is small, otherwise after six hours. Over all tenants: a door.
create function forget_acked(
    kept interval, blocks_max integer, out forgotten bigint, out is_done boolean
) language plpgsql security definer set search_path = public, pg_temp as $$
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
alter function forget_acked(interval, integer) owner to nightdesk_doors;

-- Returns whether no entry of a day still waits for its agent. Over all tenants: a door.
create function day_is_empty(day date) returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
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
alter function day_is_empty(date) owner to nightdesk_doors;

-- Drops the partition of a day before the kept ones. A day in which something waits is not dropped, and
-- neither is any other table.
--
-- A drop waits for every reader of the parent, and every accept waits behind it. So the caller sets a
-- short `lock_timeout`, drops one table at a time, and tries again later.
create function close_day(p_name text, kept_days integer) returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
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
    stored_days, open_days, expire_entries, forget_parked, trim_parked, forget_acked, close_day,
    forget_ended
to nightdesk_app;
