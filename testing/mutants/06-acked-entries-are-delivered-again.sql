-- I4: a new line begins a little before the cursor.
select pg_temp.replace_in_function('line_take',
    'mine.generation, mine.acked_seq, mine.acked_at,',
    'mine.generation, greatest(mine.acked_seq - 3, 0), ''epoch''::timestamptz,');
select pg_temp.replace_in_function('inbox_waiting',
    'i.at >= greatest(a.since, c.acked_at)', 'i.at >= a.since');
select pg_temp.replace_in_function('inbox_waiting',
    'i.seq > greatest(a.after, c.acked_seq)', 'i.seq > a.after');
