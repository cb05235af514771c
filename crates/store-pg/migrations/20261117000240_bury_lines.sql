-- Lines end with the life of their node, whether or not anybody was left to say so.

-- Closes open lines of lives that ended, at most so many, and makes wakes due where something waits.
-- Over all tenants: a door.
create function bury_lines(lines_max integer) returns bigint
language plpgsql security definer
set search_path = public, pg_temp set enable_seqscan = off as $$
declare
    buried bigint := 0;
    dead   record;
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
        if line_ends(dead.tenant_id, dead.agent_id, dead.generation, dead.ended_at, 1006, 'node',
            dead.grace)
        then
            buried := buried + 1;
        end if;
    end loop;
    return buried;
end
$$;
alter function bury_lines(integer) owner to nightdesk_doors;
