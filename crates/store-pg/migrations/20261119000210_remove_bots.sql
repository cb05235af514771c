-- A bot can be removed, with its keys and with all that people and agents had on it.

-- Not looked at again: what is there was good, and one more is.
alter table audit_log
    drop constraint audit_log_known_kind,
    add constraint audit_log_known_kind check (kind in (
        'tenant-created', 'tenant-erased', 'keys-rotated', 'quota-set', 'gateways-trusted',
        'agent-created', 'agent-deprovisioned', 'agent-token-made', 'bot-created', 'bot-shared',
        'bot-key-rotated', 'bot-removed', 'gateway-created', 'gateway-invited', 'gateway-enrolled',
        'gateway-provisioned', 'gateway-rotated', 'gateway-revoked', 'client-revoked',
        'session-begun', 'session-ended', 'bound', 'unbound', 'preferred', 'link-made', 'linked',
        'granted', 'released', 'principal-opened', 'list-replaced', 'relevance-declared',
        'wake-url-set', 'wake-asked', 'entry-put', 'entry-set-aside', 'entry-resubmitted',
        'entry-removed', 'entries-parked', 'capability-used', 'signing-key-made',
        'signing-key-retired', 'vault-rotated', 'auth-failed'
    )) not valid;

create or replace function is_told(p_tenant uuid, p_kind text, p_about text) returns boolean
language sql set search_path = public, pg_temp
-- The plan is kept, so it must not be the one for empty tables.
set enable_seqscan = off as $$
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

-- Removes a bot, for who works for its operator. Answers whether there was one. Its people may be of
-- several tenants: a door. What was written stays as long as it would.
create function door_remove_bot(p_tenant uuid, p_bot uuid) returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
begin
    perform from bots b
    where b.tenant_id = p_tenant and b.bot_id = p_bot
      and array_position(current_setting('app.tenants')::uuid[], p_tenant) is not null
    for update;
    if not found then
        return false;
    end if;
    -- First: what follows is part of it.
    perform tell(p_tenant, 'bot-removed', jsonb_build_object('bot_id', p_bot));
    delete from bindings b where b.bot_id = p_bot;
    delete from scope_grants g where g.bot_id = p_bot;
    delete from listed_authors l where l.bot_id = p_bot;
    delete from capabilities c where c.bot_id = p_bot;
    delete from link_tries t where t.tenant_id = p_tenant and t.bot_id = p_bot;
    delete from source_cursors s where s.tenant_id = p_tenant and s.bot_id = p_bot;
    delete from bot_hearings h where h.tenant_id = p_tenant and h.bot_id = p_bot;
    delete from bot_keys k where k.tenant_id = p_tenant and k.bot_id = p_bot;
    delete from bots b where b.tenant_id = p_tenant and b.bot_id = p_bot;
    return true;
end
$$;
alter function door_remove_bot(uuid, uuid) owner to nightdesk_doors;

-- How well the bots of a tenant hear goes with them.
create or replace function tenant_erase(p_tenant uuid) returns void language plpgsql as $$
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
    delete from bot_hearings where tenant_id = p_tenant;
    delete from bots where tenant_id = p_tenant;
    delete from tenant_keys where tenant_id = p_tenant;
    update tenants set erased_at = coalesce(erased_at, now()), name = tenant_id::text
    where tenant_id = p_tenant;
end
$$;
