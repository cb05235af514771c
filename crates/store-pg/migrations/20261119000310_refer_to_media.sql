-- Media: files that are told of by reference. A row for each agent that may have one: nobody else
-- can, whoever learns its name.
create table media (
    tenant_id  uuid        not null,
    agent_id   uuid        not null,
    -- 128 random bits.
    media_id   uuid        not null,
    -- What a platform has, and what that calls it. Null: the desk has its bytes.
    bot_id     uuid,
    reference  text,
    mime       text,
    filename   text,
    size_bytes bigint,
    expires_at timestamptz not null,
    primary key (tenant_id, agent_id, media_id),
    constraint media_lies_somewhere check ((bot_id is null) = (reference is null)),
    foreign key (tenant_id, agent_id) references agents
);
create index media_by_expiry on media (expires_at);
select wall_off('media');

-- Forgets media whose time is over. A door: of all tenants.
create function forget_media(media_max integer) returns bigint
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    forgotten bigint;
begin
    delete from media m using (
        select o.tenant_id, o.agent_id, o.media_id from media o
        where o.expires_at < clock_timestamp()
        order by o.expires_at limit media_max
    ) as old
    where m.tenant_id = old.tenant_id and m.agent_id = old.agent_id and m.media_id = old.media_id;
    get diagnostics forgotten = row_count;
    return forgotten;
end
$$;
alter function forget_media(integer) owner to nightdesk_doors;

-- What an erased tenant leaves, with what came since.
create or replace function tenant_erase_texts(p_tenant uuid, rows_max bigint) returns bigint
language plpgsql as $$
declare
    written text;
    step    bigint;
    gone    bigint := 0;
begin
    foreach written in array array[
        'inbox_entries', 'inbox_parked', 'quarantined', 'sends', 'refusals', 'reached', 'wakers',
        'notices', 'webchat_messages', 'webchat_chats', 'prompts', 'media'
    ]
    loop
        execute format(
            'delete from %I where (tableoid, ctid) in (
                 select tableoid, ctid from %1$I where tenant_id = $1 limit $2
             ) and tenant_id = $1', written
        ) using p_tenant, rows_max;
        get diagnostics step = row_count;
        gone := gone + step;
    end loop;
    return gone;
end
$$;
