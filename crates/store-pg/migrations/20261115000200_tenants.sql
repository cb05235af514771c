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

-- An operator names a tenant, by its name or its id. Two rows: one's name is another's id. Each is found by its index.
create function door_tenant(p_called text, p_id uuid) returns table (
    tenant_id uuid, name text, created_at timestamptz
) language plpgsql stable security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
begin
    return query
    select t.tenant_id, t.name, t.created_at from tenants t
    where (t.name = p_called or t.tenant_id = p_id) and t.erased_at is null;
end
$$;
alter function door_tenant(text, uuid) owner to nightdesk_doors;

-- An operator looks at the tenants, a page at a time.
create function door_tenants(p_after text, tenants_max integer) returns table (
    tenant_id uuid, name text, created_at timestamptz
) language plpgsql stable security definer
set search_path = public, pg_temp as $$
#variable_conflict use_column
begin
    return query
    select t.tenant_id, t.name, t.created_at from tenants t
    where t.name > p_after and t.erased_at is null order by t.name limit tenants_max;
end
$$;
alter function door_tenants(text, integer) owner to nightdesk_doors;

-- Compares the list of erased tenants, which lies outside the database, with the tenants: returns listed ones that live,
-- as after a restore, and erased ones that the list lacks.
create function door_erasures(p_listed uuid[]) returns table (
    tenant_id uuid, is_erased boolean
) language plpgsql stable security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
begin
    return query
    select t.tenant_id, t.erased_at is not null from tenants t
    where (t.erased_at is null) = (t.tenant_id = any (p_listed));
end
$$;
alter function door_erasures(uuid[]) owner to nightdesk_doors;

-- Returns true if the tenant was not erased. Every credential of a tenant is checked by this.
create function tenant_lives(p_tenant uuid) returns boolean language sql stable as $$
    select exists (select from tenants t where t.tenant_id = p_tenant and t.erased_at is null)
$$;

-- The fate of a tenant's rows in an erasure, for every table with a tenant: a test compares it with the
-- catalogue. Rows that open something, or by which somebody is served, are erased at once; the others in
-- steps. Both are in an order that foreign keys permit.
create function erasure_plan() returns table (nth bigint, relation text, fate text, reason text)
language sql immutable as $$
    select p.nth, p.relation, 'at-once', null from unnest(array[
        'schedules', 'schedule_rooms', 'capabilities', 'commands', 'bindings', 'scope_grants',
        'listed_authors', 'relevance_policies', 'enrolments', 'link_codes', 'letter_grants',
        'letter_hooks', 'oauth_clients', 'refresh_tokens', 'bootstrap_sessions', 'wakers', 'agent_webhooks',
        'gateway_secrets', 'gateway_platforms', 'bot_keys', 'bot_hearings', 'bot_sessions', 'bots',
        'tenant_keys', 'user_roles', 'api_tokens', 'glass_requests', 'alert_deliveries', 'alerts',
        'alert_ways'
    ]) with ordinality as p (relation, nth)
    union all
    select p.nth, p.relation, 'in-steps', null from unnest(array[
        'inbox_entries', 'inbox_parked', 'inbox_acks', 'dedupe_keys', 'quarantined', 'quarantine_heads',
        'sent_messages', 'sends', 'refusals', 'refusal_heads', 'reached', 'notices', 'notice_heads', 'webchat_messages',
        'webchat_chats', 'prompts', 'media', 'fires', 'letters', 'letters_in', 'letter_receipts',
        'skill_revisions', 'data_entries', 'skills', 'shelves', 'wakes', 'source_cursors', 'link_tries',
        'quotas', 'wake_log', 'tenant_usage'
    ]) with ordinality as p (relation, nth)
    union all
    select 0, p.relation, 'kept', p.reason from (values
        ('tenants', 'the id, so that no other tenant gets it; the name is given back'),
        ('agents', 'the id, to which the audit log refers; the names are removed'),
        ('gateways', 'the revocation, by which every node closes the lines; the name is removed'),
        ('lines', 'numbers and times: the node of a line writes its end'),
        ('inbox_heads', 'numbers: the version of the reach refuses events that were admitted earlier'),
        ('inbox_cursors', 'numbers: the end of a line reads them'),
        ('reach_heads', 'numbers: nodes that know a bot of the tenant compare them'),
        ('reach_changes', 'nodes read changes of the reach there; forget_changes removes them in an hour'),
        ('audit_heads', 'the end of the chain of the audit log'),
        ('audit_log', 'ids of acts, without texts; forget_audit removes them after their retention')
    ) as p (relation, reason)
$$;

-- Takes everything away by which something of a tenant opens or somebody is served, in one
-- transaction. The other rows go after it, in steps.
create function tenant_erase(p_tenant uuid) returns void language plpgsql as $$
declare
    v_relation text;
begin
    perform from tenants t where t.tenant_id = p_tenant for update;
    for v_relation in
        select p.relation from erasure_plan() p where p.fate = 'at-once' order by p.nth
    loop
        execute format('delete from %I where tenant_id = $1', v_relation) using p_tenant;
    end loop;
    -- Of the rows that are erased in steps these would still be delivered.
    delete from fires where tenant_id = p_tenant and next_at is not null;
    delete from letters where tenant_id = p_tenant and state = 'scheduled';
    update gateways set revoked_at = coalesce(revoked_at, now()), name = gateway_id::text
    where tenant_id = p_tenant;
    update agents set name = agent_id::text, display_name = null where tenant_id = p_tenant;
    update tenants set erased_at = coalesce(erased_at, now()), name = tenant_id::text
    where tenant_id = p_tenant;
end
$$;

-- Removes some rows of an erased tenant, at most so many. A table comes after the tables before it are empty.
create function tenant_erase_texts(p_tenant uuid, rows_max bigint) returns bigint
language plpgsql as $$
declare
    v_relation text;
    step       bigint;
    gone       bigint := 0;
begin
    for v_relation in
        select p.relation from erasure_plan() p where p.fate = 'in-steps' order by p.nth
    loop
        execute format(
            'delete from %I where (tableoid, ctid) in (
                 select tableoid, ctid from %1$I where tenant_id = $1 limit $2
             ) and tenant_id = $1', v_relation
        ) using p_tenant, rows_max - gone;
        get diagnostics step = row_count;
        gone := gone + step;
        exit when gone >= rows_max;
    end loop;
    return gone;
end
$$;

grant execute on function
    door_tenant, door_tenants, door_erasures, tenant_lives, erasure_plan, tenant_erase, tenant_erase_texts
to nightdesk_app;
