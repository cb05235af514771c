-- The audit log: a row for each act, with its actor and its subject, in a chain per tenant. A row is
-- written by the transaction that does the act, and never changed.
--
-- Acts of an operator on an agent's jobs have rows. The agent's own do not: it arms a job after each
-- fire, and fires have rows of their own. Acts on skills have rows. Data has none: its rows name their
-- writers.

-- The end of each tenant's chain, and the beginning of the part that is kept.
create table audit_heads (
    tenant_id  uuid        not null,
    seq        bigint      not null,
    hash       bytea       not null,
    at         timestamptz not null,
    -- The last row that was let go, and its hash. Zero: none was.
    begins_seq  bigint     not null default 0,
    begins_hash bytea      not null default decode(repeat('00', 32), 'hex'),
    primary key (tenant_id)
) with (fillfactor = 50);
select wall_off('audit_heads');

create table audit_log (
    tenant_id uuid        not null,
    seq       bigint      not null,
    at        timestamptz not null,
    actor     text        not null,
    kind      text        not null,
    -- Ids and numbers, as the text of a JSON object: never words of people, never a secret. A
    -- text, since its very bytes are hashed.
    about     text        not null,
    -- Of the row before and this one.
    hash      bytea       not null,
    primary key (tenant_id, seq)
);
create index audit_log_by_age on audit_log (at);
-- The constraint stays `not valid`, as the steps that extended it left it; `create table` would make
-- it valid. New rows are checked either way.
alter table audit_log
    add constraint audit_log_known_kind check (kind in (
        'tenant-created', 'tenant-erased', 'keys-rotated', 'quota-set', 'gateways-trusted',
        'stops-allowed', 'turn-stopped',
        'agent-created', 'agent-deprovisioned', 'agent-token-made', 'bot-created', 'bot-shared',
        'bot-key-rotated', 'bot-removed', 'gateway-created', 'gateway-invited', 'gateway-enrolled',
        'gateway-provisioned', 'gateway-rotated', 'gateway-revoked', 'client-revoked',
        'session-begun', 'session-ended', 'bound', 'unbound', 'preferred', 'link-made', 'linked',
        'granted', 'moderation-granted', 'released', 'principal-opened', 'list-replaced',
        'relevance-declared', 'wake-url-set', 'wake-asked', 'job-armed', 'job-cancelled', 'skill-written',
        'skill-status-set', 'skill-deleted', 'shelf-secured', 'letters-granted',
        'letters-released', 'letter-hook-made', 'letter-hook-removed', 'entry-put', 'entry-set-aside',
        'entry-resubmitted', 'entry-removed', 'entries-parked', 'entries-discarded', 'capability-used',
        'signing-key-made', 'signing-key-retired', 'vault-rotated', 'history-begun', 'auth-failed',
        'user-created', 'role-given', 'role-taken', 'login-link-made', 'user-logged-in', 'user-logged-out',
        'api-token-made', 'api-token-revoked', 'glass-asked', 'glass-approved', 'glass-ended',
        'alert-way-added', 'alert-way-removed'
    )) not valid;
select wall_off('audit_log');

-- The desk may read both tables and write neither: rows are made by the functions below alone, and
-- even those cannot change one.
revoke insert, update, delete on audit_log, audit_heads from nightdesk_app;
revoke update on audit_log from nightdesk_doors;

-- A row as it is hashed: each field after its length, so that no two rows are the same bytes.
create function audit_bytes(
    p_tenant uuid, p_seq bigint, p_at timestamptz, p_actor text, p_kind text, p_about text
) returns bytea language sql immutable set search_path = public, pg_temp as $$
    select convert_to(string_agg(octet_length(f.field) || ':' || f.field, '' order by f.nth), 'UTF8')
    from unnest(array[
        p_tenant::text, p_seq::text, (extract(epoch from p_at) * 1000000)::bigint::text, p_actor,
        p_kind, p_about
    ]) with ordinality as f (field, nth)
$$;

-- Returns whether an act was told in this transaction. A change of several rows of a table is one act,
-- and so is a change of several tables by the first of these names. Of an erased tenant nothing is told
-- any more.
create function is_told(p_tenant uuid, p_kind text, p_about text) returns boolean
language sql set search_path = public, pg_temp as $$
    select exists (
        select from audit_heads h join audit_log a on a.tenant_id = h.tenant_id and a.seq = h.seq
        where h.tenant_id = p_tenant and a.xmin = pg_current_xact_id()::xid and (
            a.kind in ('bot-created', 'bot-removed', 'gateway-created', 'gateway-enrolled',
                'gateway-provisioned', 'gateway-revoked', 'linked', 'agent-deprovisioned')
            or (a.kind = p_kind and a.about = p_about)
        )
    ) or (p_kind <> 'tenant-erased' and exists (
        select from tenants t where t.tenant_id = p_tenant and t.erased_at is not null
    ))
$$;

-- Adds a row to a tenant's chain, under the lock of its head.
create function tell(p_tenant uuid, p_kind text, p_about jsonb) returns void
language plpgsql security definer set search_path = public, pg_temp set enable_seqscan = off as $$
declare
    v_actor text := coalesce(nullif(current_setting('app.actor', true), ''), 'desk');
    v_about text := jsonb_strip_nulls(p_about)::text;
    v_head  audit_heads;
begin
    if is_told(p_tenant, p_kind, v_about) then
        return;
    end if;
    insert into audit_heads as h (tenant_id, seq, hash, at)
    values (p_tenant, 0, decode(repeat('00', 32), 'hex'), clock_timestamp())
    on conflict (tenant_id) do nothing;
    select h.* into v_head from audit_heads h where h.tenant_id = p_tenant for update;
    v_head.seq := v_head.seq + 1;
    -- It rises with the number, whatever the clock does.
    v_head.at := greatest(v_head.at, clock_timestamp());
    v_head.hash := sha256(v_head.hash
        || audit_bytes(p_tenant, v_head.seq, v_head.at, v_actor, p_kind, v_about));
    insert into audit_log (tenant_id, seq, at, actor, kind, about, hash)
    values (p_tenant, v_head.seq, v_head.at, v_actor, p_kind, v_about, v_head.hash);
    update audit_heads h set seq = v_head.seq, hash = v_head.hash, at = v_head.at
    where h.tenant_id = p_tenant;
end
$$;
alter function tell(uuid, text, jsonb) owner to nightdesk_doors;
-- The desk may not run this one: only a trigger of a change writes a row here, so no row describes
-- an act that did not happen.

-- Writes a row about an act that may change nothing, for a transaction that works for that tenant.
create function tell_act(p_tenant uuid, p_kind text, p_about jsonb) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
begin
    if array_position(current_setting('app.tenants')::uuid[], p_tenant) is null then
        raise exception 'not an act of this tenant';
    end if;
    perform tell(p_tenant, p_kind, p_about);
end
$$;
alter function tell_act(uuid, text, jsonb) owner to nightdesk_doors;

-- Tells a changed row. The trigger's arguments are the kind of the act, and the columns that name its
-- subject.
--
-- All triggers that tell something run at the commit: the head of a chain is locked last and for a
-- moment, and nobody who holds it waits for anything else.
create function tell_row() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    was jsonb := case tg_op when 'DELETE' then to_jsonb(old) else to_jsonb(new) end;
begin
    perform tell((was ->> 'tenant_id')::uuid, tg_argv[0], coalesce((
        select jsonb_object_agg(c.name, was -> c.name) from unnest(tg_argv[1:]) as c (name)
    ), '{}'));
    return null;
end
$$;
alter function tell_row() owner to nightdesk_doors;

-- The desk's own objects, of no tenant, have a chain too, under an id that no tenant has.
create function tell_own() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
    perform tell('00000000-0000-0000-0000-000000000000', tg_argv[0],
        jsonb_build_object(tg_argv[1], to_jsonb(new) -> tg_argv[1]));
    return null;
end
$$;
alter function tell_own() owner to nightdesk_doors;

-- The functions above read the table of tenants, so its triggers come after them.
create constraint trigger tell_tenant after insert on tenants
    deferrable initially deferred for each row execute function tell_row('tenant-created');
create constraint trigger tell_erased after update of erased_at on tenants
    deferrable initially deferred for each row
    when (old.erased_at is null and new.erased_at is not null)
    execute function tell_row('tenant-erased');
create constraint trigger tell_trusted after update of gateways_may_widen on tenants
    deferrable initially deferred for each row
    execute function tell_row('gateways-trusted', 'gateways_may_widen');

-- Returns the ends of the chains of all tenants, or of those that grew lately, so that they can be
-- written down elsewhere. A door.
create function door_audit_heads(p_after uuid, lately interval, rows_max integer) returns table (
    tenant_id uuid, seq bigint, hash bytea
) language plpgsql stable security definer
set search_path = public, pg_temp as $$
#variable_conflict use_column
begin
    return query
    select h.tenant_id, h.seq, h.hash from audit_heads h
    where coalesce(h.tenant_id > p_after, true) and coalesce(h.at > now() - lately, true)
    order by h.tenant_id limit rows_max;
end
$$;
alter function door_audit_heads(uuid, interval, integer) owner to nightdesk_doors;

-- Removes old rows, from the beginning of each chain, and notes where it begins now. A door.
create function forget_audit(kept interval, rows_max integer) returns bigint
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    forgotten bigint;
begin
    perform check_retention('audit', kept);
    with old as (
        select a.tenant_id, a.seq from audit_log a where a.at < clock_timestamp() - kept
        order by a.at, a.seq
        limit rows_max
    ), gone as (
        delete from audit_log a using old
        where a.tenant_id = old.tenant_id and a.seq = old.seq
        returning a.tenant_id, a.seq, a.hash
    ), noted as (
        update audit_heads h set begins_seq = l.seq, begins_hash = l.hash
        from (
            select distinct on (gone.tenant_id) gone.* from gone
            order by gone.tenant_id, gone.seq desc
        ) as l
        where h.tenant_id = l.tenant_id
    )
    select count(*) from gone into forgotten;
    return forgotten;
end
$$;
alter function forget_audit(interval, integer) owner to nightdesk_doors;

grant execute on function
    tell_act, door_audit_heads, forget_audit
to nightdesk_app;
