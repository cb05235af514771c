-- The second wall: row-level security, bound to the tenants a transaction works for.
--
-- One element everywhere but in the gathered accept, read and ack. An equality policy would
-- let a gathered accept keep its dedupe row and lose the entry. The list is read once per
-- statement (a subquery), not once per row. Unset, it is an error: the wall fails closed.
--
-- It says `tenant_id = any (app.tenants)` by array_position, so that it is looked at after the
-- row was found by its key. As an `any` it would go into every probe of an index and be sorted
-- there again: a quarter of an accept's time.
do $$
declare
    walled text;
begin
    foreach walled in array array[
        'tenants', 'tenant_keys', 'agents', 'gateways', 'gateway_secrets', 'bots', 'bindings',
        'scope_grants', 'inbox_heads', 'inbox_cursors', 'inbox_entries', 'inbox_parked',
        'inbox_acks', 'dedupe_keys', 'source_cursors', 'reached', 'quarantine_heads',
        'quarantined', 'refusal_heads', 'refusals', 'lines', 'sends'
    ]
    loop
        execute format('alter table %I enable row level security', walled);
        execute format('alter table %I force row level security', walled);
        execute format(
            'create policy own_tenants on %I
                 using (array_position((select current_setting(''app.tenants'')::uuid[]), tenant_id) is not null)
                 with check (array_position((select current_setting(''app.tenants'')::uuid[]), tenant_id) is not null)',
            walled
        );
        execute format(
            'grant select, insert, update, delete on %I to nightdesk_app, nightdesk_doors', walled
        );
    end loop;
end
$$;
grant select, insert, update on nodes to nightdesk_app;
