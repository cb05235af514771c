-- I3: a `where` is forgotten, without row-level security behind it.
select pg_temp.replace_in_function('inbox_waiting',
    'i.tenant_id = a.tenant and i.agent_id = a.agent', 'true');
alter table inbox_entries disable row level security;
