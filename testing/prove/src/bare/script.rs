//! Writes the desk's statements as scripts for `pgbench`.
//!
//! As in the desk, no two concurrent clients share an agent, so no client waits for another's locks.

use std::collections::BTreeSet;
use std::fmt::Display;

use nightdesk_types::limits::{DEDUPE_DAYS, GATHER_MAX, INBOX_ENTRIES_MAX};
use uuid::Uuid;

use crate::chance::mix;
use crate::setup::{self, Cast};

/// Events in one statement, as the desk gathers them.
pub(super) const EVENTS: usize = GATHER_MAX;

/// Largest number that pgbench's `random` accepts, with room to spare.
const RANDOM_MAX: u64 = 9_000_000_000_000_000_000;

/// Number of a script, and number of clients that run it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) number: usize,
    pub(super) clients: usize,
}

/// Returns one script, which accepts a batch and then acks it.
pub(super) fn text(cast: &Cast, place: Place, body_bytes: usize) -> String {
    let batches = Batches::of(cast, place);
    let tenants = batches.tenants();
    let own = batches.each("uuid", |member| cast.members[member].tenant.to_string());
    let agents = batches.each("uuid", |member| cast.members[member].agent.to_string());
    let chats = batches.each("text", setup::chat);
    let (random, keys) = keys();
    let (operators, bots) = (same("uuid", &cast.operator), same("uuid", &cast.bots[0].bot));
    let (ordinals, zeros) = (ordinals(), same("bigint", &0));
    // The first data key of each tenant exists; bare PostgreSQL stores bytes that are not sealed.
    let (data_keys, body_ids) = (same("bigint", &1), same("uuid", &Uuid::nil()));
    let (bodies, sendable) = (same("bytea", &"x".repeat(body_bytes)), same("boolean", &false));
    let paces = same("text", &"deliver");
    format!(
        "{random}\
select array_agg(seq order by event) as seqs, array_agg(at order by event) as ats
from inbox_accept({tenants}, {operators}, {bots}, {keys}, {chats}, {sendable}, null, null, null,
    {ordinals}, {own}, {agents}, {zeros}, {bodies}, {data_keys}, {body_ids}, {paces},
    {INBOX_ENTRIES_MAX}, {DEDUPE_DAYS})
\\gset
select count(acked_seq) as acked
from inbox_ack({tenants}, {own}, {agents}, array_fill(current_incarnation(), array[{EVENTS}]), {zeros},
    {ordinals}, :seqs::bigint[], :seqs::bigint[],
    :ats::timestamptz[], array_fill(now(), array[{EVENTS}]))
\\gset
"
    )
}

/// The batch of each client. The client's number selects the values that differ, because pgbench has no other way to
/// distinguish its clients.
struct Batches<'a> {
    cast: &'a Cast,
    members: Vec<Vec<usize>>,
}

impl<'a> Batches<'a> {
    fn of(cast: &'a Cast, place: Place) -> Self {
        let batch = |client| batch(cast.members.len(), place, client);
        Self { cast, members: (0..place.clients).map(batch).collect() }
    }

    /// Returns an array with a value for each agent of the batch.
    fn each(&self, kind: &str, value: impl Fn(usize) -> String) -> String {
        self.choice(kind, |members| members.iter().map(|member| value(*member)).collect())
    }

    /// Returns all tenants whose rows the batch touches, including the bot's operator.
    fn tenants(&self) -> String {
        self.choice("uuid", |members| {
            let own = members.iter().map(|member| self.cast.members[*member].tenant);
            let all: BTreeSet<_> = own.chain([self.cast.operator]).collect();
            all.iter().map(ToString::to_string).collect()
        })
    }

    fn choice(&self, kind: &str, values: impl Fn(&[usize]) -> Vec<String>) -> String {
        let choices = self.members.iter().enumerate().map(|(client, members)| {
            format!("when {client} then {}", array(kind, &values(members)))
        });
        format!("case :client_id::integer {} end", choices.collect::<Vec<_>>().join(" "))
    }
}

/// Returns the agents of a client's batch: as many different agents as there are events, at random.
fn batch(members: usize, place: Place, client: usize) -> Vec<usize> {
    let mut shuffled: Vec<usize> = (0..members).collect();
    shuffled.sort_by_key(|member| mix(*member as u64));
    let share = members / place.clients;
    let own = &shuffled[client * share..(client + 1) * share];
    own.iter().copied().cycle().skip(place.number * EVENTS).take(EVENTS).collect()
}

/// Returns random dedupe keys, as a hash makes them, and the commands that draw them.
fn keys() -> (String, String) {
    let draw = |n: usize| format!("\\set k{n} random(0, {RANDOM_MAX})\n");
    let key = |n: usize| format!("int8send(:k{n}) || int8send(:k{n})");
    let keys: Vec<String> = (1..=EVENTS).map(key).collect();
    ((1..=EVENTS).map(draw).collect(), format!("array[{}]", keys.join(", ")))
}

fn same(kind: &str, value: &dyn Display) -> String {
    array(kind, &vec![value.to_string(); EVENTS])
}

fn ordinals() -> String {
    let ordinals: Vec<String> = (1..=EVENTS).map(|n| n.to_string()).collect();
    array("integer", &ordinals)
}

fn array(kind: &str, values: &[String]) -> String {
    format!("'{{{}}}'::{kind}[]", values.join(","))
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
