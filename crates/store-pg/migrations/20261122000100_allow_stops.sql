-- People and agents stop running turns. A stop has a row in the audit log, the entries that are set aside with it have a
-- reason of their own, and an operator may let an agent stop the turns of its tenant's other agents.
alter table agents add column stops_others boolean not null default false;
create constraint trigger tell_stops_allowed after update of stops_others on agents
    deferrable initially deferred for each row
    execute function tell_row('stops-allowed', 'agent_id', 'stops_others');

alter table audit_log drop constraint audit_log_known_kind;
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
        'signing-key-made', 'signing-key-retired', 'vault-rotated', 'history-begun', 'auth-failed'
    )) not valid;

alter table inbox_parked drop constraint inbox_parked_known_reason;
alter table inbox_parked
    add constraint inbox_parked_known_reason check (reason in (
        'unsendable', 'tries', 'full', 'rate-limit', 'expired', 'unreadable', 'operator', 'stopped'
    )) not valid;
