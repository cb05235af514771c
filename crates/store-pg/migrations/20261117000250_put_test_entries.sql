-- A person puts an entry into an inbox, to see whether its agent wakes up and takes it.
create function inbox_put_test(p_tenant uuid, p_agent uuid, p_bot uuid, p_chat text, p_body bytea)
returns bigint language plpgsql as $$
declare
    mine inbox_heads;
begin
    update inbox_heads h
    set next_seq = h.next_seq + 1, last_at = greatest(h.last_at, clock_timestamp())
    where h.tenant_id = p_tenant and h.agent_id = p_agent
    returning h.* into mine;
    if not found then
        return null;
    end if;
    insert into inbox_entries (tenant_id, agent_id, seq, at, bot_id, chat_id, body, key_id)
    values (p_tenant, p_agent, mine.next_seq - 1, mine.last_at, p_bot, p_chat, p_body, 0);
    perform wake_sleepers(array[p_tenant], array[p_agent]);
    return mine.next_seq - 1;
end
$$;
