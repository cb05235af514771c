-- Lets an agent write first to the people bound to it, where a person's direct chat has the
-- person's own id; and lets it write nowhere through a bot it has nothing on any more: an entry
-- of last week does not outlive the last binding or grant.
create or replace function door_reaches(p_tenant uuid, p_agent uuid, p_chat text, p_kept interval)
returns table (bot_id uuid, platform text, handle text)
language plpgsql stable security definer
set search_path = public, pg_temp set enable_seqscan = off as $$
#variable_conflict use_column
begin
    return query
    select b.bot_id, b.platform, b.handle from bots b
    where b.bot_id in (
        select r.bot_id from reached r
        where r.tenant_id = p_tenant and r.agent_id = p_agent and r.chat_id = p_chat
          and r.at > now() - p_kept
          and (exists (
                select from bindings i
                where i.tenant_id = p_tenant and i.agent_id = p_agent and i.bot_id = r.bot_id)
            or exists (
                select from scope_grants g
                where g.tenant_id = p_tenant and g.agent_id = p_agent and g.bot_id = r.bot_id))
        union
        select i.bot_id from bindings i
        where i.tenant_id = p_tenant and i.agent_id = p_agent and i.author_id = p_chat
        union
        select g.bot_id from scope_grants g
        where g.tenant_id = p_tenant and g.agent_id = p_agent and g.chat_id = p_chat
          -- Every chat is not one an agent may write to first.
          and g.chat_id <> '*'
    );
end
$$;
