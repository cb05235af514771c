-- Vault keys wrap the data keys of tenants and seal the desk's own secrets. They have ids, so that one
-- can be replaced while the desk serves.

-- The id of the vault key that sealed something; nothing, if that was before keys had ids.
create function vault_key(sealed bytea) returns bytea language sql immutable parallel safe as $$
    select case when length(sealed) > 9 and get_byte(sealed, 0) = 2
        then substring(sealed from 2 for 8) else ''::bytea end
$$;

-- One data key per tenant seals its secrets. It is wrapped by a key that is not in here.
create table tenant_keys (
    tenant_id   uuid        not null,
    key_id      bigint      not null,
    wrapped     bytea       not null,
    created_at  timestamptz not null default now(),
    -- Since when another data key seals. Null: this key is the tenant's newest.
    replaced_at timestamptz,
    -- The last time at which a message that it seals went into an inbox again after it was replaced.
    used_at     timestamptz,
    primary key (tenant_id, key_id)
);
create index tenant_keys_by_vault_key on tenant_keys (vault_key(wrapped));
create index tenant_keys_replaced on tenant_keys (replaced_at) where replaced_at is not null;
select wall_off('tenant_keys');
create constraint trigger tell_keys after insert on tenant_keys
    deferrable initially deferred for each row when (new.key_id > 1)
    execute function tell_row('keys-rotated', 'key_id');

-- The secrets that the nodes of the desk share, of no tenant: sealed by a key that is not in here.
create table desk_secrets (
    secret_id  uuid        not null,
    name       text        not null,
    sealed     bytea       not null,
    created_at timestamptz not null default now(),
    primary key (secret_id),
    constraint desk_secrets_one_per_name unique (name)
);
grant select, insert, update on desk_secrets to nightdesk_app;

-- The vault keys that wrap any data key, each found by one probe of the index. A door: of all tenants.
create function door_vault_keys() returns table (vault_key bytea)
language plpgsql stable security definer
set search_path = public, pg_temp as $$
#variable_conflict use_column
begin
    return query
    with recursive found as (
        (select vault_key(k.wrapped) as id from tenant_keys k order by 1 limit 1)
        union all
        select (
            select vault_key(k.wrapped) from tenant_keys k
            where vault_key(k.wrapped) > found.id order by 1 limit 1
        ) from found where found.id is not null
    )
    select found.id from found where found.id is not null;
end
$$;
alter function door_vault_keys() owner to nightdesk_doors;

-- Some of the data keys that a vault key wraps. A door: of all tenants.
create function door_wrapped_by(p_vault_key bytea, rows_max bigint)
returns table (tenant_id uuid, key_id bigint, wrapped bytea)
language plpgsql stable security definer
set search_path = public, pg_temp as $$
#variable_conflict use_column
begin
    return query
    select k.tenant_id, k.key_id, k.wrapped from tenant_keys k
    where vault_key(k.wrapped) = p_vault_key
    limit rows_max;
end
$$;
alter function door_wrapped_by(bytea, bigint) owner to nightdesk_doors;

-- Replaces wrapped data keys that are still as they were read. A door: of all tenants.
create function door_rewrap(p_tenant uuid[], p_key bigint[], p_was bytea[], p_wrapped bytea[])
returns bigint language plpgsql security definer set search_path = public, pg_temp as $$
declare
    rewrapped bigint;
begin
    with ordered as (
        select r.* from unnest(p_tenant, p_key, p_was, p_wrapped) as r (tenant, key, was, wrapped)
            join tenant_keys k on k.tenant_id = r.tenant and k.key_id = r.key
        where k.wrapped = r.was
        order by r.tenant, r.key
        for update of k
    )
    update tenant_keys k set wrapped = ordered.wrapped from ordered
    where k.tenant_id = ordered.tenant and k.key_id = ordered.key and k.wrapped = ordered.was;
    get diagnostics rewrapped = row_count;
    return rewrapped;
end
$$;
alter function door_rewrap(uuid[], bigint[], bytea[], bytea[]) owner to nightdesk_doors;

-- The bytes of a message in its sealed body: the version, the nonce and the tag are no part of it. A test compares
-- their length with the vault's.
create function body_bytes(sealed bytea) returns integer language sql immutable parallel safe as $$
    select greatest(octet_length(sealed) - 29, 0)
$$;

-- Gathered read: the newest data key of each tenant. An erased tenant has none.
create function data_keys_newest(p_tenants uuid[])
returns table (tenant_id uuid, key_id bigint, wrapped bytea) language plpgsql as $$
#variable_conflict use_column
begin
    perform works_for_all(p_tenants);
    return query
    select distinct on (k.tenant_id) k.tenant_id, k.key_id, k.wrapped from tenant_keys k
    where k.tenant_id = any (p_tenants)
    order by k.tenant_id, k.key_id desc;
end
$$;

-- Gathered read: the data keys of these numbers.
create function data_keys_numbered(p_tenant uuid[], p_key bigint[])
returns table (tenant_id uuid, key_id bigint, wrapped bytea) language plpgsql as $$
#variable_conflict use_column
begin
    perform works_for_all(p_tenant);
    return query
    select k.tenant_id, k.key_id, k.wrapped
    from unnest(p_tenant, p_key) as w (tenant, key)
        join tenant_keys k on k.tenant_id = w.tenant and k.key_id = w.key;
end
$$;

-- Refuses a body whose data key is not there any more: no node could open it. A node that stood still for longer than
-- a replaced key is kept may bring one; it reads the newest key and tries again.
create function no_data_key(p_key bigint) returns text language plpgsql as $$
begin
    raise exception 'data key % of the tenant is gone', p_key using errcode = 'ND004';
end
$$;
create function check_data_key(p_tenant uuid, p_key bigint) returns boolean
language plpgsql stable as $$
begin
    if p_key is not null and not exists (
        select from tenant_keys k where k.tenant_id = p_tenant and k.key_id = p_key
    ) then
        perform no_data_key(p_key);
    end if;
    return true;
end
$$;

-- A message that this data key seals goes into an inbox again: a replaced key is kept as long as the messages of this
-- day.
create function use_data_key(p_tenant uuid, p_key bigint) returns void language sql as $$
    update tenant_keys k set used_at = now()
    where k.tenant_id = p_tenant and k.key_id = p_key and k.replaced_at is not null
$$;

-- Removes data keys that were replaced so long ago and seal nothing any more. A capability that was
-- wiped is sealed with nothing, and keeps no key. A door: of all tenants.
--
-- Entries are too many to be searched for a key. So a key is kept as long as its tenant has any entry of the days on
-- which the key sealed: such entries are acknowledged and removed, or parked, and their days are dropped.
create function forget_data_keys(kept interval, rows_max bigint) returns bigint
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    gone bigint;
begin
    perform check_retention('data-keys', kept);
    delete from tenant_keys k
    where (k.tenant_id, k.key_id) in (
        select r.tenant_id, r.key_id from tenant_keys r
        where r.replaced_at < now() - kept
          and not exists (
              select from gateway_secrets s where s.tenant_id = r.tenant_id and s.key_id = r.key_id)
          and not exists (
              select from bot_keys b where b.tenant_id = r.tenant_id and b.key_id = r.key_id)
          and not exists (
              select from capabilities c where c.tenant_id = r.tenant_id and c.key_id = r.key_id
                and octet_length(c.sealed) > 0)
          and not exists (
              select from inbox_entries e where e.tenant_id = r.tenant_id
                and e.at < (
                    ((greatest(r.replaced_at, r.used_at) + kept) at time zone 'utc')::date + 1
                )::timestamp at time zone 'utc')
          and not exists (
              select from inbox_parked p where p.tenant_id = r.tenant_id and p.key_id = r.key_id)
          and not exists (
              select from quarantined q where q.tenant_id = r.tenant_id and q.key_id = r.key_id)
          and not exists (
              select from sends s where s.tenant_id = r.tenant_id and s.key_id = r.key_id
                and s.state in ('asked', 'calling'))
          and not exists (
              select from letters l where l.to_tenant_id = r.tenant_id and l.key_id = r.key_id)
          and not exists (
              select from letters l where l.tenant_id = r.tenant_id and l.reply_key_id = r.key_id)
          and not exists (
              select from media m where m.tenant_id = r.tenant_id and m.key_id = r.key_id)
          and not exists (
              select from webchat_messages m where m.tenant_id = r.tenant_id and m.key_id = r.key_id
                and not m.deleted)
          and not exists (
              select from webchat_messages m
              where m.tenant_id = r.tenant_id and m.prompt_key_id = r.key_id)
          and not exists (
              select from webchat_chats c
              where c.tenant_id = r.tenant_id and c.status_key_id = r.key_id)
        limit rows_max
        for update skip locked
    );
    get diagnostics gone = row_count;
    return gone;
end
$$;
alter function forget_data_keys(interval, bigint) owner to nightdesk_doors;

grant execute on function
    vault_key, door_vault_keys, door_wrapped_by, door_rewrap, body_bytes, data_keys_newest,
    data_keys_numbered, no_data_key, check_data_key, use_data_key
to nightdesk_app;
