-- Media and capabilities: files and permissions of a platform that an agent may use for a time.

-- Media: files that are told of by reference. A row for each agent that may have one: nobody else
-- can, whoever learns its name.
create table media (
    tenant_id  uuid        not null,
    agent_id   uuid        not null,
    -- 128 random bits.
    media_id   uuid        not null,
    -- The bot whose platform has the file. Null: the desk has its bytes.
    bot_id     uuid,
    -- The platform's name for the file, its type and its name, sealed for the agent.
    body       bytea       not null,
    key_id     bigint      not null,
    body_id    uuid        not null,
    size_bytes bigint,
    expires_at timestamptz not null,
    primary key (tenant_id, agent_id, media_id),
    foreign key (tenant_id, agent_id) references agents
);
create index media_by_expiry on media (expires_at);
-- For the data keys that are still needed.
create index media_by_key on media (tenant_id, key_id);
select wall_off('media');

-- Forgets media whose time is over. A door: of all tenants.
create function forget_media(media_max integer) returns bigint
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    forgotten bigint;
begin
    delete from media m using (
        select o.tenant_id, o.agent_id, o.media_id from media o
        where o.expires_at < clock_timestamp()
        order by o.expires_at limit media_max
    ) as old
    where m.tenant_id = old.tenant_id and m.agent_id = old.agent_id and m.media_id = old.media_id;
    get diagnostics forgotten = row_count;
    return forgotten;
end
$$;
alter function forget_media(integer) owner to nightdesk_doors;

-- Capabilities: permissions that a platform lends us for one session of one agent, such as the token of
-- an interaction. They are bound in the accept, resolved by a follow-up, and soon end. A message that
-- comes too late for a capability is sent as an ordinary one where the capability acted: so that place is
-- kept for a day longer than the capability.
create table capabilities (
    tenant_id      uuid        not null,
    agent_id       uuid        not null,
    -- The digest of the name by which a client knows the session, since names may be long. A row for
    -- each name that clients may have for it.
    session_sha256 bytea       not null,
    kind           text        not null,
    bot_id         uuid        not null,
    chat_id        text        not null,
    sealed         bytea       not null,
    key_id         bigint      not null,
    bound_at       timestamptz not null default now(),
    expires_at     timestamptz not null,
    primary key (tenant_id, agent_id, session_sha256, kind),
    constraint capabilities_whole_digest check (octet_length(session_sha256) = 32),
    foreign key (tenant_id, agent_id) references agents,
    foreign key (tenant_id, key_id) references tenant_keys
);
create index capabilities_by_expiry on capabilities (expires_at);
-- A capability ends within minutes and its row stays for a day: the sweep must not walk through all rows.
create index capabilities_to_wipe on capabilities (expires_at)
    where octet_length(sealed) > 0;
select wall_off('capabilities');

-- The accept, and in the same transaction the capabilities of those events that were stored. Locks
-- after those of the accept, by key.
create function inbox_accept_bound(
    tenants     uuid[],
    e_operator  uuid[],
    e_bot       uuid[],
    e_key       bytea[],
    e_chat      text[],
    e_unsendable boolean[],
    e_source    text[],
    e_epoch     bigint[],
    e_cursor    text[],
    r_event     integer[],
    r_tenant    uuid[],
    r_agent     uuid[],
    r_version   bigint[],
    r_body      bytea[],
    r_key_id    bigint[],
    r_body_id   uuid[],
    r_pace      text[],
    entries_max bigint,
    dedupe_days integer,
    -- capabilities
    c_event     integer[],
    c_tenant    uuid[],
    c_agent     uuid[],
    c_session   bytea[],
    c_kind      text[],
    c_sealed    bytea[],
    c_key_id    bigint[],
    c_secs      double precision[]
) returns table (
    event integer, outcome text, tenant uuid, agent uuid, seq bigint, at timestamptz,
    parked boolean, presence text, incarnation bigint, generation bigint
)
language plpgsql as $$
#variable_conflict use_column
declare
    stored integer[];
begin
    stored := '{}';
    for event, outcome, tenant, agent, seq, at, parked, presence, incarnation, generation in
        select a.event, a.outcome, a.tenant, a.agent, a.seq, a.at, a.parked, a.presence,
            a.incarnation, a.generation
        from inbox_accept(
            tenants, e_operator, e_bot, e_key, e_chat, e_unsendable, e_source, e_epoch, e_cursor,
            r_event, r_tenant, r_agent, r_version, r_body, r_key_id, r_body_id, r_pace, entries_max,
            dedupe_days
        ) as a
    loop
        if outcome = 'stored' then
            stored := stored || event;
        end if;
        return next;
    end loop;

    insert into capabilities as c
        (tenant_id, agent_id, session_sha256, kind, bot_id, chat_id, sealed, key_id, expires_at)
    -- The last of a batch counts: a platform lends anew what is about to end.
    select distinct on (b.tenant, b.agent, b.session, b.kind)
        b.tenant, b.agent, b.session, b.kind, e_bot[b.event], e_chat[b.event], b.sealed, b.key_id,
        clock_timestamp() + make_interval(secs => b.secs)
    from unnest(c_event, c_tenant, c_agent, c_session, c_kind, c_sealed, c_key_id, c_secs)
        as b (event, tenant, agent, session, kind, sealed, key_id, secs)
    where b.event = any (stored)
    order by b.tenant, b.agent, b.session, b.kind, b.event desc
    on conflict (tenant_id, agent_id, session_sha256, kind) do update
    set bot_id = excluded.bot_id, chat_id = excluded.chat_id, sealed = excluded.sealed,
        key_id = excluded.key_id, bound_at = now(), expires_at = excluded.expires_at;
end
$$;

grant execute on function
    forget_media, inbox_accept_bound
to nightdesk_app;
