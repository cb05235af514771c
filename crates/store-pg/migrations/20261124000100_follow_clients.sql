-- Which rules an agent's client is served by, so that also an agent that sleeps is sent what its client expects.

alter table agents add column client_rules text not null default 'hermes-0.19'
    constraint agents_known_client_rules
        check (client_rules in ('hermes-0.19', 'hermes-0.20', 'nightdesk-sdk'));

-- Rules that mean another relevance mean it on every bot where the agent has anything.
create trigger note_client_rules after update of client_rules on agents
    for each row when ((old.client_rules = 'hermes-0.20') <> (new.client_rules = 'hermes-0.20'))
    execute function note_relevance();

-- What changed about who may be reached through a bot, or everything: the head first, then
-- authors with their agents, grants, and the terms of agents. All of one snapshot. A door: people
-- of all tenants. An agent without a policy has none here: what its client expects is decided by the gate.
-- contract: no desk that asks it was ever released.
drop function door_reach(uuid, bigint);
create function door_reach(p_bot uuid, p_since bigint) returns table (
    kind text, version bigint, whole boolean, author_id text, scope_id text, chat_id text,
    tenant_id uuid, agent_id uuid, principal text, listed text[], owners text[],
    require_address boolean, free_scopes text[], allow_other_bots boolean, client_rules text
) language plpgsql stable security definer
set search_path = public, pg_temp set enable_seqscan = off as $$
#variable_conflict use_column
declare
    v_head     bigint := coalesce((select h.version from reach_heads h where h.bot_id = p_bot), 0);
    v_platform text   := (select b.platform from bots b where b.bot_id = p_bot);
    -- Its log begins later, or the head is not the one that was seen.
    v_whole    boolean := p_since is null or p_since > v_head or p_since < v_head and not exists (
        select from reach_changes c where c.bot_id = p_bot and c.version = p_since + 1
    );
begin
    return query
    select 'head', v_head, v_whole, null::text, null::text, null::text, null::uuid, null::uuid,
        null::text, null::text[], null::text[], null::boolean, null::text[], null::boolean, null::text;
    return query
    select 'author', null::bigint, null::boolean, a.author_id, null::text, null::text, b.tenant_id,
        b.agent_id, null::text, null::text[], null::text[], null::boolean, null::text[],
        null::boolean, null::text
    from (
        select distinct i.author_id from bindings i where v_whole and i.bot_id = p_bot
        union
        select c.author_id from reach_changes c
        where not v_whole and c.bot_id = p_bot and c.version > p_since and c.author_id is not null
    ) as a left join lateral (
        select i.tenant_id, i.agent_id from bindings i
        where i.bot_id = p_bot and i.author_id = a.author_id
        order by i.preferred_at desc nulls last, i.created_at, i.agent_id
        limit 64
    ) as b on true;
    return query
    select 'grant', null::bigint, null::boolean, null::text, a.scope_id, a.chat_id, g.tenant_id,
        g.agent_id, g.principal, null::text[], null::text[], null::boolean, null::text[],
        null::boolean, null::text
    from (
        select i.scope_id, i.chat_id from scope_grants i where v_whole and i.bot_id = p_bot
        union
        select c.scope_id, c.chat_id from reach_changes c
        where not v_whole and c.bot_id = p_bot and c.version > p_since and c.chat_id is not null
    ) as a left join scope_grants g
        on g.bot_id = p_bot and g.scope_id = a.scope_id and g.chat_id = a.chat_id;
    return query
    select 'agent', h.reach_version, null::boolean, null::text, null::text, null::text,
        h.tenant_id, h.agent_id, null::text,
        array(
            select l.author_id from listed_authors l
            where l.tenant_id = h.tenant_id and l.agent_id = h.agent_id and l.bot_id = p_bot
        ),
        array(
            select i.author_id from bindings i
            where i.tenant_id = h.tenant_id and i.agent_id = h.agent_id and i.bot_id = p_bot
            order by i.created_at
            limit 64
        ),
        r.require_address, r.free_scopes, r.allow_other_bots, o.client_rules
    from (
        select i.tenant_id, i.agent_id from bindings i where v_whole and i.bot_id = p_bot
        union
        select i.tenant_id, i.agent_id from scope_grants i where v_whole and i.bot_id = p_bot
        union
        select c.agent_tenant, c.agent_id from reach_changes c
        where not v_whole and c.bot_id = p_bot and c.version > p_since
    ) as a
        join inbox_heads h on h.tenant_id = a.tenant_id and h.agent_id = a.agent_id
        join agents o on o.tenant_id = a.tenant_id and o.agent_id = a.agent_id
        left join relevance_policies r on r.tenant_id = a.tenant_id and r.agent_id = a.agent_id
            and r.platform = v_platform;
end
$$;
alter function door_reach(uuid, bigint) owner to nightdesk_doors;

-- Makes a line the agent's newest, and says by which rules its client was served before.
-- contract: no desk that asks it was ever released.
drop function line_take(uuid, uuid, uuid, text, bigint, integer, interval);
create function line_take(
    p_tenant uuid, p_agent uuid, p_gateway uuid, p_node text, p_node_epoch bigint,
    tries_max integer, p_grace interval default '35 seconds'
) returns table (
    generation bigint, acked_seq bigint, acked_at timestamptz, head_seq bigint,
    ended_ago_ms bigint, parked_seq bigint, client_rules text
) language plpgsql as $$
#variable_conflict use_column
declare
    mine   inbox_cursors;
    before lines;
    parked bigint;
begin
    select c.* into strict mine from inbox_cursors c
    where c.tenant_id = p_tenant and c.agent_id = p_agent for update;
    select l.* into before from lines l where l.tenant_id = p_tenant and l.agent_id = p_agent;

    if mine.tries >= tries_max and set_aside(p_tenant, p_agent, mine.tried_seq, 'tries') then
        parked := mine.tried_seq;
    end if;
    update inbox_cursors c
    set generation = c.generation + 1, tries = case when parked is null then c.tries else 0 end
    where c.tenant_id = p_tenant and c.agent_id = p_agent
    returning c.* into mine;
    insert into lines
        (tenant_id, agent_id, gateway_id, generation, node, node_epoch, opened_at, grace)
    values (p_tenant, p_agent, p_gateway, mine.generation, p_node, p_node_epoch, clock_timestamp(),
        p_grace)
    on conflict (tenant_id, agent_id) do update
    set gateway_id = excluded.gateway_id, generation = excluded.generation, node = excluded.node,
        node_epoch = excluded.node_epoch, opened_at = excluded.opened_at, grace = excluded.grace,
        closed_at = null, close_code = null, parting = null;
    update wakes w
    set state = 'woken', woken_at = clock_timestamp(), due_at = null, asked = false,
        suspect_generation = null
    where w.tenant_id = p_tenant and w.agent_id = p_agent
      and w.state in ('due', 'held', 'unreachable');

    return query select mine.generation, mine.acked_seq, mine.acked_at,
        (select h.next_seq - 1 from inbox_heads h
         where h.tenant_id = p_tenant and h.agent_id = p_agent),
        -- 1012: the desk restarted. Otherwise the gateway may be a new process, however soon it comes.
        case when before.gateway_id = p_gateway and before.close_code = 1012 then
            (extract(epoch from clock_timestamp() - before.closed_at) * 1000)::bigint
        end,
        parked,
        (select a.client_rules from agents a
         where a.tenant_id = p_tenant and a.agent_id = p_agent);
end
$$;
