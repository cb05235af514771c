-- What ended is forgotten, and a tenant can be erased.

-- Since when another data key seals. Null: it is the tenant's newest.
alter table tenant_keys add column replaced_at timestamptz;
create index tenant_keys_replaced on tenant_keys (replaced_at) where replaced_at is not null;

-- Removes data keys that were replaced so long ago and seal nothing any more. A door: of all tenants.
create function forget_data_keys(kept interval, rows_max bigint) returns bigint
language plpgsql security definer set search_path = public, pg_temp set enable_seqscan = off as $$
declare
    gone bigint;
begin
    delete from tenant_keys k
    where (k.tenant_id, k.key_id) in (
        select r.tenant_id, r.key_id from tenant_keys r
        where r.replaced_at < now() - kept
          and not exists (
              select from gateway_secrets s where s.tenant_id = r.tenant_id and s.key_id = r.key_id)
          and not exists (
              select from bot_keys b where b.tenant_id = r.tenant_id and b.key_id = r.key_id)
          and not exists (
              select from capabilities c where c.tenant_id = r.tenant_id and c.key_id = r.key_id)
        limit rows_max
        for update skip locked
    );
    get diagnostics gone = row_count;
    return gone;
end
$$;
alter function forget_data_keys(interval, bigint) owner to nightdesk_doors;

-- Removes what ended, at most so many of each. A door: of all tenants.
create function forget_ended(kept interval, rows_max bigint) returns bigint
language plpgsql security definer set search_path = public, pg_temp set enable_seqscan = off as $$
declare
    keys bigint;
    gone bigint;
begin
    delete from capabilities c
    where (c.tenant_id, c.agent_id, c.session_sha256, c.kind) in (
        select e.tenant_id, e.agent_id, e.session_sha256, e.kind from capabilities e
        where e.expires_at <= now() order by e.expires_at limit rows_max
        for update skip locked
    );
    get diagnostics gone = row_count;
    delete from bot_keys k
    where (k.tenant_id, k.bot_id, k.bot_key_id) in (
        select e.tenant_id, e.bot_id, e.bot_key_id from bot_keys e
        where e.expires_at <= now() order by e.expires_at limit rows_max
        for update skip locked
    );
    get diagnostics keys = row_count;
    return gone + keys + forget_data_keys(kept, rows_max);
end
$$;
alter function forget_ended(interval, bigint) owner to nightdesk_doors;

-- An erased tenant keeps its id, so that nobody else gets it, and gives its name back.
alter table tenants add column erased_at timestamptz;

-- Takes everything away by which something of a tenant opens or somebody is served, in one
-- transaction. What was written goes after it, in steps.
create function tenant_erase(p_tenant uuid) returns void language plpgsql as $$
begin
    perform from tenants t where t.tenant_id = p_tenant for update;
    delete from capabilities where tenant_id = p_tenant;
    delete from bindings where tenant_id = p_tenant;
    delete from scope_grants where tenant_id = p_tenant;
    delete from listed_authors where tenant_id = p_tenant;
    delete from enrolments where tenant_id = p_tenant;
    delete from link_codes where tenant_id = p_tenant;
    delete from oauth_clients where tenant_id = p_tenant;
    update gateways set revoked_at = coalesce(revoked_at, now()) where tenant_id = p_tenant;
    delete from gateway_secrets where tenant_id = p_tenant;
    delete from bot_keys where tenant_id = p_tenant;
    delete from bots where tenant_id = p_tenant;
    delete from tenant_keys where tenant_id = p_tenant;
    update tenants set erased_at = coalesce(erased_at, now()), name = tenant_id::text
    where tenant_id = p_tenant;
end
$$;

-- Removes some of what people and agents of a tenant wrote.
create function tenant_erase_texts(p_tenant uuid, rows_max bigint) returns bigint
language plpgsql as $$
declare
    written text;
    step    bigint;
    gone    bigint := 0;
begin
    foreach written in array array[
        'inbox_entries', 'inbox_parked', 'quarantined', 'sends', 'refusals', 'reached', 'wakers',
        'notices', 'webchat_messages', 'webchat_chats'
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

-- An operator names a tenant, by its name or its id. Two rows: one's name is another's id.
create or replace function door_tenant(p_called text) returns table (
    tenant_id uuid, name text, created_at timestamptz
) language plpgsql stable security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
begin
    return query
    select t.tenant_id, t.name, t.created_at from tenants t
    where (t.name = p_called or t.tenant_id::text = lower(p_called)) and t.erased_at is null;
end
$$;

create or replace function door_tenants(p_after text, tenants_max integer) returns table (
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
