-- I3: an event goes to any agent of the right tenant.
select pg_temp.replace_in_function('door_reach',
    'select i.tenant_id, i.agent_id from bindings i
        where i.bot_id = p_bot and i.author_id = a.author_id',
    'select i.tenant_id, (select a.agent_id from agents a where a.tenant_id = i.tenant_id
            order by a.agent_id limit 1) as agent_id from bindings i
        where i.bot_id = p_bot and i.author_id = a.author_id');
select pg_temp.replace_in_function('door_reach',
    'select i.tenant_id, i.agent_id from bindings i where v_whole and i.bot_id = p_bot',
    'select i.tenant_id, (select a.agent_id from agents a where a.tenant_id = i.tenant_id
            order by a.agent_id limit 1) from bindings i where v_whole and i.bot_id = p_bot');
