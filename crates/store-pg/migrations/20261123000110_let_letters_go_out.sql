-- Letters may go out by another way than the inbox, and are listed at once.

-- Puts a letter, keeps it until it is due, or writes down that it goes out by another way. The hop is found here: what a sender
-- says of itself is not asked. What is more than an inbox may hold is refused, since its sender can be told; one that is due
-- some day is asked about then.
-- contract: no desk that asks it was ever released.
drop function letter_put(
    uuid, uuid, uuid, uuid, uuid, text, text, text, text, text, timestamptz, interval, uuid, text,
    bytea, integer, interval);
create function letter_put(
    p_tenant uuid, p_agent uuid, p_to_tenant uuid, p_to_agent uuid, p_letter uuid, p_dispatch text,
    p_route text, p_kind text, p_session text, p_correlation text, p_due timestamptz,
    p_wait interval, p_bot uuid, p_chat text, p_body bytea, p_hops_max integer,
    p_hop_remembered interval, p_goes_out boolean,
    out outcome text, out letter uuid, out seq bigint
) language plpgsql
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
    now_at timestamptz := clock_timestamp();
    v_hop  integer;
    -- Whoever says when leaves it to the desk to put it, also if that is now.
    later  boolean := p_due is not null;
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
    if (p_due is null or p_due <= now_at) and not p_goes_out
        and letter_is_too_much(p_to_tenant, p_to_agent, octet_length(p_body)) then
        outcome := 'full';
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
    if p_goes_out then
        outcome := 'noted';
        return;
    end if;
    seq := inbox_put_test(p_to_tenant, p_to_agent, p_bot, p_chat, p_body);
    update letters l set seq = letter_put.seq where l.tenant_id = p_tenant and l.letter_id = p_letter;
    outcome := 'stored';
end
$$;

-- What is to be handed over for a letter that is due, how, and whether its inbox has no room for it. With room it counts as put
-- from now on. Asked again it is the same, until it is known where it went: who dies in between is followed by another.
-- contract: no desk that asks it was ever released.
drop function letter_due(uuid, uuid, uuid);
create function letter_due(
    p_tenant uuid, p_agent uuid, p_letter uuid, out bot uuid, out chat text, out body bytea,
    out route text, out is_full boolean
) language plpgsql as $$
#variable_conflict use_column
declare
    v_from uuid;
begin
    is_full := false;
    perform works_for(p_tenant);
    select i.from_tenant_id into v_from from letters_in i
    where i.tenant_id = p_tenant and i.agent_id = p_agent and i.letter_id = p_letter;
    if not found then
        return;
    end if;
    perform works_for_both(p_tenant, v_from);
    select l.bot_id, l.chat_id, l.body, l.route into bot, chat, body, route from letters l
    where l.tenant_id = v_from and l.letter_id = p_letter
      -- What was taken back meanwhile is not handed over.
      and letter_granted(l.tenant_id, l.agent_id, p_tenant, p_agent)
    for update;
    is_full := body is not null and letter_is_too_much(p_tenant, p_agent, octet_length(body));
    update letters l set state = 'put'
    where l.tenant_id = v_from and l.letter_id = p_letter and l.state = 'scheduled'
      and body is not null and not is_full;
end
$$;

-- A letter that was due lies in the inbox under this number, or went out by another way.
create or replace function letter_came(p_tenant uuid, p_agent uuid, p_letter uuid, p_seq bigint)
returns void language plpgsql as $$
declare
    v_from uuid;
begin
    perform works_for(p_tenant);
    select i.from_tenant_id into v_from from letters_in i
    where i.tenant_id = p_tenant and i.agent_id = p_agent and i.letter_id = p_letter;
    perform works_for_both(p_tenant, v_from);
    update letters l
    set body = null, seq = p_seq, state = case l.state when 'scheduled' then 'put' else l.state end
    where l.tenant_id = v_from and l.letter_id = p_letter and l.seq is null;
end
$$;

-- Letters that an agent sent, newest first. Those that were waited for long enough have timed out from now on.
-- contract: no desk that asks it was ever released.
drop function letters_page(uuid, uuid, uuid, integer);
create function letters_page(p_tenant uuid, p_agent uuid, p_before uuid, letters_max integer)
returns table (
    letter_id uuid, agent_id uuid, to_agent_id uuid, dispatch_id text, route text, kind text,
    session text, correlation_id text, hop integer, state text, seq bigint, is_acked boolean,
    sent_at timestamptz, due_at timestamptz, reply_by timestamptz, reply text, replied_at timestamptz
)
language plpgsql
set enable_seqscan = off
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
        l.reply_by, l.reply, l.replied_at
    from letters l
        left join inbox_cursors c
            on c.tenant_id = l.to_tenant_id and c.agent_id = l.to_agent_id
    where l.tenant_id = p_tenant and l.letter_id = any (v_letters)
    order by l.sent_at desc, l.letter_id desc;
end
$$;

-- Whom an agent can write to, and whose line is up: the tenant's own by name, then those of others if both sides granted it.
create function letter_peers(p_tenant uuid, p_agent uuid, peers_max integer)
returns table (tenant uuid, agent uuid, name text, session text, is_busy boolean)
language plpgsql
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
    v_tenants uuid[];
    v_agents  uuid[];
begin
    perform works_for(p_tenant);
    select array_agg(g.peer_tenant), array_agg(g.peer_agent) into v_tenants, v_agents
    from letter_grants_of(p_tenant, p_agent) as g where g.is_mutual;
    perform set_config('app.tenants', (v_tenants || p_tenant)::text, true);
    return query
    select k.tenant, k.agent, k.name, l.session, l.is_busy
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
