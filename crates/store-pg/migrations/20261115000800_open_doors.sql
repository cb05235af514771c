-- The doors: what must be looked up before a tenant is known. Definer functions of one role
-- that cannot log in; a test compares this list with the catalogue. In plpgsql, which keeps their
-- plans: a definer function in SQL is planned anew at every call. The plan must not be the one
-- for empty tables.

-- A dial names its gateway; which tenant's it is, its secret decides.
create function door_gateways(p_name text) returns table (
    tenant_id uuid, gateway_id uuid, agent_id uuid, acks boolean, revoked boolean,
    secret_id uuid, sealed bytea, wrapped bytea, key_id bigint, expired boolean
) language plpgsql stable security definer
set search_path = public, pg_temp set enable_seqscan = off as $$
#variable_conflict use_column
begin
    return query
    select g.tenant_id, g.gateway_id, g.agent_id, g.acks, g.revoked_at is not null,
        s.secret_id, s.sealed, k.wrapped, s.key_id, coalesce(s.expires_at <= now(), false)
    from gateways g
        join gateway_secrets s on s.tenant_id = g.tenant_id and s.gateway_id = g.gateway_id
        join tenant_keys k on k.tenant_id = s.tenant_id and k.key_id = s.key_id
    where g.name = p_name
    -- Far more than any name is used by, and still soon tried through.
    limit 10000;
end
$$;

-- Gateways revoked lately, so that every node can close their lines.
create function door_revoked(p_since interval) returns table (tenant_id uuid, gateway_id uuid)
language plpgsql stable security definer
set search_path = public, pg_temp set enable_seqscan = off as $$
#variable_conflict use_column
begin
    return query
    select g.tenant_id, g.gateway_id from gateways g
    where g.revoked_at > now() - p_since;
end
$$;

-- A webhook names its bot by its path.
create function door_bot(p_path text, p_bot uuid) returns table (
    tenant_id uuid, bot_id uuid, platform text, adapter text, handle text, settings jsonb,
    sealed bytea, wrapped bytea, key_id bigint
) language plpgsql stable security definer
set search_path = public, pg_temp set enable_seqscan = off as $$
#variable_conflict use_column
begin
    return query
    select b.tenant_id, b.bot_id, b.platform, b.adapter, b.handle, b.settings, b.sealed, k.wrapped,
        b.key_id
    from bots b left join tenant_keys k on k.tenant_id = b.tenant_id and k.key_id = b.key_id
    where b.path = p_path or b.bot_id = p_bot;
end
$$;

-- An event names its author; whose agents may see it, bindings and grants decide.
create function door_snapshot(p_bot uuid, p_author text, p_chat text) returns table (
    principal text, tenant_id uuid, agent_id uuid, version bigint
) language plpgsql stable security definer
set search_path = public, pg_temp set enable_seqscan = off as $$
#variable_conflict use_column
begin
    return query
    (
        select 'bound', b.tenant_id, b.agent_id, h.reach_version
        from bindings b join inbox_heads h on h.tenant_id = b.tenant_id and h.agent_id = b.agent_id
        where b.bot_id = p_bot and b.author_id = p_author
        order by b.created_at, b.agent_id
        limit 64
    )
    union all
    select g.principal, g.tenant_id, g.agent_id, h.reach_version
    from scope_grants g join inbox_heads h on h.tenant_id = g.tenant_id and h.agent_id = g.agent_id
    where g.bot_id = p_bot and g.chat_id in (p_chat, '*');
end
$$;

-- The bots an agent may speak as belong to other tenants than the agent.
create function door_reaches(p_tenant uuid, p_agent uuid, p_chat text, p_kept interval)
returns table (bot_id uuid, platform text, handle text)
language plpgsql stable security definer
set search_path = public, pg_temp set enable_seqscan = off as $$
#variable_conflict use_column
begin
    return query
    select b.bot_id, b.platform, b.handle from bots b
    where b.bot_id in (
        select r.bot_id from reached r
        where r.tenant_id = p_tenant and r.agent_id = p_agent and r.chat_id = p_chat
          and r.at > now() - p_kept
        union
        select g.bot_id from scope_grants g
        where g.tenant_id = p_tenant and g.agent_id = p_agent and g.chat_id = p_chat
          -- Every chat is not one an agent may write to first.
          and g.chat_id <> '*'
    );
end
$$;

-- The bots an agent may say hello for: those it is bound or granted something on.
create function door_bots_of(p_tenant uuid, p_agent uuid) returns table (
    bot_id uuid, platform text, handle text
) language plpgsql stable security definer
set search_path = public, pg_temp set enable_seqscan = off as $$
#variable_conflict use_column
begin
    return query
    select b.bot_id, b.platform, b.handle from bots b
    where b.bot_id in (
        select i.bot_id from bindings i where i.tenant_id = p_tenant and i.agent_id = p_agent
        union
        select g.bot_id from scope_grants g where g.tenant_id = p_tenant and g.agent_id = p_agent
    )
    order by b.bot_id
    limit 256;
end
$$;

-- Sends that nobody is at work on: asked for and not called, or called by a life that ended.
create function door_left_over(p_node text, p_epoch bigint, p_asked_for interval, sends_max integer)
returns table (tenant_id uuid, agent_id uuid, request_id text, bot_id uuid, body bytea, was_called boolean)
language plpgsql stable security definer
set search_path = public, pg_temp set enable_seqscan = off as $$
#variable_conflict use_column
begin
    return query
    select s.tenant_id, s.agent_id, s.request_id, s.bot_id, s.body, s.state = 'calling'
    from sends s
    where (s.state = 'asked' and s.asked_at < now() - p_asked_for)
       or (s.state = 'calling' and s.node = p_node and s.node_epoch < p_epoch)
    order by s.asked_at
    limit sends_max;
end
$$;

alter function door_gateways(text) owner to nightdesk_doors;
alter function door_revoked(interval) owner to nightdesk_doors;
alter function door_bot(text, uuid) owner to nightdesk_doors;
alter function door_snapshot(uuid, text, text) owner to nightdesk_doors;
alter function door_reaches(uuid, uuid, text, interval) owner to nightdesk_doors;
alter function door_bots_of(uuid, uuid) owner to nightdesk_doors;
alter function door_left_over(text, bigint, interval, integer) owner to nightdesk_doors;
