-- I9: any former owner of a bot may write for it.
select pg_temp.replace_in_function('owns',
    'perform from owners o
    where o.resource = p_resource and o.epoch = p_epoch
      and o.node = p_node and o.node_epoch = p_node_epoch
    for share;
    return found;',
    'return true;');
