-- Some platforms count how often a bot begins anew, and take its key away when that is too often in a
-- day. So we count it first, where it outlives us.
create table bot_sessions (
    tenant_id uuid        not null,
    bot_id    uuid        not null,
    hour      timestamptz not null,
    begun     integer     not null,
    primary key (tenant_id, bot_id, hour),
    foreign key (tenant_id, bot_id) references bots on delete cascade
);
select wall_off('bot_sessions');

alter table notices
    drop constraint notices_known_kind,
    add constraint notices_known_kind
        check (kind in ('unreachable', 'held', 'deaf', 'missed', 'sessions'));

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
