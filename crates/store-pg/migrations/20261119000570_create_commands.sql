-- Commands: which agent made which known, and in which scope of which bot. Nobody's reach beyond it.
create table commands (
    tenant_id   uuid not null,
    bot_id      uuid not null,
    scope_id    text not null,
    name        text not null,
    agent_id    uuid not null,
    -- What the platform was told, as a digest, and what it calls that. Null: nothing yet.
    told_sha256 bytea,
    command_id  text,
    primary key (tenant_id, bot_id, scope_id, name),
    constraint commands_of_one_agent unique (bot_id, scope_id, name),
    constraint commands_told_or_not check ((told_sha256 is null) = (command_id is null)),
    foreign key (tenant_id, agent_id) references agents
);
create index commands_by_agent on commands (tenant_id, agent_id, bot_id);
select wall_off('commands');

-- Gives an agent a name in a scope that was granted to it as a whole. False: it was not, or another agent has the
-- name. Who has one and not the scope any more loses it: a door, since that may be another tenant's.
create function door_claim_command(
    p_tenant uuid, p_agent uuid, p_bot uuid, p_scope text, p_name text
) returns boolean
language plpgsql security definer set search_path = public, pg_temp set enable_seqscan = off as $$
begin
    delete from commands c
    where c.bot_id = p_bot and c.scope_id = p_scope and c.name = p_name
      and not exists (
          select from scope_grants g
          where g.tenant_id = c.tenant_id and g.agent_id = c.agent_id
            and g.bot_id = c.bot_id and g.scope_id = c.scope_id and g.chat_id = '*');
    insert into commands (tenant_id, bot_id, scope_id, name, agent_id)
    select p_tenant, p_bot, p_scope, p_name, p_agent
    where array_position(current_setting('app.tenants')::uuid[], p_tenant) is not null
      and exists (
          select from scope_grants g
          where g.tenant_id = p_tenant and g.agent_id = p_agent
            and g.bot_id = p_bot and g.scope_id = p_scope and g.chat_id = '*')
    on conflict do nothing;
    return exists (
        select from commands c
        where c.tenant_id = p_tenant and c.agent_id = p_agent
          and c.bot_id = p_bot and c.scope_id = p_scope and c.name = p_name);
end
$$;
alter function door_claim_command(uuid, uuid, uuid, text, text) owner to nightdesk_doors;

-- With a bot or a tenant go its commands.
create or replace function door_remove_bot(p_tenant uuid, p_bot uuid) returns boolean
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
    delete from commands c where c.bot_id = p_bot;
    delete from link_tries t where t.tenant_id = p_tenant and t.bot_id = p_bot;
    delete from source_cursors s where s.tenant_id = p_tenant and s.bot_id = p_bot;
    delete from bot_hearings h where h.tenant_id = p_tenant and h.bot_id = p_bot;
    delete from bot_keys k where k.tenant_id = p_tenant and k.bot_id = p_bot;
    delete from bots b where b.tenant_id = p_tenant and b.bot_id = p_bot;
    return true;
end
$$;

create or replace function tenant_erase(p_tenant uuid) returns void language plpgsql as $$
begin
    perform from tenants t where t.tenant_id = p_tenant for update;
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
