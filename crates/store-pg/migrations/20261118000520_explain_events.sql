-- A refusal says whose agent came closest.
alter table refusals add column agent_id uuid;
create index refusals_by_event on refusals (tenant_id, event_key);

-- What an agent said in a chat is found by when it was asked for.
create index sends_by_chat on sends (tenant_id, agent_id, bot_id, chat_id, asked_at);
