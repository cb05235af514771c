-- Chats on pages of our own: the messages, for a visitor who comes back to read them.
--
-- The agents' mail is the inbox; this is only the part of it that a visitor sees. It belongs to the bot's
-- operator, whoever's agents answer.
create table webchat_chats (
    tenant_id  uuid        not null,
    bot_id     uuid        not null,
    visitor    text        not null,
    -- The number of the last change. Locked by who writes, so the order of commits is the order
    -- of numbers.
    last_seq   bigint      not null default 0,
    -- The agent's activity, sealed for the bot. It passes, and is no line of the chat.
    status     bytea,
    status_key_id  bigint,
    status_body_id uuid,
    status_at  timestamptz,
    created_at timestamptz not null default now(),
    seen_at    timestamptz not null default now(),
    primary key (tenant_id, bot_id, visitor),
    constraint webchat_chats_status_has_a_time
        check (num_nulls(status, status_key_id, status_body_id, status_at) in (0, 4))
) with (fillfactor = 50);
-- For the upkeep, over all tenants.
create index webchat_chats_by_age on webchat_chats (seen_at);
select wall_off('webchat_chats');

create table webchat_messages (
    tenant_id  uuid        not null,
    bot_id     uuid        not null,
    visitor    text        not null,
    -- The number of its first change is its name; that of its last is where a stream finds it.
    message_id bigint      not null,
    seq        bigint      not null,
    -- The time at which it was said, which is the order in which it is shown.
    at         timestamptz not null,
    author     text        not null,
    -- The text, sealed for the bot. Empty once it is deleted.
    body       bytea       not null,
    key_id     bigint      not null,
    body_id    uuid        not null,
    -- The name that the visitor's page gave it: a repeat is recognised by it.
    nonce      text,
    -- The buttons under it, sealed like the text.
    prompt     bytea,
    prompt_key_id  bigint,
    prompt_body_id uuid,
    edited_at  timestamptz,
    deleted    boolean     not null default false,
    primary key (tenant_id, bot_id, visitor, message_id),
    constraint webchat_messages_one_per_change unique (tenant_id, bot_id, visitor, seq),
    constraint webchat_messages_one_per_nonce unique (tenant_id, bot_id, visitor, nonce),
    constraint webchat_messages_known_author check (author in ('visitor', 'agent')),
    constraint webchat_messages_visitors_have_a_nonce
        check ((author = 'visitor') = (nonce is not null)),
    constraint webchat_messages_deleted_says_nothing
        check (not deleted or (body = '' and prompt is null)),
    constraint webchat_messages_sealed_prompt
        check (num_nulls(prompt, prompt_key_id, prompt_body_id) in (0, 3))
);
-- For the upkeep, over all tenants.
create index webchat_messages_by_age on webchat_messages (at);
-- For the data keys that are still needed.
create index webchat_messages_by_key on webchat_messages (tenant_id, key_id) where not deleted;
create index webchat_messages_by_prompt_key on webchat_messages (tenant_id, prompt_key_id)
    where prompt_key_id is not null;
create index webchat_chats_by_key on webchat_chats (tenant_id, status_key_id)
    where status_key_id is not null;
select wall_off('webchat_messages');

-- Forgets lines that are too old, at most so many, and chats of which nothing is left. Over all
-- tenants: a door.
create function forget_chats(kept interval, rows_max integer) returns bigint
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    lines bigint;
    chats bigint;
begin
    perform check_retention('chats', kept);
    delete from webchat_messages m using (
        select o.tenant_id, o.bot_id, o.visitor, o.message_id from webchat_messages o
        where o.at < clock_timestamp() - kept
        order by o.at limit rows_max
    ) as old
    where m.tenant_id = old.tenant_id and m.bot_id = old.bot_id and m.visitor = old.visitor
      and m.message_id = old.message_id;
    get diagnostics lines = row_count;
    delete from webchat_chats c using (
        select o.tenant_id, o.bot_id, o.visitor from webchat_chats o
        where o.seen_at < clock_timestamp() - kept
          and not exists (
              select from webchat_messages m
              where m.tenant_id = o.tenant_id and m.bot_id = o.bot_id and m.visitor = o.visitor
          )
        order by o.seen_at limit rows_max
        -- Whoever writes just now keeps it.
        for update skip locked
    ) as old
    where c.tenant_id = old.tenant_id and c.bot_id = old.bot_id and c.visitor = old.visitor;
    get diagnostics chats = row_count;
    return greatest(lines, chats);
end
$$;
alter function forget_chats(interval, integer) owner to nightdesk_doors;

grant execute on function
    forget_chats
to nightdesk_app;
