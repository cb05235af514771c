-- What was done, by whom and about what: a row for each act, in a chain per tenant. A row is
-- written by the transaction that does what it tells of, and never changed.

-- Where each tenant's chain ends, and where what is kept of it begins.
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
    -- Ids and numbers, as the text of a JSON object: never what people wrote, never a secret. A
    -- text, since its very bytes are hashed.
    about     text        not null,
    -- Of the row before and this one.
    hash      bytea       not null,
    primary key (tenant_id, seq),
    constraint audit_log_known_kind check (kind in (
        'tenant-created', 'tenant-erased', 'keys-rotated', 'quota-set', 'gateways-trusted',
        'agent-created', 'agent-deprovisioned', 'agent-token-made', 'bot-created', 'bot-shared',
        'bot-key-rotated', 'gateway-created', 'gateway-invited', 'gateway-enrolled',
        'gateway-provisioned', 'gateway-rotated', 'gateway-revoked', 'client-revoked',
        'session-begun', 'session-ended', 'bound', 'unbound', 'preferred', 'link-made', 'linked',
        'granted', 'released', 'principal-opened', 'list-replaced', 'relevance-declared',
        'wake-url-set', 'wake-asked', 'entry-put', 'entry-set-aside', 'entry-resubmitted',
        'entry-removed', 'entries-parked', 'capability-used', 'signing-key-made',
        'signing-key-retired', 'vault-rotated', 'auth-failed'
    ))
);
create index audit_log_by_age on audit_log (at);
select wall_off('audit_log');

-- The desk may read both and write neither: rows are made by the functions below alone, and
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

-- Whether it was told in this transaction. What changes several rows of a table is one act, and so
-- is what changes several tables by the first of these names. Of who was erased nothing is told any more.
create function is_told(p_tenant uuid, p_kind text, p_about text) returns boolean
language sql set search_path = public, pg_temp
-- The plan is kept, so it must not be the one for empty tables.
set enable_seqscan = off as $$
    select exists (
        select from audit_heads h join audit_log a on a.tenant_id = h.tenant_id and a.seq = h.seq
        where h.tenant_id = p_tenant and a.xmin = pg_current_xact_id()::xid and (
            a.kind in ('bot-created', 'gateway-created', 'gateway-enrolled', 'gateway-provisioned',
                'gateway-revoked', 'linked', 'agent-deprovisioned')
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
-- Nobody tells what did not happen: a row comes of a change, ...
revoke execute on function tell(uuid, text, jsonb) from public;

-- ... or of an act that may change nothing, told by who works for that tenant.
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

-- A changed row: what that is called, and the columns that say about what.
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

-- What is nobody's but the desk's own has a chain too, under an id that no tenant has.
create function tell_own() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
    perform tell('00000000-0000-0000-0000-000000000000', tg_argv[0],
        jsonb_build_object(tg_argv[1], to_jsonb(new) -> tg_argv[1]));
    return null;
end
$$;
alter function tell_own() owner to nightdesk_doors;

-- What the desk sets aside by itself is told when it begins: once, until it did so for an hour no more.
create function tell_parked() returns trigger
language plpgsql security definer set search_path = public, pg_temp set enable_seqscan = off as $$
declare
    v_before inbox_parked;
begin
    select p.* into v_before from inbox_parked p
    where p.tenant_id = new.tenant_id and p.agent_id = new.agent_id and p.seq < new.seq
    order by p.seq desc limit 1;
    if v_before.reason is distinct from new.reason
        or v_before.parked_at < new.parked_at - interval '1 hour'
    then
        perform tell(new.tenant_id, 'entries-parked', jsonb_build_object(
            'agent_id', new.agent_id, 'reason', new.reason, 'seq', new.seq));
    end if;
    return null;
end
$$;
alter function tell_parked() owner to nightdesk_doors;

-- All of them at the commit: the head of a chain is locked last and for a moment, and nobody who
-- holds it waits for anything else.
create constraint trigger tell_tenant after insert on tenants
    deferrable initially deferred for each row execute function tell_row('tenant-created');
create constraint trigger tell_erased after update of erased_at on tenants
    deferrable initially deferred for each row
    when (old.erased_at is null and new.erased_at is not null)
    execute function tell_row('tenant-erased');
create constraint trigger tell_keys after insert on tenant_keys
    deferrable initially deferred for each row when (new.key_id > 1)
    execute function tell_row('keys-rotated', 'key_id');
create constraint trigger tell_agent after insert on agents
    deferrable initially deferred for each row
    execute function tell_row('agent-created', 'agent_id');
create constraint trigger tell_principal after update of principal on agents
    deferrable initially deferred for each row
    execute function tell_row('principal-opened', 'agent_id', 'principal');
create constraint trigger tell_bot after insert on bots
    deferrable initially deferred for each row
    execute function tell_row('bot-created', 'bot_id', 'platform');
create constraint trigger tell_bot_key after insert on bot_keys
    deferrable initially deferred for each row
    execute function tell_row('bot-key-rotated', 'bot_id');
-- It comes with its first secret, as a bot does with its first key: that is one act.
create constraint trigger tell_gateway after insert on gateways
    deferrable initially deferred for each row
    execute function tell_row('gateway-created', 'gateway_id');
create constraint trigger tell_secret after insert on gateway_secrets
    deferrable initially deferred for each row
    execute function tell_row('gateway-rotated', 'gateway_id');
create constraint trigger tell_revoked after update of revoked_at on gateways
    deferrable initially deferred for each row
    when (old.revoked_at is null and new.revoked_at is not null)
    execute function tell_row('gateway-revoked', 'gateway_id');
create constraint trigger tell_invited after insert on oauth_clients
    deferrable initially deferred for each row
    execute function tell_row('gateway-invited', 'agent_id', 'client_id');
create constraint trigger tell_client after update of revoked_at on oauth_clients
    deferrable initially deferred for each row
    when (old.revoked_at is null and new.revoked_at is not null)
    execute function tell_row('client-revoked', 'client_id');
create constraint trigger tell_session after insert on bootstrap_sessions
    deferrable initially deferred for each row
    execute function tell_row('session-begun', 'agent_id', 'issuer', 'session');
create constraint trigger tell_session_ended after update of revoked_at on bootstrap_sessions
    deferrable initially deferred for each row
    when (old.revoked_at is null and new.revoked_at is not null)
    execute function tell_row('session-ended', 'agent_id', 'issuer', 'session');
create constraint trigger tell_signing_key after insert on signing_keys
    deferrable initially deferred for each row execute function tell_own('signing-key-made', 'kid');
create constraint trigger tell_retired after update of retired_at on signing_keys
    deferrable initially deferred for each row
    when (old.retired_at is null and new.retired_at is not null)
    execute function tell_own('signing-key-retired', 'kid');
create constraint trigger tell_bound after insert on bindings
    deferrable initially deferred for each row
    execute function tell_row('bound', 'agent_id', 'bot_id', 'author_id');
create constraint trigger tell_unbound after delete on bindings
    deferrable initially deferred for each row
    execute function tell_row('unbound', 'agent_id', 'bot_id', 'author_id');
create constraint trigger tell_preferred after update of preferred_at on bindings
    deferrable initially deferred for each row
    execute function tell_row('preferred', 'agent_id', 'bot_id', 'author_id');
create constraint trigger tell_granted after insert on scope_grants
    deferrable initially deferred for each row
    execute function tell_row('granted', 'agent_id', 'bot_id', 'scope_id', 'chat_id', 'principal');
create constraint trigger tell_released after delete on scope_grants
    deferrable initially deferred for each row
    execute function tell_row('released', 'agent_id', 'bot_id', 'scope_id', 'chat_id');
create constraint trigger tell_listed after insert or delete on listed_authors
    deferrable initially deferred for each row
    execute function tell_row('list-replaced', 'agent_id', 'bot_id');
create constraint trigger tell_relevance after insert or update on relevance_policies
    deferrable initially deferred for each row
    execute function tell_row('relevance-declared', 'agent_id', 'platform');
create constraint trigger tell_wakers after insert or delete on wakers
    deferrable initially deferred for each row
    execute function tell_row('wake-url-set', 'agent_id');
create constraint trigger tell_parked after insert on inbox_parked
    deferrable initially deferred for each row when (new.reason <> 'operator')
    execute function tell_parked();
create constraint trigger tell_set_aside after insert on inbox_parked
    deferrable initially deferred for each row when (new.reason = 'operator')
    execute function tell_row('entry-set-aside', 'agent_id', 'seq');
create constraint trigger tell_resubmitted after update of resubmitted_as on inbox_parked
    deferrable initially deferred for each row
    execute function tell_row('entry-resubmitted', 'agent_id', 'seq', 'resubmitted_as');
create constraint trigger tell_removed after delete on inbox_parked
    deferrable initially deferred for each row
    execute function tell_row('entry-removed', 'agent_id', 'seq');

-- Where the chains of all tenants end, or of those that grew lately, for who writes it down
-- elsewhere. A door.
create function door_audit_heads(p_after uuid, lately interval, rows_max integer) returns table (
    tenant_id uuid, seq bigint, hash bytea
) language plpgsql stable security definer
set search_path = public, pg_temp set enable_seqscan = off as $$
#variable_conflict use_column
begin
    return query
    select h.tenant_id, h.seq, h.hash from audit_heads h
    where coalesce(h.tenant_id > p_after, true) and coalesce(h.at > now() - lately, true)
    order by h.tenant_id limit rows_max;
end
$$;
alter function door_audit_heads(uuid, interval, integer) owner to nightdesk_doors;

-- Lets go of what is old, from the beginning of each chain, and notes where it begins now. A door.
create function forget_audit(kept interval, rows_max integer) returns bigint
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    forgotten bigint;
begin
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
