-- What an agent, or who looks after it, may ask about its reach.

-- Whether the secrets of its gateways are enough to widen it.
alter table tenants add column gateways_may_widen boolean not null default false;

-- The bots on which agents of a tenant may be linked: its own, and those that others share. A door.
create function door_open_bots(p_tenant uuid, bots_max integer) returns table (
    bot_id uuid, platform text, handle text, is_own boolean
) language plpgsql stable security definer
set search_path = public, pg_temp as $$
#variable_conflict use_column
begin
    return query
    select b.bot_id, b.platform, b.handle, b.tenant_id = p_tenant from bots b
    where b.tenant_id = p_tenant or b.shared
    order by b.tenant_id <> p_tenant, b.created_at, b.bot_id
    limit bots_max;
end
$$;
alter function door_open_bots(uuid, integer) owner to nightdesk_doors;
create index bots_shared on bots (created_at) where shared;

-- Takes everything from an agent by which it can be reached or dial in. Triggers note what changes.
create function deprovision(p_tenant uuid, p_agent uuid) returns table (gateway_id uuid)
language plpgsql as $$
#variable_conflict use_column
begin
    delete from link_codes c where c.tenant_id = p_tenant and c.agent_id = p_agent;
    delete from relevance_policies r where r.tenant_id = p_tenant and r.agent_id = p_agent;
    delete from listed_authors l where l.tenant_id = p_tenant and l.agent_id = p_agent;
    delete from scope_grants g where g.tenant_id = p_tenant and g.agent_id = p_agent;
    delete from bindings b where b.tenant_id = p_tenant and b.agent_id = p_agent;
    -- As when a gateway is revoked: nobody is woken any more where it said.
    delete from wakers w
    where w.tenant_id = p_tenant and w.agent_id = p_agent and w.gateway_id is not null;
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
