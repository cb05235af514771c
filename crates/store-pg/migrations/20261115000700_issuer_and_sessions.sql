-- The built-in issuer: the desk's signing keys, machine identities of tenants, one-time tokens that
-- enrol a gateway, and sessions of agents.

-- The desk's own, of no tenant: sealed by the key that is not in here. Signing keys follow each other:
-- each is published as soon as it is there, a day before it signs (`used_from`), and kept a day after
-- the next one does. So there are several, perhaps of two algorithms, and one may be taken out of use
-- before its time.
create table signing_keys (
    -- Taken once: of two nodes that make the first key, or the next, one wins.
    number     bigint      not null,
    kid        text        not null,
    sealed     bytea       not null,
    created_at timestamptz not null default now(),
    used_from  timestamptz not null,
    -- From then on nothing it signed is believed.
    retired_at timestamptz,
    algorithm  text        not null default 'ES256',
    primary key (number),
    constraint signing_keys_one_per_kid unique (kid),
    constraint signing_keys_known_algorithm check (algorithm in ('ES256', 'RS256'))
);
grant select, insert on signing_keys to nightdesk_app;
grant update (retired_at) on signing_keys to nightdesk_app;
-- A key is sealed anew, and stays the key it is.
grant update (sealed) on signing_keys to nightdesk_app;
create constraint trigger tell_signing_key after insert on signing_keys
    deferrable initially deferred for each row execute function tell_own('signing-key-made', 'kid');
create constraint trigger tell_retired after update of retired_at on signing_keys
    deferrable initially deferred for each row
    when (old.retired_at is null and new.retired_at is not null)
    execute function tell_own('signing-key-retired', 'kid');

-- A tenant's machine identity. Its secret is random and long, so a plain digest of it will do.
create table oauth_clients (
    tenant_id     uuid        not null,
    client_id     uuid        not null,
    -- The agent whose gateways it may enrol.
    agent_id      uuid        not null,
    -- The only gateway that it may enrol or provision. Null: the first one that it names.
    gateway_name  text,
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
select wall_off('oauth_clients');
create constraint trigger tell_invited after insert on oauth_clients
    deferrable initially deferred for each row
    execute function tell_row('gateway-invited', 'agent_id', 'client_id');
create constraint trigger tell_client after update of revoked_at on oauth_clients
    deferrable initially deferred for each row
    when (old.revoked_at is null and new.revoked_at is not null)
    execute function tell_row('client-revoked', 'client_id');

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
select wall_off('enrolments');

-- The session an agent was given when it was set up: with it an agent that nobody logs in for gets
-- its access tokens. It is the desk's own, or one of another issuer that an operator told us of.
create table bootstrap_sessions (
    tenant_id  uuid        not null,
    -- Empty: the desk's own.
    issuer     text        not null,
    -- The issuer's name for it: `sid` in its tokens.
    session    text        not null,
    agent_id   uuid        not null,
    created_at timestamptz not null default now(),
    revoked_at timestamptz,
    primary key (tenant_id, issuer, session),
    foreign key (tenant_id, agent_id) references agents
);
select wall_off('bootstrap_sessions');
create constraint trigger tell_session after insert on bootstrap_sessions
    deferrable initially deferred for each row
    execute function tell_row('session-begun', 'agent_id', 'issuer', 'session');
create constraint trigger tell_session_ended after update of revoked_at on bootstrap_sessions
    deferrable initially deferred for each row
    when (old.revoked_at is null and new.revoked_at is not null)
    execute function tell_row('session-ended', 'agent_id', 'issuer', 'session');

-- The tokens that keep a session of ours going. Each is traded for the next; only digests are known
-- here. One that was traded gets the same successor a little longer: its answer may have been lost.
create table refresh_tokens (
    tenant_id        uuid        not null,
    session          text        not null,
    token_sha256     bytea       not null,
    created_at       timestamptz not null default now(),
    -- The time of its trade.
    traded_at        timestamptz,
    -- The successor, and the random value from which it is derived together with the token itself.
    successor_sha256 bytea,
    seed             bytea,
    primary key (tenant_id, session, token_sha256),
    constraint refresh_tokens_whole_digest check (octet_length(token_sha256) = 32),
    constraint refresh_tokens_whole_successor check (
        (traded_at is null) = (successor_sha256 is null) and (traded_at is null) = (seed is null)
        and octet_length(successor_sha256) = 32 and octet_length(seed) = 32
    )
);
select wall_off('refresh_tokens');

-- A client names itself; its row names its tenant. The ids of many callers are looked up together.
create function door_client(p_clients uuid[]) returns table (
    client_id uuid, tenant_id uuid, agent_id uuid, secret_sha256 bytea, live boolean
) language plpgsql stable security definer
set search_path = public, pg_temp set enable_seqscan = off as $$
#variable_conflict use_column
begin
    return query
    select c.client_id, c.tenant_id, c.agent_id, c.secret_sha256,
        c.revoked_at is null and coalesce(c.expires_at > now(), true)
    from oauth_clients c where c.client_id = any (p_clients) and tenant_lives(c.tenant_id);
end
$$;
alter function door_client(uuid[]) owner to nightdesk_doors;

-- Of the refresh tokens that callers show, those that exist. Only they begin a transaction of their tenant.
create function door_refresh_tokens(p_tenants uuid[], p_sessions text[], p_digests bytea[]) returns table (
    token_sha256 bytea
) language plpgsql stable security definer
set search_path = public, pg_temp as $$
#variable_conflict use_column
begin
    return query
    select t.token_sha256
    from unnest(p_tenants, p_sessions, p_digests) as n (tenant_id, session, token_sha256)
        join refresh_tokens t using (tenant_id, session, token_sha256);
end
$$;
alter function door_refresh_tokens(uuid[], text[], bytea[]) owner to nightdesk_doors;

grant execute on function
    door_client, door_refresh_tokens
to nightdesk_app;
