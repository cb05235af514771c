-- What an agent is called where several of them speak through one bot.

-- As its gateway said at boot. Where it said none, nothing is put before what it writes.
alter table agents add column display_name text
    constraint agents_short_display_name check (char_length(display_name) between 1 and 64);

-- Which agents were reached in a chat, of all tenants.
create index reached_by_chat on reached (bot_id, chat_id);

-- Through which bots an agent may write to a chat, and by what name it is told apart there: its display name, if another
-- agent was reached in the same chat. A door: the other may be another tenant's, and nothing but that it is there is told.
-- contract: no desk that asks it was ever released.
drop function door_reaches(uuid, uuid, text, interval);
create function door_reaches(p_tenant uuid, p_agent uuid, p_chat text, p_kept interval)
returns table (bot_id uuid, platform text, handle text, speaks_as text)
language plpgsql stable security definer
set search_path = public, pg_temp set enable_seqscan = off as $$
#variable_conflict use_column
begin
    return query
    select b.bot_id, b.platform, b.handle, (
        select a.display_name from agents a
        where a.tenant_id = p_tenant and a.agent_id = p_agent
          and exists (
              select from reached o
              where o.bot_id = b.bot_id and o.chat_id = p_chat and o.agent_id <> p_agent
                and o.at > now() - p_kept)
    ) from bots b
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
alter function door_reaches(uuid, uuid, text, interval) owner to nightdesk_doors;
