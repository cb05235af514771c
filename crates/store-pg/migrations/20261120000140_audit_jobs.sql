-- What an operator does to an agent's jobs is told. What the agent itself does is not: it arms one after each fire, and
-- fires have rows of their own.

-- Not looked at again: what is there was good, and two more are.
alter table audit_log
    drop constraint audit_log_known_kind,
    add constraint audit_log_known_kind check (kind in (
        'tenant-created', 'tenant-erased', 'keys-rotated', 'quota-set', 'gateways-trusted',
        'agent-created', 'agent-deprovisioned', 'agent-token-made', 'bot-created', 'bot-shared',
        'bot-key-rotated', 'bot-removed', 'gateway-created', 'gateway-invited', 'gateway-enrolled',
        'gateway-provisioned', 'gateway-rotated', 'gateway-revoked', 'client-revoked',
        'session-begun', 'session-ended', 'bound', 'unbound', 'preferred', 'link-made', 'linked',
        'granted', 'released', 'principal-opened', 'list-replaced', 'relevance-declared',
        'wake-url-set', 'wake-asked', 'job-armed', 'job-cancelled', 'entry-put', 'entry-set-aside',
        'entry-resubmitted', 'entry-removed', 'entries-parked', 'capability-used',
        'signing-key-made', 'signing-key-retired', 'vault-rotated', 'auth-failed'
    )) not valid;
