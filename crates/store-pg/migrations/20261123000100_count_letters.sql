-- Letters count among what waits for an agent, and go with it.

-- Puts a letter, or keeps it until it is due. The hop is found here: what a sender says of itself is not asked. What is more
-- than an inbox may hold is refused, since its sender can be told; one that is due some day is asked about then.
create or replace function letter_put(
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
    if (p_due is null or p_due <= now_at)
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
    seq := inbox_put_test(p_to_tenant, p_to_agent, p_bot, p_chat, p_body);
    update letters l set seq = letter_put.seq where l.tenant_id = p_tenant and l.letter_id = p_letter;
    outcome := 'stored';
end
$$;

-- Whether so many bytes more are too much for an inbox. Its head is locked: of two that come at once the later sees the
-- earlier.
create function letter_is_too_much(p_tenant uuid, p_agent uuid, p_bytes bigint) returns boolean
language plpgsql
set enable_seqscan = off
as $$
declare
    mine inbox_heads;
begin
    select h.* into mine from inbox_heads h
    where h.tenant_id = p_tenant and h.agent_id = p_agent for no key update;
    return inbox_is_full(
        p_tenant, p_agent, mine.next_seq, mine.bytes + p_bytes, quota_default('pending-entries'));
end
$$;

-- What is to be put for a letter that is due, which counts as put from now on, unless its inbox is full. Asked again it is
-- the same, until it is known where it lies: who dies in between is followed by another.
-- contract: no desk that asks it was ever released.
drop function letter_due(uuid, uuid, uuid);
create function letter_due(
    p_tenant uuid, p_agent uuid, p_letter uuid, out bot uuid, out chat text, out body bytea,
    out is_full boolean
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
    select l.bot_id, l.chat_id, l.body into bot, chat, body from letters l
    where l.tenant_id = v_from and l.letter_id = p_letter
      -- What was taken back meanwhile is not put.
      and letter_granted(l.tenant_id, l.agent_id, p_tenant, p_agent)
    for update;
    is_full := body is not null and letter_is_too_much(p_tenant, p_agent, octet_length(body));
    update letters l set state = 'put'
    where l.tenant_id = v_from and l.letter_id = p_letter and l.state = 'scheduled'
      and body is not null and not is_full;
end
$$;

-- Takes everything from an agent by which it can be reached or dial in.
create or replace function deprovision(p_tenant uuid, p_agent uuid) returns table (gateway_id uuid)
language plpgsql as $$
#variable_conflict use_column
begin
    delete from link_codes c where c.tenant_id = p_tenant and c.agent_id = p_agent;
    delete from relevance_policies r where r.tenant_id = p_tenant and r.agent_id = p_agent;
    delete from listed_authors l where l.tenant_id = p_tenant and l.agent_id = p_agent;
    delete from scope_grants g where g.tenant_id = p_tenant and g.agent_id = p_agent;
    delete from bindings b where b.tenant_id = p_tenant and b.agent_id = p_agent;
    -- Agents of others reach it no more, and nobody writes for it.
    delete from letter_grants g where g.tenant_id = p_tenant and g.agent_id = p_agent;
    delete from letter_hooks h where h.tenant_id = p_tenant and h.agent_id = p_agent;
    -- As when a gateway is revoked: nobody is woken any more where it said.
    delete from wakers w
    where w.tenant_id = p_tenant and w.agent_id = p_agent and w.gateway_id is not null;
    -- Nor told of what it asked for.
    perform schedule_cancel(s.tenant_id, s.agent_id, s.job_id) from (
        select s.* from schedules s
        where s.tenant_id = p_tenant and s.agent_id = p_agent and not s.cancelled
        order by s.job_id
    ) as s;
    update oauth_clients o set revoked_at = now()
    where o.tenant_id = p_tenant and o.agent_id = p_agent and o.revoked_at is null;
    update bootstrap_sessions s set revoked_at = now()
    where s.tenant_id = p_tenant and s.agent_id = p_agent and s.revoked_at is null;
    return query
    update gateways g set revoked_at = now()
    where g.tenant_id = p_tenant and g.agent_id = p_agent and g.revoked_at is null
    returning g.gateway_id;
end
$$;
