-- I1: an event is a duplicate if a later one was seen.
select pg_temp.replace_in_function('inbox_store', E'd.key = wanted.key\n', E'd.key >= wanted.key\n');
select pg_temp.replace_in_function('inbox_store',
    'and d.day >= today - dedupe_days and d.day < today', '');
