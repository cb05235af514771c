-- Bots' keys are replaced while the old ones are still believed.

-- The keys of a bot: the newest is used, all that have not ended are believed.
create table bot_keys (
    tenant_id  uuid        not null,
    bot_id     uuid        not null,
    bot_key_id uuid        not null,
    sealed     bytea       not null,
    key_id     bigint      not null,
    created_at timestamptz not null default now(),
    -- Null: until it is replaced.
    expires_at timestamptz,
    primary key (tenant_id, bot_id, bot_key_id),
    foreign key (tenant_id, bot_id) references bots,
    foreign key (tenant_id, key_id) references tenant_keys
);
create index bot_keys_by_expiry on bot_keys (expires_at) where expires_at is not null;
-- Whoever owns the tables sees all rows while nobody can see the new table.
alter table bots no force row level security;
insert into bot_keys (tenant_id, bot_id, bot_key_id, sealed, key_id, created_at)
    select b.tenant_id, b.bot_id, b.bot_id, b.sealed, b.key_id, b.created_at
    from bots b where b.sealed is not null;
alter table bots force row level security;
select wall_off('bot_keys');

-- contract: no desk that reads it was ever released.
drop function door_bot(text, uuid);
-- contract: the keys have moved, and no desk that reads them here was ever released.
alter table bots drop column sealed, drop column key_id;

-- A webhook names its bot by its path. A row for each of its live keys, newest first.
create function door_bot(p_path text, p_bot uuid, keys_max integer) returns table (
    tenant_id uuid, bot_id uuid, platform text, adapter text, handle text, settings jsonb,
    bot_key_id uuid, sealed bytea, wrapped bytea, key_id bigint
) language plpgsql stable security definer
set search_path = public, pg_temp set enable_seqscan = off as $$
#variable_conflict use_column
begin
    return query
    select b.tenant_id, b.bot_id, b.platform, b.adapter, b.handle, b.settings, k.bot_key_id,
        k.sealed, t.wrapped, k.key_id
    from bots b
        left join bot_keys k on k.tenant_id = b.tenant_id and k.bot_id = b.bot_id
            and coalesce(k.expires_at > now(), true)
        left join tenant_keys t on t.tenant_id = k.tenant_id and t.key_id = k.key_id
    where b.path = p_path or b.bot_id = p_bot
    order by k.created_at desc
    limit keys_max;
end
$$;
alter function door_bot(text, uuid, integer) owner to nightdesk_doors;
