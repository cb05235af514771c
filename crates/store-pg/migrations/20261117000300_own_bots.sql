-- What one node at a time owns. It ends with the owner's life: only nodes renew.
create table owners (
    resource   text        not null primary key,
    -- Rises with every owner. A write that carries an older one is refused.
    epoch      bigint      not null,
    node       text        not null,
    node_epoch bigint      not null,
    since      timestamptz not null
);
grant select, insert, update on owners to nightdesk_app, nightdesk_doors;
grant select on nodes to nightdesk_doors;

-- Who owns something: the asking node, if no living node does. No row: the asking node does not live.
create function own(p_resource text, p_node text, p_node_epoch bigint)
returns table (node text, node_epoch bigint, epoch bigint) language plpgsql as $$
#variable_conflict use_column
begin
    -- Most often somebody does.
    return query select o.node, o.node_epoch, o.epoch from owners o
        where o.resource = p_resource and node_lives(o.node, o.node_epoch);
    if found or not node_lives(p_node, p_node_epoch) then
        return;
    end if;
    insert into owners as o (resource, epoch, node, node_epoch, since)
    values (p_resource, 1, p_node, p_node_epoch, clock_timestamp())
    on conflict (resource) do update
    set epoch = o.epoch + 1, node = excluded.node, node_epoch = excluded.node_epoch,
        since = excluded.since
    where not node_lives(o.node, o.node_epoch);
    -- Ours, or that of somebody who was faster.
    return query select o.node, o.node_epoch, o.epoch from owners o where o.resource = p_resource;
end
$$;

-- Whether a write of an owner still counts. Nobody takes over until it is committed.
create function owns(p_resource text, p_node text, p_node_epoch bigint, p_epoch bigint)
returns boolean language plpgsql as $$
begin
    perform from owners o
    where o.resource = p_resource and o.epoch = p_epoch
      and o.node = p_node and o.node_epoch = p_node_epoch
    for share;
    return found;
end
$$;

-- The node that waits for the answer: it is rung for.
alter table sends add column asked_on text;

drop function door_left_over(text, bigint, interval, integer);

-- What waits for the owner of its bot, oldest first.
create function door_waiting_sends(p_node text, p_epoch bigint, sends_max integer)
returns table (
    tenant_id uuid, agent_id uuid, request_id text, bot_id uuid, body bytea, asked_on text,
    asked_ago_ms bigint
) language plpgsql stable security definer
set search_path = public, pg_temp set enable_seqscan = off as $$
#variable_conflict use_column
begin
    return query
    select s.tenant_id, s.agent_id, s.request_id, s.bot_id, s.body, s.asked_on,
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
set search_path = public, pg_temp set enable_seqscan = off as $$
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
set search_path = public, pg_temp set enable_seqscan = off as $$
#variable_conflict use_column
begin
    return query
    update sends s set state = 'ambiguous', settled_at = now()
    where (s.tenant_id, s.agent_id, s.request_id) in (
        select c.tenant_id, c.agent_id, c.request_id from sends c
        where c.state = 'calling' and node_is_gone(c.node, c.node_epoch)
        order by c.asked_at
        limit sends_max
        for update skip locked
    )
    returning s.agent_id, s.request_id, s.asked_on;
end
$$;
alter function door_give_up_sends(integer) owner to nightdesk_doors;
