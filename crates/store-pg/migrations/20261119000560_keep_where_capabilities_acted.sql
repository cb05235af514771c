-- What comes too late for a capability is said as an ordinary message where it acted: so that place is
-- kept for a day longer than the capability.

-- What is wiped is sealed with nothing, and keeps no key.
create or replace function forget_data_keys(kept interval, rows_max bigint) returns bigint
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
              select from capabilities c where c.tenant_id = r.tenant_id and c.key_id = r.key_id
                and octet_length(c.sealed) > 0)
        limit rows_max
        for update skip locked
    );
    get diagnostics gone = row_count;
    return gone;
end
$$;

create or replace function forget_ended(kept interval, rows_max bigint) returns bigint
language plpgsql security definer set search_path = public, pg_temp set enable_seqscan = off as $$
declare
    step bigint;
    gone bigint;
begin
    update capabilities c set sealed = ''
    where (c.tenant_id, c.agent_id, c.session_sha256, c.kind) in (
        select e.tenant_id, e.agent_id, e.session_sha256, e.kind from capabilities e
        where e.expires_at <= now() and octet_length(e.sealed) > 0
        order by e.expires_at limit rows_max
        for update skip locked
    );
    get diagnostics gone = row_count;
    delete from capabilities c
    where (c.tenant_id, c.agent_id, c.session_sha256, c.kind) in (
        select e.tenant_id, e.agent_id, e.session_sha256, e.kind from capabilities e
        where e.expires_at <= now() - interval '1 day' order by e.expires_at limit rows_max
        for update skip locked
    );
    get diagnostics step = row_count;
    gone := gone + step;
    delete from bot_keys k
    where (k.tenant_id, k.bot_id, k.bot_key_id) in (
        select e.tenant_id, e.bot_id, e.bot_key_id from bot_keys e
        where e.expires_at <= now() order by e.expires_at limit rows_max
        for update skip locked
    );
    get diagnostics step = row_count;
    return gone + step + forget_data_keys(kept, rows_max);
end
$$;
