-- The nodes of a cell and their leases, the resources that one node at a time owns, and each agent's
-- newest line.

-- A node of this cell. Its epoch fences what an earlier life of it left behind.
create table nodes (
    node       text        not null primary key,
    epoch      bigint      not null,
    started_at timestamptz not null,
    -- Rises with every renewal of the lease. Another node that sees no change for the duration of a
    -- lease, by its own clock, ends the life.
    beat       bigint      not null default 0,
    -- The end of the lease by the database's clock. A step of that clock makes every lease expire at
    -- once, so this time alone ends no life.
    expires_at timestamptz not null default 'infinity',
    -- A life is over when its node or another says so. Until then a node that is late may come back.
    -- Objects that belong to a life of a node, such as its lines, end with it.
    is_over    boolean     not null default false,
    -- The URL at which other nodes reach this life of the node.
    peer_url   text
);
grant select, insert, update on nodes to nightdesk_app;
grant select on nodes to nightdesk_doors;

-- Returns whether that life of a node goes on: neither was it ended, nor did a later one begin. The
-- clock of the database has no part in it.
create function node_lives(p_node text, p_epoch bigint) returns boolean
language sql stable as $$
    select exists (
        select from nodes n
        where n.node = p_node and n.epoch = p_epoch and not n.is_over
    )
$$;

-- Returns the time at which a life of a node ended, as far as it did.
create function node_ended_at(p_node text, p_epoch bigint) returns timestamptz
language sql stable as $$
    select case when n.epoch = p_epoch then least(n.expires_at, clock_timestamp())
        else n.started_at end
    from nodes n where n.node = p_node
$$;

-- A resource that one node at a time owns. It ends with the owner's life: only nodes renew.
create table owners (
    resource   text        not null primary key,
    -- Rises with every owner. A write that carries an older one is refused.
    epoch      bigint      not null,
    node       text        not null,
    node_epoch bigint      not null,
    since      timestamptz not null
);
grant select, insert, update on owners to nightdesk_app, nightdesk_doors;

-- Returns the owner of a resource: the asking node, if no living node owns it. No row: the asking node
-- does not live.
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

-- Returns whether a write of an owner still counts. Nobody takes over until it is committed.
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

-- The place of an agent's newest line.
create table lines (
    tenant_id  uuid        not null,
    agent_id   uuid        not null,
    gateway_id uuid        not null,
    generation bigint      not null,
    -- The incarnation of the history in which it began. It ends with it.
    incarnation bigint     not null default current_incarnation(),
    -- The transport of its frames.
    transport  text        not null default 'websocket',
    -- A line lives no longer than this life of its node.
    node       text        not null,
    node_epoch bigint      not null,
    opened_at  timestamptz not null,
    closed_at  timestamptz,
    close_code integer,
    -- The time for the client to come back by itself, once the line has ended.
    grace      interval    not null default '35 seconds',
    -- The side that ended the line: its client, which said that it goes idle or did not, the desk, which
    -- may have delivered an entry in vain, or a node that died.
    parting    text,
    -- The agent's live sessions, as the open line named them, so that a letter to `agent@session` tells whether its
    -- session lives. A trigger clears them with the line.
    sessions   text[]      not null default '{}',
    primary key (tenant_id, agent_id),
    constraint lines_known_parting
        check (parting in ('idle', 'client', 'desk', 'undelivered', 'node')),
    constraint lines_known_transport
        check (transport in ('websocket', 'polling', 'webhook', 'mcp'))
) with (fillfactor = 50);
-- For the sweep that finds the open lines of nodes that died and of histories that ended.
create index lines_open_by_node on lines (node, node_epoch, incarnation, tenant_id, agent_id)
    where closed_at is null;
select wall_off('lines');

-- Clears the sessions of a line when it ends and when a newer line replaces it.
create function forget_sessions() returns trigger language plpgsql as $$
begin
    new.sessions := '{}';
    return new;
end
$$;

create trigger lines_forget_sessions before update on lines for each row
when (new.generation <> old.generation or (old.closed_at is null and new.closed_at is not null))
execute function forget_sessions();

-- Gives an agent's newest line its number, and fences every older one: the agent is awake. The
-- oldest waiting entry is set aside first if it was handed over often enough. `client_rules` are the
-- rules for serving the agent's client: those that its first hello shows, or else the last known ones.
--
-- `ended_ago_ms` is the time since the desk closed the same gateway's previous line to restart, and
-- null for a line that ended in any other way: a killed gateway is up again within a second, and
-- must not be taken for the process it was.
create function line_take(
    p_tenant uuid, p_agent uuid, p_gateway uuid, p_node text, p_node_epoch bigint,
    tries_max integer, p_grace interval default '35 seconds', p_rules text default null,
    p_transport text default 'websocket'
) returns table (
    incarnation bigint, generation bigint, acked_seq bigint, acked_at timestamptz, head_seq bigint,
    ended_ago_ms bigint, parked_seq bigint, client_rules text
) language plpgsql as $$
#variable_conflict use_column
declare
    mine   inbox_cursors;
    before lines;
    parked bigint;
begin
    -- Before the cursor is locked: a change of the rules can lock the inbox's head (`note_reach`), and heads are locked
    -- before cursors.
    update agents a set client_rules = p_rules
    where a.tenant_id = p_tenant and a.agent_id = p_agent and a.client_rules <> p_rules;
    select c.* into strict mine from inbox_cursors c
    where c.tenant_id = p_tenant and c.agent_id = p_agent for update;
    select l.* into before from lines l where l.tenant_id = p_tenant and l.agent_id = p_agent;

    if mine.tries >= tries_max and set_aside(p_tenant, p_agent, mine.tried_seq, 'tries') then
        parked := mine.tried_seq;
    end if;
    update inbox_cursors c
    set generation = c.generation + 1, tries = case when parked is null then c.tries else 0 end
    where c.tenant_id = p_tenant and c.agent_id = p_agent
    returning c.* into mine;
    insert into lines
        (tenant_id, agent_id, gateway_id, generation, transport, node, node_epoch, opened_at, grace)
    values (p_tenant, p_agent, p_gateway, mine.generation, p_transport, p_node, p_node_epoch,
        clock_timestamp(), p_grace)
    on conflict (tenant_id, agent_id) do update
    set gateway_id = excluded.gateway_id, generation = excluded.generation,
        incarnation = excluded.incarnation, transport = excluded.transport, node = excluded.node,
        node_epoch = excluded.node_epoch, opened_at = excluded.opened_at, grace = excluded.grace,
        closed_at = null, close_code = null, parting = null;
    update wakes w
    set state = 'woken', woken_at = clock_timestamp(), due_at = null, asked = false,
        suspect_generation = null
    where w.tenant_id = p_tenant and w.agent_id = p_agent
      and w.state in ('due', 'held', 'unreachable');

    return query select current_incarnation(), mine.generation, mine.acked_seq, mine.acked_at,
        (select h.next_seq - 1 from inbox_heads h
         where h.tenant_id = p_tenant and h.agent_id = p_agent),
        -- 1012: the desk restarted. Otherwise the gateway may be a new process, however soon it comes.
        case when before.gateway_id = p_gateway and before.close_code = 1012 then
            (extract(epoch from clock_timestamp() - before.closed_at) * 1000)::bigint
        end,
        parked,
        (select a.client_rules from agents a
         where a.tenant_id = p_tenant and a.agent_id = p_agent);
end
$$;

-- Sets an entry aside for a line. Null: another line took over, or another history began.
create function line_park(
    p_tenant uuid, p_agent uuid, p_incarnation bigint, p_generation bigint, p_seq bigint,
    p_reason text
) returns boolean language plpgsql as $$
begin
    perform from inbox_cursors c
    where c.tenant_id = p_tenant and c.agent_id = p_agent and c.generation = p_generation
      and p_incarnation = current_incarnation()
    for update;
    if not found then
        return null;
    end if;
    return set_aside(p_tenant, p_agent, p_seq, p_reason);
end
$$;

-- Closes a line, and, if it was in vain for the oldest waiting entry, counts one try of it. Returns the time of the end
-- if the line was open and an entry waits for its agent: then the desk makes a wake due.
create function line_close(
    p_tenant uuid, p_agent uuid, p_incarnation bigint, p_generation bigint, p_code integer,
    p_tried bigint, p_parting text, p_grace interval
) returns timestamptz language plpgsql as $$
declare
    ended_at timestamptz;
begin
    perform from inbox_heads h
    where h.tenant_id = p_tenant and h.agent_id = p_agent for update;
    -- Also for a line that was replaced: that the client dialled again is the very sign.
    update inbox_cursors c
    set tries = case when c.tried_seq = p_tried then c.tries + 1 else 1 end, tried_seq = p_tried
    where c.tenant_id = p_tenant and c.agent_id = p_agent
      and p_tried > c.acked_seq and not p_tried <@ c.ahead
      and p_incarnation = current_incarnation();
    update lines l
    set closed_at = clock_timestamp(), close_code = p_code, parting = p_parting, grace = p_grace
    where l.tenant_id = p_tenant and l.agent_id = p_agent and l.generation = p_generation
      and l.incarnation = p_incarnation and l.closed_at is null
    returning l.closed_at into ended_at;
    if ended_at is null or not inbox_waits(p_tenant, p_agent) then
        return null;
    end if;
    return ended_at;
end
$$;

-- Lines end with the life of their node, whether or not anybody was left to say so, and with the incarnation of the
-- history in which they began.
--
-- Closes open lines that ended so, at most so many, and returns them: where an entry waits, the desk makes a wake
-- due. From then on the transaction works for their tenants. Over all tenants: a door.
create function bury_lines(lines_max integer)
returns table (
    tenant uuid, agent uuid, ended_at timestamptz, grace_seconds double precision, waits boolean
)
language plpgsql security definer
set search_path = public, pg_temp as $$
#variable_conflict use_column
declare
    tenants uuid[] := '{}';
    dead    record;
    v_incarnation bigint := current_incarnation();
begin
    for dead in
        with recursive lives as (
            (
                select l.node, l.node_epoch, l.incarnation from lines l where l.closed_at is null
                order by l.node, l.node_epoch, l.incarnation limit 1
            )
            union all
            -- The next life that has open lines: a few steps, however many lines there are.
            select after.node, after.node_epoch, after.incarnation
            from lives cross join lateral (
                select l.node, l.node_epoch, l.incarnation from lines l
                where l.closed_at is null
                  and (l.node, l.node_epoch, l.incarnation)
                      > (lives.node, lives.node_epoch, lives.incarnation)
                order by l.node, l.node_epoch, l.incarnation limit 1
            ) as after
        )
        select l.tenant_id, l.agent_id, l.incarnation, l.generation, l.grace,
            coalesce(node_ended_at(l.node, l.node_epoch), clock_timestamp()) as ended_at
        from lives
            join lines l on l.node = lives.node and l.node_epoch = lives.node_epoch
                and l.incarnation = lives.incarnation and l.closed_at is null
        where lives.incarnation <> v_incarnation or not node_lives(lives.node, lives.node_epoch)
        order by l.tenant_id, l.agent_id
        limit lines_max
    loop
        perform from inbox_heads h
        where h.tenant_id = dead.tenant_id and h.agent_id = dead.agent_id for update;
        update lines l
        set closed_at = dead.ended_at, close_code = 1006, parting = 'node'
        where l.tenant_id = dead.tenant_id and l.agent_id = dead.agent_id
          and l.incarnation = dead.incarnation and l.generation = dead.generation
          and l.closed_at is null;
        if found then
            tenants := tenants || dead.tenant_id;
            return query select dead.tenant_id, dead.agent_id, dead.ended_at,
                extract(epoch from dead.grace)::double precision,
                inbox_waits(dead.tenant_id, dead.agent_id);
        end if;
    end loop;
    perform set_config('app.tenants', tenants::text, true);
end
$$;
alter function bury_lines(integer) owner to nightdesk_doors;

grant execute on function
    node_lives, node_ended_at, own, owns, line_take, line_park, line_close, bury_lines
to nightdesk_app;
