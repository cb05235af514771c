-- What is over is shown for a while, and then forgotten. With an agent or a tenant goes what it armed.

-- Fires of a tenant, of an agent, or of a job of its, newest first.
create function fires_page(p_tenant uuid, p_agent uuid, p_job text, p_before uuid, fires_max integer)
returns setof fires
language plpgsql stable
set enable_seqscan = off
as $$
declare
    v_began timestamptz := 'infinity';
    v_fire  uuid := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
begin
    if p_before is not null then
        select f.began_at, f.fire_id into v_began, v_fire from fires f
        where f.tenant_id = p_tenant and f.fire_id = p_before;
    end if;
    if p_agent is null then
        return query
        select f.* from fires f
        where f.tenant_id = p_tenant and (f.began_at, f.fire_id) < (v_began, v_fire)
        order by f.began_at desc, f.fire_id desc limit fires_max;
    elsif p_job is null then
        -- By the page of each job: they are few, and their fires may be many.
        return query
        select o.* from schedules s cross join lateral (
            select f.* from fires f
            where f.tenant_id = s.tenant_id and f.agent_id = s.agent_id and f.job_id = s.job_id
              and (f.began_at, f.fire_id) < (v_began, v_fire)
            order by f.began_at desc, f.fire_id desc limit fires_max
        ) as o
        where s.tenant_id = p_tenant and s.agent_id = p_agent
        order by o.began_at desc, o.fire_id desc limit fires_max;
    else
        return query
        select f.* from fires f
        where f.tenant_id = p_tenant and f.agent_id = p_agent and f.job_id = p_job
          and (f.began_at, f.fire_id) < (v_began, v_fire)
        order by f.began_at desc, f.fire_id desc limit fires_max;
    end if;
end
$$;

-- Forgets fires that ended so long ago, and jobs that have not been armed since, at most so many of each.
-- A door: of all tenants.
create function forget_fires(kept interval, rows_max integer) returns bigint
language plpgsql security definer set search_path = public, pg_temp set enable_seqscan = off as $$
declare
    jobs bigint;
    gone bigint;
begin
    delete from fires f
    where (f.tenant_id, f.fire_id) in (
        select o.tenant_id, o.fire_id from fires o
        where o.ended_at < clock_timestamp() - kept order by o.ended_at limit rows_max
        for update skip locked
    );
    get diagnostics gone = row_count;
    delete from schedules s
    where (s.tenant_id, s.agent_id, s.job_id) in (
        select o.tenant_id, o.agent_id, o.job_id from schedules o
        where o.next_at is null and o.changed_at < clock_timestamp() - kept and o.watch_at is null
          -- As long as something is known of its fires, so is it.
          and not exists (
              select from fires f
              where f.tenant_id = o.tenant_id and f.agent_id = o.agent_id and f.job_id = o.job_id
          )
        order by o.changed_at limit rows_max
        for update skip locked
    );
    get diagnostics jobs = row_count;
    -- A full round of either is worth another.
    return greatest(gone, jobs);
end
$$;
alter function forget_fires(interval, integer) owner to nightdesk_doors;

create or replace function tenant_erase(p_tenant uuid) returns void language plpgsql as $$
begin
    perform from tenants t where t.tenant_id = p_tenant for update;
    delete from schedules where tenant_id = p_tenant;
    delete from fires where tenant_id = p_tenant and next_at is not null;
    delete from schedule_rooms where tenant_id = p_tenant;
    delete from capabilities where tenant_id = p_tenant;
    delete from commands where tenant_id = p_tenant;
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

create or replace function tenant_erase_texts(p_tenant uuid, rows_max bigint) returns bigint
language plpgsql as $$
declare
    written text;
    step    bigint;
    gone    bigint := 0;
begin
    foreach written in array array[
        'inbox_entries', 'inbox_parked', 'quarantined', 'sends', 'refusals', 'reached', 'wakers',
        'notices', 'webchat_messages', 'webchat_chats', 'prompts', 'media', 'fires'
    ]
    loop
        execute format(
            'delete from %I where (tableoid, ctid) in (
                 select tableoid, ctid from %1$I where tenant_id = $1 limit $2
             ) and tenant_id = $1', written
        ) using p_tenant, rows_max;
        get diagnostics step = row_count;
        gone := gone + step;
    end loop;
    return gone;
end
$$;
