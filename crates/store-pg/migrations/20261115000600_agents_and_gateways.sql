-- The register of agents, and of the gateways that dial in for them.
create table agents (
    tenant_id    uuid        not null,
    agent_id     uuid        not null default gen_random_uuid(),
    -- Compared by its bytes, so that the names with a prefix are a range of the index.
    name         text        collate "C" not null,
    created_at   timestamptz not null default now(),
    -- The people that may reach the agent where it is granted something from now on.
    principal    text        not null default 'owner-only',
    -- The rules by which the agent's client is served, so that also an agent that sleeps is sent
    -- the events that its client expects.
    client_rules text        not null default 'hermes-0.19',
    -- The agent's name where several agents speak through one bot, as its gateway said at boot.
    -- Null: nothing is put before the agent's messages.
    display_name text,
    -- True: the operator lets the agent stop running turns of its tenant's other agents.
    stops_others boolean     not null default false,
    primary key (tenant_id, agent_id),
    constraint agents_one_per_name unique (tenant_id, name),
    constraint agents_known_principal check (principal in ('owner-only', 'allow-list', 'any')),
    constraint agents_known_client_rules
        check (client_rules in ('hermes-0.19', 'hermes-0.20', 'nightdesk-sdk')),
    constraint agents_short_display_name check (char_length(display_name) between 1 and 64)
);
select wall_off('agents');
create constraint trigger tell_agent after insert on agents
    deferrable initially deferred for each row
    execute function tell_row('agent-created', 'agent_id');
create constraint trigger tell_principal after update of principal on agents
    deferrable initially deferred for each row
    execute function tell_row('principal-opened', 'agent_id', 'principal');
create constraint trigger tell_stops_allowed after update of stops_others on agents
    deferrable initially deferred for each row
    execute function tell_row('stops-allowed', 'agent_id', 'stops_others');
create trigger keep_quota after insert on agents
    referencing new table as entered for each statement execute function keep_quota('agents');

create table gateways (
    tenant_id  uuid        not null,
    gateway_id uuid        not null default gen_random_uuid(),
    -- The client's own name. Two tenants may use the same.
    name       text        not null,
    agent_id   uuid        not null,
    -- False for a client that never acks at all; never guessed.
    acks       boolean     not null default true,
    created_at timestamptz not null default now(),
    revoked_at timestamptz,
    primary key (tenant_id, gateway_id),
    constraint gateways_one_per_name unique (tenant_id, name),
    foreign key (tenant_id, agent_id) references agents
);
-- For the door: a dial names its gateway before its tenant is known.
create index gateways_by_name on gateways (name);
create index gateways_by_agent on gateways (tenant_id, agent_id, name);
-- For the sweep that closes the lines of revoked gateways.
create index gateways_by_revocation on gateways (revoked_at) where revoked_at is not null;
select wall_off('gateways');
-- A gateway comes with its first secret, as a bot does with its first key: that is one act.
create constraint trigger tell_gateway after insert on gateways
    deferrable initially deferred for each row
    execute function tell_row('gateway-created', 'gateway_id');
create constraint trigger tell_revoked after update of revoked_at on gateways
    deferrable initially deferred for each row
    when (old.revoked_at is null and new.revoked_at is not null)
    execute function tell_row('gateway-revoked', 'gateway_id');
create trigger keep_quota after insert on gateways
    referencing new table as entered for each statement execute function keep_quota('gateways');

create table gateway_secrets (
    tenant_id   uuid        not null,
    gateway_id  uuid        not null,
    secret_id   uuid        not null default gen_random_uuid(),
    sealed      bytea       not null,
    key_id      bigint      not null,
    created_at  timestamptz not null default now(),
    -- Null: until it is replaced.
    expires_at  timestamptz,
    -- A secret that a boot asked for ends when a later boot has another. A secret that a person put
    -- somewhere does not: the client that has it would never ask again.
    provisioned boolean     not null default false,
    primary key (tenant_id, gateway_id, secret_id),
    foreign key (tenant_id, gateway_id) references gateways,
    foreign key (tenant_id, key_id) references tenant_keys
);
select wall_off('gateway_secrets');
create constraint trigger tell_secret after insert on gateway_secrets
    deferrable initially deferred for each row
    execute function tell_row('gateway-rotated', 'gateway_id');

-- A gateway that provisions itself asks once per platform at every boot. Its statements about itself
-- are kept in its tenant and give it nothing.
create table gateway_platforms (
    tenant_id      uuid        not null,
    gateway_id     uuid        not null,
    platform       text        not null,
    -- The gateway's name for its bot there.
    bot_handle     text        not null,
    -- The places where it would like to be reached. Grants and bindings decide whether it is.
    route_keys     text[]      not null,
    -- The gateway's name among its like. Its token named its agent.
    instance       text,
    provisioned_at timestamptz not null default now(),
    primary key (tenant_id, gateway_id, platform),
    foreign key (tenant_id, gateway_id) references gateways
);
select wall_off('gateway_platforms');

-- A dial names its gateway; its secret decides which tenant's it is. The names of many dials are looked up together.
create function door_gateways(p_names text[]) returns table (
    name text, tenant_id uuid, gateway_id uuid, agent_id uuid, acks boolean, revoked boolean,
    secret_id uuid, sealed bytea, wrapped bytea, key_id bigint, expired boolean
) language plpgsql stable security definer
set search_path = public, pg_temp set enable_seqscan = off as $$
#variable_conflict use_column
begin
    return query
    select f.*
    from unnest(p_names) as n (name) cross join lateral (
        select g.name, g.tenant_id, g.gateway_id, g.agent_id, g.acks, g.revoked_at is not null,
            s.secret_id, s.sealed, k.wrapped, s.key_id, coalesce(s.expires_at <= now(), false)
        from gateways g
            join gateway_secrets s on s.tenant_id = g.tenant_id and s.gateway_id = g.gateway_id
            join tenant_keys k on k.tenant_id = s.tenant_id and k.key_id = s.key_id
        where g.name = n.name
        -- Far more than any name is used by, and still soon tried through.
        limit 10000
    ) as f;
end
$$;
alter function door_gateways(text[]) owner to nightdesk_doors;

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
alter function door_revoked(interval) owner to nightdesk_doors;

-- Takes everything from an agent by which it can be reached or dial in, with its grants for letters. Its
-- jobs are cancelled by the caller.
create function deprovision(p_tenant uuid, p_agent uuid) returns table (gateway_id uuid)
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

grant execute on function
    door_gateways, door_revoked, deprovision
to nightdesk_app;
