-- The reach of agents: bindings of people, grants of chats and scopes, lists, relevance, codes by which
-- people link themselves, and a log of changes by which every node keeps up.

-- A person on a platform, and their agent.
create table bindings (
    tenant_id    uuid        not null,
    bot_id       uuid        not null,
    author_id    text        not null,
    agent_id     uuid        not null,
    created_at   timestamptz not null default now(),
    -- The agent preferred last is the person's agent where nothing else selects one.
    preferred_at timestamptz,
    primary key (tenant_id, bot_id, author_id, agent_id),
    foreign key (tenant_id, agent_id) references agents
);
-- For the door: an event names its author before its tenant is known.
create index bindings_by_author on bindings (bot_id, author_id);
create index bindings_by_agent on bindings (tenant_id, agent_id);
select wall_off('bindings');
create constraint trigger tell_bound after insert on bindings
    deferrable initially deferred for each row
    execute function tell_row('bound', 'agent_id', 'bot_id', 'author_id');
create constraint trigger tell_unbound after delete on bindings
    deferrable initially deferred for each row
    execute function tell_row('unbound', 'agent_id', 'bot_id', 'author_id');
create constraint trigger tell_preferred after update of preferred_at on bindings
    deferrable initially deferred for each row
    execute function tell_row('preferred', 'agent_id', 'bot_id', 'author_id');

-- A chat, and the one agent that may be reached there.
create table scope_grants (
    tenant_id  uuid        not null,
    bot_id     uuid        not null,
    -- '*': every chat of the scope, or, without a scope, of the bot.
    chat_id    text        not null,
    agent_id   uuid        not null,
    principal  text        not null,
    created_at timestamptz not null default now(),
    -- A chat is claimed in its scope.
    scope_id   text        not null default '',
    -- True: the agent may change messages of others there.
    is_moderator boolean   not null default false,
    primary key (tenant_id, bot_id, scope_id, chat_id),
    constraint scope_grants_known_principal
        check (principal in ('owner-only', 'allow-list', 'any')),
    foreign key (tenant_id, agent_id) references agents
);
create index scope_grants_by_agent on scope_grants (tenant_id, agent_id);
create unique index scope_grants_one_agent_per_chat on scope_grants (bot_id, chat_id)
    where chat_id <> '*';
create unique index scope_grants_one_agent_per_scope on scope_grants (bot_id, scope_id)
    where chat_id = '*';
select wall_off('scope_grants');
create constraint trigger tell_granted after insert on scope_grants
    deferrable initially deferred for each row
    execute function tell_row('granted', 'agent_id', 'bot_id', 'scope_id', 'chat_id', 'principal');
create constraint trigger tell_moderation after update of is_moderator on scope_grants
    deferrable initially deferred for each row
    execute function tell_row('moderation-granted', 'agent_id', 'bot_id', 'scope_id', 'chat_id');
create constraint trigger tell_released after delete on scope_grants
    deferrable initially deferred for each row
    execute function tell_row('released', 'agent_id', 'bot_id', 'scope_id', 'chat_id');
create trigger keep_quota after insert on scope_grants
    referencing new table as entered for each statement execute function keep_quota('grants');

-- The other people that may reach an agent that has a list.
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
create constraint trigger tell_listed after insert or delete on listed_authors
    deferrable initially deferred for each row
    execute function tell_row('list-replaced', 'agent_id', 'bot_id');

-- The events that concern an agent, as its gateway declared it. Without a row: everything people write.
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
create constraint trigger tell_relevance after insert or update on relevance_policies
    deferrable initially deferred for each row
    execute function tell_row('relevance-declared', 'agent_id', 'platform');

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
    -- The change beside the agent's terms: a person that is bound, or a chat that is granted.
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
-- Rules that mean another relevance mean it on every bot where the agent has anything.
create trigger note_client_rules after update of client_rules on agents
    for each row when ((old.client_rules = 'hermes-0.20') <> (new.client_rules = 'hermes-0.20'))
    execute function note_relevance();

-- Returns the changes to the reach through a bot, or all of its reach: the head first, then
-- authors with their agents, grants, and the terms of agents. All of one snapshot. A door: people
-- of all tenants. An agent without a policy has none here: the gate decides by its client's rules.
create function door_reach(p_bot uuid, p_since bigint) returns table (
    kind text, version bigint, whole boolean, author_id text, scope_id text, chat_id text,
    tenant_id uuid, agent_id uuid, principal text, listed text[], owners text[],
    require_address boolean, free_scopes text[], allow_other_bots boolean, client_rules text
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
        null::text, null::text[], null::text[], null::boolean, null::text[], null::boolean, null::text;
    return query
    select 'author', null::bigint, null::boolean, a.author_id, null::text, null::text, b.tenant_id,
        b.agent_id, null::text, null::text[], null::text[], null::boolean, null::text[],
        null::boolean, null::text
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
        null::boolean, null::text
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
        r.require_address, r.free_scopes, r.allow_other_bots, o.client_rules
    from (
        select i.tenant_id, i.agent_id from bindings i where v_whole and i.bot_id = p_bot
        union
        select i.tenant_id, i.agent_id from scope_grants i where v_whole and i.bot_id = p_bot
        union
        select c.agent_tenant, c.agent_id from reach_changes c
        where not v_whole and c.bot_id = p_bot and c.version > p_since
    ) as a
        join inbox_heads h on h.tenant_id = a.tenant_id and h.agent_id = a.agent_id
        join agents o on o.tenant_id = a.tenant_id and o.agent_id = a.agent_id
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
    perform check_retention('reach-changes', kept);
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
-- For the look which agents were reached in a chat, of all tenants.
create index reached_by_chat on reached (bot_id, chat_id);
select wall_off('reached');

-- Returns the bots through which an agent may write to a chat, and the name that tells it apart there: its display
-- name, if another agent was reached in the same chat. A door: the other may be another tenant's, and nothing but that
-- it is there is told.
--
-- An agent may write first to the people bound to it, where a person's direct chat has the person's own
-- id. It may write nowhere through a bot it has nothing on any more: an entry of last week does not
-- outlive the last binding or grant.
create function door_reaches(p_tenant uuid, p_agent uuid, p_chat text, p_kept interval)
returns table (bot_id uuid, platform text, handle text, speaks_as text, is_moderator boolean)
language plpgsql stable security definer
set search_path = public, pg_temp set enable_seqscan = off as $$
#variable_conflict use_column
begin
    return query
    select b.bot_id, b.platform, b.handle, (
        select a.display_name from agents a
        where a.tenant_id = p_tenant and a.agent_id = p_agent
          and exists (
              select from reached o
              where o.bot_id = b.bot_id and o.chat_id = p_chat and o.agent_id <> p_agent
                and o.at > now() - p_kept)
    ), exists (
        select from scope_grants m
        where m.tenant_id = p_tenant and m.agent_id = p_agent and m.bot_id = b.bot_id
          and m.is_moderator
          -- A send names its scope itself, so a grant of a scope proves nothing about its chats.
          and (m.chat_id = p_chat or (m.chat_id = '*' and m.scope_id = ''))
    ) from bots b
    where b.bot_id in (
        select r.bot_id from reached r
        where r.tenant_id = p_tenant and r.agent_id = p_agent and r.chat_id = p_chat
          and r.at > now() - p_kept
          and (exists (
                select from bindings i
                where i.tenant_id = p_tenant and i.agent_id = p_agent and i.bot_id = r.bot_id)
            or exists (
                select from scope_grants g
                where g.tenant_id = p_tenant and g.agent_id = p_agent and g.bot_id = r.bot_id))
        union
        select i.bot_id from bindings i
        where i.tenant_id = p_tenant and i.agent_id = p_agent and i.author_id = p_chat
        union
        select g.bot_id from scope_grants g
        where g.tenant_id = p_tenant and g.agent_id = p_agent and g.chat_id = p_chat
          -- Every chat is not one an agent may write to first.
          and g.chat_id <> '*'
    );
end
$$;
alter function door_reaches(uuid, uuid, text, interval) owner to nightdesk_doors;

-- The bots an agent may say hello for: those it is bound or granted something on.
create function door_bots_of(p_tenant uuid, p_agent uuid) returns table (
    bot_id uuid, platform text, handle text
) language plpgsql stable security definer
set search_path = public, pg_temp set enable_seqscan = off as $$
#variable_conflict use_column
begin
    return query
    select b.bot_id, b.platform, b.handle from bots b
    where b.bot_id in (
        select i.bot_id from bindings i where i.tenant_id = p_tenant and i.agent_id = p_agent
        union
        select g.bot_id from scope_grants g where g.tenant_id = p_tenant and g.agent_id = p_agent
    )
    order by b.bot_id
    limit 256;
end
$$;
alter function door_bots_of(uuid, uuid) owner to nightdesk_doors;

-- People link themselves to their agent: with a one-time code, in a direct message to the bot. Of a
-- code only the digest is kept.
create table link_codes (
    tenant_id   uuid        not null,
    code_sha256 bytea       not null,
    agent_id    uuid        not null,
    created_at  timestamptz not null default now(),
    expires_at  timestamptz not null,
    used_bot    uuid,
    used_author text,
    primary key (tenant_id, code_sha256),
    foreign key (tenant_id, agent_id) references agents,
    constraint link_codes_used_by_somebody check ((used_bot is null) = (used_author is null))
);
create unique index link_codes_by_digest on link_codes (code_sha256);
create index link_codes_by_agent on link_codes (tenant_id, agent_id, created_at);
create index link_codes_by_age on link_codes (created_at);
select wall_off('link_codes');
create constraint trigger tell_link after insert on link_codes
    deferrable initially deferred for each row
    execute function tell_row('link-made', 'agent_id');

-- The user of a code is a person: the desk has no id for them but the platform's.
create function tell_linked() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
    perform set_config('app.actor', 'person', true);
    perform tell(new.tenant_id, 'linked', jsonb_build_object(
        'agent_id', new.agent_id, 'bot_id', new.used_bot, 'author_id', new.used_author));
    return null;
end
$$;
alter function tell_linked() owner to nightdesk_doors;
create constraint trigger tell_linked after update of used_author on link_codes
    deferrable initially deferred for each row
    when (old.used_author is null and new.used_author is not null)
    execute function tell_linked();

-- The tries of a person within the hour. The row is the operator's: the agent they mean is not known.
create table link_tries (
    tenant_id     uuid        not null,
    bot_id        uuid        not null,
    author_id     text        not null,
    hour_began_at timestamptz not null,
    tries         integer     not null,
    primary key (tenant_id, bot_id, author_id)
);
create index link_tries_by_age on link_tries (hour_began_at);
select wall_off('link_tries');

-- Counts a try of a person. Answers whether it may be looked at.
create function link_try(p_operator uuid, p_bot uuid, p_author text, tries_max integer)
returns boolean language sql as $$
    insert into link_tries as t (tenant_id, bot_id, author_id, hour_began_at, tries)
    values (p_operator, p_bot, p_author, now(), 1)
    on conflict (tenant_id, bot_id, author_id) do update
    set hour_began_at = case when t.hour_began_at > now() - interval '1 hour'
            then t.hour_began_at else now() end,
        tries = case when t.hour_began_at > now() - interval '1 hour'
            then t.tries + 1 else 1 end
    returning t.tries <= tries_max
$$;

-- Uses a code up and binds the person who sent it. The same person may say it again. A door: the code
-- names the agent and its tenant.
create function door_link(p_bot uuid, p_author text, p_code bytea, tries_max integer)
returns table (outcome text, tenant_id uuid, agent_id uuid, agent text)
language plpgsql security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
declare
    v_bot  bots;
    v_code link_codes;
    v_said text;
begin
    select b.* into strict v_bot from bots b where b.bot_id = p_bot;
    select c.* into v_code from link_codes c where c.code_sha256 = p_code for update;
    if v_code.used_bot = p_bot and v_code.used_author = p_author then
        v_said := 'linked';
    elsif not link_try(v_bot.tenant_id, p_bot, p_author, tries_max) then
        v_said := 'too-many';
    elsif v_code.agent_id is null then
        v_said := 'unknown';
    elsif v_code.used_bot is not null then
        v_said := 'used';
    elsif v_code.expires_at <= now() then
        v_said := 'expired';
    elsif v_bot.tenant_id <> v_code.tenant_id and not v_bot.shared then
        v_said := 'not-here';
    else
        update link_codes c set used_bot = p_bot, used_author = p_author
        where c.tenant_id = v_code.tenant_id and c.code_sha256 = p_code;
        insert into bindings (tenant_id, bot_id, author_id, agent_id)
        values (v_code.tenant_id, p_bot, p_author, v_code.agent_id)
        on conflict do nothing;
        v_said := 'linked';
    end if;
    if v_said <> 'linked' then
        return query select v_said, null::uuid, null::uuid, null::text;
        return;
    end if;
    return query
    select v_said, a.tenant_id, a.agent_id, a.name from agents a
    where a.tenant_id = v_code.tenant_id and a.agent_id = v_code.agent_id;
end
$$;
alter function door_link(uuid, text, bytea, integer) owner to nightdesk_doors;

-- Forgets codes and tries that nobody can use or is held to any more. A door.
create function forget_links(kept interval, rows_max integer) returns bigint
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_codes bigint;
    v_tries bigint;
begin
    perform check_retention('links', kept);
    with old as (
        select c.code_sha256 from link_codes c where c.created_at < now() - kept
        order by c.created_at limit rows_max
    )
    delete from link_codes c using old where c.code_sha256 = old.code_sha256;
    get diagnostics v_codes = row_count;
    with old as (
        select t.bot_id, t.author_id from link_tries t where t.hour_began_at < now() - kept
        order by t.hour_began_at limit rows_max
    )
    delete from link_tries t using old where t.bot_id = old.bot_id and t.author_id = old.author_id;
    get diagnostics v_tries = row_count;
    return v_codes + v_tries;
end
$$;
alter function forget_links(interval, integer) owner to nightdesk_doors;

grant execute on function
    note_reach, door_reach, door_changed, forget_changes, door_reaches, door_bots_of, door_link,
    forget_links
to nightdesk_app;
