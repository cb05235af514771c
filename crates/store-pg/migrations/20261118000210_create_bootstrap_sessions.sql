-- The session an agent was given when it was set up: with it an agent that nobody logs in for gets
-- its access tokens. It is the desk's own, or one of another issuer that an operator told us of.
create table bootstrap_sessions (
    tenant_id  uuid        not null,
    -- Empty: the desk's own.
    issuer     text        not null,
    -- What the issuer calls it: `sid` in its tokens.
    session    text        not null,
    agent_id   uuid        not null,
    created_at timestamptz not null default now(),
    revoked_at timestamptz,
    primary key (tenant_id, issuer, session),
    foreign key (tenant_id, agent_id) references agents
);
select wall_off('bootstrap_sessions');

-- The tokens that keep a session of ours going. Each is traded for the next; only digests are known
-- here. One that was traded is good a little longer: its answer may have been lost.
create table refresh_tokens (
    tenant_id    uuid        not null,
    session      text        not null,
    token_sha256 bytea       not null,
    created_at   timestamptz not null default now(),
    -- When it was first traded.
    traded_at    timestamptz,
    primary key (tenant_id, session, token_sha256),
    constraint refresh_tokens_whole_digest check (octet_length(token_sha256) = 32)
);
select wall_off('refresh_tokens');
