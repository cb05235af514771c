-- The messages that agents asked the desk to send.
create table sends (
    tenant_id   uuid        not null,
    agent_id    uuid        not null,
    -- The gateway's name for it: a repeat is recognised by it.
    request_id  text        not null,
    bot_id      uuid        not null,
    chat_id     text        not null,
    -- Sealed for its agent. Empty once it is settled: the receipt answers a repeat.
    body        bytea       not null,
    key_id      bigint      not null,
    body_id     uuid        not null,
    state       text        not null default 'asked',
    -- The life of a node that made the call. If it ended in between, nobody knows whether it was done.
    node        text,
    node_epoch  bigint,
    asked_at    timestamptz not null default now(),
    called_at   timestamptz,
    settled_at  timestamptz,
    receipt     bytea,
    -- The node that waits for the answer, and is rung for it.
    asked_on    text,
    -- False: it changes a message that exists, and its receipt makes nobody a sender.
    makes_message boolean   not null,
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
-- For `explain`, which finds the sends of an agent in a chat by the time at which they were asked.
create index sends_by_chat on sends (tenant_id, agent_id, bot_id, chat_id, asked_at);
select wall_off('sends');
create trigger keep_sends after insert on sends
    for each row execute function keep_agent_quota('agent-sends');

-- The messages and threads that sends made: an agent changes those of its own sends. They are deleted with
-- their send.
create table sent_messages (
    tenant_id  uuid not null,
    agent_id   uuid not null,
    request_id text not null,
    bot_id     uuid not null,
    chat_id    text not null,
    message_id text not null,
    primary key (tenant_id, agent_id, request_id, chat_id, message_id),
    constraint sent_messages_of_one_send unique (bot_id, chat_id, message_id),
    foreign key (tenant_id, agent_id, request_id) references sends on delete cascade
);
select wall_off('sent_messages');

-- The agent whose send made a message. A door: the sender may belong to any tenant.
create function door_message_sender(p_bot uuid, p_chat text, p_message text)
returns table (tenant_id uuid, agent_id uuid) language plpgsql stable security definer
set search_path = public, pg_temp set enable_seqscan = off as $$
#variable_conflict use_column
begin
    return query
    select m.tenant_id, m.agent_id from sent_messages m
    where m.bot_id = p_bot and m.chat_id = p_chat and m.message_id = p_message;
end
$$;
alter function door_message_sender(uuid, text, text) owner to nightdesk_doors;

-- The sends that wait for the owner of their bot, oldest first.
create function door_waiting_sends(p_node text, p_epoch bigint, sends_max integer)
returns table (
    tenant_id uuid, agent_id uuid, request_id text, bot_id uuid, body bytea, key_id bigint,
    body_id uuid, asked_on text, asked_ago_ms bigint
) language plpgsql stable security definer
set search_path = public, pg_temp set enable_seqscan = off as $$
#variable_conflict use_column
begin
    return query
    select s.tenant_id, s.agent_id, s.request_id, s.bot_id, s.body, s.key_id, s.body_id, s.asked_on,
        (extract(epoch from clock_timestamp() - s.asked_at) * 1000)::bigint
    from sends s
    where s.state = 'asked' and (
        select o.node = p_node and o.node_epoch = p_epoch from owners o
        where o.resource = 'bot/' || s.bot_id
    )
    order by s.asked_at
    limit sends_max;
end
$$;
alter function door_waiting_sends(text, bigint, integer) owner to nightdesk_doors;

-- Bots for which something waits, and that nobody living owns.
create function door_ownerless_bots(bots_max integer) returns table (bot_id uuid)
language plpgsql stable security definer
set search_path = public, pg_temp as $$
#variable_conflict use_column
begin
    return query
    select distinct s.bot_id from sends s
    where s.state = 'asked' and (
        select node_lives(o.node, o.node_epoch) from owners o where o.resource = 'bot/' || s.bot_id
    ) is not true
    limit bots_max;
end
$$;
alter function door_ownerless_bots(integer) owner to nightdesk_doors;

-- A call whose caller is gone may have been made or not: nobody knows, and nobody makes it again.
create function door_give_up_sends(sends_max integer)
returns table (agent_id uuid, request_id text, asked_on text)
language plpgsql security definer
set search_path = public, pg_temp as $$
#variable_conflict use_column
begin
    return query
    update sends s set state = 'ambiguous', settled_at = now(), body = ''
    where (s.tenant_id, s.agent_id, s.request_id) in (
        select c.tenant_id, c.agent_id, c.request_id from sends c
        where c.state = 'calling' and not node_lives(c.node, c.node_epoch)
        order by c.asked_at
        limit sends_max
        for update skip locked
    )
    returning s.agent_id, s.request_id, s.asked_on;
end
$$;
alter function door_give_up_sends(integer) owner to nightdesk_doors;

-- Forgets sends that no repeat can mean any more, at most so many. Over all tenants: a door.
create function forget_sends(kept interval, sends_max integer) returns bigint
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    forgotten bigint;
begin
    perform check_retention('sends', kept);
    delete from sends s using (
        select o.tenant_id, o.agent_id, o.request_id from sends o
        where o.asked_at < clock_timestamp() - kept and o.state in ('settled', 'ambiguous')
        order by o.asked_at limit sends_max
    ) as old
    where s.tenant_id = old.tenant_id and s.agent_id = old.agent_id
      and s.request_id = old.request_id;
    get diagnostics forgotten = row_count;
    return forgotten;
end
$$;
alter function forget_sends(interval, integer) owner to nightdesk_doors;

grant execute on function
    door_message_sender, door_waiting_sends, door_ownerless_bots, door_give_up_sends, forget_sends
to nightdesk_app;
