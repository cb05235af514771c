-- What an agent granted for letters goes with it.

-- Takes everything from an agent by which it can be reached or dial in. Its jobs are cancelled by the caller.
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
