-- Prompts: who asked what with buttons. Whoever presses one reaches the agent that asked, and no other.
create table prompts (
    tenant_id uuid        not null,
    agent_id  uuid        not null,
    bot_id    uuid        not null,
    -- What its client calls it.
    prompt_id text        not null,
    asked_at  timestamptz not null default now(),
    primary key (tenant_id, agent_id, bot_id, prompt_id),
    constraint prompts_of_one_agent unique (bot_id, prompt_id),
    foreign key (tenant_id, agent_id) references agents
);
create index prompts_by_age on prompts (asked_at);
select wall_off('prompts');

-- Notes that an agent asks something. False: another agent's prompt is called so.
create function prompt_ask(p_tenant uuid, p_agent uuid, p_bot uuid, p_prompt text)
returns boolean language plpgsql as $$
begin
    insert into prompts (tenant_id, agent_id, bot_id, prompt_id)
    values (p_tenant, p_agent, p_bot, p_prompt)
    on conflict do nothing;
    return exists (
        select from prompts p
        where p.bot_id = p_bot and p.prompt_id = p_prompt
          and p.tenant_id = p_tenant and p.agent_id = p_agent
    );
end
$$;

-- Who asked what was answered. A door: a press names its bot and no tenant.
create function door_asker(p_bot uuid, p_prompt text) returns table (tenant_id uuid, agent_id uuid)
language plpgsql stable security definer
set search_path = public, pg_temp set enable_seqscan = off as $$
#variable_conflict use_column
begin
    return query
    select p.tenant_id, p.agent_id from prompts p where p.bot_id = p_bot and p.prompt_id = p_prompt;
end
$$;
alter function door_asker(uuid, text) owner to nightdesk_doors;

-- Forgets old prompts. A door: of all tenants.
create function forget_prompts(kept interval, prompts_max integer) returns bigint
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    forgotten bigint;
begin
    delete from prompts p using (
        select o.bot_id, o.prompt_id from prompts o
        where o.asked_at < clock_timestamp() - kept
        order by o.asked_at limit prompts_max
    ) as old
    where p.bot_id = old.bot_id and p.prompt_id = old.prompt_id;
    get diagnostics forgotten = row_count;
    return forgotten;
end
$$;
alter function forget_prompts(interval, integer) owner to nightdesk_doors;
