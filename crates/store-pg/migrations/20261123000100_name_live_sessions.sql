-- The live sessions of an agent, so that a letter to `agent@session` tells whether its session lives. They are those of
-- the open line: a trigger forgets them with it, whichever way it ends.

alter table lines add column sessions text[] not null default '{}';

create function forget_sessions() returns trigger language plpgsql as $$
begin
    new.sessions := '{}';
    return new;
end
$$;

create trigger lines_forget_sessions before update on lines for each row
when (new.generation <> old.generation or (old.closed_at is null and new.closed_at is not null))
execute function forget_sessions();

-- contract: the next statement creates it anew with one more column, and nodes of the release before name theirs.
drop function letter_live(uuid, uuid);

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

-- contract: the next statement creates it anew with one more column, and nodes of the release before name theirs.
drop function letter_peers(uuid, uuid, integer);

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
    from letter_grants_of(p_tenant, p_agent) as g where g.is_mutual;
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

grant execute on function letter_live, letter_peers to nightdesk_app;
