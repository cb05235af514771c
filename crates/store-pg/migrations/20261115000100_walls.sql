-- The second wall: row-level security, bound to the tenants a transaction works for. The roles are
-- in `roles.sql`.

-- Puts a table behind the wall.
--
-- The list of tenants has one element everywhere but in the gathered accept, read and ack. An
-- equality policy would let a gathered accept keep its dedupe row and lose the entry. The list is
-- read once per statement (a subquery), not once per row. An unset list is an error: the wall fails
-- closed.
--
-- The policy says `tenant_id = any (app.tenants)` by array_position, so that it is looked at after
-- the row was found by its key. As an `any` it would go into every probe of an index and be sorted
-- there again: a quarter of an accept's time.
create function wall_off(walled text) returns void language plpgsql as $$
begin
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
end
$$;
revoke execute on function wall_off(text) from public;

-- A function that works for one tenant can be told so by the statement that calls it, in its argument:
-- then it needs no transaction around it, which is four round trips less on the way to a sleeper.
create function works_for(p_tenant uuid) returns uuid language plpgsql as $$
begin
    perform set_config('app.tenants', array[p_tenant]::text, true);
    return p_tenant;
end
$$;

-- Has the statement that calls a function work for the tenants of its rows.
create function works_for_all(p_tenants uuid[]) returns uuid[] language plpgsql as $$
begin
    perform set_config('app.tenants', array(select distinct t from unnest(p_tenants) as t)::text, true);
    return p_tenants;
end
$$;

-- Works for two tenants in this statement. One letter is of both.
create function works_for_both(p_one uuid, p_other uuid) returns void language plpgsql as $$
begin
    perform set_config('app.tenants', array[p_one, p_other]::text, true);
end
$$;
