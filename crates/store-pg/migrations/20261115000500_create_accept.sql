-- The gathered accept: several events, each for several agents, in one statement.
--
-- Every event gets exactly one outcome: stored (one row per recipient), duplicate, stale or
-- fenced. One that gets none aborts the batch: "no row" never means duplicate.

create function no_outcome(what text) returns text language plpgsql as $$
begin
    raise exception 'no outcome for %', what using errcode = 'data_exception';
end
$$;

-- The events of a batch that must not be stored because of their source: somebody else owns
-- it, or an earlier event of it is decided on something old and has to go first.
create function source_holds(
    e_operator uuid[], e_bot uuid[], e_source text[], e_epoch bigint[],
    r_event integer[], r_tenant uuid[], r_agent uuid[], r_version bigint[],
    out fenced integer[], out behind integer[]
) language plpgsql as $$
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

-- Each source of a batch stands after the last of its events that was dealt with.
create function source_moves(
    e_operator uuid[], e_bot uuid[], e_source text[], e_cursor text[], undone integer[]
) returns void language sql as $$
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

-- Rows are looked up by scalar subqueries where a join would do: a join may be planned as a
-- walk over all rows of the batch's tenants, a subquery only as a probe of the key.
--
-- Locks are taken in one order by everybody: sources, dedupe keys, heads, then the rest; in
-- each by key. Unsorted, gathered accepts deadlock.
create function inbox_accept(
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
            row_number() over (partition by rc.tenant, rc.agent order by rc.o, rc.n) as nth
        from fresh join rc on rc.o = fresh.o
    ), counted as materialized (
        select due.tenant, due.agent, count(*) as n from due group by 1, 2
    ), taken as (
        update inbox_heads h
        set next_seq = h.next_seq + ordered.n, last_at = greatest(h.last_at, now_at)
        from (select c.* from counted c order by c.tenant, c.agent) as ordered
        where h.tenant_id = ordered.tenant and h.agent_id = ordered.agent
        returning h.tenant_id, h.agent_id, h.next_seq - ordered.n as base, h.last_at,
            h.reach_version
    ), numbered as materialized (
        select due.*, taken.base + due.nth - 1 as seq, taken.last_at as at,
            taken.reach_version,
            due.unsendable or taken.base + due.nth - 1 - (
                select c.acked_seq from inbox_cursors c
                where c.tenant_id = due.tenant and c.agent_id = due.agent
            ) > entries_max as aside
        from due
            left join taken on taken.tenant_id = due.tenant and taken.agent_id = due.agent
    ), held as (
        insert into inbox_entries
            (tenant_id, agent_id, seq, at, bot_id, chat_id, body, key_id)
        select n.tenant, n.agent, n.seq, n.at, n.bot, n.chat, n.body, n.key_id
        from numbered n where not n.aside
    ), set_aside as (
        insert into inbox_parked
            (tenant_id, agent_id, seq, at, bot_id, chat_id, body, key_id, reason)
        select n.tenant, n.agent, n.seq, n.at, n.bot, n.chat, n.body, n.key_id,
            case when n.unsendable then 'unsendable' else 'full' end
        from numbered n where n.aside
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
