-- Holds what agents have not acknowledged yet, and a little of what they have.
--
-- Heads and cursors are made with their agent. They have no foreign key: it would be checked
-- at every accept and ack.
create table inbox_heads (
    tenant_id     uuid        not null,
    agent_id      uuid        not null,
    -- Taken inside the accept, so the order of commits is the order of numbers.
    next_seq      bigint      not null default 1,
    last_at       timestamptz not null default 'epoch',
    -- Moves whenever fewer people may reach the agent; an admit decided on an older one is
    -- refused. It stands here because the accept locks this row anyway.
    reach_version bigint      not null default 0,
    primary key (tenant_id, agent_id)
) with (fillfactor = 50);

-- Apart from the head, so that acks never wait for accepts.
create table inbox_cursors (
    tenant_id  uuid           not null,
    agent_id   uuid           not null,
    -- Everything up to here is acknowledged or set aside.
    acked_seq  bigint         not null default 0,
    -- Nothing after that is older than this, so that a drain can skip old partitions.
    acked_at   timestamptz    not null default 'epoch',
    -- What is acknowledged or set aside beyond it.
    ahead      int8multirange not null default '{}',
    -- The number of the newest line. Acks of an older one do not count.
    generation bigint         not null default 0,
    -- How often the oldest waiting entry was handed over in vain.
    tried_seq  bigint         not null default 0,
    tries      integer        not null default 0,
    primary key (tenant_id, agent_id)
) with (fillfactor = 50);

create table inbox_entries (
    tenant_id uuid        not null,
    agent_id  uuid        not null,
    seq       bigint      not null,
    -- Never goes back for an agent, so that a drain can skip old partitions.
    at        timestamptz not null,
    bot_id    uuid        not null,
    chat_id   text        not null,
    body      bytea       not null,
    -- Which of the tenant's data keys sealed the body. 0: none.
    key_id    bigint      not null,
    -- PostgreSQL wants the partition key here; that seq is not taken twice is the head's doing.
    primary key (tenant_id, agent_id, seq, at)
) partition by range (at);

create table inbox_parked (
    tenant_id      uuid        not null,
    agent_id       uuid        not null,
    seq            bigint      not null,
    at             timestamptz not null,
    bot_id         uuid        not null,
    chat_id        text        not null,
    body           bytea       not null,
    key_id         bigint      not null,
    reason         text        not null,
    parked_at      timestamptz not null default now(),
    -- The number under which it was put into the inbox again.
    resubmitted_as bigint,
    primary key (tenant_id, agent_id, seq),
    constraint inbox_parked_known_reason
        check (reason in ('unsendable', 'tries', 'full', 'expired', 'operator'))
);

-- One row per ack, not per entry: what `explain` needs without a write per entry.
create table inbox_acks (
    tenant_id  uuid        not null,
    agent_id   uuid        not null,
    from_seq   bigint      not null,
    to_seq     bigint      not null,
    generation bigint      not null,
    handed_at  timestamptz not null,
    acked_at   timestamptz not null,
    primary key (tenant_id, agent_id, to_seq, acked_at)
) partition by range (acked_at);

-- Dedupe by set: one key per event of a bot, one table per day.
create table dedupe_keys (
    -- Who runs the bot.
    tenant_id uuid  not null,
    key       bytea not null,
    day       date  not null,
    primary key (tenant_id, key, day)
) partition by range (day);

-- How far a source with a memory of its own has been read, and by whom.
create table source_cursors (
    tenant_id uuid        not null,
    bot_id    uuid        not null,
    source    text        not null,
    epoch     bigint      not null,
    cursor    text,
    moved_at  timestamptz not null default now(),
    primary key (tenant_id, bot_id, source)
);

-- A chat an agent heard from through a bot: there it may write. Touched at most daily, and
-- it outlives the entries.
create table reached (
    tenant_id uuid        not null,
    agent_id  uuid        not null,
    chat_id   text        not null,
    bot_id    uuid        not null,
    at        timestamptz not null,
    primary key (tenant_id, agent_id, chat_id, bot_id)
);

-- Authentic, but nobody can read it. A ring per bot.
create table quarantine_heads (
    tenant_id   uuid   not null,
    bot_id      uuid   not null,
    next_number bigint not null default 0,
    primary key (tenant_id, bot_id)
);
create table quarantined (
    tenant_id uuid        not null,
    bot_id    uuid        not null,
    slot      bigint      not null,
    number    bigint      not null,
    at        timestamptz not null default now(),
    problem   text        not null,
    body      bytea       not null,
    primary key (tenant_id, bot_id, slot)
);

-- What the gate refused lately, without its text. A ring per tenant.
create table refusal_heads (
    tenant_id   uuid   not null,
    next_number bigint not null default 0,
    primary key (tenant_id)
);
create table refusals (
    tenant_id uuid        not null,
    slot      bigint      not null,
    number    bigint      not null,
    at        timestamptz not null default now(),
    bot_id    uuid        not null,
    event_key text        not null,
    reason    text        not null,
    primary key (tenant_id, slot)
);
