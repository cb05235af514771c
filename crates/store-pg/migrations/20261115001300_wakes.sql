-- Waking: agents that are needed and have no line, the URLs to call for them, and the outcomes.
--
-- Wakes become due in the accept. The desk makes them due when a line ends, when one is suspect, and when a person
-- asks, by the rules of `nightdesk-wake`. `wake_sleepers` and `line_take` are parts of hot statements and repeat two of
-- those rules, `WakeRow::need` and `WakeRow::dial_in`; a test compares them.
--
-- Locks, after those of the accept: a head, its cursor, its line, its wake. An accept holds the head
-- when it looks for a line, and a line that ends holds it when it looks for entries: whoever comes
-- second sees what the other did.
--
-- A node claims wakes in one transaction: it locks rows that are due and reads the facts, decides by the rules of
-- `nightdesk-wake`, and writes the rows back. The hot changes of one row, a call and its outcome, hold no lock between
-- read and write: `wake_replace` writes only if the row's version is the one that was read, and otherwise the node
-- decides again in a transaction. A decision that no entry waits is never written so: an accept locks the row of an
-- open wake but does not change it.

-- A wake is written by the same transaction that makes it needed, so no crash can lose it. It may
-- be written in vain: the node that claims it looks again before calling.
create table wakes (
    tenant_id          uuid        not null,
    agent_id           uuid        not null,
    state              text        not null,
    -- Since when the agent is needed.
    since              timestamptz not null,
    -- The time of the next look: to call, to call again, or to give up.
    due_at             timestamptz,
    calls              integer     not null default 0,
    called_at          timestamptz,
    outcome            text,
    -- The agent is not called before this, whatever happens.
    rests_until        timestamptz not null default 'epoch',
    woken_at           timestamptz,
    -- A line that is open and yet suspect: its number, and where the cursor stood then.
    suspect_generation bigint,
    suspect_acked_seq  bigint,
    -- A person asked for the call: it is made also if nothing waits.
    asked              boolean     not null default false,
    -- The author of the oldest waiting entry was told that the agent still does not come.
    delay_told         boolean     not null default false,
    -- The count of wakes in the hour that began then.
    hour_began_at      timestamptz not null default 'epoch',
    hour_wakes         integer     not null default 0,
    primary key (tenant_id, agent_id),
    constraint wakes_known_state
        check (state in ('due', 'held', 'woken', 'settled', 'unreachable')),
    constraint wakes_looked_at_again check (state not in ('due', 'held') or due_at is not null)
) with (fillfactor = 50);
-- For the sweep. Agents that are awake are not in it.
create index wakes_by_due on wakes (due_at) where due_at is not null;
select wall_off('wakes');

-- The URLs to call for an agent, in this order.
create table wakers (
    tenant_id  uuid        not null,
    agent_id   uuid        not null,
    position   integer     not null,
    url        text        not null,
    created_at timestamptz not null default now(),
    -- The gateway that said where its agent is woken. Null: an operator did, and that stands.
    gateway_id uuid,
    primary key (tenant_id, agent_id, position),
    foreign key (tenant_id, agent_id) references agents,
    foreign key (tenant_id, gateway_id) references gateways
);
select wall_off('wakers');
create constraint trigger tell_wakers after insert or delete on wakers
    deferrable initially deferred for each row
    execute function tell_row('wake-url-set', 'agent_id');

-- The URL to which the desk posts an agent's entries. Its secret is derived from the salt and a secret of
-- the desk, so no row has it.
create table agent_webhooks (
    tenant_id  uuid        not null,
    agent_id   uuid        not null,
    url        text        not null,
    salt       text        not null,
    -- The salt before the last rotation, which signs too until then.
    old_salt   text,
    old_until  timestamptz,
    created_at timestamptz not null default now(),
    primary key (tenant_id, agent_id),
    foreign key (tenant_id, agent_id) references agents
);
select wall_off('agent_webhooks');

-- Notices to the operator of an agent or a bot. A ring per tenant.
create table notice_heads (
    tenant_id   uuid   not null,
    next_number bigint not null default 0,
    primary key (tenant_id)
);
select wall_off('notice_heads');
create table notices (
    tenant_id uuid        not null,
    slot      bigint      not null,
    number    bigint      not null,
    at        timestamptz not null,
    kind      text        not null,
    -- A notice is about an agent or about a bot.
    agent_id  uuid,
    -- The outcome of the last call.
    outcome   text,
    calls     integer     not null,
    bot_id    uuid,
    primary key (tenant_id, slot),
    constraint notices_known_kind check (kind in (
        'unreachable', 'held', 'deaf', 'missed', 'sessions', 'fire-missed', 'unarmed')),
    constraint notices_about_somebody check (num_nonnulls(agent_id, bot_id) = 1)
);
select wall_off('notices');

-- Tells the owner of an agent something. A ring.
create function notice(
    p_tenant uuid, p_agent uuid, p_kind text, p_outcome text, p_calls integer, kept_max bigint
) returns void language sql as $$
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

-- Tells the operator of a bot something. A ring.
create function notice_of_bot(
    p_tenant uuid, p_bot uuid, p_kind text, p_outcome text, kept_max bigint
) returns void language sql as $$
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

-- Makes a wake due for each of these agents that has no line, and answers which those are. Nobody
-- is called while the client of a line that just ended may come back by itself.
create function wake_sleepers(a_tenant uuid[], a_agent uuid[])
returns table (tenant uuid, agent uuid, held boolean)
language plpgsql
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
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

-- The places from which the oldest entries came that wait for an agent.
create function wake_places(p_tenant uuid, p_agent uuid, places_max integer, out bots uuid[], out chats text[])
language sql stable as $$
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

-- Locks wakes that are due, at most so many, or the one of an agent, and returns them with the facts that their next
-- steps depend on. Several nodes share the work: a wake that another transaction has locked is skipped. From then on
-- the transaction works for the tenants of these wakes. Over all tenants: a door.
create function lock_due_wakes(
    p_tenant uuid, p_agent uuid, wakes_max integer, places_max integer
) returns table (
    now_at timestamptz, tenant uuid, agent uuid, state text, since timestamptz, due_at timestamptz,
    calls integer, called_at timestamptz, outcome text, rests_until timestamptz,
    woken_at timestamptz, suspect_generation bigint, suspect_acked_seq bigint, asked boolean,
    delay_told boolean, hour_began_at timestamptz, hour_wakes integer,
    -- The row's version, for `wake_replace`.
    version bigint,
    -- Null: the agent has no line that is open on a node that lives.
    line_generation bigint, line_opened_at timestamptz,
    acked_seq bigint, parting text, urls text[], has_webhook boolean, bots uuid[], chats text[]
) language plpgsql security definer
set search_path = public, pg_temp set enable_seqscan = off as $$
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
alter function lock_due_wakes(uuid, uuid, integer, integer) owner to nightdesk_doors;

-- An agent's wake, its version and the time.
create function wake_read(p_tenant uuid, p_agent uuid)
returns table (now_at timestamptz, version bigint, wake wakes)
language plpgsql stable set enable_seqscan = off as $$
begin
    return query
    select clock_timestamp(), w.xmin::text::bigint, w from wakes w
    where w.tenant_id = p_tenant and w.agent_id = p_agent;
end
$$;

-- Writes an agent's wake, if no transaction has changed it since this version was read.
create function wake_replace(
    p_tenant uuid, p_agent uuid, p_version bigint, p_state text, p_since timestamptz,
    p_due_at timestamptz, p_calls integer, p_called_at timestamptz, p_outcome text,
    p_rests_until timestamptz, p_woken_at timestamptz, p_suspect_generation bigint,
    p_suspect_acked_seq bigint, p_asked boolean, p_delay_told boolean, p_hour_began_at timestamptz,
    p_hour_wakes integer
) returns boolean language plpgsql set enable_seqscan = off as $$
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

grant execute on function
    notice, notice_of_bot, wake_sleepers, lock_due_wakes, wake_read, wake_replace
to nightdesk_app;
