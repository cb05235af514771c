-- The three roles of the desk. Run before the migrations, by somebody who may make roles.
--
-- nightdesk_owner owns every table. nightdesk_doors owns the few functions that may look
-- across tenants. nightdesk_app is who the desk logs in as: it owns nothing, and
-- row-level security binds it.
do $$
begin
    if not exists (select from pg_roles where rolname = 'nightdesk_owner') then
        create role nightdesk_owner nologin;
    end if;
    if not exists (select from pg_roles where rolname = 'nightdesk_doors') then
        create role nightdesk_doors nologin bypassrls;
    end if;
    if not exists (select from pg_roles where rolname = 'nightdesk_app') then
        create role nightdesk_app login;
    end if;
end
$$;
grant nightdesk_doors to nightdesk_owner;
grant nightdesk_owner to current_user;
grant usage, create on schema public to nightdesk_owner, nightdesk_doors;
grant usage on schema public to nightdesk_app;
