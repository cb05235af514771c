-- Who is who: tenants, agents, gateways, bots, and who may reach whom.
--
-- Tenant first in every key: no index can be walked across tenants.
create table tenants (
    tenant_id  uuid        not null default gen_random_uuid(),
    name       text        not null,
    created_at timestamptz not null default now(),
    primary key (tenant_id),
    constraint tenants_one_per_name unique (name)
);

-- One data key per tenant seals its secrets. It is wrapped by a key that is not in here.
create table tenant_keys (
    tenant_id  uuid        not null,
    key_id     bigint      not null,
    wrapped    bytea       not null,
    created_at timestamptz not null default now(),
    primary key (tenant_id, key_id)
);

create table agents (
    tenant_id  uuid        not null,
    agent_id   uuid        not null default gen_random_uuid(),
    name       text        not null,
    created_at timestamptz not null default now(),
    primary key (tenant_id, agent_id),
    constraint agents_one_per_name unique (tenant_id, name)
);

create table gateways (
    tenant_id  uuid        not null,
    gateway_id uuid        not null default gen_random_uuid(),
    -- What the client calls itself. Two tenants may use the same.
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
-- For the sweep that closes the lines of revoked gateways.
create index gateways_by_revocation on gateways (revoked_at) where revoked_at is not null;

create table gateway_secrets (
    tenant_id  uuid        not null,
    gateway_id uuid        not null,
    secret_id  uuid        not null default gen_random_uuid(),
    sealed     bytea       not null,
    key_id     bigint      not null,
    created_at timestamptz not null default now(),
    -- Null: until it is replaced.
    expires_at timestamptz,
    primary key (tenant_id, gateway_id, secret_id),
    foreign key (tenant_id, gateway_id) references gateways,
    foreign key (tenant_id, key_id) references tenant_keys
);

create table bots (
    -- Who runs it. The people it serves may belong to other tenants.
    tenant_id  uuid        not null,
    bot_id     uuid        not null default gen_random_uuid(),
    platform   text        not null,
    -- Which of our adapters speaks for it.
    adapter    text        not null,
    -- What the platform calls it.
    handle     text        not null,
    -- The unguessable part of its webhook's path.
    path       text        not null,
    settings   jsonb       not null default '{}',
    sealed     bytea,
    key_id     bigint,
    created_at timestamptz not null default now(),
    primary key (tenant_id, bot_id),
    constraint bots_one_per_id unique (bot_id),
    constraint bots_one_per_path unique (path),
    constraint bots_one_per_handle unique (tenant_id, platform, handle),
    constraint bots_sealed_with_its_key check ((sealed is null) = (key_id is null))
);

-- A person on a platform, and their agent.
create table bindings (
    tenant_id  uuid        not null,
    bot_id     uuid        not null,
    author_id  text        not null,
    agent_id   uuid        not null,
    created_at timestamptz not null default now(),
    primary key (tenant_id, bot_id, author_id, agent_id),
    foreign key (tenant_id, agent_id) references agents
);
-- For the door: an event names its author before its tenant is known.
create index bindings_by_author on bindings (bot_id, author_id);
create index bindings_by_agent on bindings (tenant_id, agent_id);

-- A chat, and the one agent that may be reached there.
create table scope_grants (
    tenant_id  uuid        not null,
    bot_id     uuid        not null,
    -- '*': every chat of the bot.
    chat_id    text        not null,
    agent_id   uuid        not null,
    principal  text        not null,
    created_at timestamptz not null default now(),
    primary key (tenant_id, bot_id, chat_id),
    constraint scope_grants_one_agent_per_chat unique (bot_id, chat_id),
    constraint scope_grants_known_principal check (principal in ('owner-only', 'any')),
    foreign key (tenant_id, agent_id) references agents
);
create index scope_grants_by_agent on scope_grants (tenant_id, agent_id);

-- A node of this cell. Its epoch fences what an earlier life of it left behind.
create table nodes (
    node       text        not null primary key,
    epoch      bigint      not null,
    started_at timestamptz not null
);
