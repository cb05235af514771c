-- I3: the sender's grant alone lets letters pass between two tenants.
select pg_temp.replace_in_function('letter_facts',
    'where g.tenant_id = l.to_tenant and g.agent_id = l.to_agent',
    'where g.tenant_id = l.tenant and g.agent_id = l.agent');
select pg_temp.replace_in_function('letter_facts',
    'and g.peer_tenant_id = l.tenant and g.peer_agent_id = l.agent',
    'and g.peer_tenant_id = l.to_tenant and g.peer_agent_id = l.to_agent');
select pg_temp.replace_in_function('letter_addresses',
    E'        ), false)\n    from', E'        ), a.peer is not null)\n    from');
