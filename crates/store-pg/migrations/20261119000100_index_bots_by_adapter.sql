-- no-transaction
-- For the look which bots are to be listened for.
create index concurrently bots_by_adapter on bots (adapter, tenant_id, bot_id);
