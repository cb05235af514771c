-- Letters: messages from agents to agents, their outcomes, and the tenants that let their agents write to each other.
--
-- A letter's row is its sender's. A letter that came to an agent is a row of the agent's: by it a reply finds the
-- letter, and the desk knows what its next letter answers.
--
-- The rules are in the crate of letters: these functions lock, read facts and write decisions.
create table letters (
    tenant_id      uuid        not null,
    letter_id      uuid        not null,
    -- The agent that was proven to send it; the nil id is an operator.
    agent_id       uuid        not null,
    to_tenant_id   uuid        not null,
    to_agent_id    uuid        not null,
    dispatch_id    text        collate "C" not null,
    route          text        not null,
    kind           text        not null,
    session        text,
    correlation_id text,
    hop            integer     not null,
    state          text        not null,
    -- Its number in the inbox, once it is known.
    seq            bigint,
    sent_at        timestamptz not null,
    due_at         timestamptz,
    -- The end of the sender's wait. Null: nobody waits.
    reply_by       timestamptz,
    -- The reply, sealed for the sender.
    reply          bytea,
    reply_key_id   bigint,
    reply_body_id  uuid,
    replied_at     timestamptz,
    -- The entry that is put when the letter is due, sealed for the recipient.
    chat_id        text        not null,
    bot_id         uuid        not null,
    body           bytea,
    key_id         bigint,
    body_id        uuid,
    primary key (tenant_id, letter_id),
    constraint letters_one_per_dispatch
        unique (tenant_id, agent_id, dispatch_id, to_tenant_id, to_agent_id),
    constraint letters_known_route check (route in ('deliver', 'wake')),
    constraint letters_known_kind check (kind in ('augment', 'template')),
    constraint letters_known_state check (state in ('scheduled', 'put', 'replied', 'timed-out')),
    constraint letters_kept_until_due check (state <> 'scheduled' or body is not null),
    constraint letters_sealed check (
        num_nulls(body, key_id, body_id) in (0, 3)
        and num_nulls(reply, reply_key_id, reply_body_id) in (0, 3)),
    constraint letters_replied_with_words
        check ((state = 'replied') = (reply is not null) and (reply is null) = (replied_at is null)),
    constraint letters_time_out_if_waited_for check (state <> 'timed-out' or reply_by is not null)
) with (fillfactor = 70);
create index letters_of_agent on letters (tenant_id, agent_id, sent_at, letter_id);
create index letters_by_time on letters (sent_at);
-- For the data keys that are still needed.
create index letters_by_key on letters (to_tenant_id, key_id) where key_id is not null;
create index letters_by_reply_key on letters (tenant_id, reply_key_id) where reply_key_id is not null;
select wall_off('letters');

create table letters_in (
    tenant_id      uuid        not null,
    agent_id       uuid        not null,
    letter_id      uuid        not null,
    from_tenant_id uuid        not null,
    from_agent_id  uuid        not null,
    hop            integer     not null,
    put_at         timestamptz not null,
    primary key (tenant_id, agent_id, letter_id)
);
-- For what an agent answers, and for the upkeep.
create index letters_in_lately on letters_in (tenant_id, agent_id, put_at);
create index letters_in_by_time on letters_in (put_at);
select wall_off('letters_in');

-- One side of an understanding: both have a row, or nothing goes between them.
create table letter_grants (
    tenant_id      uuid        not null,
    agent_id       uuid        not null,
    peer_tenant_id uuid        not null,
    peer_agent_id  uuid        not null,
    granted_at     timestamptz not null default now(),
    primary key (tenant_id, agent_id, peer_tenant_id, peer_agent_id),
    foreign key (tenant_id, agent_id) references agents,
    constraint letter_grants_between_tenants check (tenant_id <> peer_tenant_id)
);
select wall_off('letter_grants');

-- Webhooks by which others write letters for an agent. Of a secret only its digest is kept.
create table letter_hooks (
    tenant_id  uuid        not null,
    name       text        collate "C" not null,
    agent_id   uuid        not null,
    digest     bytea       not null,
    created_at timestamptz not null default now(),
    primary key (tenant_id, name),
    foreign key (tenant_id, agent_id) references agents,
    constraint letter_hooks_one_per_secret unique (digest)
);
select wall_off('letter_hooks');

-- A caller shows a secret; the hook's row names its tenant and its agent. The secrets of many callers are looked up
-- together.
create function door_letter_hook(p_digests bytea[]) returns table (digest bytea, tenant uuid, agent uuid)
language sql stable security definer set search_path = public, pg_temp as $$
    select h.digest, h.tenant_id, h.agent_id from letter_hooks h
    where h.digest = any (p_digests) and tenant_lives(h.tenant_id)
$$;
alter function door_letter_hook(bytea[]) owner to nightdesk_doors;

-- The outcome of an emit by each way that it went.
create table letter_receipts (
    tenant_id   uuid        not null,
    dispatch_id text        collate "C" not null,
    connector   text        collate "C" not null,
    address     text        collate "C" not null,
    route       text        not null,
    came        jsonb       not null,
    noted_at    timestamptz not null default clock_timestamp(),
    primary key (tenant_id, dispatch_id, connector, address),
    constraint letter_receipts_known_route check (route in ('deliver', 'wake'))
);
create index letter_receipts_by_time on letter_receipts (noted_at);
select wall_off('letter_receipts');

-- The session of an agent whose line is up, its live sessions, and whether something waits for its ack.
create function letter_live(
    p_tenant uuid, p_agent uuid, out session text, out is_busy boolean, out sessions text[]
) language sql stable as $$
    select g.name, h.next_seq - 1 > c.acked_seq, l.sessions
    from lines l
        join gateways g on g.tenant_id = l.tenant_id and g.gateway_id = l.gateway_id
        join inbox_heads h on h.tenant_id = l.tenant_id and h.agent_id = l.agent_id
        join inbox_cursors c on c.tenant_id = l.tenant_id and c.agent_id = l.agent_id
    where l.tenant_id = p_tenant and l.agent_id = p_agent
      and l.closed_at is null and node_lives(l.node, l.node_epoch)
$$;

-- The facts about addresses: the sender's name, the agent of its own tenant that is called so, and the agent of another
-- tenant that has this id, if the sender's tenant granted it.
create function letter_addresses(
    tenants uuid[], a_tenant uuid[], a_agent uuid[], a_called text[], a_called_id uuid[]
) returns table (
    nth integer, sender text, own_id uuid, own_name text, peer_tenant uuid, is_granted_back boolean
)
language plpgsql
set enable_seqscan = off
as $$
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

-- Bytes of the entries that wait in an inbox, up to the head's count of bytes.
create function letter_bytes(p_tenant uuid, p_agent uuid, p_bytes bigint) returns bigint
language plpgsql stable
as $$
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

-- Locks the inboxes of a batch of letters, in the order in which accepts lock them, and reads the facts of each letter.
-- The lock comes first, in a statement of its own: of two letters with one dispatch, the later sees the earlier. Rows
-- are looked up by scalar subqueries where a join would do, as in the accept. Bytes are summed only where so many more
-- entries could be too much: no entry is longer than a frame.
create function letter_facts(
    tenants uuid[], l_tenant uuid[], l_agent uuid[], l_to_tenant uuid[], l_to_agent uuid[],
    l_dispatch text[], p_hop_remembered interval
) returns table (
    nth integer, now_at timestamptz, repeated uuid, is_granted boolean, is_granted_back boolean,
    highest_hop integer, entries bigint, entries_max bigint, bytes bigint, bytes_max bigint
)
language plpgsql
set enable_seqscan = off
as $$
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

-- Writes the letters of a batch that were decided to be written, numbers those that go into inboxes, and has their
-- agents woken. Returns the number of each, and the session of an agent whose line is up. The inboxes are locked.
create function letter_write(
    l_letter uuid[], l_tenant uuid[], l_agent uuid[], l_to_tenant uuid[], l_to_agent uuid[],
    l_dispatch text[], l_route text[], l_kind text[], l_session text[], l_correlation text[],
    l_hop integer[], l_due timestamptz[], l_wait_secs double precision[], l_bot uuid[],
    l_chat text[], l_body bytea[], l_key bigint[], l_body_id uuid[], l_is_put boolean[],
    p_now timestamptz
) returns table (nth integer, seq bigint, session text)
language plpgsql
set enable_seqscan = off
as $$
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

-- Locks a letter that is due, after its inbox, and reads the facts on which its delivery is decided.
create function letter_due_facts(
    p_tenant uuid, p_agent uuid, p_letter uuid, out from_tenant uuid, out from_agent uuid,
    out bot uuid, out chat text, out body bytea, out key_id bigint, out body_id uuid,
    out route text, out is_granted boolean, out is_granted_back boolean, out entries bigint, out entries_max bigint, out bytes bigint,
    out bytes_max bigint
) language plpgsql as $$
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

-- A letter that was due lies in the inbox under this number, or went out by another way.
create function letter_came(p_tenant uuid, p_agent uuid, p_letter uuid, p_seq bigint)
returns void language plpgsql as $$
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

-- Parks a letter that was due and does not open, under the next number of its inbox, where the operator sees it. Null:
-- it is not there any more.
create function letter_park_unreadable(p_tenant uuid, p_agent uuid, p_letter uuid) returns bigint
language plpgsql as $$
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

-- The sender of a letter that came to an agent. The agent's reply is sealed for it.
create function letter_sender(
    p_tenant uuid, p_agent uuid, p_letter uuid, out from_tenant uuid, out from_agent uuid
) language plpgsql as $$
begin
    perform works_for(p_tenant);
    select i.from_tenant_id, i.from_agent_id into from_tenant, from_agent from letters_in i
    where i.tenant_id = p_tenant and i.agent_id = p_agent and i.letter_id = p_letter;
end
$$;

-- Locks a letter that came to an agent, and reads the facts on which its reply is decided. The row is locked, so that
-- of a reply and the end of the wait one counts.
create function letter_reply_facts(
    p_tenant uuid, p_agent uuid, p_letter uuid, out from_tenant uuid, out state text,
    out reply_by timestamptz, out now_at timestamptz
) language plpgsql as $$
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

-- A letter, for its sender. One that was waited for long enough has timed out from now on.
create function letter_look(p_tenant uuid, p_agent uuid, p_letter uuid)
returns table (
    letter_id uuid, agent_id uuid, to_agent_id uuid, dispatch_id text, route text, kind text,
    session text, correlation_id text, hop integer, state text, seq bigint, is_acked boolean,
    sent_at timestamptz, due_at timestamptz, reply_by timestamptz, reply bytea,
    reply_key_id bigint, reply_body_id uuid, replied_at timestamptz
) language plpgsql as $$
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

-- Letters that an agent sent, newest first. Those that were waited for long enough have timed out from now on.
create function letters_page(p_tenant uuid, p_agent uuid, p_before uuid, letters_max integer)
returns table (
    letter_id uuid, agent_id uuid, to_agent_id uuid, dispatch_id text, route text, kind text,
    session text, correlation_id text, hop integer, state text, seq bigint, is_acked boolean,
    sent_at timestamptz, due_at timestamptz, reply_by timestamptz, reply bytea,
    reply_key_id bigint, reply_body_id uuid, replied_at timestamptz
)
language plpgsql
as $$
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

-- The first grants of a tenant, at most so many, and whether the other side granted the same. Only the side that granted sees that the other
-- did.
create function letter_grants_of(p_tenant uuid, p_agent uuid, grants_max bigint)
returns table (agent uuid, peer_tenant uuid, peer_agent uuid, granted_at timestamptz, is_mutual boolean)
language plpgsql as $$
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

-- The agents that an agent can write to, and whether their lines are up: the tenant's own by name, then those of others
-- if both sides granted it.
create function letter_peers(p_tenant uuid, p_agent uuid, peers_max integer)
returns table (
    tenant uuid, agent uuid, name text, session text, is_busy boolean, sessions text[]
)
language plpgsql
as $$
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

-- Stores receipts. One of the same dispatch, connector and address is replaced.
create function letter_note(
    tenants uuid[], r_tenant uuid[], r_dispatch text[], r_connector text[], r_address text[],
    r_route text[], r_came jsonb[]
) returns void language plpgsql as $$
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

-- Forgets letters and receipts that are older than this, at most so many rows of each. A door: of all tenants.
create function forget_letters(kept interval, rows_max integer) returns bigint
language plpgsql security definer set search_path = public, pg_temp as $$
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
alter function forget_letters(interval, integer) owner to nightdesk_doors;

grant execute on function
    door_letter_hook, letter_live, letter_addresses, letter_bytes, letter_facts, letter_write,
    letter_due_facts, letter_came, letter_park_unreadable, letter_sender, letter_reply_facts, letter_look, letters_page,
    letter_grants_of, letter_peers, letter_note, forget_letters
to nightdesk_app;
