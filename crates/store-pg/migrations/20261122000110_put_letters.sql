-- Letters are put, answered and looked at.

-- Works for two tenants in this statement. One letter is of both.
create function works_for_both(p_one uuid, p_other uuid) returns void language plpgsql as $$
begin
    perform set_config('app.tenants', array[p_one, p_other]::text, true);
end
$$;

-- The session of an agent whose line is up, and whether something waits for its ack.
create function letter_live(p_tenant uuid, p_agent uuid, out session text, out is_busy boolean)
language sql stable as $$
    select g.name, h.next_seq - 1 > c.acked_seq
    from lines l
        join gateways g on g.tenant_id = l.tenant_id and g.gateway_id = l.gateway_id
        join inbox_heads h on h.tenant_id = l.tenant_id and h.agent_id = l.agent_id
        join inbox_cursors c on c.tenant_id = l.tenant_id and c.agent_id = l.agent_id
    where l.tenant_id = p_tenant and l.agent_id = p_agent
      and l.closed_at is null and node_lives(l.node, l.node_epoch)
$$;

-- Whether both tenants let these two write to each other. One tenant's own agents always may.
create function letter_granted(p_tenant uuid, p_agent uuid, p_to_tenant uuid, p_to_agent uuid)
returns boolean language sql stable as $$
    select p_tenant = p_to_tenant or 2 = (
        select count(*) from letter_grants g
        where (g.tenant_id, g.agent_id, g.peer_tenant_id, g.peer_agent_id) in (
            (p_tenant, p_agent, p_to_tenant, p_to_agent),
            (p_to_tenant, p_to_agent, p_tenant, p_agent)
        )
    )
$$;

-- Puts a letter, or keeps it until it is due. The hop is found here: what a sender says of itself is not asked.
create function letter_put(
    p_tenant uuid, p_agent uuid, p_to_tenant uuid, p_to_agent uuid, p_letter uuid, p_dispatch text,
    p_route text, p_kind text, p_session text, p_correlation text, p_due timestamptz,
    p_wait interval, p_bot uuid, p_chat text, p_body bytea, p_hops_max integer,
    p_hop_remembered interval, out outcome text, out letter uuid, out seq bigint
) language plpgsql
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
    now_at timestamptz := clock_timestamp();
    v_hop  integer;
    later  boolean := coalesce(p_due > now_at, false);
begin
    perform works_for_both(p_tenant, p_to_tenant);
    select l.letter_id into letter from letters l
    where l.tenant_id = p_tenant and l.agent_id = p_agent and l.dispatch_id = p_dispatch
      and l.to_tenant_id = p_to_tenant and l.to_agent_id = p_to_agent;
    if found then
        outcome := 'duplicate';
        return;
    end if;
    if not letter_granted(p_tenant, p_agent, p_to_tenant, p_to_agent) then
        outcome := 'not-granted';
        return;
    end if;
    perform from agents a where a.tenant_id = p_to_tenant and a.agent_id = p_to_agent;
    if not found then
        outcome := 'unknown';
        return;
    end if;
    select coalesce(max(i.hop), 0) + 1 into v_hop from letters_in i
    where i.tenant_id = p_tenant and i.agent_id = p_agent and i.put_at > now_at - p_hop_remembered;
    if v_hop > p_hops_max then
        outcome := 'hops';
        return;
    end if;
    insert into letters (
        tenant_id, letter_id, agent_id, to_tenant_id, to_agent_id, dispatch_id, route, kind, session,
        correlation_id, hop, state, sent_at, due_at, reply_by, chat_id, bot_id, body)
    values (p_tenant, p_letter, p_agent, p_to_tenant, p_to_agent, p_dispatch, p_route, p_kind, p_session,
        p_correlation, v_hop, case when later then 'scheduled' else 'put' end, now_at,
        case when later then p_due end, now_at + p_wait, p_chat, p_bot,
        case when later then p_body end)
    on conflict on constraint letters_one_per_dispatch do nothing;
    if not found then
        -- Another statement: the row was committed by somebody else after this one's snapshot.
        select l.letter_id into strict letter from letters l
        where l.tenant_id = p_tenant and l.agent_id = p_agent and l.dispatch_id = p_dispatch
          and l.to_tenant_id = p_to_tenant and l.to_agent_id = p_to_agent;
        outcome := 'duplicate';
        return;
    end if;
    letter := p_letter;
    insert into letters_in
        (tenant_id, agent_id, letter_id, from_tenant_id, from_agent_id, hop, put_at)
    values (p_to_tenant, p_to_agent, p_letter, p_tenant, p_agent, v_hop,
        case when later then p_due else now_at end);
    if later then
        outcome := 'kept';
        return;
    end if;
    seq := inbox_put_test(p_to_tenant, p_to_agent, p_bot, p_chat, p_body);
    update letters l set seq = letter_put.seq where l.tenant_id = p_tenant and l.letter_id = p_letter;
    outcome := 'stored';
end
$$;

-- What is to be put for a letter that is due, which counts as put from now on. Asked again it is the same, until it is
-- known where it lies: who dies in between is followed by another.
create function letter_due(
    p_tenant uuid, p_agent uuid, p_letter uuid, out bot uuid, out chat text, out body bytea
) language plpgsql as $$
#variable_conflict use_column
declare
    v_from uuid;
begin
    perform works_for(p_tenant);
    select i.from_tenant_id into v_from from letters_in i
    where i.tenant_id = p_tenant and i.agent_id = p_agent and i.letter_id = p_letter;
    if not found then
        return;
    end if;
    perform works_for_both(p_tenant, v_from);
    update letters l set state = case l.state when 'scheduled' then 'put' else l.state end
    where l.tenant_id = v_from and l.letter_id = p_letter and l.body is not null
      -- What was taken back meanwhile is not put.
      and letter_granted(l.tenant_id, l.agent_id, p_tenant, p_agent)
    returning l.bot_id, l.chat_id, l.body into bot, chat, body;
end
$$;

-- A letter that was due lies in the inbox under this number.
create function letter_came(p_tenant uuid, p_agent uuid, p_letter uuid, p_seq bigint) returns void
language plpgsql as $$
declare
    v_from uuid;
begin
    perform works_for(p_tenant);
    select i.from_tenant_id into v_from from letters_in i
    where i.tenant_id = p_tenant and i.agent_id = p_agent and i.letter_id = p_letter;
    perform works_for_both(p_tenant, v_from);
    update letters l set body = null, seq = p_seq
    where l.tenant_id = v_from and l.letter_id = p_letter and l.seq is null;
end
$$;

-- Takes a reply, if the letter came to whoever says it and somebody may still want it. Its row is locked, so that of a
-- reply and the end of the wait one counts.
create function letter_reply(
    p_tenant uuid, p_agent uuid, p_letter uuid, p_words text,
    out outcome text, out from_tenant uuid, out from_agent uuid
) language plpgsql as $$
#variable_conflict use_column
declare
    mine   letters;
    now_at timestamptz;
begin
    perform works_for(p_tenant);
    select i.from_tenant_id, i.from_agent_id into from_tenant, from_agent from letters_in i
    where i.tenant_id = p_tenant and i.agent_id = p_agent and i.letter_id = p_letter;
    if not found then
        outcome := 'unknown';
        return;
    end if;
    perform works_for_both(p_tenant, from_tenant);
    select l.* into mine from letters l
    where l.tenant_id = from_tenant and l.letter_id = p_letter for update;
    now_at := clock_timestamp();
    outcome := case when mine.state is null or mine.state = 'scheduled' then 'unknown'
        when mine.state = 'replied' then 'again'
        when mine.state = 'timed-out' or now_at >= mine.reply_by then 'late'
        else 'taken' end;
    if outcome = 'taken' then
        update letters l set state = 'replied', reply = p_words, replied_at = now_at
        where l.tenant_id = from_tenant and l.letter_id = p_letter;
    elsif outcome = 'late' then
        update letters l set state = 'timed-out'
        where l.tenant_id = from_tenant and l.letter_id = p_letter;
    end if;
end
$$;

-- A letter, for who sent it. One that was waited for long enough has timed out from now on.
create function letter_look(p_tenant uuid, p_agent uuid, p_letter uuid)
returns table (
    letter_id uuid, agent_id uuid, to_agent_id uuid, dispatch_id text, route text, kind text,
    session text, correlation_id text, hop integer, state text, seq bigint, is_acked boolean,
    sent_at timestamptz, due_at timestamptz, reply_by timestamptz, reply text, replied_at timestamptz
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
        l.reply_by, l.reply, l.replied_at
    from letters l
        left join inbox_cursors c
            on c.tenant_id = l.to_tenant_id and c.agent_id = l.to_agent_id
    where l.tenant_id = p_tenant and l.agent_id = p_agent and l.letter_id = p_letter;
end
$$;

-- Letters that an agent sent, newest first.
create function letters_page(p_tenant uuid, p_agent uuid, p_before uuid, letters_max integer)
returns setof uuid
language plpgsql
set enable_seqscan = off
as $$
declare
    v_sent   timestamptz := 'infinity';
    v_letter uuid := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
begin
    perform works_for(p_tenant);
    if p_before is not null then
        select l.sent_at, l.letter_id into v_sent, v_letter from letters l
        where l.tenant_id = p_tenant and l.agent_id = p_agent and l.letter_id = p_before;
    end if;
    return query
    select l.letter_id from letters l
    where l.tenant_id = p_tenant and l.agent_id = p_agent
      and (l.sent_at, l.letter_id) < (v_sent, v_letter)
    order by l.sent_at desc, l.letter_id desc limit letters_max;
end
$$;

-- What a tenant granted, and whether the other side did so too. That it did is seen by who granted it first.
create function letter_grants_of(p_tenant uuid, p_agent uuid)
returns table (agent uuid, peer_tenant uuid, peer_agent uuid, granted_at timestamptz, is_mutual boolean)
language plpgsql as $$
#variable_conflict use_column
declare
    mine letter_grants;
begin
    for mine in
        select g.* from letter_grants g
        where g.tenant_id = p_tenant and (p_agent is null or g.agent_id = p_agent)
        order by g.agent_id, g.peer_tenant_id, g.peer_agent_id
    loop
        perform works_for_both(p_tenant, mine.peer_tenant_id);
        return query select mine.agent_id, mine.peer_tenant_id, mine.peer_agent_id, mine.granted_at,
            letter_granted(p_tenant, mine.agent_id, mine.peer_tenant_id, mine.peer_agent_id);
    end loop;
    perform works_for(p_tenant);
end
$$;
