-- Bots: their keys, the sessions they begin, whether they hear anything, and the prompts and commands
-- of agents on them.
create table bots (
    -- The operator. The people the bot serves may belong to other tenants.
    tenant_id  uuid        not null,
    bot_id     uuid        not null default gen_random_uuid(),
    platform   text        not null,
    -- The adapter of the desk that speaks for it.
    adapter    text        not null,
    -- Its name on the platform.
    handle     text        not null,
    -- The unguessable part of its webhook's path.
    path       text        not null,
    settings   jsonb       not null default '{}',
    created_at timestamptz not null default now(),
    -- True if agents of other tenants may be linked on the bot.
    shared     boolean     not null default false,
    primary key (tenant_id, bot_id),
    constraint bots_one_per_id unique (bot_id),
    constraint bots_one_per_path unique (path),
    constraint bots_one_per_handle unique (tenant_id, platform, handle)
);
create index bots_shared on bots (created_at) where shared;
-- For the look which bots are to be listened for.
create index bots_by_adapter on bots (adapter, tenant_id, bot_id);
select wall_off('bots');
create constraint trigger tell_bot after insert on bots
    deferrable initially deferred for each row
    execute function tell_row('bot-created', 'bot_id', 'platform');
create constraint trigger tell_shared after update of shared on bots
    deferrable initially deferred for each row
    execute function tell_row('bot-shared', 'bot_id', 'shared');

-- The keys of a bot: the newest is used, and all that have not ended are believed, so that a key is
-- replaced while the old one is still believed.
create table bot_keys (
    tenant_id  uuid        not null,
    bot_id     uuid        not null,
    bot_key_id uuid        not null,
    sealed     bytea       not null,
    key_id     bigint      not null,
    created_at timestamptz not null default now(),
    -- Null: until it is replaced.
    expires_at timestamptz,
    primary key (tenant_id, bot_id, bot_key_id),
    foreign key (tenant_id, bot_id) references bots,
    foreign key (tenant_id, key_id) references tenant_keys
);
create index bot_keys_by_expiry on bot_keys (expires_at) where expires_at is not null;
select wall_off('bot_keys');
create constraint trigger tell_bot_key after insert on bot_keys
    deferrable initially deferred for each row
    execute function tell_row('bot-key-rotated', 'bot_id');

-- A webhook names its bot by its path. A row for each live key of each bot, newest first. The paths of many requests are
-- looked up together.
create function door_bot(p_paths text[], p_bots uuid[], keys_max integer) returns table (
    path text, tenant_id uuid, bot_id uuid, platform text, adapter text, handle text, settings jsonb,
    bot_key_id uuid, sealed bytea, wrapped bytea, key_id bigint
) language plpgsql stable security definer
set search_path = public, pg_temp as $$
#variable_conflict use_column
begin
    return query
    select b.path, b.tenant_id, b.bot_id, b.platform, b.adapter, b.handle, b.settings, k.bot_key_id,
        k.sealed, t.wrapped, k.key_id
    from bots b
        left join lateral (
            select k.bot_key_id, k.sealed, k.key_id, k.created_at from bot_keys k
            where k.tenant_id = b.tenant_id and k.bot_id = b.bot_id
                and coalesce(k.expires_at > now(), true)
            order by k.created_at desc
            limit keys_max
        ) as k on true
        left join tenant_keys t on t.tenant_id = b.tenant_id and t.key_id = k.key_id
    where b.path = any (p_paths) or b.bot_id = any (p_bots)
    order by b.bot_id, k.created_at desc;
end
$$;
alter function door_bot(text[], uuid[], integer) owner to nightdesk_doors;

-- The bots on which agents of a tenant may be linked: its own, and those that others share. A door.
create function door_open_bots(p_tenant uuid, bots_max integer) returns table (
    bot_id uuid, platform text, handle text, is_own boolean
) language plpgsql stable security definer
set search_path = public, pg_temp as $$
#variable_conflict use_column
begin
    return query
    select b.bot_id, b.platform, b.handle, b.tenant_id = p_tenant from bots b
    where b.tenant_id = p_tenant or b.shared
    order by b.tenant_id <> p_tenant, b.created_at, b.bot_id
    limit bots_max;
end
$$;
alter function door_open_bots(uuid, integer) owner to nightdesk_doors;

-- A node must know which bots to listen for before it knows their tenants. Some platforms tell nothing by
-- themselves: the bot's owner must ask them. It also looks after a bot whose platform posts messages.
create function door_listening_bots(p_adapters text[], bots_max integer)
returns table (bot_id uuid)
language plpgsql stable security definer
set search_path = public, pg_temp as $$
#variable_conflict use_column
begin
    return query
    select b.bot_id from bots b
    where b.adapter = any(p_adapters)
    order by b.bot_id
    limit bots_max;
end
$$;
alter function door_listening_bots(text[], integer) owner to nightdesk_doors;

-- The hearing of a bot is judged by the messages that came through, and its operator is told when none
-- do.
create table bot_hearings (
    tenant_id     uuid        not null,
    bot_id        uuid        not null,
    -- The last time its platform answered and nothing was wrong.
    heard_at      timestamptz,
    -- The last time somebody said something to it.
    said_at       timestamptz,
    -- Since when nothing is heard, why, and when that was told.
    unheard_since timestamptz,
    why           text,
    told_at       timestamptz,
    primary key (tenant_id, bot_id),
    constraint bot_hearings_say_why check ((unheard_since is null) = (why is null)),
    constraint bot_hearings_told_of_something check (told_at is null or unheard_since is not null)
) with (fillfactor = 50);
select wall_off('bot_hearings');

-- All is well with a bot. If that was last so longer ago than its platform keeps what it cannot tell,
-- something may be lost.
create function bot_heard(
    p_tenant uuid, p_bot uuid, p_kept interval, p_lost text, notices_max bigint
) returns void language plpgsql as $$
declare
    v_before timestamptz;
begin
    select h.heard_at into v_before from bot_hearings h
    where h.tenant_id = p_tenant and h.bot_id = p_bot for update;
    if v_before < clock_timestamp() - p_kept then
        perform notice_of_bot(p_tenant, p_bot, 'missed', p_lost, notices_max);
    end if;
    -- Nothing is noted of one that was removed meanwhile.
    insert into bot_hearings (tenant_id, bot_id, heard_at)
    select b.tenant_id, b.bot_id, clock_timestamp() from bots b
    where b.tenant_id = p_tenant and b.bot_id = p_bot
    on conflict (tenant_id, bot_id) do update
    set heard_at = excluded.heard_at, unheard_since = null, why = null, told_at = null;
end
$$;

-- Nothing could be heard. Answers whether that is so for long enough to be told, and was told now.
create function bot_unheard(
    p_tenant uuid, p_bot uuid, p_why text, p_deaf_after interval, notices_max bigint
) returns boolean language plpgsql as $$
begin
    insert into bot_hearings as h (tenant_id, bot_id, unheard_since, why)
    select b.tenant_id, b.bot_id, clock_timestamp(), p_why from bots b
    where b.tenant_id = p_tenant and b.bot_id = p_bot
    on conflict (tenant_id, bot_id) do update
    set unheard_since = coalesce(h.unheard_since, excluded.unheard_since), why = excluded.why;
    update bot_hearings h set told_at = clock_timestamp()
    where h.tenant_id = p_tenant and h.bot_id = p_bot and h.told_at is null
      and h.unheard_since <= clock_timestamp() - p_deaf_after;
    if not found then
        return false;
    end if;
    perform notice_of_bot(p_tenant, p_bot, 'deaf', p_why, notices_max);
    return true;
end
$$;

-- Some platforms count the sessions that a bot begins, and take its key away when there are too many in
-- a day. So the desk counts them first, where the count outlives its nodes.
create table bot_sessions (
    tenant_id uuid        not null,
    bot_id    uuid        not null,
    hour      timestamptz not null,
    begun     integer     not null,
    primary key (tenant_id, bot_id, hour),
    foreign key (tenant_id, bot_id) references bots on delete cascade
);
select wall_off('bot_sessions');

-- Takes one of the sessions that a bot may begin in a day. Answers whether any was left. Its operator is
-- told when so many are gone.
create function bot_begins(
    p_tenant uuid, p_bot uuid, p_alarm integer, p_stop integer, p_words text, notices_max bigint
) returns boolean language plpgsql as $$
declare
    v_begun bigint;
begin
    perform from bots b where b.tenant_id = p_tenant and b.bot_id = p_bot for update;
    if not found then
        return false;
    end if;
    delete from bot_sessions s
    where s.tenant_id = p_tenant and s.bot_id = p_bot
      and s.hour < clock_timestamp() - interval '25 hours';
    select coalesce(sum(s.begun), 0) into v_begun from bot_sessions s
    where s.tenant_id = p_tenant and s.bot_id = p_bot;
    if v_begun >= p_stop then
        return false;
    end if;
    insert into bot_sessions as s (tenant_id, bot_id, hour, begun)
    values (p_tenant, p_bot, date_trunc('hour', clock_timestamp()), 1)
    on conflict (tenant_id, bot_id, hour) do update set begun = s.begun + 1;
    if v_begun + 1 = p_alarm then
        perform notice_of_bot(p_tenant, p_bot, 'sessions', p_words, notices_max);
    end if;
    return true;
end
$$;

-- Notes that something may be missing of what was said to a bot, and tells its operator. Answers since when.
create function bot_missed(p_tenant uuid, p_bot uuid, p_words text, notices_max bigint)
returns timestamptz language plpgsql as $$
begin
    perform notice_of_bot(p_tenant, p_bot, 'missed', p_words, notices_max);
    return (
        select greatest(h.heard_at, h.said_at) from bot_hearings h
        where h.tenant_id = p_tenant and h.bot_id = p_bot
    );
end
$$;

-- The chats of a bot in which somebody may have said something, those first from which something came
-- last. A door: they are its people's, of whichever tenant.
create function door_chats_of(p_tenant uuid, p_bot uuid, p_kept interval, chats_max integer)
returns table (chat_id text)
language plpgsql stable security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
begin
    if array_position(current_setting('app.tenants')::uuid[], p_tenant) is null or not exists (
        select from bots b where b.tenant_id = p_tenant and b.bot_id = p_bot
    ) then
        return;
    end if;
    return query
    select c.chat_id from (
        select r.chat_id, r.at from reached r
        where r.bot_id = p_bot and r.at > clock_timestamp() - p_kept
        union all
        select g.chat_id, g.created_at from scope_grants g
        where g.bot_id = p_bot and g.chat_id not in ('', '*')
    ) as c
    group by c.chat_id
    order by max(c.at) desc
    limit chats_max;
end
$$;
alter function door_chats_of(uuid, uuid, interval, integer) owner to nightdesk_doors;

-- Prompts: questions that an agent asked with buttons. A person who presses one reaches the agent that
-- asked, and no other.
create table prompts (
    tenant_id uuid        not null,
    agent_id  uuid        not null,
    bot_id    uuid        not null,
    -- The client's name for it.
    prompt_id text        not null,
    asked_at  timestamptz not null default now(),
    primary key (tenant_id, agent_id, bot_id, prompt_id),
    constraint prompts_of_one_agent unique (bot_id, prompt_id),
    foreign key (tenant_id, agent_id) references agents
);
create index prompts_by_age on prompts (asked_at);
select wall_off('prompts');
create trigger keep_prompts after insert on prompts
    for each row execute function keep_agent_quota('agent-prompts');

-- Notes that an agent asks something. False: another agent's prompt is called so.
create function prompt_ask(p_tenant uuid, p_agent uuid, p_bot uuid, p_prompt text)
returns boolean language plpgsql as $$
begin
    insert into prompts (tenant_id, agent_id, bot_id, prompt_id)
    values (p_tenant, p_agent, p_bot, p_prompt)
    on conflict do nothing;
    return exists (
        select from prompts p
        where p.bot_id = p_bot and p.prompt_id = p_prompt
          and p.tenant_id = p_tenant and p.agent_id = p_agent
    );
end
$$;

-- The agent that asked a prompt. A door: a press names its bot and no tenant.
create function door_asker(p_bot uuid, p_prompt text) returns table (tenant_id uuid, agent_id uuid)
language plpgsql stable security definer
set search_path = public, pg_temp as $$
#variable_conflict use_column
begin
    return query
    select p.tenant_id, p.agent_id from prompts p where p.bot_id = p_bot and p.prompt_id = p_prompt;
end
$$;
alter function door_asker(uuid, text) owner to nightdesk_doors;

-- Forgets old prompts. A door: of all tenants.
create function forget_prompts(kept interval, prompts_max integer) returns bigint
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    forgotten bigint;
begin
    perform check_retention('prompts', kept);
    delete from prompts p using (
        select o.bot_id, o.prompt_id from prompts o
        where o.asked_at < clock_timestamp() - kept
        order by o.asked_at limit prompts_max
    ) as old
    where p.bot_id = old.bot_id and p.prompt_id = old.prompt_id;
    get diagnostics forgotten = row_count;
    return forgotten;
end
$$;
alter function forget_prompts(interval, integer) owner to nightdesk_doors;

-- Commands: the names that an agent made known in a scope of a bot. They widen nobody's reach.
create table commands (
    tenant_id   uuid not null,
    bot_id      uuid not null,
    scope_id    text not null,
    name        text not null,
    agent_id    uuid not null,
    -- The digest of the definition that the platform was told, and the platform's name for it. Null: nothing yet.
    told_sha256 bytea,
    command_id  text,
    primary key (tenant_id, bot_id, scope_id, name),
    constraint commands_of_one_agent unique (bot_id, scope_id, name),
    constraint commands_told_or_not check ((told_sha256 is null) = (command_id is null)),
    foreign key (tenant_id, agent_id) references agents
);
create index commands_by_agent on commands (tenant_id, agent_id, bot_id);
select wall_off('commands');

-- Gives an agent a name in a scope that was granted to it as a whole. False: it was not, or another agent has the
-- name. An agent that has the name and not the scope any more loses it: a door, since that may be another tenant's.
create function door_claim_command(
    p_tenant uuid, p_agent uuid, p_bot uuid, p_scope text, p_name text
) returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
begin
    delete from commands c
    where c.bot_id = p_bot and c.scope_id = p_scope and c.name = p_name
      and not exists (
          select from scope_grants g
          where g.tenant_id = c.tenant_id and g.agent_id = c.agent_id
            and g.bot_id = c.bot_id and g.scope_id = c.scope_id and g.chat_id = '*');
    insert into commands (tenant_id, bot_id, scope_id, name, agent_id)
    select p_tenant, p_bot, p_scope, p_name, p_agent
    where array_position(current_setting('app.tenants')::uuid[], p_tenant) is not null
      and exists (
          select from scope_grants g
          where g.tenant_id = p_tenant and g.agent_id = p_agent
            and g.bot_id = p_bot and g.scope_id = p_scope and g.chat_id = '*')
    on conflict do nothing;
    return exists (
        select from commands c
        where c.tenant_id = p_tenant and c.agent_id = p_agent
          and c.bot_id = p_bot and c.scope_id = p_scope and c.name = p_name);
end
$$;
alter function door_claim_command(uuid, uuid, uuid, text, text) owner to nightdesk_doors;

-- Removes a bot with its keys, its commands, and all that people and agents had on it, for a transaction
-- that works for its operator. Answers whether there was one. Its people may be of several tenants: a
-- door. Texts stay as long as they would.
create function door_remove_bot(p_tenant uuid, p_bot uuid) returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
begin
    perform from bots b
    where b.tenant_id = p_tenant and b.bot_id = p_bot
      and array_position(current_setting('app.tenants')::uuid[], p_tenant) is not null
    for update;
    if not found then
        return false;
    end if;
    -- First: what follows is part of it.
    perform tell(p_tenant, 'bot-removed', jsonb_build_object('bot_id', p_bot));
    delete from bindings b where b.bot_id = p_bot;
    delete from scope_grants g where g.bot_id = p_bot;
    delete from listed_authors l where l.bot_id = p_bot;
    delete from capabilities c where c.bot_id = p_bot;
    delete from commands c where c.bot_id = p_bot;
    delete from link_tries t where t.tenant_id = p_tenant and t.bot_id = p_bot;
    delete from source_cursors s where s.tenant_id = p_tenant and s.bot_id = p_bot;
    delete from bot_hearings h where h.tenant_id = p_tenant and h.bot_id = p_bot;
    delete from bot_keys k where k.tenant_id = p_tenant and k.bot_id = p_bot;
    delete from bots b where b.tenant_id = p_tenant and b.bot_id = p_bot;
    return true;
end
$$;
alter function door_remove_bot(uuid, uuid) owner to nightdesk_doors;

grant execute on function
    door_bot, door_open_bots, door_listening_bots, bot_heard, bot_unheard, bot_begins,
    bot_missed, door_chats_of, prompt_ask, door_asker, forget_prompts, door_claim_command,
    door_remove_bot
to nightdesk_app;
