-- The register of tenants, and the erasure of one.
--
-- The tenant comes first in every key: no index can be walked across tenants.
create table tenants (
    tenant_id          uuid        not null default gen_random_uuid(),
    name               text        not null,
    created_at         timestamptz not null default now(),
    -- An erased tenant keeps its id, so that nobody else gets it, and gives its name back.
    erased_at          timestamptz,
    -- True if the secrets of its gateways are enough to widen the reach of its agents.
    gateways_may_widen boolean     not null default false,
    primary key (tenant_id),
    constraint tenants_one_per_name unique (name)
);
select wall_off('tenants');

-- The doors are functions that look something up before a tenant is known. They are definer functions
-- of one role that cannot log in; a test compares their list with the catalogue. They are in plpgsql,
-- which keeps their plans: a definer function in SQL is planned anew at every call. The plan must not
-- be the one for empty tables.

-- An operator names a tenant, by its name or its id. Two rows: one's name is another's id.
create function door_tenant(p_called text) returns table (
    tenant_id uuid, name text, created_at timestamptz
) language plpgsql stable security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
begin
    return query
    select t.tenant_id, t.name, t.created_at from tenants t
    where (t.name = p_called or t.tenant_id::text = lower(p_called)) and t.erased_at is null;
end
$$;
alter function door_tenant(text) owner to nightdesk_doors;

-- An operator looks at the tenants, a page at a time.
create function door_tenants(p_after text, tenants_max integer) returns table (
    tenant_id uuid, name text, created_at timestamptz
) language plpgsql stable security definer
set search_path = public, pg_temp set enable_seqscan = off as $$
#variable_conflict use_column
begin
    return query
    select t.tenant_id, t.name, t.created_at from tenants t
    where t.name > p_after and t.erased_at is null order by t.name limit tenants_max;
end
$$;
alter function door_tenants(text, integer) owner to nightdesk_doors;

-- Takes everything away by which something of a tenant opens or somebody is served, in one
-- transaction. Texts go after it, in steps.
create function tenant_erase(p_tenant uuid) returns void language plpgsql as $$
begin
    perform from tenants t where t.tenant_id = p_tenant for update;
    delete from schedules where tenant_id = p_tenant;
    delete from fires where tenant_id = p_tenant and next_at is not null;
    delete from schedule_rooms where tenant_id = p_tenant;
    delete from capabilities where tenant_id = p_tenant;
    delete from commands where tenant_id = p_tenant;
    delete from bindings where tenant_id = p_tenant;
    delete from scope_grants where tenant_id = p_tenant;
    delete from listed_authors where tenant_id = p_tenant;
    delete from enrolments where tenant_id = p_tenant;
    delete from link_codes where tenant_id = p_tenant;
    delete from oauth_clients where tenant_id = p_tenant;
    update gateways set revoked_at = coalesce(revoked_at, now()) where tenant_id = p_tenant;
    delete from gateway_secrets where tenant_id = p_tenant;
    delete from bot_keys where tenant_id = p_tenant;
    delete from bot_hearings where tenant_id = p_tenant;
    delete from bots where tenant_id = p_tenant;
    delete from tenant_keys where tenant_id = p_tenant;
    update tenants set erased_at = coalesce(erased_at, now()), name = tenant_id::text
    where tenant_id = p_tenant;
end
$$;

-- Removes some of the texts that people and agents of a tenant wrote.
create function tenant_erase_texts(p_tenant uuid, rows_max bigint) returns bigint
language plpgsql as $$
declare
    written text;
    step    bigint;
    gone    bigint := 0;
begin
    foreach written in array array[
        'inbox_entries', 'inbox_parked', 'quarantined', 'sends', 'refusals', 'reached', 'wakers',
        'notices', 'webchat_messages', 'webchat_chats', 'prompts', 'media', 'fires'
    ]
    loop
        execute format(
            'delete from %I where (tableoid, ctid) in (
                 select tableoid, ctid from %1$I where tenant_id = $1 limit $2
             ) and tenant_id = $1', written
        ) using p_tenant, rows_max;
        get diagnostics step = row_count;
        gone := gone + step;
    end loop;
    return gone;
end
$$;

grant execute on function
    door_tenant, door_tenants, tenant_erase, tenant_erase_texts
to nightdesk_app;
