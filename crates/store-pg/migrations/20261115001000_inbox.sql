-- The inbox holds the entries that agents have not acknowledged yet, and a little of those they have.
--
-- Heads and cursors are made with their agent. They have no foreign key: it would be checked
-- at every accept and ack.
create table inbox_heads (
    tenant_id     uuid        not null,
    agent_id      uuid        not null,
    -- Taken inside the accept, so the order of commits is the order of numbers.
    next_seq      bigint      not null default 1,
    last_at       timestamptz not null default 'epoch',
    -- Moves whenever fewer people may reach the agent; an admit decided on an older one is
    -- refused. It stands here because the accept locks this row anyway.
    reach_version bigint      not null default 0,
    -- Bytes of all entries that ever came into the inbox.
    bytes         bigint      not null default 0,
    primary key (tenant_id, agent_id)
) with (fillfactor = 50);
select wall_off('inbox_heads');

-- Apart from the head, so that acks never wait for accepts.
create table inbox_cursors (
    tenant_id  uuid           not null,
    agent_id   uuid           not null,
    -- Everything up to here is acknowledged or set aside.
    acked_seq  bigint         not null default 0,
    -- Nothing after that is older than this, so that a drain can skip old partitions.
    acked_at   timestamptz    not null default 'epoch',
    -- The numbers beyond it that are acknowledged or set aside.
    ahead      int8multirange not null default '{}',
    -- The number of the newest line. Acks of an older one do not count.
    generation bigint         not null default 0,
    -- The oldest waiting entry, and the count of vain hand-overs of it.
    tried_seq  bigint         not null default 0,
    tries      integer        not null default 0,
    primary key (tenant_id, agent_id)
) with (fillfactor = 50);
select wall_off('inbox_cursors');

create table inbox_entries (
    tenant_id    uuid        not null,
    agent_id     uuid        not null,
    seq          bigint      not null,
    -- Never goes back for an agent, so that a drain can skip old partitions.
    at           timestamptz not null,
    bot_id       uuid        not null,
    chat_id      text        not null,
    body         bytea       not null,
    -- The tenant's data key that sealed the body, and the random id that is bound into it. Both move with the body.
    key_id       bigint      not null,
    body_id      uuid        not null,
    -- Bytes of all entries that came before this one. The bytes that wait are the difference between
    -- the head and the oldest waiting entry, found by one look.
    bytes_before bigint      not null default 0,
    -- The incarnation of the history in which it was accepted. It is part of the entry's id.
    incarnation  bigint      not null default current_incarnation(),
    -- PostgreSQL wants the partition key here; that seq is not taken twice is the head's doing.
    primary key (tenant_id, agent_id, seq, at)
) partition by range (at);
select wall_off('inbox_entries');

create table inbox_parked (
    tenant_id      uuid        not null,
    agent_id       uuid        not null,
    seq            bigint      not null,
    at             timestamptz not null,
    bot_id         uuid        not null,
    chat_id        text        not null,
    body           bytea       not null,
    key_id         bigint      not null,
    body_id        uuid        not null,
    reason         text        not null,
    parked_at      timestamptz not null default now(),
    -- The number under which it was put into the inbox again.
    resubmitted_as bigint,
    incarnation    bigint      not null default current_incarnation(),
    primary key (tenant_id, agent_id, seq)
);
-- Entries that are set aside because a running turn is stopped have a reason of their own. The constraint stays
-- `not valid`, as in the audit log; new rows are checked either way.
alter table inbox_parked
    add constraint inbox_parked_known_reason check (reason in (
        'unsendable', 'tries', 'full', 'rate-limit', 'expired', 'unreadable', 'operator', 'stopped'
    )) not valid;
create index inbox_parked_by_age on inbox_parked (parked_at);
-- For the data keys that are still needed.
create index inbox_parked_by_key on inbox_parked (tenant_id, key_id);
select wall_off('inbox_parked');
create constraint trigger tell_set_aside after insert on inbox_parked
    deferrable initially deferred for each row when (new.reason = 'operator')
    execute function tell_row('entry-set-aside', 'agent_id', 'seq');
create constraint trigger tell_resubmitted after update of resubmitted_as on inbox_parked
    deferrable initially deferred for each row
    execute function tell_row('entry-resubmitted', 'agent_id', 'seq', 'resubmitted_as');
-- The end of the retention is no act, and `trim_parked` tells of many at once.
create constraint trigger tell_removed after delete on inbox_parked
    deferrable initially deferred for each row
    when (old.parked_at > now() - retention_min('parked')
        and current_setting('app.trims', true) is distinct from 'on')
    execute function tell_row('entry-removed', 'agent_id', 'seq');

-- The desk tells of entries that it sets aside by itself when that begins: once for each reason, until it did so for
-- an hour no more. It looks at the last entries only, so that a flood costs little.
create function tell_parked() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
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
alter function tell_parked() owner to nightdesk_doors;
create constraint trigger tell_parked after insert on inbox_parked
    deferrable initially deferred for each row when (new.reason <> 'operator')
    execute function tell_parked();

-- One row per ack, not per entry: `explain` needs no more, and no entry costs a write.
create table inbox_acks (
    tenant_id  uuid        not null,
    agent_id   uuid        not null,
    from_seq   bigint      not null,
    to_seq     bigint      not null,
    generation bigint      not null,
    handed_at  timestamptz not null,
    acked_at   timestamptz not null,
    primary key (tenant_id, agent_id, to_seq, acked_at)
) partition by range (acked_at);
select wall_off('inbox_acks');

-- Dedupe by set: one key per event of a bot, one table per day.
create table dedupe_keys (
    -- The operator of the bot.
    tenant_id uuid  not null,
    key       bytea not null,
    day       date  not null,
    primary key (tenant_id, key, day)
) partition by range (day);
select wall_off('dedupe_keys');

-- The position up to which a source with a memory of its own has been read, and its reader's epoch.
create table source_cursors (
    tenant_id uuid        not null,
    bot_id    uuid        not null,
    source    text        not null,
    epoch     bigint      not null,
    cursor    text,
    moved_at  timestamptz not null default now(),
    primary key (tenant_id, bot_id, source)
);
select wall_off('source_cursors');

-- Authentic, but nobody can read it. A ring per bot.
create table quarantine_heads (
    tenant_id   uuid   not null,
    bot_id      uuid   not null,
    next_number bigint not null default 0,
    primary key (tenant_id, bot_id)
);
select wall_off('quarantine_heads');
create table quarantined (
    tenant_id uuid        not null,
    bot_id    uuid        not null,
    slot      bigint      not null,
    number    bigint      not null,
    at        timestamptz not null default now(),
    problem   text        not null,
    -- Sealed with the data key of the bot's operator.
    body      bytea       not null,
    key_id    bigint      not null,
    body_id   uuid        not null,
    primary key (tenant_id, bot_id, slot)
);
-- For alerts.
create index quarantined_by_time on quarantined (at);
select wall_off('quarantined');

-- The events that the gate refused lately, without their text. A ring per tenant.
create table refusal_heads (
    tenant_id   uuid   not null,
    next_number bigint not null default 0,
    primary key (tenant_id)
);
select wall_off('refusal_heads');
create table refusals (
    tenant_id uuid        not null,
    slot      bigint      not null,
    number    bigint      not null,
    at        timestamptz not null default now(),
    bot_id    uuid        not null,
    event_key text        not null,
    reason    text        not null,
    -- The agent that came closest to being reached.
    agent_id  uuid,
    primary key (tenant_id, slot)
);
create index refusals_by_event on refusals (tenant_id, event_key);
select wall_off('refusals');

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

-- The bytes of the longest entry: no entry is longer than a frame.
create function entry_bytes_max() returns bigint language sql immutable parallel safe as $$
    select 524288::bigint
$$;

-- Returns whether an entry of that number, up to which so many bytes came, is more than an inbox may
-- hold.
create function inbox_is_full(
    p_tenant uuid, p_agent uuid, p_seq bigint, p_bytes bigint, v_entries bigint, v_bytes bigint
) returns boolean
language plpgsql stable
as $$
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

-- Stores the events of a batch, within the quotas of their tenants.
--
-- Rows are looked up by scalar subqueries where a join would do: a join may be planned as a
-- walk over all rows of the batch's tenants, a subquery only as a probe of the key.
--
-- Locks are taken in one order by everybody: sources, dedupe keys, heads, then the rest; in
-- each by key. Unsorted, gathered accepts deadlock.
create function inbox_store(
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
    r_body_id   uuid[],
    -- The treatment by the author's rate: `deliver`, `deliver-without-wake` or `park`.
    r_pace      text[],
    -- limits
    entries_max bigint,
    dedupe_days integer
) returns table (
    event integer, outcome text, tenant uuid, agent uuid, seq bigint, at timestamptz, parked boolean,
    wakes boolean
)
language plpgsql
-- The plan is made once and kept, so it must not be the one for empty tables. A hash join would also lock heads in the
-- order of the table.
set enable_seqscan = off
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

-- Stores the events of a batch, and, while the heads are still locked, makes wakes due for the
-- recipients that have no line, if their entries wake. In a statement of its own: changes for which the heads were waited for
-- are only seen by a new one.
create function inbox_accept(
    tenants     uuid[],
    e_operator  uuid[],
    e_bot       uuid[],
    e_key       bytea[],
    e_chat      text[],
    e_unsendable boolean[],
    e_source    text[],
    e_epoch     bigint[],
    e_cursor    text[],
    r_event     integer[],
    r_tenant    uuid[],
    r_agent     uuid[],
    r_version   bigint[],
    r_body      bytea[],
    r_key_id    bigint[],
    r_body_id   uuid[],
    r_pace      text[],
    entries_max bigint,
    dedupe_days integer
) returns table (
    event integer, outcome text, tenant uuid, agent uuid, seq bigint, at timestamptz,
    parked boolean,
    -- Null: it has a line, or the entry does not wake it.
    presence text,
    incarnation bigint,
    -- The newest line of the agent.
    generation bigint
)
language plpgsql
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
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

-- Gathered read: the entries that each line's agent has not acknowledged, in order. A line that was
-- replaced, or began in another incarnation of the history, gets a row without an entry.
create function inbox_waiting(
    tenants       uuid[],
    a_tenant      uuid[],
    a_agent       uuid[],
    a_incarnation bigint[],
    a_generation  bigint[],
    a_after       bigint[],
    a_since       timestamptz[],
    a_entries_max integer[],
    bytes_max     bigint
) returns table (
    ask integer, refusal text, seq bigint, at timestamptz, bot uuid, chat text,
    body bytea, key_id bigint, body_id uuid, incarnation bigint
)
language plpgsql
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
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

-- Returns whether an entry waits for an agent that its line could be given.
create function inbox_waits(p_tenant uuid, p_agent uuid) returns boolean
language plpgsql
set enable_seqscan = off
as $$
begin
    return exists (
        select from inbox_cursors c
            join inbox_entries e on e.tenant_id = c.tenant_id and e.agent_id = c.agent_id
        where c.tenant_id = p_tenant and c.agent_id = p_agent
          and e.at >= c.acked_at and e.seq > c.acked_seq and not e.seq <@ c.ahead
    );
end
$$;

-- Returns the position of a cursor when `done` is dealt with too: after all that is whole. It never goes
-- back. It is a table of one row, so that it becomes part of the statement that calls it.
create function cursor_after(acked_seq bigint, done int8multirange)
returns table (seq bigint, ahead int8multirange) language sql immutable as $$
    select whole.seq, done - int8multirange(int8range(null, whole.seq + 1))
    from (
        select upper(r) - 1 as seq
        from unnest(done + int8multirange(int8range(0, acked_seq + 1))) as r
        order by r limit 1
    ) as whole
$$;

-- Gathered ack. Acks of a replaced line, and of a line of another incarnation of the history, change nothing. An
-- ack beyond the head is of an entry that this history does not have.
create function inbox_ack(
    tenants      uuid[],
    a_tenant     uuid[],
    a_agent      uuid[],
    a_incarnation bigint[],
    a_generation bigint[],
    -- ranges
    r_ack        integer[],
    r_from       bigint[],
    r_to         bigint[],
    r_at         timestamptz[],
    r_handed_at  timestamptz[]
) returns table (ack integer, acked_seq bigint, refusal text)
language plpgsql
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
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

-- Moves an entry aside and the cursor over it. The caller holds the cursor's lock.
create function set_aside(p_tenant uuid, p_agent uuid, p_seq bigint, p_reason text)
returns boolean language plpgsql as $$
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

-- Puts a parked entry into its inbox again, once, under the next number. Null: there is none.
create function inbox_resubmit(p_tenant uuid, p_agent uuid, p_seq bigint) returns bigint
language plpgsql as $$
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

-- A person puts an entry into an inbox, to see whether its agent wakes up and takes it.
create function inbox_put_test(
    p_tenant uuid, p_agent uuid, p_bot uuid, p_chat text, p_body bytea, p_key bigint, p_body_id uuid
) returns bigint language plpgsql as $$
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

-- The last number given out in each inbox, in the order asked.
create function inbox_last_seqs(a_tenant uuid[], a_agent uuid[])
returns table (seq bigint) language plpgsql as $$
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

grant execute on function
    no_outcome, source_holds, source_moves, entry_bytes_max, inbox_is_full, inbox_store, inbox_accept,
    inbox_waiting, inbox_waits, cursor_after, inbox_ack, set_aside, inbox_resubmit,
    inbox_put_test, inbox_last_seqs
to nightdesk_app;
