-- Adds what the other pages list: jobs and fires, letters, sends, refused and unreadable events, users and their requests,
-- and the usage of thirty days. Of twenty agents, one has a job, one a webhook and one a grant for letters.
create temporary table crowd as
select a.tenant_id, a.agent_id, b.bot_id, n.number, n.number::integer as n, n.number::integer % 20 as kind,
    t.name not like 'crowd-%' as is_largest
from agents a
    join tenants t on t.tenant_id = a.tenant_id
    join bots b on b.tenant_id = a.tenant_id and b.handle = 'crowd'
    cross join lateral (select right(a.name, 6) as number) as n
where a.name like 'crowd-%';
create index on crowd (tenant_id, n);
analyze crowd;

create function pg_temp.fire_text(at timestamptz) returns text language sql stable as $$
    select to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"+00:00"')
$$;

insert into schedules
    (tenant_id, agent_id, job_id, arming, fire_at, due_at, next_at, by_inbox, target, recurring, reports, overlap,
     catch_up_ms, jitter_ms, changed_at)
select tenant_id, agent_id, 'report', 4, pg_temp.fire_text('2096-01-01'), '2096-01-01', '2096-01-01', true,
    'Write the report.', true, false, 'buffer_one', 604800000, 0, now() - interval '1 hour'
from crowd where kind = 0;

insert into fires
    (tenant_id, fire_id, agent_id, job_id, arming, fire_at, due_at, state, cause, tries, calling, outcome, node, began_at,
     ended_at, reports)
select c.tenant_id, gen_random_uuid(), c.agent_id, 'report', f.arming, pg_temp.fire_text(f.at), f.at,
    case when f.is_missed then 'missed' else 'fired' end, case when f.is_missed then 'gave-up' end, 1, false,
    case when f.is_missed then 'status 503' else 'status 204' end, 'node-1', f.at, f.at + interval '1 s', false
from crowd c
    cross join lateral (
        select arming, now() - (4 - arming) * interval '1 hour' as at, c.n % 40 = 20 and arming = 1 as is_missed
        from generate_series(1, 3) arming
    ) as f
where c.kind = 0;

-- Of ten agents, one wrote to the first agent of its tenant. The first agent answered some.
create temporary table written as
select c.tenant_id, gen_random_uuid() as letter_id, case d.is_answer when true then o.agent_id else c.agent_id end as writer,
    case d.is_answer when true then c.agent_id else o.agent_id end as reader, c.bot_id,
    now() - make_interval(secs => 60 + c.n * 2 - d.is_answer::integer) as at
from crowd c
    join crowd o on o.tenant_id = c.tenant_id and o.n = 0
    cross join (values (false), (true)) as d (is_answer)
where c.n % 10 = 1 and (c.n < 4000 or not d.is_answer);

insert into letters
    (tenant_id, letter_id, agent_id, to_tenant_id, to_agent_id, dispatch_id, route, kind, hop, state, sent_at, chat_id,
     bot_id)
select tenant_id, letter_id, writer, tenant_id, reader, letter_id::text, 'deliver', 'augment', 0, 'put', at, 'letters',
    bot_id
from written;

insert into letters_in (tenant_id, agent_id, letter_id, from_tenant_id, from_agent_id, hop, put_at)
select tenant_id, reader, letter_id, tenant_id, writer, 0, at from written;

insert into letter_hooks (tenant_id, name, agent_id, digest)
select tenant_id, 'hook-' || number, agent_id, sha256(agent_id::text::bytea) from crowd where kind = 3;

insert into letter_grants (tenant_id, agent_id, peer_tenant_id, peer_agent_id)
select c.tenant_id, c.agent_id, o.tenant_id, o.agent_id
from crowd c
    join tenants t on t.name = 'crowd-000' and t.tenant_id <> c.tenant_id
    join crowd o on o.tenant_id = t.tenant_id and o.n = 0
where c.kind = 4;

insert into sends
    (tenant_id, agent_id, request_id, bot_id, chat_id, body, key_id, body_id, state, node, node_epoch, asked_at,
     called_at, settled_at, makes_message)
select tenant_id, agent_id, 'send-' || s, bot_id, 'c' || number, '', 1, gen_random_uuid(), 'ambiguous', 'node-1', 0,
    now() - interval '9 hours' + s * interval '1 minute', now() - interval '9 hours' + s * interval '1 minute',
    now() - interval '9 hours' + s * interval '1 minute', true
from crowd cross join generate_series(1, 200) s where n = 0;

insert into refusals (tenant_id, slot, number, at, bot_id, event_key, reason, agent_id)
select c.tenant_id, r, r, now() - r * interval '1 s', c.bot_id, 'refused-' || r,
    (array['unbound-author', 'not-welcome', 'not-addressed'])[1 + r % 3], c.agent_id
from crowd c cross join generate_series(0, 999) r where c.is_largest and c.n = 0;
insert into refusal_heads (tenant_id, next_number) select tenant_id, 1000 from crowd where is_largest and n = 0;

insert into quarantined (tenant_id, bot_id, slot, number, at, problem, body, key_id, body_id)
select c.tenant_id, c.bot_id, q, q, now() - q * interval '1 s', 'problem ' || q % 5, '', 1, gen_random_uuid()
from crowd c cross join generate_series(0, 999) q where c.is_largest and c.n = 0;
insert into quarantine_heads (tenant_id, bot_id, next_number)
select tenant_id, bot_id, 1000 from crowd where is_largest and n = 0;

-- Each tenant has five users. Operators asked often to read the messages of the largest one.
with entered as (
    insert into users (name, email)
    select 'User ' || u || ' of ' || t.name, 'u' || u || '@' || t.name || '.example'
    from tenants t cross join generate_series(1, 5) u
    returning user_id, email
)
insert into user_roles (tenant_id, user_id, role, source)
select t.tenant_id, e.user_id, 'member', 'hand'
from entered e join tenants t on e.email like '%@' || t.name || '.example';

insert into glass_requests (tenant_id, asked_by, asked_at, reason, lasts)
select c.tenant_id, (select user_id from users limit 1), now() - g * interval '1 hour', 'ticket ' || g,
    interval '30 minutes'
from crowd c cross join generate_series(1, 500) g where c.is_largest and c.n = 0;

-- The totals up to hours of the last thirty days: each of the last two days, and the last of the days before. They end at
-- the totals of now.
insert into tenant_usage (tenant_id, hour, sampled_at, agents, messages, wakes, awake_ms, fires)
select t.tenant_id, h.hour, h.hour + interval '55 minutes', 200, -10 * ago, -2 * ago, -60000 * ago, -ago
from (
    select tenant_id from tenants union all select '00000000-0000-0000-0000-000000000000'
) as t
    cross join generate_series(1, 720) ago
    cross join lateral (select date_trunc('hour', now(), 'UTC') - ago * interval '1 hour' as hour) as h
where ago < 48 or extract(hour from h.hour at time zone 'UTC') = 23
on conflict do nothing
