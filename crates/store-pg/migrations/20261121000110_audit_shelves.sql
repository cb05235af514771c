-- What is done to skills is told: by whom, and about which. Data is not: its rows say who wrote them.

-- Not looked at again: what is there was good, and four more are.
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
        'skill-status-set', 'skill-deleted', 'shelf-secured', 'entry-put', 'entry-set-aside',
        'entry-resubmitted', 'entry-removed', 'entries-parked', 'capability-used',
        'signing-key-made', 'signing-key-retired', 'vault-rotated', 'auth-failed'
    )) not valid;

create constraint trigger tell_skill after insert on skill_revisions
    deferrable initially deferred for each row when (new.previous_status is null)
    execute function tell_row('skill-written', 'name', 'version', 'status');
create constraint trigger tell_skill_status after insert on skill_revisions
    deferrable initially deferred for each row when (new.previous_status is not null)
    execute function tell_row('skill-status-set', 'name', 'version', 'status');
create constraint trigger tell_skill_deleted after delete on skills
    deferrable initially deferred for each row execute function tell_row('skill-deleted', 'name');
create constraint trigger tell_shelf_secured after update of approval_key on shelves
    deferrable initially deferred for each row
    when (old.approval_key is distinct from new.approval_key)
    execute function tell_row('shelf-secured');
