-- The built-in issuer: the desk's signing keys, machine identities of tenants, and one-time
-- tokens that enrol a gateway.

-- The desk's own, of no tenant: sealed by the key that is not in here. A key is published as
-- soon as it is there, and signs from `used_from` on; so the next one can be made known first.
create table signing_keys (
    -- Taken once: of two nodes that make the first key, or the next, one wins.
    number     bigint      not null,
    kid        text        not null,
    sealed     bytea       not null,
    created_at timestamptz not null default now(),
    used_from  timestamptz not null,
    -- From then on nothing it signed is believed.
    retired_at timestamptz,
    primary key (number),
    constraint signing_keys_one_per_kid unique (kid)
);
grant select, insert on signing_keys to nightdesk_app;

-- A tenant's machine identity. Its secret is random and long, so a plain digest of it will do.
create table oauth_clients (
    tenant_id     uuid        not null,
    client_id     uuid        not null,
    -- The agent whose gateways it may enrol.
    agent_id      uuid        not null,
    secret_sha256 bytea       not null,
    created_at    timestamptz not null default now(),
    -- Null: until it is revoked.
    expires_at    timestamptz,
    revoked_at    timestamptz,
    primary key (tenant_id, client_id),
    -- For the door: a client names itself before its tenant is known.
    constraint oauth_clients_one_per_id unique (client_id),
    constraint oauth_clients_whole_digest check (octet_length(secret_sha256) = 32),
    foreign key (tenant_id, agent_id) references agents
);

-- A one-time token that makes a gateway. Only its digest is known here.
create table enrolments (
    tenant_id    uuid        not null,
    token_sha256 bytea       not null,
    agent_id     uuid        not null,
    -- The only name it may be used for. Null: any.
    gateway_name text,
    created_at   timestamptz not null default now(),
    expires_at   timestamptz not null,
    used_at      timestamptz,
    -- The gateway it made or renewed.
    gateway_id   uuid,
    primary key (tenant_id, token_sha256),
    constraint enrolments_whole_digest check (octet_length(token_sha256) = 32),
    constraint enrolments_used_for_a_gateway check ((used_at is null) = (gateway_id is null)),
    foreign key (tenant_id, agent_id) references agents,
    foreign key (tenant_id, gateway_id) references gateways
);

-- Puts a table behind the wall of row-level security that 20261115000400 explains.
create function wall_off(walled text) returns void language plpgsql as $$
begin
    execute format('alter table %I enable row level security', walled);
    execute format('alter table %I force row level security', walled);
    execute format(
        'create policy own_tenants on %I
             using (array_position((select current_setting(''app.tenants'')::uuid[]), tenant_id) is not null)
             with check (array_position((select current_setting(''app.tenants'')::uuid[]), tenant_id) is not null)',
        walled
    );
    execute format(
        'grant select, insert, update, delete on %I to nightdesk_app, nightdesk_doors', walled
    );
end
$$;
revoke execute on function wall_off(text) from public;
select wall_off('oauth_clients');
select wall_off('enrolments');

-- A client names itself; whose it is, its row says.
create function door_client(p_client uuid) returns table (
    tenant_id uuid, agent_id uuid, secret_sha256 bytea, live boolean
) language plpgsql stable security definer
set search_path = public, pg_temp set enable_seqscan = off as $$
#variable_conflict use_column
begin
    return query
    select c.tenant_id, c.agent_id, c.secret_sha256,
        c.revoked_at is null and coalesce(c.expires_at > now(), true)
    from oauth_clients c where c.client_id = p_client;
end
$$;

-- An operator names a tenant, by its name or its id. Two rows: one's name is another's id.
create function door_tenant(p_called text) returns table (
    tenant_id uuid, name text, created_at timestamptz
) language plpgsql stable security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
begin
    return query
    select t.tenant_id, t.name, t.created_at from tenants t
    where t.name = p_called or t.tenant_id::text = lower(p_called);
end
$$;

-- An operator looks at who there is, a page at a time.
create function door_tenants(p_after text, tenants_max integer) returns table (
    tenant_id uuid, name text, created_at timestamptz
) language plpgsql stable security definer
set search_path = public, pg_temp set enable_seqscan = off as $$
#variable_conflict use_column
begin
    return query
    select t.tenant_id, t.name, t.created_at from tenants t
    where t.name > p_after order by t.name limit tenants_max;
end
$$;

alter function door_client(uuid) owner to nightdesk_doors;
alter function door_tenant(text) owner to nightdesk_doors;
alter function door_tenants(text, integer) owner to nightdesk_doors;
