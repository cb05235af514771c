-- I1: row-level security permits one tenant of a batch, and an event without an outcome counts as a duplicate.
select pg_temp.replace_in_function('inbox_store', 'then no_outcome(''an event'')', 'then ''duplicate''');
-- The operator has no inbox. The first of the other tenants is permitted.
do $$
declare
    operator uuid := (select b.tenant_id from bots b limit 1);
    name text;
begin
    foreach name in array array['inbox_heads', 'inbox_entries'] loop
        execute format('drop policy own_tenants on %I', name);
        execute format(
            'create policy own_tenants on %I using (
                tenant_id = (array_remove(current_setting(''app.tenants'')::uuid[], %L))[1])',
            name, operator);
    end loop;
end $$;
