//! The statements of the desk, as `pgbench` runs them.
//!
//! As in the desk, no two who run them at a time have an agent in common, so that nobody
//! waits for anybody's locks.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use nightdesk_types::limits::{DEDUPE_DAYS, GATHER_MAX, INBOX_ENTRIES_MAX};

use crate::chance::mix;
use crate::setup::{self, Cast};

/// Events gathered into one statement, as the desk gathers them.
pub(super) const EVENTS: usize = GATHER_MAX;

/// The largest number pgbench's `random` takes with room to spare.
const RANDOM_MAX: u64 = 9_000_000_000_000_000_000;

/// Which script it is, and how many clients run it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) number: usize,
    pub(super) clients: usize,
}

/// One script: a batch is accepted, and then acked.
///
/// What differs from client to client is picked by the client's number, because pgbench has
/// no other way to tell its clients apart.
pub(super) fn text(cast: &Cast, place: Place, body_bytes: usize) -> String {
    let batches: Vec<Vec<usize>> =
        (0..place.clients).map(|client| batch(cast.members.len(), place, client)).collect();
    let choose = |kind: &str, of: &dyn Fn(&[usize]) -> Vec<String>| {
        let mut chosen = "case :client_id::integer".to_owned();
        for (client, members) in batches.iter().enumerate() {
            let values = of(members).join(",");
            write!(chosen, " when {client} then '{{{values}}}'::{kind}[]").unwrap_or_default();
        }
        chosen + " end"
    };
    let each = |members: &[usize], of: &dyn Fn(usize) -> String| -> Vec<String> {
        members.iter().map(|member| of(*member)).collect()
    };
    let tenants = choose("uuid", &|members| tenants(cast, members));
    let own = choose("uuid", &|members| each(members, &|m| cast.members[m].tenant.to_string()));
    let agents = choose("uuid", &|members| each(members, &|m| cast.members[m].agent.to_string()));
    let chats = choose("text", &|members| each(members, &setup::chat));
    let (random, keys) = keys();
    let (operators, bots) = (same("uuid", &cast.operator), same("uuid", &cast.bot));
    let (ordinals, zeros) = (ordinals(), same("bigint", &0));
    let (bodies, sendable) = (same("bytea", &"x".repeat(body_bytes)), same("boolean", &false));
    format!(
        "{random}\
         select array_agg(seq order by event) as seqs, array_agg(at order by event) as ats
from inbox_accept({tenants}, {operators}, {bots}, {keys}, {chats}, {sendable}, null, null, null,
{ordinals}, {own}, {agents}, {zeros}, {bodies}, {zeros}, {INBOX_ENTRIES_MAX}, {DEDUPE_DAYS})
\\gset
select count(acked_seq) as acked
from inbox_ack({tenants}, {own}, {agents}, {zeros}, {ordinals}, :seqs::bigint[], :seqs::bigint[],
:ats::timestamptz[], array_fill(now(), array[{EVENTS}]))
\\gset
"
    )
}

/// The agents of a client's batch: as many different ones as there are events, at random.
fn batch(members: usize, place: Place, client: usize) -> Vec<usize> {
    let mut shuffled: Vec<usize> = (0..members).collect();
    shuffled.sort_by_key(|member| mix(*member as u64));
    let share = members / place.clients;
    let own = &shuffled[client * share..(client + 1) * share];
    own.iter().copied().cycle().skip(place.number * EVENTS).take(EVENTS).collect()
}

/// Everybody whose rows the batch touches: the bot's operator too.
fn tenants(cast: &Cast, members: &[usize]) -> Vec<String> {
    let own = members.iter().map(|member| cast.members[*member].tenant);
    let all: BTreeSet<_> = own.chain([cast.operator]).collect();
    all.iter().map(ToString::to_string).collect()
}

/// Dedupe keys as they come from a hash, and the commands that draw them.
fn keys() -> (String, String) {
    let draw = |n: usize| format!("\\set k{n} random(0, {RANDOM_MAX})\n");
    let key = |n: usize| format!("int8send(:k{n}) || int8send(:k{n})");
    let keys: Vec<String> = (1..=EVENTS).map(key).collect();
    ((1..=EVENTS).map(draw).collect(), format!("array[{}]", keys.join(", ")))
}

fn same(kind: &str, value: &dyn std::fmt::Display) -> String {
    let values: Vec<String> = (0..EVENTS).map(|_| value.to_string()).collect();
    format!("'{{{}}}'::{kind}[]", values.join(","))
}

fn ordinals() -> String {
    let values: Vec<String> = (1..=EVENTS).map(|n| n.to_string()).collect();
    format!("'{{{}}}'::integer[]", values.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_clients_have_an_agent_in_common() {
        let of = |client| -> BTreeSet<usize> {
            let scripts = (0..8).map(|number| Place { number, clients: 8 });
            scripts.flat_map(|place| batch(1_000, place, client)).collect()
        };
        let clients: Vec<BTreeSet<usize>> = (0..8).map(of).collect();

        let together: BTreeSet<usize> = clients.iter().flatten().copied().collect();
        assert_eq!(together.len(), clients.iter().map(BTreeSet::len).sum::<usize>());
        assert_eq!(together.len(), 1_000);
    }

    #[test]
    fn a_batch_names_nobody_twice() {
        for number in 0..8 {
            let batch = batch(1_000, Place { number, clients: 8 }, 3);
            assert_eq!(batch.iter().collect::<BTreeSet<_>>().len(), EVENTS, "script {number}");
        }
    }
}
