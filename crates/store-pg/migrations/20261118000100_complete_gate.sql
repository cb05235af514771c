-- Who may reach whom, whole: scopes, lists, what concerns an agent, and a log of changes by which
-- every node keeps up.

-- By whom an agent may be reached where it is granted something from now on.
alter table agents
    add column principal text not null default 'owner-only',
    add constraint agents_known_principal check (principal in ('owner-only', 'allow-list', 'any'));

-- A chat is claimed in its scope. '*' is every chat of the scope, or without one of the bot.
alter table scope_grants
    add column scope_id text not null default '',
    drop constraint scope_grants_known_principal,
    add constraint scope_grants_known_principal
        check (principal in ('owner-only', 'allow-list', 'any')),
    drop constraint scope_grants_one_agent_per_chat,
    drop constraint scope_grants_pkey,
    add primary key (tenant_id, bot_id, scope_id, chat_id);
create unique index scope_grants_one_agent_per_chat on scope_grants (bot_id, chat_id)
    where chat_id <> '*';
create unique index scope_grants_one_agent_per_scope on scope_grants (bot_id, scope_id)
    where chat_id = '*';

-- Of a person's agents the one preferred last is theirs where nothing else says which.
alter table bindings add column preferred_at timestamptz;

-- Who else may reach an agent that has a list.
create table listed_authors (
    tenant_id  uuid        not null,
    agent_id   uuid        not null,
    bot_id     uuid        not null,
    author_id  text        not null,
    created_at timestamptz not null default now(),
    primary key (tenant_id, agent_id, bot_id, author_id),
    foreign key (tenant_id, agent_id) references agents
);
select wall_off('listed_authors');

-- What concerns an agent, as its gateway declared it. Without a row: everything people write.
create table relevance_policies (
    tenant_id        uuid        not null,
    agent_id         uuid        not null,
    platform         text        not null,
    require_address  boolean     not null,
    free_scopes      text[]      not null,
    allow_other_bots boolean     not null,
    declared_at      timestamptz not null default now(),
    primary key (tenant_id, agent_id, platform),
    foreign key (tenant_id, agent_id) references agents
);
select wall_off('relevance_policies');

-- Each change has a number under the lock of its bot's head, so that nobody who has seen one
-- number misses a smaller one. The operator's, since a bot's people are of several tenants.
create table reach_heads (
    tenant_id uuid   not null,
    bot_id    uuid   not null,
    version   bigint not null,
    primary key (tenant_id, bot_id)
) with (fillfactor = 50);
-- Not unique: a bot has one operator, and of two that note its first change at once the second would
-- fail on this index instead of waiting on the key.
create index reach_heads_by_bot on reach_heads (bot_id);
select wall_off('reach_heads');

create table reach_changes (
    tenant_id    uuid        not null,
    bot_id       uuid        not null,
    version      bigint      not null,
    agent_tenant uuid        not null,
    agent_id     uuid        not null,
    -- What changed beside the agent's terms: who is bound, or what is granted.
    author_id    text,
    scope_id     text,
    chat_id      text,
    at           timestamptz not null default now(),
    primary key (tenant_id, bot_id, version)
);
create unique index reach_changes_by_bot on reach_changes (bot_id, version);
create index reach_changes_by_age on reach_changes (at);
select wall_off('reach_changes');

-- Notes a change, and makes admits stale that were decided before it. The bot may be another
-- tenant's: a door.
create function note_reach(
    p_bot uuid, p_tenant uuid, p_agent uuid, p_author text, p_scope text, p_chat text
) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_operator uuid;
    v_version  bigint;
begin
    update inbox_heads set reach_version = reach_version + 1
    where tenant_id = p_tenant and agent_id = p_agent;
    select b.tenant_id into v_operator from bots b where b.bot_id = p_bot;
    if not found then
        return;
    end if;
    insert into reach_heads as h (tenant_id, bot_id, version) values (v_operator, p_bot, 1)
    on conflict (tenant_id, bot_id) do update set version = h.version + 1
    returning h.version into v_version;
    insert into reach_changes
        (tenant_id, bot_id, version, agent_tenant, agent_id, author_id, scope_id, chat_id)
    values (v_operator, p_bot, v_version, p_tenant, p_agent, p_author, p_scope, p_chat);
end
$$;
alter function note_reach(uuid, uuid, uuid, text, text, text) owner to nightdesk_doors;

create function note_binding() returns trigger
language plpgsql set search_path = public, pg_temp as $$
declare
    was record := case tg_op when 'DELETE' then old else new end;
begin
    perform note_reach(was.bot_id, was.tenant_id, was.agent_id, was.author_id, null, null);
    return null;
end
$$;
create trigger note_binding after insert or update or delete on bindings
    for each row execute function note_binding();

create function note_grant() returns trigger
language plpgsql set search_path = public, pg_temp as $$
declare
    was record := case tg_op when 'DELETE' then old else new end;
begin
    perform note_reach(was.bot_id, was.tenant_id, was.agent_id, null, was.scope_id, was.chat_id);
    return null;
end
$$;
create trigger note_grant after insert or update or delete on scope_grants
    for each row execute function note_grant();

create function note_listed() returns trigger
language plpgsql set search_path = public, pg_temp as $$
declare
    was record := case tg_op when 'DELETE' then old else new end;
begin
    perform note_reach(was.bot_id, was.tenant_id, was.agent_id, null, null, null);
    return null;
end
$$;
create trigger note_listed after insert or delete on listed_authors
    for each row execute function note_listed();

-- A policy is for a platform: it concerns every bot there on which the agent has anything.
create function note_relevance() returns trigger
language plpgsql set search_path = public, pg_temp as $$
declare
    was record := case tg_op when 'DELETE' then old else new end;
begin
    perform note_reach(b.bot_id, was.tenant_id, was.agent_id, null, null, null)
    from (
        select g.bot_id from scope_grants g
        where g.tenant_id = was.tenant_id and g.agent_id = was.agent_id
        union
        select i.bot_id from bindings i
        where i.tenant_id = was.tenant_id and i.agent_id = was.agent_id
        order by 1
    ) as b;
    return null;
end
$$;
create trigger note_relevance after insert or update or delete on relevance_policies
    for each row execute function note_relevance();

-- What changed about who may be reached through a bot, or everything: the head first, then
-- authors with their agents, grants, and the terms of agents. All of one snapshot. A door: people
-- of all tenants.
create function door_reach(p_bot uuid, p_since bigint) returns table (
    kind text, version bigint, whole boolean, author_id text, scope_id text, chat_id text,
    tenant_id uuid, agent_id uuid, principal text, listed text[], owners text[],
    require_address boolean, free_scopes text[], allow_other_bots boolean
) language plpgsql stable security definer
set search_path = public, pg_temp set enable_seqscan = off as $$
#variable_conflict use_column
declare
    v_head     bigint := coalesce((select h.version from reach_heads h where h.bot_id = p_bot), 0);
    v_platform text   := (select b.platform from bots b where b.bot_id = p_bot);
    -- Its log begins later, or the head is not the one that was seen.
    v_whole    boolean := p_since is null or p_since > v_head or p_since < v_head and not exists (
        select from reach_changes c where c.bot_id = p_bot and c.version = p_since + 1
    );
begin
    return query
    select 'head', v_head, v_whole, null::text, null::text, null::text, null::uuid, null::uuid,
        null::text, null::text[], null::text[], null::boolean, null::text[], null::boolean;
    return query
    select 'author', null::bigint, null::boolean, a.author_id, null::text, null::text, b.tenant_id,
        b.agent_id, null::text, null::text[], null::text[], null::boolean, null::text[],
        null::boolean
    from (
        select distinct i.author_id from bindings i where v_whole and i.bot_id = p_bot
        union
        select c.author_id from reach_changes c
        where not v_whole and c.bot_id = p_bot and c.version > p_since and c.author_id is not null
    ) as a left join lateral (
        select i.tenant_id, i.agent_id from bindings i
        where i.bot_id = p_bot and i.author_id = a.author_id
        order by i.preferred_at desc nulls last, i.created_at, i.agent_id
        limit 64
    ) as b on true;
    return query
    select 'grant', null::bigint, null::boolean, null::text, a.scope_id, a.chat_id, g.tenant_id,
        g.agent_id, g.principal, null::text[], null::text[], null::boolean, null::text[],
        null::boolean
    from (
        select i.scope_id, i.chat_id from scope_grants i where v_whole and i.bot_id = p_bot
        union
        select c.scope_id, c.chat_id from reach_changes c
        where not v_whole and c.bot_id = p_bot and c.version > p_since and c.chat_id is not null
    ) as a left join scope_grants g
        on g.bot_id = p_bot and g.scope_id = a.scope_id and g.chat_id = a.chat_id;
    return query
    select 'agent', h.reach_version, null::boolean, null::text, null::text, null::text,
        h.tenant_id, h.agent_id, null::text,
        array(
            select l.author_id from listed_authors l
            where l.tenant_id = h.tenant_id and l.agent_id = h.agent_id and l.bot_id = p_bot
        ),
        array(
            select i.author_id from bindings i
            where i.tenant_id = h.tenant_id and i.agent_id = h.agent_id and i.bot_id = p_bot
            order by i.created_at
            limit 64
        ),
        coalesce(r.require_address, false), coalesce(r.free_scopes, '{}'),
        coalesce(r.allow_other_bots, false)
    from (
        select i.tenant_id, i.agent_id from bindings i where v_whole and i.bot_id = p_bot
        union
        select i.tenant_id, i.agent_id from scope_grants i where v_whole and i.bot_id = p_bot
        union
        select c.agent_tenant, c.agent_id from reach_changes c
        where not v_whole and c.bot_id = p_bot and c.version > p_since
    ) as a
        join inbox_heads h on h.tenant_id = a.tenant_id and h.agent_id = a.agent_id
        left join relevance_policies r on r.tenant_id = a.tenant_id and r.agent_id = a.agent_id
            and r.platform = v_platform;
end
$$;
alter function door_reach(uuid, bigint) owner to nightdesk_doors;

-- Of these bots, the ones of which something changed. A door: they are of several operators.
create function door_changed(p_bots uuid[], p_versions bigint[]) returns table (bot_id uuid)
language plpgsql stable security definer
set search_path = public, pg_temp set enable_seqscan = off as $$
#variable_conflict use_column
begin
    return query
    select a.bot_id from unnest(p_bots, p_versions) as a (bot_id, version)
        left join reach_heads h on h.bot_id = a.bot_id
    where coalesce(h.version, 0) <> a.version;
end
$$;
alter function door_changed(uuid[], bigint[]) owner to nightdesk_doors;

-- Forgets changes that every node has seen or will read everything instead of. A door.
create function forget_changes(kept interval, rows_max integer) returns bigint
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    forgotten bigint;
begin
    with old as (
        select c.bot_id, c.version from reach_changes c where c.at < clock_timestamp() - kept
        order by c.at
        limit rows_max
    )
    delete from reach_changes c using old where c.bot_id = old.bot_id and c.version = old.version;
    get diagnostics forgotten = row_count;
    return forgotten;
end
$$;
alter function forget_changes(interval, integer) owner to nightdesk_doors;

-- contract: the desk that read it never was released.
drop function door_snapshot(uuid, text, text);
