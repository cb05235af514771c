-- People say themselves which agent is theirs: with a one-time code, in a direct message to the bot.

-- Whether agents of other tenants may be linked on a bot.
alter table bots add column shared boolean not null default false;

-- Of a code only the digest is kept.
create table link_codes (
    tenant_id   uuid        not null,
    code_sha256 bytea       not null,
    agent_id    uuid        not null,
    created_at  timestamptz not null default now(),
    expires_at  timestamptz not null,
    used_bot    uuid,
    used_author text,
    primary key (tenant_id, code_sha256),
    foreign key (tenant_id, agent_id) references agents,
    constraint link_codes_used_by_somebody check ((used_bot is null) = (used_author is null))
);
create unique index link_codes_by_digest on link_codes (code_sha256);
create index link_codes_by_agent on link_codes (tenant_id, agent_id, created_at);
create index link_codes_by_age on link_codes (created_at);
select wall_off('link_codes');

-- How often a person tried a code within the hour. The operator's: whose agent they mean is not known.
create table link_tries (
    tenant_id     uuid        not null,
    bot_id        uuid        not null,
    author_id     text        not null,
    hour_began_at timestamptz not null,
    tries         integer     not null,
    primary key (tenant_id, bot_id, author_id)
);
create index link_tries_by_age on link_tries (hour_began_at);
select wall_off('link_tries');

-- Counts a try of a person. Answers whether it may be looked at.
create function link_try(p_operator uuid, p_bot uuid, p_author text, tries_max integer)
returns boolean language sql as $$
    insert into link_tries as t (tenant_id, bot_id, author_id, hour_began_at, tries)
    values (p_operator, p_bot, p_author, now(), 1)
    on conflict (tenant_id, bot_id, author_id) do update
    set hour_began_at = case when t.hour_began_at > now() - interval '1 hour'
            then t.hour_began_at else now() end,
        tries = case when t.hour_began_at > now() - interval '1 hour'
            then t.tries + 1 else 1 end
    returning t.tries <= tries_max
$$;

-- Uses a code up and binds whoever sent it. The same person may say it again. A door: the code says
-- whose agent it is.
create function door_link(p_bot uuid, p_author text, p_code bytea, tries_max integer)
returns table (outcome text, tenant_id uuid, agent_id uuid, agent text)
language plpgsql security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
declare
    v_bot  bots;
    v_code link_codes;
    v_said text;
begin
    select b.* into strict v_bot from bots b where b.bot_id = p_bot;
    select c.* into v_code from link_codes c where c.code_sha256 = p_code for update;
    if v_code.used_bot = p_bot and v_code.used_author = p_author then
        v_said := 'linked';
    elsif not link_try(v_bot.tenant_id, p_bot, p_author, tries_max) then
        v_said := 'too-many';
    elsif v_code.agent_id is null then
        v_said := 'unknown';
    elsif v_code.used_bot is not null then
        v_said := 'used';
    elsif v_code.expires_at <= now() then
        v_said := 'expired';
    elsif v_bot.tenant_id <> v_code.tenant_id and not v_bot.shared then
        v_said := 'not-here';
    else
        update link_codes c set used_bot = p_bot, used_author = p_author
        where c.tenant_id = v_code.tenant_id and c.code_sha256 = p_code;
        insert into bindings (tenant_id, bot_id, author_id, agent_id)
        values (v_code.tenant_id, p_bot, p_author, v_code.agent_id)
        on conflict do nothing;
        v_said := 'linked';
    end if;
    if v_said <> 'linked' then
        return query select v_said, null::uuid, null::uuid, null::text;
        return;
    end if;
    return query
    select v_said, a.tenant_id, a.agent_id, a.name from agents a
    where a.tenant_id = v_code.tenant_id and a.agent_id = v_code.agent_id;
end
$$;
alter function door_link(uuid, text, bytea, integer) owner to nightdesk_doors;

-- Forgets codes and tries that nobody can use or is held to any more. A door.
create function forget_links(kept interval, rows_max integer) returns bigint
language plpgsql security definer set search_path = public, pg_temp as $$
declare
    v_codes bigint;
    v_tries bigint;
begin
    with old as (
        select c.code_sha256 from link_codes c where c.created_at < now() - kept
        order by c.created_at limit rows_max
    )
    delete from link_codes c using old where c.code_sha256 = old.code_sha256;
    get diagnostics v_codes = row_count;
    with old as (
        select t.bot_id, t.author_id from link_tries t where t.hour_began_at < now() - kept
        order by t.hour_began_at limit rows_max
    )
    delete from link_tries t using old where t.bot_id = old.bot_id and t.author_id = old.author_id;
    get diagnostics v_tries = row_count;
    return v_codes + v_tries;
end
$$;
alter function forget_links(interval, integer) owner to nightdesk_doors;
