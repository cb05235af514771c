-- Users: the people who log in, their roles, sessions and API tokens, and broken glass.
--
-- A user belongs to no tenant. A role belongs to one, or to the desk, whose own id is that of no tenant; so
-- the wall holds for roles as for everything else of a tenant.
create table users (
    user_id    uuid        not null default gen_random_uuid(),
    name       text        not null,
    -- In lower case. The first login with this address, verified by its provider, becomes this user's.
    email      text,
    -- The provider and its id of the user, from the first login on.
    issuer     text,
    subject    text,
    created_at timestamptz not null default now(),
    used_at    timestamptz,
    primary key (user_id),
    constraint users_one_per_login unique (issuer, subject),
    constraint users_login_is_whole check ((issuer is null) = (subject is null))
);
create index users_by_email on users (email) where issuer is null;
grant select, insert on users to nightdesk_app, nightdesk_doors;
grant update (name, email, issuer, subject, used_at) on users to nightdesk_app, nightdesk_doors;
create constraint trigger tell_user after insert on users
    deferrable initially deferred for each row execute function tell_own('user-created', 'user_id');

create table user_roles (
    tenant_id  uuid        not null,
    user_id    uuid        not null,
    role       text        not null,
    -- A provider gives its roles anew at each login, and takes no role that a user gave.
    source     text        not null,
    created_at timestamptz not null default now(),
    primary key (tenant_id, user_id, role, source),
    constraint user_roles_known_source check (source in ('hand', 'claim')),
    constraint user_roles_known_role check (case
        when tenant_id = '00000000-0000-0000-0000-000000000000' then role in ('operator', 'auditor')
        else role in ('admin', 'member', 'auditor')
    end),
    foreign key (user_id) references users
);
create index user_roles_by_user on user_roles (user_id);
select wall_off('user_roles');
create constraint trigger tell_role after insert on user_roles
    deferrable initially deferred for each row
    execute function tell_row('role-given', 'user_id', 'role', 'source');
create constraint trigger tell_role_taken after delete on user_roles
    deferrable initially deferred for each row
    execute function tell_row('role-taken', 'user_id', 'role', 'source');

-- A login link works once. Only its digest is known here.
create table login_links (
    code_sha256 bytea       not null,
    user_id     uuid        not null,
    created_at  timestamptz not null default now(),
    expires_at  timestamptz not null,
    used_at     timestamptz,
    primary key (code_sha256),
    constraint login_links_whole_digest check (octet_length(code_sha256) = 32),
    foreign key (user_id) references users
);
create index login_links_by_user on login_links (user_id);
grant select, insert, delete on login_links to nightdesk_app;
grant update (used_at) on login_links to nightdesk_app;
create constraint trigger tell_login_link after insert on login_links
    deferrable initially deferred for each row
    execute function tell_own('login-link-made', 'user_id');

-- A session of a browser. Only the digest of its cookie is known here.
create table user_sessions (
    cookie_sha256 bytea       not null,
    user_id       uuid        not null,
    begun_at      timestamptz not null default now(),
    used_at       timestamptz not null default now(),
    ended_at      timestamptz,
    primary key (cookie_sha256),
    constraint user_sessions_whole_digest check (octet_length(cookie_sha256) = 32),
    foreign key (user_id) references users
);
create index user_sessions_by_user on user_sessions (user_id);
grant select, insert, delete on user_sessions to nightdesk_app, nightdesk_doors;
grant update (used_at, ended_at) on user_sessions to nightdesk_app, nightdesk_doors;
create constraint trigger tell_login after insert on user_sessions
    deferrable initially deferred for each row
    execute function tell_own('user-logged-in', 'user_id');
create constraint trigger tell_logout after update of ended_at on user_sessions
    deferrable initially deferred for each row
    when (old.ended_at is null and new.ended_at is not null)
    execute function tell_own('user-logged-out', 'user_id');

-- A token of a user's program. Only the digest of its text is known here.
create table api_tokens (
    token_id      uuid        not null default gen_random_uuid(),
    secret_sha256 bytea       not null,
    user_id       uuid        not null,
    name          text        not null,
    rights        text[]      not null,
    -- The only tenant that it reaches. Null: every tenant of its user.
    tenant_id     uuid,
    created_at    timestamptz not null default now(),
    expires_at    timestamptz not null,
    used_at       timestamptz,
    revoked_at    timestamptz,
    primary key (token_id),
    constraint api_tokens_one_per_secret unique (secret_sha256),
    constraint api_tokens_whole_digest check (octet_length(secret_sha256) = 32),
    foreign key (user_id) references users
);
create index api_tokens_by_user on api_tokens (user_id);
create index api_tokens_by_tenant on api_tokens (tenant_id) where tenant_id is not null;
grant select, insert, delete on api_tokens to nightdesk_app;
grant update (used_at, revoked_at) on api_tokens to nightdesk_app;
create constraint trigger tell_api_token after insert on api_tokens
    deferrable initially deferred for each row
    execute function tell_own('api-token-made', 'token_id');
create constraint trigger tell_api_token_revoked after update of revoked_at on api_tokens
    deferrable initially deferred for each row
    when (old.revoked_at is null and new.revoked_at is not null)
    execute function tell_own('api-token-revoked', 'token_id');

-- Requests of operators to read a tenant's messages. The chain of the tenant tells each step.
create table glass_requests (
    tenant_id   uuid        not null,
    request_id  uuid        not null default gen_random_uuid(),
    asked_by    uuid        not null,
    asked_at    timestamptz not null default now(),
    reason      text        not null,
    lasts       interval    not null,
    approved_by uuid,
    open_until  timestamptz,
    ended_at    timestamptz,
    primary key (tenant_id, request_id),
    constraint glass_requests_approved_by_another check (approved_by <> asked_by),
    constraint glass_requests_whole_approval check ((approved_by is null) = (open_until is null)),
    foreign key (tenant_id) references tenants,
    foreign key (asked_by) references users,
    foreign key (approved_by) references users
);
create index glass_requests_open on glass_requests (asked_by, open_until) where ended_at is null;
create index glass_requests_by_id on glass_requests (request_id);
select wall_off('glass_requests');
create constraint trigger tell_glass after insert on glass_requests
    deferrable initially deferred for each row
    execute function tell_row('glass-asked', 'request_id', 'asked_by');
create constraint trigger tell_glass_approved after update of approved_by on glass_requests
    deferrable initially deferred for each row
    when (old.approved_by is null and new.approved_by is not null)
    execute function tell_row('glass-approved', 'request_id', 'asked_by', 'approved_by');
create constraint trigger tell_glass_ended after update of ended_at on glass_requests
    deferrable initially deferred for each row
    when (old.ended_at is null and new.ended_at is not null)
    execute function tell_row('glass-ended', 'request_id', 'asked_by');

-- Returns what the decision about a user's access needs: the roles in tenants that live, and the tenants
-- whose messages the user may read now. A door: the tenants are known only afterwards.
create function door_user_access(p_users uuid[]) returns table (
    user_id uuid, role_tenants uuid[], roles text[], glass_tenants uuid[]
) language plpgsql stable security definer
set search_path = public, pg_temp as $$
#variable_conflict use_column
begin
    return query
    select u.user_id,
        coalesce(r.tenants, '{}'), coalesce(r.roles, '{}'), coalesce(g.tenants, '{}')
    from unnest(p_users) as u (user_id)
        left join lateral (
            select array_agg(r.tenant_id order by r.tenant_id, r.role) as tenants,
                array_agg(r.role order by r.tenant_id, r.role) as roles
            from (
                select distinct r.tenant_id, r.role from user_roles r
                where r.user_id = u.user_id
                    and (r.tenant_id = '00000000-0000-0000-0000-000000000000' or tenant_lives(r.tenant_id))
            ) as r
        ) as r on true
        left join lateral (
            select array_agg(distinct g.tenant_id) as tenants from glass_requests g
            where g.asked_by = u.user_id and g.ended_at is null and g.open_until > now()
        ) as g on true;
end
$$;
alter function door_user_access(uuid[]) owner to nightdesk_doors;

-- A page of users with their roles and the sources of these. Of a tenant: only its roles.
create function door_users(p_tenant uuid, p_user uuid, p_after uuid, users_max integer) returns table (
    user_id uuid, name text, email text, issuer text, created_at timestamptz, used_at timestamptz,
    role_tenants uuid[], roles text[], sources text[], sessions bigint
) language plpgsql stable security definer
set search_path = public, pg_temp as $$
#variable_conflict use_column
declare
    -- One user is a range of ids too, which the index serves.
    v_first uuid := coalesce(p_user, '00000000-0000-0000-0000-000000000000');
    v_last  uuid := coalesce(p_user, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
begin
    return query
    -- Those of a tenant are found by their roles. Those of the desk are all users, and there the first page ends the look.
    with page (user_id) as materialized (
        (
            select distinct r.user_id from user_roles r
            where r.tenant_id = p_tenant and coalesce(r.user_id > p_after, true)
              and r.user_id between v_first and v_last
            order by r.user_id limit users_max
        )
        union all
        (
            select u.user_id from users u
            where p_tenant is null and coalesce(u.user_id > p_after, true)
              and u.user_id between v_first and v_last
            order by u.user_id limit users_max
        )
    )
    select u.user_id, u.name, u.email, u.issuer, u.created_at, u.used_at,
        coalesce(r.tenants, '{}'), coalesce(r.roles, '{}'), coalesce(r.sources, '{}'),
        (select count(*) from user_sessions s where s.user_id = u.user_id and s.ended_at is null)
    from page p
        join users u on u.user_id = p.user_id
        left join lateral (
            select array_agg(r.tenant_id order by r.tenant_id, r.role, r.source) as tenants,
                array_agg(r.role order by r.tenant_id, r.role, r.source) as roles,
                array_agg(r.source order by r.tenant_id, r.role, r.source) as sources
            from user_roles r
            where r.user_id = u.user_id and r.tenant_id = coalesce(p_tenant, r.tenant_id)
        ) as r on true
    order by u.user_id;
end
$$;
alter function door_users(uuid, uuid, uuid, integer) owner to nightdesk_doors;

-- Gives a user the roles of a provider's claims, and takes those that the claims gave before and do not give now.
create function door_claim_roles(p_user uuid, p_tenants uuid[], p_roles text[]) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
begin
    delete from user_roles r
    where r.user_id = p_user and r.source = 'claim' and not exists (
        select from unnest(p_tenants, p_roles) as n (tenant_id, role)
        where n.tenant_id = r.tenant_id and n.role = r.role
    );
    insert into user_roles (tenant_id, user_id, role, source)
    select n.tenant_id, p_user, n.role, 'claim' from unnest(p_tenants, p_roles) as n (tenant_id, role)
    order by n.tenant_id, n.role
    on conflict do nothing;
end
$$;
alter function door_claim_roles(uuid, uuid[], text[]) owner to nightdesk_doors;

-- The newest requests, of a tenant or of all; or one. A door: an operator approves what another asked.
create function door_glass(p_tenant uuid, p_request uuid, requests_max integer) returns table (
    tenant_id uuid, request_id uuid, asked_by uuid, asked_at timestamptz, reason text, lasts_s bigint,
    approved_by uuid, open_until timestamptz, ended_at timestamptz
) language plpgsql stable security definer
set search_path = public, pg_temp as $$
#variable_conflict use_column
begin
    return query
    select g.tenant_id, g.request_id, g.asked_by, g.asked_at, g.reason,
        extract(epoch from g.lasts)::bigint, g.approved_by, g.open_until, g.ended_at
    from glass_requests g
    where g.tenant_id = coalesce(p_tenant, g.tenant_id) and g.request_id = coalesce(p_request, g.request_id)
    order by g.asked_at desc limit requests_max;
end
$$;
alter function door_glass(uuid, uuid, integer) owner to nightdesk_doors;

grant execute on function
    door_user_access, door_users, door_claim_roles, door_glass
to nightdesk_app;
