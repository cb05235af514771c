-- I3: an event goes to the first agent that is bound on its bot, whichever tenant has it. An entry that is only read for
-- another tenant would not open: it is sealed for its own agent.
select pg_temp.replace_in_function('door_reach',
    'select i.tenant_id, i.agent_id from bindings i
        where i.bot_id = p_bot and i.author_id = a.author_id',
    'select f.tenant_id, f.agent_id from bindings i cross join lateral (
            select o.tenant_id, o.agent_id from bindings o where o.bot_id = p_bot
            order by o.agent_id limit 1
        ) as f
        where i.bot_id = p_bot and i.author_id = a.author_id');
select pg_temp.replace_in_function('door_reach',
    'select i.tenant_id, i.agent_id from bindings i where v_whole and i.bot_id = p_bot',
    'select f.tenant_id, f.agent_id from bindings i cross join lateral (
            select o.tenant_id, o.agent_id from bindings o where o.bot_id = p_bot
            order by o.agent_id limit 1
        ) as f where v_whole and i.bot_id = p_bot');
