-- How much a tenant may have. Read where it counts, at every act: raising one needs no restart.
create table quotas (
    tenant_id uuid        not null,
    quota     text        not null,
    allowed   bigint      not null,
    set_at    timestamptz not null default now(),
    primary key (tenant_id, quota),
    constraint quotas_known_quota
        check (quota in ('agents', 'grants', 'pending-entries', 'pending-bytes')),
    constraint quotas_not_negative check (allowed >= 0)
);
select wall_off('quotas');
create constraint trigger tell_quota after insert or update on quotas
    deferrable initially deferred for each row
    execute function tell_row('quota-set', 'quota', 'allowed');

-- What a tenant has that nobody set anything for. A test compares it with the desk's limits.
create function quota_default(p_quota text) returns bigint language sql immutable as $$
    select case p_quota when 'agents' then 50 when 'grants' then 100
        when 'pending-entries' then 10000 when 'pending-bytes' then 268435456 end
$$;

create function quota_of(p_tenant uuid, p_quota text) returns bigint
language plpgsql stable as $$
begin
    return coalesce((
        select q.allowed from quotas q where q.tenant_id = p_tenant and q.quota = p_quota
    ), quota_default(p_quota));
end
$$;

-- Refuses what would be more than a tenant may have. One at a time: of two that come at once the
-- later sees the earlier.
create function keep_quota() returns trigger language plpgsql as $$
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
$$;
create trigger keep_quota after insert on agents
    referencing new table as entered for each statement execute function keep_quota('agents');
create trigger keep_quota after insert on scope_grants
    referencing new table as entered for each statement execute function keep_quota('grants');

-- Bytes of everything that ever came into an inbox, and those before an entry: how many wait is the
-- difference, found by one look at the oldest that waits.
alter table inbox_heads add column bytes bigint not null default 0;
alter table inbox_entries add column bytes_before bigint not null default 0;

-- Whether an entry of that number, up to which so many bytes came, is more than an inbox may hold.
create function inbox_is_full(
    p_tenant uuid, p_agent uuid, p_seq bigint, p_bytes bigint, entries_max bigint
) returns boolean
language plpgsql stable
set enable_seqscan = off
set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
    mine      inbox_cursors;
    v_entries bigint;
    v_bytes   bigint;
begin
    select c.* into mine from inbox_cursors c
    where c.tenant_id = p_tenant and c.agent_id = p_agent;
    select coalesce(max(q.allowed) filter (where q.quota = 'pending-entries'), entries_max),
        coalesce(max(q.allowed) filter (where q.quota = 'pending-bytes'),
            quota_default('pending-bytes'))
    into v_entries, v_bytes from quotas q where q.tenant_id = p_tenant;
    if p_seq - mine.acked_seq > v_entries then
        return true;
    end if;
    -- So few cannot be so much: no entry is longer than a frame.
    if (p_seq - mine.acked_seq) * 524288 <= v_bytes then
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

-- The accept, with these bounds.
create or replace function inbox_store(
    tenants     uuid[],
    -- events
    e_operator  uuid[],
    e_bot       uuid[],
    e_key       bytea[],
    e_chat      text[],
    -- No client could take its frame; it is set aside at once.
    e_unsendable boolean[],
    e_source    text[],
    e_epoch     bigint[],
    e_cursor    text[],
    -- recipients
    r_event     integer[],
    r_tenant    uuid[],
    r_agent     uuid[],
    r_version   bigint[],
    r_body      bytea[],
    r_key_id    bigint[],
    -- limits
    entries_max bigint,
    dedupe_days integer
) returns table (
    event integer, outcome text, tenant uuid, agent uuid, seq bigint, at timestamptz, parked boolean
)
language plpgsql
-- The plan is made once and kept, so it must not be the one for empty tables.
set enable_seqscan = off
set enable_bitmapscan = off
set enable_material = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
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
        select r.* from unnest(r_event, r_tenant, r_agent, r_version, r_body, r_key_id)
            with ordinality as r (o, tenant, agent, version, body, key_id, n)
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
            row_number() over mine as nth, sum(octet_length(rc.body)) over mine as bytes
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
    ), numbered as materialized (
        select due.*, taken.base + due.nth - 1 as seq, taken.last_at as at,
            taken.reach_version,
            taken.bytes_base + due.bytes - octet_length(due.body) as bytes_before,
            due.unsendable or inbox_is_full(
                due.tenant, due.agent, taken.base + due.nth - 1, taken.bytes_base + due.bytes,
                entries_max
            ) as aside
        from due
            left join taken on taken.tenant_id = due.tenant and taken.agent_id = due.agent
    ), held as (
        insert into inbox_entries
            (tenant_id, agent_id, seq, at, bot_id, chat_id, body, key_id, bytes_before)
        select n.tenant, n.agent, n.seq, n.at, n.bot, n.chat, n.body, n.key_id, n.bytes_before
        from numbered n where not n.aside
    ), set_aside as (
        insert into inbox_parked
            (tenant_id, agent_id, seq, at, bot_id, chat_id, body, key_id, reason)
        select n.tenant, n.agent, n.seq, n.at, n.bot, n.chat, n.body, n.key_id,
            case when n.unsendable then 'unsendable' else 'full' end
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
            else 'stored'
        end,
        n.tenant, n.agent, n.seq, n.at, n.aside
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

-- Puts a parked entry into its inbox again, once, under the next number.
create or replace function inbox_resubmit(p_tenant uuid, p_agent uuid, p_seq bigint)
returns table (seq bigint, at timestamptz) language plpgsql as $$
#variable_conflict use_column
declare
    aside inbox_parked;
    mine  inbox_heads;
begin
    select p.* into aside from inbox_parked p
    where p.tenant_id = p_tenant and p.agent_id = p_agent and p.seq = p_seq
      and p.resubmitted_as is null
    for update;
    if not found then
        return;
    end if;
    update inbox_heads h
    set next_seq = h.next_seq + 1, last_at = greatest(h.last_at, clock_timestamp()),
        bytes = h.bytes + octet_length(aside.body)
    where h.tenant_id = p_tenant and h.agent_id = p_agent
    returning h.* into strict mine;
    insert into inbox_entries
        (tenant_id, agent_id, seq, at, bot_id, chat_id, body, key_id, bytes_before)
    values (p_tenant, p_agent, mine.next_seq - 1, mine.last_at, aside.bot_id, aside.chat_id,
        aside.body, aside.key_id, mine.bytes - octet_length(aside.body));
    update inbox_parked p set resubmitted_as = mine.next_seq - 1
    where p.tenant_id = p_tenant and p.agent_id = p_agent and p.seq = p_seq;
    perform wake_sleepers(array[p_tenant], array[p_agent]);
    return query select mine.next_seq - 1, mine.last_at;
end
$$;

-- A person puts an entry into an inbox, to see whether its agent wakes up and takes it.
create or replace function inbox_put_test(p_tenant uuid, p_agent uuid, p_bot uuid, p_chat text, p_body bytea)
returns bigint language plpgsql as $$
declare
    mine inbox_heads;
begin
    update inbox_heads h
    set next_seq = h.next_seq + 1, last_at = greatest(h.last_at, clock_timestamp()),
        bytes = h.bytes + octet_length(p_body)
    where h.tenant_id = p_tenant and h.agent_id = p_agent
    returning h.* into mine;
    if not found then
        return null;
    end if;
    insert into inbox_entries
        (tenant_id, agent_id, seq, at, bot_id, chat_id, body, key_id, bytes_before)
    values (p_tenant, p_agent, mine.next_seq - 1, mine.last_at, p_bot, p_chat, p_body, 0,
        mine.bytes - octet_length(p_body));
    perform wake_sleepers(array[p_tenant], array[p_agent]);
    return mine.next_seq - 1;
end
$$;
