-- Letters: what agents send to agents, what came of it, and which tenants let theirs write to each other.
--
-- A letter's row is its sender's. What came to an agent is a row of the agent's: by it a reply finds the letter, and the
-- desk knows what its next letter answers.
create table letters (
    tenant_id      uuid        not null,
    letter_id      uuid        not null,
    -- Who was proven to send it; the nil id is an operator.
    agent_id       uuid        not null,
    to_tenant_id   uuid        not null,
    to_agent_id    uuid        not null,
    dispatch_id    text        collate "C" not null,
    route          text        not null,
    kind           text        not null,
    session        text,
    correlation_id text,
    hop            integer     not null,
    state          text        not null,
    -- Its number in the inbox, once it is known.
    seq            bigint,
    sent_at        timestamptz not null,
    due_at         timestamptz,
    -- Until when somebody waits. Null: nobody does.
    reply_by       timestamptz,
    reply          text,
    replied_at     timestamptz,
    -- What is put when it is due.
    chat_id        text        not null,
    bot_id         uuid        not null,
    body           bytea,
    primary key (tenant_id, letter_id),
    constraint letters_one_per_dispatch
        unique (tenant_id, agent_id, dispatch_id, to_tenant_id, to_agent_id),
    constraint letters_known_route check (route in ('deliver', 'wake')),
    constraint letters_known_kind check (kind in ('augment', 'template')),
    constraint letters_known_state check (state in ('scheduled', 'put', 'replied', 'timed-out')),
    constraint letters_kept_until_due check (state <> 'scheduled' or body is not null),
    constraint letters_replied_with_words
        check ((state = 'replied') = (reply is not null) and (reply is null) = (replied_at is null)),
    constraint letters_time_out_if_waited_for check (state <> 'timed-out' or reply_by is not null)
) with (fillfactor = 70);
create index letters_of_agent on letters (tenant_id, agent_id, sent_at, letter_id);
create index letters_by_time on letters (sent_at);
select wall_off('letters');

create table letters_in (
    tenant_id      uuid        not null,
    agent_id       uuid        not null,
    letter_id      uuid        not null,
    from_tenant_id uuid        not null,
    from_agent_id  uuid        not null,
    hop            integer     not null,
    put_at         timestamptz not null,
    primary key (tenant_id, agent_id, letter_id)
);
-- For what an agent answers, and for the upkeep.
create index letters_in_lately on letters_in (tenant_id, agent_id, put_at);
create index letters_in_by_time on letters_in (put_at);
select wall_off('letters_in');

-- One side of an understanding: both have a row, or nothing goes between them.
create table letter_grants (
    tenant_id      uuid        not null,
    agent_id       uuid        not null,
    peer_tenant_id uuid        not null,
    peer_agent_id  uuid        not null,
    granted_at     timestamptz not null default now(),
    primary key (tenant_id, agent_id, peer_tenant_id, peer_agent_id),
    foreign key (tenant_id, agent_id) references agents,
    constraint letter_grants_between_tenants check (tenant_id <> peer_tenant_id)
);
select wall_off('letter_grants');

-- Webhooks by which others write letters for an agent. Of a secret only its digest is kept.
create table letter_hooks (
    tenant_id  uuid        not null,
    name       text        collate "C" not null,
    agent_id   uuid        not null,
    digest     bytea       not null,
    created_at timestamptz not null default now(),
    primary key (tenant_id, name),
    foreign key (tenant_id, agent_id) references agents,
    constraint letter_hooks_one_per_secret unique (digest)
);
select wall_off('letter_hooks');

-- Whoever calls shows a secret; whose it is, its row says.
create function door_letter_hook(p_digest bytea) returns table (tenant uuid, agent uuid)
language sql stable security definer set search_path = public, pg_temp as $$
    select h.tenant_id, h.agent_id from letter_hooks h where h.digest = p_digest
$$;
alter function door_letter_hook(bytea) owner to nightdesk_doors;

-- What came of an emit by each way that it went.
create table letter_receipts (
    tenant_id   uuid        not null,
    dispatch_id text        collate "C" not null,
    connector   text        collate "C" not null,
    address     text        collate "C" not null,
    route       text        not null,
    came        jsonb       not null,
    noted_at    timestamptz not null default clock_timestamp(),
    primary key (tenant_id, dispatch_id, connector, address),
    constraint letter_receipts_known_route check (route in ('deliver', 'wake'))
);
create index letter_receipts_by_time on letter_receipts (noted_at);
select wall_off('letter_receipts');
