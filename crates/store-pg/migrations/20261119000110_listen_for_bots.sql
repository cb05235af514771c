-- Some platforms tell nothing by themselves: they must be asked, by the bot's owner. Which bots that are,
-- a node must know before it knows whose they are.
create function door_listening_bots(p_adapters text[], bots_max integer) returns table (bot_id uuid)
language plpgsql stable security definer
set search_path = public, pg_temp set enable_seqscan = off as $$
#variable_conflict use_column
begin
    return query
    select b.bot_id from bots b
    where b.adapter = any(p_adapters)
      and b.settings ->> 'updates' is distinct from 'webhook'
    order by b.bot_id
    limit bots_max;
end
$$;
alter function door_listening_bots(text[], integer) owner to nightdesk_doors;
