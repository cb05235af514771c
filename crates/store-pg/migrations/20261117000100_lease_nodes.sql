-- A node lives as long as it renews its lease, by the database's clock. What belongs to a life of a
-- node, such as its lines, ends with it.
alter table nodes add column expires_at timestamptz not null default 'infinity';

-- Whether that life of a node goes on.
create function node_lives(p_node text, p_epoch bigint) returns boolean
language sql stable as $$
    select exists (
        select from nodes n
        where n.node = p_node and n.epoch = p_epoch and n.expires_at > clock_timestamp()
    )
$$;

-- A life is over when its node or another says so. Until then a node that is late may come back.
alter table nodes add column is_over boolean not null default false;

create function node_is_gone(p_node text, p_epoch bigint) returns boolean
language sql stable as $$
    select not exists (
        select from nodes n
        where n.node = p_node and n.epoch = p_epoch and not n.is_over
    )
$$;
