-- The history of this database: an unbroken sequence of commits. A failover to a standby that lagged, a restore and a
-- snapshot that was put back begin another one, in which the numbers of lost rows are given out again. An entry's id
-- names the incarnation in which it was accepted, so no id is given out twice.
create table history (
    -- There is one row.
    is_only     boolean     not null primary key default true,
    -- Random: a counter would go back with everything else.
    incarnation bigint      not null,
    -- The server that wrote this history.
    system_id   bigint      not null,
    timeline    integer     not null,
    -- This table's own number, which a dump does not bring along.
    table_id    bigint      not null,
    begun_at    timestamptz not null default now(),
    -- The number of histories before this one.
    breaks      integer     not null default 0,
    constraint history_one_row check (is_only)
);
grant select, update on history to nightdesk_app;
grant select on history to nightdesk_doors;

create function new_incarnation() returns bigint language sql volatile as $$
    select ('x' || left(replace(gen_random_uuid()::text, '-', ''), 12))::bit(48)::bigint
$$;

-- Returns the timeline to which the server writes. A promotion and a restore begin a new one.
create function server_timeline() returns integer language sql volatile as $$
    select ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::integer
$$;

insert into history (incarnation, system_id, timeline, table_id)
select new_incarnation(), s.system_identifier, server_timeline(), 'history'::regclass::bigint
from pg_control_system() s;

-- Returns the incarnation for a write or a claim. Every statement that gives out or compares numbers of entries calls
-- this. Behind a pooler a connection may outlive a failover, so the timeline is compared here too.
create function current_incarnation() returns bigint language plpgsql stable as $$
declare
    mine history;
begin
    select h.* into strict mine from history h;
    if mine.timeline <> server_timeline() then
        raise exception 'the database has begun another history' using errcode = 'ND003';
    end if;
    return mine.incarnation;
end
$$;

grant execute on function new_incarnation, server_timeline, current_incarnation to nightdesk_app;
