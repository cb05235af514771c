//! Plants bugs in the database: one mistake in its functions or row-level security.

use anyhow::{Result, ensure};

use crate::cluster::Cluster;
use crate::setup::Cast;
use crate::stage::DATABASE;

/// X3: numbers in the order of allocation instead of commits, without a lock on the head. A writer for several agents
/// takes its numbers early and commits late.
pub(super) fn number_by_sequence(cluster: &Cluster, _: &Cast) -> Result<()> {
    cluster.ask(DATABASE, "create sequence planted; grant usage on planted to nightdesk_app")?;
    let taken = "update inbox_heads h
        set next_seq = h.next_seq + ordered.n, last_at = greatest(h.last_at, now_at),
            bytes = h.bytes + ordered.bytes
        from (select c.* from counted c order by c.tenant, c.agent) as ordered
        where h.tenant_id = ordered.tenant and h.agent_id = ordered.agent
        returning h.tenant_id, h.agent_id, h.next_seq - ordered.n as base, h.last_at,
            h.reach_version, h.bytes - ordered.bytes as bytes_base";
    let planted = "select h.tenant_id, h.agent_id, nextval('planted') as base,
            now_at as last_at, h.reach_version, h.bytes as bytes_base
        from inbox_heads h
            join counted on counted.tenant = h.tenant_id and counted.agent = h.agent_id";
    let stall = "order by ev.o, n.n;
        perform pg_sleep(0.05) where cardinality(r_event) > cardinality(e_bot);";
    replace(cluster, "inbox_store", &[(taken, planted), ("order by ev.o, n.n;", stall)])
}

/// X4: an event is a duplicate if a later one was seen.
pub(super) fn dedupe_by_mark(cluster: &Cluster, _: &Cast) -> Result<()> {
    let mark = [
        ("d.key = wanted.key\n", "d.key >= wanted.key\n"),
        ("and d.day >= today - dedupe_days and d.day < today", ""),
    ];
    replace(cluster, "inbox_store", &mark)
}

/// X5: any former owner of a bot may write for it.
pub(super) fn no_fence(cluster: &Cluster, _: &Cast) -> Result<()> {
    let held = "perform from owners o
    where o.resource = p_resource and o.epoch = p_epoch
      and o.node = p_node and o.node_epoch = p_node_epoch
    for share;
    return found;";
    replace(cluster, "owns", &[(held, "return true;")])
}

/// X6: a new line begins a little before the cursor.
pub(super) fn hand_over_after_ack(cluster: &Cluster, _: &Cast) -> Result<()> {
    let before = [(
        "mine.generation, mine.acked_seq, mine.acked_at,",
        "mine.generation, greatest(mine.acked_seq - 3, 0), 'epoch'::timestamptz,",
    )];
    replace(cluster, "line_take", &before)?;
    let whatever = [
        ("i.at >= greatest(a.since, c.acked_at)", "i.at >= a.since"),
        ("i.seq > greatest(a.after, c.acked_seq)", "i.seq > a.after"),
    ];
    replace(cluster, "inbox_waiting", &whatever)
}

/// X9: an event goes to any agent of the right tenant.
pub(super) fn route_by_tenant(cluster: &Cluster, _: &Cast) -> Result<()> {
    let first = "(select a.agent_id from agents a where a.tenant_id = i.tenant_id
            order by a.agent_id limit 1)";
    let any = [
        (
            "select i.tenant_id, i.agent_id from bindings i
        where i.bot_id = p_bot and i.author_id = a.author_id",
            &*format!(
                "select i.tenant_id, {first} as agent_id from bindings i
        where i.bot_id = p_bot and i.author_id = a.author_id"
            ),
        ),
        (
            "select i.tenant_id, i.agent_id from bindings i where v_whole and i.bot_id = p_bot",
            &*format!(
                "select i.tenant_id, {first} from bindings i where v_whole and i.bot_id = p_bot"
            ),
        ),
    ];
    replace(cluster, "door_reach", &any)
}

/// X19: a forgotten `where`, without row-level security behind it.
pub(super) fn no_wall(cluster: &Cluster, _: &Cast) -> Result<()> {
    let forgotten = [("i.tenant_id = a.tenant and i.agent_id = a.agent", "true")];
    replace(cluster, "inbox_waiting", &forgotten)?;
    let open = "alter table inbox_entries disable row level security";
    cluster.ask(DATABASE, open).map(drop)
}

/// X21: row-level security permits only one tenant of a batch, and an event without an outcome counts as a duplicate.
pub(super) fn one_tenant_wall(cluster: &Cluster, cast: &Cast) -> Result<()> {
    let silent = [("then no_outcome('an event')", "then 'duplicate'")];
    replace(cluster, "inbox_store", &silent)?;
    // The operator has no inbox. The first of the other tenants is permitted.
    let first = format!(
        "tenant_id = (array_remove(current_setting(''app.tenants'')::uuid[], ''{}''))[1]",
        cast.operator
    );
    let walls = format!(
        "do $$ declare t text; begin
             foreach t in array array['inbox_heads', 'inbox_entries'] loop
                 execute format('drop policy own_tenants on %I', t);
                 execute format('create policy own_tenants on %I using ({first})', t);
             end loop;
         end $$"
    );
    cluster.ask(DATABASE, &walls).map(drop)
}

/// X25: a reply counts at any time.
pub(super) fn late_reply_counts(cluster: &Cluster, _: &Cast) -> Result<()> {
    let never_over = [
        ("state := mine.state", "state := replace(mine.state, 'timed-out', 'put')"),
        ("reply_by := mine.reply_by", "reply_by := null"),
    ];
    replace(cluster, "letter_reply_facts", &never_over)
}

/// X26: the grant of one tenant is enough.
pub(super) fn one_side_grants(cluster: &Cluster, _: &Cast) -> Result<()> {
    let senders_twice = [
        (
            "where g.tenant_id = l.to_tenant and g.agent_id = l.to_agent",
            "where g.tenant_id = l.tenant and g.agent_id = l.agent",
        ),
        (
            "and g.peer_tenant_id = l.tenant and g.peer_agent_id = l.agent",
            "and g.peer_tenant_id = l.to_tenant and g.peer_agent_id = l.to_agent",
        ),
    ];
    replace(cluster, "letter_facts", &senders_twice)?;
    let known = [("        ), false)\n    from", "        ), a.peer is not null)\n    from")];
    replace(cluster, "letter_addresses", &known)
}

/// X27: the newest revision of a skill is overwritten.
pub(super) fn overwritten_in_place(cluster: &Cluster, _: &Cast) -> Result<()> {
    let in_place = [
        ("revision = s.revision + 1, meta", "meta"),
        (
            "insert into skill_revisions (",
            "delete from skill_revisions r
            where r.tenant_id = p_tenant and r.name = p_name and r.revision = v_revision;
            insert into skill_revisions (",
        ),
    ];
    replace(cluster, "skill_put", &in_place)
}

/// Replaces parts of a function. Each part must exist in it.
fn replace(cluster: &Cluster, function: &str, parts: &[(&str, &str)]) -> Result<()> {
    let definition = format!("select pg_get_functiondef('{function}'::regproc)");
    let mut sql = cluster.ask(DATABASE, &definition)?;
    for (from, to) in parts {
        ensure!(sql.contains(from), "{function} has no `{from}`");
        sql = sql.replace(from, to);
    }
    cluster.ask(DATABASE, &sql).map(drop)
}
