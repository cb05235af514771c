-- Shelves: skills and data that a tenant's agents share.
--
-- A tenant's row is the lock of its shelf: whoever changes something there holds it first, so that a plan
-- made on rows that were read is written as it was made, and sums are right.
create table shelves (
    tenant_id    uuid   not null,
    -- Rises with everything that can be seen of its skills.
    revision     bigint not null default 0,
    -- Of all kept revisions of its skills, and of its data.
    bytes        bigint not null default 0,
    -- The key that approves its skills. Null: the writer of a skill approves it.
    approval_key bytea,
    primary key (tenant_id),
    foreign key (tenant_id) references tenants,
    constraint shelves_key_of_32_bytes check (octet_length(approval_key) = 32),
    constraint shelves_bytes_not_negative check (bytes >= 0)
) with (fillfactor = 50);
select wall_off('shelves');
create constraint trigger tell_shelf_secured after update of approval_key on shelves
    deferrable initially deferred for each row
    when (old.approval_key is distinct from new.approval_key)
    execute function tell_row('shelf-secured');

create table skills (
    tenant_id uuid   not null,
    name      text   collate "C" not null,
    -- The number of its newest revision.
    revision  bigint not null,
    -- The facts about it, as they are handed out: they follow from that revision, and from its tenant.
    meta      jsonb  not null,
    primary key (tenant_id, name)
) with (fillfactor = 70);
select wall_off('skills');
create constraint trigger tell_skill_deleted after delete on skills
    deferrable initially deferred for each row execute function tell_row('skill-deleted', 'name');

-- A skill as it was from one change to the next.
create table skill_revisions (
    tenant_id       uuid        not null,
    name            text        collate "C" not null,
    revision        bigint      not null,
    source          bytea       not null,
    version         text        collate "C" not null,
    content_hash    text        collate "C" not null,
    status          text        not null,
    -- If it changed.
    previous_status text,
    changed_at      timestamptz not null,
    changed_by      text,
    primary key (tenant_id, name, revision),
    foreign key (tenant_id, name) references skills on delete cascade,
    constraint skill_revisions_known_status check (status in ('Draft', 'Approved', 'Disabled')),
    constraint skill_revisions_known_previous
        check (previous_status in ('Draft', 'Approved', 'Disabled')),
    constraint skill_revisions_version_of_hash check (left(content_hash, 12) = version)
);
select wall_off('skill_revisions');
create constraint trigger tell_skill after insert on skill_revisions
    deferrable initially deferred for each row when (new.previous_status is null)
    execute function tell_row('skill-written', 'name', 'version', 'status');
create constraint trigger tell_skill_status after insert on skill_revisions
    deferrable initially deferred for each row when (new.previous_status is not null)
    execute function tell_row('skill-status-set', 'name', 'version', 'status');

create table data_entries (
    tenant_id  uuid        not null,
    -- The id follows from its writer and its content.
    data_id    text        collate "C" not null,
    content    text        not null,
    tags       text[],
    recipients text[],
    -- True if its writer said anything about its end. True and null: it has none.
    end_said   boolean     not null,
    expires_at bigint,
    -- The fields that have a place of their own, and can be asked for.
    fields     jsonb       not null,
    metadata   jsonb,
    bytes      bigint      not null,
    created_at timestamptz not null,
    words      tsvector    not null generated always as (to_tsvector('simple', content)) stored,
    primary key (tenant_id, data_id),
    constraint data_entries_end_is_said check (end_said or expires_at is null)
);
-- A tenant's entries are looked through one by one: an index of words would be all tenants'.
create index data_entries_by_age on data_entries (tenant_id, created_at desc);
create index data_entries_by_end on data_entries (tenant_id, expires_at) where expires_at is not null;
select wall_off('data_entries');

-- Locks a tenant's shelf, and says what time it is.
create function shelf_lock(p_tenant uuid)
returns table (approval_key bytea, now_secs bigint) language plpgsql as $$
#variable_conflict use_column
begin
    insert into shelves (tenant_id) values (p_tenant) on conflict do nothing;
    return query
    select s.approval_key, extract(epoch from clock_timestamp())::bigint from shelves s
    where s.tenant_id = p_tenant for update;
end
$$;

-- Adds so many bytes to a shelf, and refuses more than its tenant may have.
create function shelf_grow(p_tenant uuid, p_more bigint, seen integer) returns void
language plpgsql as $$
declare
    v_bytes   bigint;
    v_allowed bigint := quota_of(p_tenant, 'shelf-bytes');
begin
    update shelves s set bytes = s.bytes + p_more, revision = s.revision + seen
    where s.tenant_id = p_tenant returning s.bytes into strict v_bytes;
    if p_more > 0 and v_bytes > v_allowed then
        raise exception 'shelf-bytes' using errcode = 'ND001', detail = v_allowed::text;
    end if;
end
$$;

-- Puts a revision on top of a skill, and lets the oldest go. The shelf is locked.
create function skill_put(
    p_tenant uuid, p_name text, p_meta jsonb, p_source bytea, p_version text, p_hash text,
    p_status text, p_previous text, p_changed_at bigint, p_by text,
    revisions_max bigint, skills_max bigint
) returns void language plpgsql as $$
declare
    v_allowed  bigint := least(quota_of(p_tenant, 'skills'), skills_max);
    v_revision bigint;
    v_gone     bigint;
begin
    insert into skills as s (tenant_id, name, revision, meta) values (p_tenant, p_name, 1, p_meta)
    on conflict (tenant_id, name) do update set revision = s.revision + 1, meta = excluded.meta
    returning s.revision into v_revision;
    if v_revision = 1 and (select count(*) from skills s where s.tenant_id = p_tenant) > v_allowed then
        raise exception 'skills' using errcode = 'ND001', detail = v_allowed::text;
    end if;
    insert into skill_revisions (tenant_id, name, revision, source, version, content_hash, status,
        previous_status, changed_at, changed_by)
    values (p_tenant, p_name, v_revision, p_source, p_version, p_hash, p_status, p_previous,
        to_timestamp(p_changed_at), p_by);
    with gone as (
        delete from skill_revisions r
        where r.tenant_id = p_tenant and r.name = p_name
          and r.revision <= v_revision - revisions_max
        returning octet_length(r.source) as bytes
    )
    select coalesce(sum(gone.bytes), 0) into v_gone from gone;
    perform shelf_grow(p_tenant, octet_length(p_source) - v_gone, 1);
end
$$;

-- Removes a skill and all that it was. The shelf is locked.
create function skill_delete(p_tenant uuid, p_name text) returns boolean language plpgsql as $$
declare
    v_bytes bigint;
begin
    select coalesce(sum(octet_length(r.source)), 0) into v_bytes from skill_revisions r
    where r.tenant_id = p_tenant and r.name = p_name;
    delete from skills s where s.tenant_id = p_tenant and s.name = p_name;
    if not found then
        return false;
    end if;
    perform shelf_grow(p_tenant, -v_bytes, 1);
    return true;
end
$$;

-- Lets entries go whose end came: that one, and at most so many others. The shelf is locked.
create function data_clear(p_tenant uuid, p_id text, p_now bigint, rows_max bigint) returns void
language plpgsql as $$
declare
    v_bytes bigint;
begin
    with gone as (
        delete from data_entries d
        where d.tenant_id = p_tenant and d.expires_at <= p_now and (d.data_id = p_id or d.data_id in (
            select o.data_id from data_entries o
            where o.tenant_id = p_tenant and o.expires_at <= p_now
            order by o.expires_at limit rows_max
        ))
        returning d.bytes
    )
    select coalesce(sum(gone.bytes), 0) into v_bytes from gone;
    perform shelf_grow(p_tenant, -v_bytes, 0);
end
$$;

-- Keeps an entry, unless it is there, and says when it was written. The shelf is locked.
create function data_put(
    p_tenant uuid, p_id text, p_content text, p_tags text[], p_recipients text[], p_end_said boolean,
    p_expires_at bigint, p_fields jsonb, p_metadata jsonb, p_bytes bigint
) returns bigint language plpgsql as $$
declare
    v_allowed bigint := quota_of(p_tenant, 'data-entries');
begin
    insert into data_entries (tenant_id, data_id, content, tags, recipients, end_said, expires_at,
        fields, metadata, bytes, created_at)
    values (p_tenant, p_id, p_content, p_tags, p_recipients, p_end_said, p_expires_at, p_fields,
        p_metadata, p_bytes, clock_timestamp())
    on conflict do nothing;
    if found then
        if (select count(*) from data_entries d where d.tenant_id = p_tenant) > v_allowed then
            raise exception 'data-entries' using errcode = 'ND001', detail = v_allowed::text;
        end if;
        perform shelf_grow(p_tenant, p_bytes, 0);
    end if;
    return (
        select floor(extract(epoch from d.created_at))::bigint from data_entries d
        where d.tenant_id = p_tenant and d.data_id = p_id
    );
end
$$;

grant execute on function
    shelf_lock, shelf_grow, skill_put, skill_delete, data_clear, data_put
to nightdesk_app;
