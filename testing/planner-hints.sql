-- Functions of `planner-hints.py`, in the migrated database of its run.
-- In no order, so that a merge join cannot end early.
create function id(n bigint) returns uuid language sql immutable as $$ select md5(n::text)::uuid $$;
create function ids(a bigint, b bigint) returns uuid[] language sql immutable as
    $$ select array_agg(id(n)) from generate_series(a, b) n $$;
create function ids_of_tenant(t bigint, n integer) returns uuid[] language sql immutable as
    $$ select array_fill(id(t), array[n]) $$;
create function numbers(a bigint, b bigint) returns bigint[] language sql immutable as
    $$ select array_agg(n) from generate_series(a, b) n $$;
create function zeros(n integer) returns bigint[] language sql immutable as
    $$ select array_fill(0::bigint, array[n]) $$;
create function flags(n integer) returns boolean[] language sql immutable as
    $$ select array_fill(false, array[n]) $$;
create function moments(at timestamptz, n integer) returns timestamptz[] language sql immutable as
    $$ select array_fill(at, array[n]) $$;
create function names(prefix text, b integer) returns text[] language sql immutable as
    $$ select array_agg(prefix || n) from generate_series(1, b) n $$;
create function keys(b integer) returns bytea[] language sql immutable as
    $$ select array_agg(sha256(('key' || n)::bytea)) from generate_series(1, b) n $$;

-- Returns the least milliseconds of a statement whose effects are undone.
create function least_ms(call text, times integer) returns float8 language plpgsql as $$
declare
    began timestamptz;
    took float8[];
begin
    for n in 1..times loop
        begin
            began := clock_timestamp();
            execute call;
            took := took || extract(epoch from clock_timestamp() - began)::float8 * 1000;
            raise exception using errcode = 'UNDO0';
        exception
            when sqlstate 'UNDO0' then null;
            when query_canceled then return 'infinity';
        end;
    end loop;
    -- The second half: a generic plan is chosen after five calls.
    return min(t) from unnest(took[times / 2 + 1:]) t;
end
$$;
grant execute on all functions in schema public to nightdesk_app;
