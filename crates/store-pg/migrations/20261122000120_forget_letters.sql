-- What came of letters is known for a while, and then forgotten. With an agent or a tenant go its letters.

-- Forgets what is older than this, at most so many rows of each. A door: of all tenants.
create function forget_letters(kept interval, rows_max integer) returns bigint
language plpgsql security definer set search_path = public, pg_temp set enable_seqscan = off as $$
declare
    step bigint;
    most bigint := 0;
begin
    delete from letters l
    where (l.tenant_id, l.letter_id) in (
        select o.tenant_id, o.letter_id from letters o
        where o.sent_at < clock_timestamp() - kept and o.state <> 'scheduled'
        order by o.sent_at limit rows_max for update skip locked
    );
    get diagnostics most = row_count;
    delete from letters_in i
    where (i.tenant_id, i.agent_id, i.letter_id) in (
        select o.tenant_id, o.agent_id, o.letter_id from letters_in o
        where o.put_at < clock_timestamp() - kept
        order by o.put_at limit rows_max for update skip locked
    );
    get diagnostics step = row_count;
    most := greatest(most, step);
    delete from letter_receipts r
    where (r.tenant_id, r.dispatch_id, r.connector, r.address) in (
        select o.tenant_id, o.dispatch_id, o.connector, o.address from letter_receipts o
        where o.noted_at < clock_timestamp() - kept
        order by o.noted_at limit rows_max for update skip locked
    );
    get diagnostics step = row_count;
    -- A full round of any is worth another.
    return greatest(most, step);
end
$$;
alter function forget_letters(interval, integer) owner to nightdesk_doors;

-- An erased tenant has no letters, whoever else forgets what about it. A trigger, so that what erases a tenant need not
-- know of every table.
create function erase_letters() returns trigger language plpgsql as $$
begin
    delete from letters where tenant_id = new.tenant_id;
    delete from letters_in where tenant_id = new.tenant_id;
    delete from letter_grants where tenant_id = new.tenant_id;
    delete from letter_hooks where tenant_id = new.tenant_id;
    delete from letter_receipts where tenant_id = new.tenant_id;
    return null;
end
$$;
create trigger tenants_erase_letters after update of erased_at on tenants
    for each row when (old.erased_at is null and new.erased_at is not null)
    execute function erase_letters();

-- What an operator grants or takes back is told.
alter table audit_log
    drop constraint audit_log_known_kind,
    add constraint audit_log_known_kind check (kind in (
        'tenant-created', 'tenant-erased', 'keys-rotated', 'quota-set', 'gateways-trusted',
        'agent-created', 'agent-deprovisioned', 'agent-token-made', 'bot-created', 'bot-shared',
        'bot-key-rotated', 'bot-removed', 'gateway-created', 'gateway-invited', 'gateway-enrolled',
        'gateway-provisioned', 'gateway-rotated', 'gateway-revoked', 'client-revoked',
        'session-begun', 'session-ended', 'bound', 'unbound', 'preferred', 'link-made', 'linked',
        'granted', 'released', 'principal-opened', 'list-replaced', 'relevance-declared',
        'wake-url-set', 'wake-asked', 'job-armed', 'job-cancelled', 'skill-written',
        'skill-status-set', 'skill-deleted', 'shelf-secured', 'letters-granted',
        'letters-released', 'letter-hook-made', 'letter-hook-removed', 'entry-put', 'entry-set-aside',
        'entry-resubmitted', 'entry-removed', 'entries-parked', 'capability-used',
        'signing-key-made', 'signing-key-retired', 'vault-rotated', 'auth-failed'
    )) not valid;
