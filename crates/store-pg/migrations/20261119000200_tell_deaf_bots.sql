-- Whether what people say to a bot comes through is judged by what came through, and its operator is told
-- when nothing does.
create table bot_hearings (
    tenant_id     uuid        not null,
    bot_id        uuid        not null,
    -- When its platform last answered, and nothing was wrong.
    heard_at      timestamptz,
    -- When somebody last said something to it.
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

-- A notice is about an agent or about a bot.
alter table notices alter column agent_id drop not null;
alter table notices
    add column bot_id uuid,
    drop constraint notices_known_kind,
    add constraint notices_known_kind check (kind in ('unreachable', 'held', 'deaf', 'missed')),
    add constraint notices_about_somebody check (num_nonnulls(agent_id, bot_id) = 1);

create or replace function notice(
    p_tenant uuid, p_agent uuid, p_kind text, p_outcome text, p_calls integer, kept_max bigint
) returns void language sql as $$
    with head as (
        insert into notice_heads as h (tenant_id, next_number) values (p_tenant, 1)
        on conflict (tenant_id) do update set next_number = h.next_number + 1
        returning h.next_number
    )
    insert into notices (tenant_id, slot, number, at, kind, agent_id, outcome, calls)
    select p_tenant, head.next_number % kept_max, head.next_number, clock_timestamp(), p_kind,
        p_agent, p_outcome, p_calls
    from head
    on conflict (tenant_id, slot) do update
    set number = excluded.number, at = excluded.at, kind = excluded.kind,
        agent_id = excluded.agent_id, bot_id = null, outcome = excluded.outcome,
        calls = excluded.calls
$$;

-- The same about a bot.
create function notice_of_bot(
    p_tenant uuid, p_bot uuid, p_kind text, p_outcome text, kept_max bigint
) returns void language sql as $$
    with head as (
        insert into notice_heads as h (tenant_id, next_number) values (p_tenant, 1)
        on conflict (tenant_id) do update set next_number = h.next_number + 1
        returning h.next_number
    )
    insert into notices (tenant_id, slot, number, at, kind, bot_id, outcome, calls)
    select p_tenant, head.next_number % kept_max, head.next_number, clock_timestamp(), p_kind,
        p_bot, p_outcome, 0
    from head
    on conflict (tenant_id, slot) do update
    set number = excluded.number, at = excluded.at, kind = excluded.kind, agent_id = null,
        bot_id = excluded.bot_id, outcome = excluded.outcome, calls = excluded.calls
$$;

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

-- Whether a bot's platform posts what is said or must be asked, its owner looks after it.
create or replace function door_listening_bots(p_adapters text[], bots_max integer)
returns table (bot_id uuid)
language plpgsql stable security definer
set search_path = public, pg_temp set enable_seqscan = off as $$
#variable_conflict use_column
begin
    return query
    select b.bot_id from bots b
    where b.adapter = any(p_adapters)
    order by b.bot_id
    limit bots_max;
end
$$;
