-- Lines end with the life of their node, whether or not anybody was left to say so.

-- Closes open lines of lives that ended, at most so many, and returns them: where an entry waits, the desk makes a wake
-- due. From then on the transaction works for their tenants. Over all tenants: a door.
create function bury_lines(lines_max integer)
returns table (
    tenant uuid, agent uuid, ended_at timestamptz, grace_seconds double precision, waits boolean
)
language plpgsql security definer
set search_path = public, pg_temp set enable_seqscan = off as $$
#variable_conflict use_column
declare
    tenants uuid[] := '{}';
    dead    record;
begin
    for dead in
        with recursive lives as (
            (
                select l.node, l.node_epoch from lines l where l.closed_at is null
                order by l.node, l.node_epoch limit 1
            )
            union all
            -- The next life that has open lines: a few steps, however many lines there are.
            select after.node, after.node_epoch
            from lives cross join lateral (
                select l.node, l.node_epoch from lines l
                where l.closed_at is null
                  and (l.node, l.node_epoch) > (lives.node, lives.node_epoch)
                order by l.node, l.node_epoch limit 1
            ) as after
        )
        select l.tenant_id, l.agent_id, l.generation, l.grace,
            coalesce(node_ended_at(l.node, l.node_epoch), clock_timestamp()) as ended_at
        from lives
            join lines l on l.node = lives.node and l.node_epoch = lives.node_epoch
                and l.closed_at is null
        where node_is_gone(lives.node, lives.node_epoch)
        order by l.tenant_id, l.agent_id
        limit lines_max
    loop
        perform from inbox_heads h
        where h.tenant_id = dead.tenant_id and h.agent_id = dead.agent_id for update;
        update lines l
        set closed_at = dead.ended_at, close_code = 1006, parting = 'node'
        where l.tenant_id = dead.tenant_id and l.agent_id = dead.agent_id
          and l.generation = dead.generation and l.closed_at is null;
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
