-- Adds the agents of the crowd, each with its inbox, a person and a gateway. One of ten has a chat. The agents of one
-- transaction are few: each of their rows in the audit log locks the head of their tenant's chain once more.
do $$
declare
    place record;
begin
    for place in
        select b.tenant_id, b.bot_id, case when t.name like 'crowd-%' then :each else :largest end as agents
        from bots b join tenants t on t.tenant_id = b.tenant_id where b.handle = 'crowd'
    loop
        for lowest in 0 .. place.agents - 1 by 250 loop
            with agent as (
                insert into agents (tenant_id, name)
                select place.tenant_id, 'crowd-' || lpad(n::text, 6, '0')
                from generate_series(lowest, least(lowest + 249, place.agents - 1)) n
                returning tenant_id, agent_id, right(name, 6) as number
            ), head as (
                insert into inbox_heads (tenant_id, agent_id) select tenant_id, agent_id from agent
            ), cursor as (
                insert into inbox_cursors (tenant_id, agent_id) select tenant_id, agent_id from agent
            ), person as (
                insert into bindings (tenant_id, bot_id, author_id, agent_id)
                select tenant_id, place.bot_id, 'a' || number, agent_id from agent
            )
            insert into scope_grants (tenant_id, bot_id, chat_id, agent_id, principal)
            select tenant_id, place.bot_id, 'g' || number, agent_id, 'any' from agent
            where number::integer % 10 = 0;
            commit;
            -- A new gateway is all that the audit log tells of its transaction.
            insert into gateways (tenant_id, agent_id, name)
            select a.tenant_id, a.agent_id, 'crowd-gw-' || right(a.name, 6)
            from generate_series(lowest, least(lowest + 249, place.agents - 1)) n
                join agents a on a.tenant_id = place.tenant_id and a.name = 'crowd-' || lpad(n::text, 6, '0');
            commit;
        end loop;
    end loop;
end
$$
