-- I1: numbers follow the order of allocation instead of commits, without a lock on the head.
-- A writer for several agents takes its numbers early and commits late.
create sequence mutant_numbers;
grant usage on mutant_numbers to nightdesk_app;
select pg_temp.replace_in_function('inbox_store',
    'update inbox_heads h
        set next_seq = h.next_seq + ordered.n, last_at = greatest(h.last_at, now_at),
            bytes = h.bytes + ordered.bytes
        from (select c.* from counted c order by c.tenant, c.agent) as ordered
        where h.tenant_id = ordered.tenant and h.agent_id = ordered.agent
        returning h.tenant_id, h.agent_id, h.next_seq - ordered.n as base, h.last_at,
            h.reach_version, h.bytes - ordered.bytes as bytes_base',
    'select h.tenant_id, h.agent_id, nextval(''mutant_numbers'') as base,
            now_at as last_at, h.reach_version, h.bytes as bytes_base
        from inbox_heads h
            join counted on counted.tenant = h.tenant_id and counted.agent = h.agent_id');
select pg_temp.replace_in_function('inbox_store',
    'order by ev.o, n.n;',
    'order by ev.o, n.n;
        perform pg_sleep(0.05) where cardinality(r_event) > cardinality(e_bot);');
-- The head does not move, so every ack is beyond it.
select pg_temp.replace_in_function('inbox_ack', E'then \'beyond-head\' end', 'then null end');
