-- `ended_ago_ms` is how long ago the desk closed the same gateway's previous line to restart, and
-- null for a line that ended in any other way: a killed gateway is up again within a second, and
-- must not be taken for the process it was.
create or replace function line_take(
    p_tenant uuid, p_agent uuid, p_gateway uuid, p_node text, p_node_epoch bigint, tries_max integer
) returns table (
    generation bigint, acked_seq bigint, acked_at timestamptz, head_seq bigint,
    ended_ago_ms bigint, parked_seq bigint
) language plpgsql as $$
#variable_conflict use_column
declare
    mine   inbox_cursors;
    before lines;
    parked bigint;
begin
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
    insert into lines (tenant_id, agent_id, gateway_id, generation, node, node_epoch, opened_at)
    values (p_tenant, p_agent, p_gateway, mine.generation, p_node, p_node_epoch, clock_timestamp())
    on conflict (tenant_id, agent_id) do update
    set gateway_id = excluded.gateway_id, generation = excluded.generation, node = excluded.node,
        node_epoch = excluded.node_epoch, opened_at = excluded.opened_at,
        closed_at = null, close_code = null;

    return query select mine.generation, mine.acked_seq, mine.acked_at,
        (select h.next_seq - 1 from inbox_heads h
         where h.tenant_id = p_tenant and h.agent_id = p_agent),
        -- 1012: the desk restarted. Otherwise the gateway may be a new process, however soon it comes.
        case when before.gateway_id = p_gateway and before.close_code = 1012 then
            (extract(epoch from clock_timestamp() - before.closed_at) * 1000)::bigint
        end,
        parked;
end
$$;
