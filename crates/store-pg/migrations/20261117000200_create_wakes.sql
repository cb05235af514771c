-- Waking: which agents are needed and have no line, who calls them, and what came of it.
--
-- A wake is written by the same transaction that makes it needed, so no crash can lose it. It may
-- be written in vain: whoever claims it looks again before calling.
create table wakes (
    tenant_id          uuid        not null,
    agent_id           uuid        not null,
    state              text        not null,
    -- Since when the agent is needed.
    since              timestamptz not null,
    -- When somebody looks at it next: to call, to call again, or to give up.
    due_at             timestamptz,
    calls              integer     not null default 0,
    called_at          timestamptz,
    outcome            text,
    -- The agent is not called before this, whatever happens.
    rests_until        timestamptz not null default 'epoch',
    woken_at           timestamptz,
    -- A line that is open and yet suspect: its number, and where the cursor stood then.
    suspect_generation bigint,
    suspect_acked_seq  bigint,
    -- A person asked for the call: it is made also if nothing waits.
    asked              boolean     not null default false,
    -- How often the agent was woken in the hour that began then.
    hour_began_at      timestamptz not null default 'epoch',
    hour_wakes         integer     not null default 0,
    primary key (tenant_id, agent_id),
    constraint wakes_known_state
        check (state in ('due', 'held', 'woken', 'settled', 'unreachable')),
    constraint wakes_looked_at_again check (state not in ('due', 'held') or due_at is not null)
) with (fillfactor = 50);
-- For the sweep. Agents that are awake are not in it.
create index wakes_by_due on wakes (due_at) where due_at is not null;
select wall_off('wakes');

-- Whom to call for an agent, in this order.
create table wakers (
    tenant_id  uuid        not null,
    agent_id   uuid        not null,
    position   integer     not null,
    url        text        not null,
    created_at timestamptz not null default now(),
    primary key (tenant_id, agent_id, position),
    foreign key (tenant_id, agent_id) references agents
);
select wall_off('wakers');

-- What the owner of an agent is told. A ring per tenant.
create table notice_heads (
    tenant_id   uuid   not null,
    next_number bigint not null default 0,
    primary key (tenant_id)
);
select wall_off('notice_heads');
create table notices (
    tenant_id uuid        not null,
    slot      bigint      not null,
    number    bigint      not null,
    at        timestamptz not null,
    kind      text        not null,
    agent_id  uuid        not null,
    -- What came of the last call.
    outcome   text,
    calls     integer     not null,
    primary key (tenant_id, slot),
    constraint notices_known_kind check (kind in ('unreachable', 'held'))
);
select wall_off('notices');

alter table lines
    -- How long its client is given to come back by itself, once it has ended.
    add column grace   interval not null default '35 seconds',
    -- Who ended it: its client, which said that it goes idle or did not, the desk, or a node that died.
    add column parting text,
    add constraint lines_known_parting check (parting in ('idle', 'client', 'desk', 'node'));

grant select on nodes to nightdesk_doors;
