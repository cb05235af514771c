-- no-transaction
-- For the sweep that finds the open lines of nodes that died.
create index concurrently lines_open_by_node on lines (node, node_epoch, tenant_id, agent_id)
    where closed_at is null;
