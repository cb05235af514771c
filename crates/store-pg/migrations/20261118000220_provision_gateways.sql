-- A gateway that provisions itself asks once per platform at every boot. What it says about itself
-- is kept in its tenant and gives it nothing.

-- A secret that a boot asked for ends when a later boot has another. One that a person put
-- somewhere does not: whoever has it would never ask again.
alter table gateway_secrets add column provisioned boolean not null default false;

create table gateway_platforms (
    tenant_id      uuid        not null,
    gateway_id     uuid        not null,
    platform       text        not null,
    -- What it calls its bot there.
    bot_handle     text        not null,
    -- Where it would like to be reached. Whether it is, grants and bindings say.
    route_keys     text[]      not null,
    -- What it calls itself among its like. Whose agent it is, its token said.
    instance       text,
    provisioned_at timestamptz not null default now(),
    primary key (tenant_id, gateway_id, platform),
    foreign key (tenant_id, gateway_id) references gateways
);
select wall_off('gateway_platforms');

-- The gateway that said where its agent is woken. Null: an operator did, and that stands.
alter table wakers
    add column gateway_id uuid,
    add foreign key (tenant_id, gateway_id) references gateways;
