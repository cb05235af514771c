-- Where an agent's newest line is, and what agents asked us to say.
create table lines (
    tenant_id  uuid        not null,
    agent_id   uuid        not null,
    gateway_id uuid        not null,
    generation bigint      not null,
    -- A line lives no longer than this life of its node.
    node       text        not null,
    node_epoch bigint      not null,
    opened_at  timestamptz not null,
    closed_at  timestamptz,
    close_code integer,
    primary key (tenant_id, agent_id)
) with (fillfactor = 50);

create table sends (
    tenant_id   uuid        not null,
    agent_id    uuid        not null,
    -- What the gateway calls it: a repeat is recognised by it.
    request_id  text        not null,
    bot_id      uuid        not null,
    chat_id     text        not null,
    body        bytea       not null,
    state       text        not null default 'asked',
    -- Who made the call. If that life ended in between, nobody knows whether it was done.
    node        text,
    node_epoch  bigint,
    asked_at    timestamptz not null default now(),
    called_at   timestamptz,
    settled_at  timestamptz,
    receipt     bytea,
    primary key (tenant_id, agent_id, request_id),
    constraint sends_known_state check (state in ('asked', 'calling', 'settled', 'ambiguous')),
    constraint sends_called_by_somebody
        check (state = 'asked' or (node is not null and called_at is not null)),
    constraint sends_settled_with_a_receipt
        check ((state = 'settled') = (receipt is not null))
) with (fillfactor = 50);
-- For the sweep that finds what a dead owner left, and for forgetting.
create index sends_left_over on sends (asked_at) where state in ('asked', 'calling');
create index sends_by_age on sends (asked_at);
