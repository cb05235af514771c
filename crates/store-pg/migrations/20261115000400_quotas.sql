-- The quotas of a tenant. They are read where they count, at every act: raising one needs no restart.
create table quotas (
    tenant_id uuid        not null,
    quota     text        not null,
    allowed   bigint      not null,
    set_at    timestamptz not null default now(),
    primary key (tenant_id, quota),
    constraint quotas_known_quota check (quota in (
        'agents', 'grants', 'pending-entries', 'pending-bytes', 'armed-jobs', 'agent-jobs', 'skills',
        'data-entries', 'shelf-bytes', 'gateways', 'agent-sends', 'agent-prompts',
        'parked-entries', 'parked-bytes')),
    constraint quotas_not_negative check (allowed >= 0)
);
select wall_off('quotas');
create constraint trigger tell_quota after insert or update on quotas
    deferrable initially deferred for each row
    execute function tell_row('quota-set', 'quota', 'allowed');

-- The quotas of a tenant for which nobody set any. A test compares them with the desk's limits.
create function quota_default(p_quota text) returns bigint language sql immutable as $$
    select case p_quota when 'agents' then 50 when 'grants' then 100
        when 'pending-entries' then 10000 when 'pending-bytes' then 268435456
        when 'armed-jobs' then 2000 when 'agent-jobs' then 200
        when 'skills' then 500 when 'data-entries' then 10000 when 'shelf-bytes' then 268435456
        when 'gateways' then 500 when 'agent-sends' then 100000 when 'agent-prompts' then 10000
        when 'parked-entries' then 10000 when 'parked-bytes' then 268435456 end
$$;

-- Returns a quota of a tenant.
create function quota_of(p_tenant uuid, p_quota text) returns bigint
language plpgsql stable as $$
begin
    return coalesce((
        select q.allowed from quotas q where q.tenant_id = p_tenant and q.quota = p_quota
    ), quota_default(p_quota));
end
$$;

-- Refuses rows that would be more than a tenant may have. One transaction at a time: of two that come
-- at once the later sees the earlier.
create function keep_quota() returns trigger language plpgsql as $$
declare
    v_tenant  uuid;
    v_allowed bigint;
    v_more    boolean;
begin
    for v_tenant in select distinct n.tenant_id from entered n order by 1 loop
        perform from tenants t where t.tenant_id = v_tenant for no key update;
        v_allowed := quota_of(v_tenant, tg_argv[0]);
        execute format(
            'select count(*) > $2 from (select from %I where tenant_id = $1 limit $2 + 1) as enough',
            tg_table_name
        ) into v_more using v_tenant, v_allowed;
        if v_more then
            raise exception '%', tg_argv[0] using errcode = 'ND001', detail = v_allowed::text;
        end if;
    end loop;
    return null;
end
$$;

-- Refuses a row that would be more than an agent may have. A count of many rows takes milliseconds, so a large quota
-- is checked at one row in 64, and an agent exceeds it by some hundred rows at most.
create function keep_agent_quota() returns trigger language plpgsql as $$
declare
    v_allowed bigint := quota_of(new.tenant_id, tg_argv[0]);
    v_more    boolean;
begin
    if v_allowed > 1000 and random() >= 1.0 / 64 then
        return null;
    end if;
    execute format(
        'select count(*) > $3
         from (select from %I where tenant_id = $1 and agent_id = $2 limit $3 + 1) as enough',
        tg_table_name
    ) into v_more using new.tenant_id, new.agent_id, v_allowed;
    if v_more then
        raise exception '%', tg_argv[0] using errcode = 'ND001', detail = v_allowed::text;
    end if;
    return null;
end
$$;

grant execute on function
    quota_default, quota_of
to nightdesk_app;
