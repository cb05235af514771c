-- The second wall: row-level security, bound to the tenants a transaction works for. The roles are
-- in `roles.sql`.

-- A function is closed to every role but its owner and the doors. A migration grants the desk each function that the
-- desk calls, by name.
alter default privileges for role nightdesk_owner, nightdesk_doors revoke execute on functions from public;
alter default privileges for role nightdesk_owner grant execute on functions to nightdesk_doors;

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

-- The shortest time for which rows are kept. A test compares these times with the desk's limits.
create function retention_min(p_rows text) returns interval language sql immutable as $$
    select case p_rows when 'acked' then interval '24 hours' when 'audit' then interval '400 days'
        when 'chats' then interval '90 days' when 'data-keys' then interval '10 minutes'
        when 'days' then interval '8 days' when 'fires' then interval '30 days'
        when 'letters' then interval '30 days' when 'links' then interval '24 hours'
        when 'parked' then interval '30 days' when 'pending' then interval '7 days'
        when 'prompts' then interval '7 days' when 'reach-changes' then interval '1 hour'
        when 'sends' then interval '24 hours' end
$$;

-- Refuses to remove rows before their time. The functions that remove rows across tenants call this, so that a
-- statement with the desk's login cannot remove the audit log.
create function check_retention(p_rows text, kept interval) returns void language plpgsql as $$
begin
    if coalesce(kept < retention_min(p_rows), true) then
        raise exception 'rows of % must be kept for at least %', p_rows, retention_min(p_rows)
            using errcode = 'ND002';
    end if;
end
$$;

grant execute on function
    works_for, works_for_all, works_for_both, retention_min
to nightdesk_app;
