//! Letters of agents to agents, posted as their gateways would.
//!
//! In every tenant one half of the agents writes and the other half reads: who wrote after a letter came to it would
//! answer that letter, and answers to answers come to an end.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use nightdesk_judge::monotonic_ns;
use nightdesk_types::SystemClock;

use super::{Connection, Desk, TEXT};
use crate::chance::{mix, pick};
use crate::history::Seen;
use crate::setup::Cast;

/// Who writes to whom, and what the writers show.
#[derive(Debug)]
struct Pairs {
    /// The members of each tenant, by their places: those who write, and those who read.
    tenants: Vec<(Vec<usize>, Vec<usize>)>,
    bearers: Vec<String>,
}

/// Posts letters until a time, over so many connections.
pub(super) async fn post_until(desk: &Arc<Desk>, connections: u64, until: Instant) -> Result<()> {
    let pairs = Arc::new(Pairs::of(&desk.cast)?);
    let post = |node| tokio::spawn(post((Arc::clone(desk), node), Arc::clone(&pairs), until));
    super::all(super::nodes(desk, connections).map(post)).await
}

impl Pairs {
    fn of(cast: &Cast) -> Result<Self> {
        let mut tenants: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (place, member) in cast.members.iter().enumerate() {
            tenants.entry(member.tenant).or_default().push(place);
        }
        let halves = tenants.into_values().map(|mut writers| {
            let readers = writers.split_off(writers.len() / 2);
            ensure!(!writers.is_empty(), "a tenant has nobody to write to");
            Ok((writers, readers))
        });
        let clock = SystemClock::started();
        let shown = cast.members.iter();
        let bearers = shown.map(|member| format!("Bearer {}", member.token(&clock).expose()));
        Ok(Self { tenants: halves.collect::<Result<_>>()?, bearers: bearers.collect() })
    }

    /// Who writes a letter, and to whom.
    fn pick(&self, letter: u64) -> (usize, usize) {
        let (writers, readers) = &self.tenants[pick(letter, self.tenants.len())];
        let (one, other) = (mix(letter), mix(mix(letter)));
        (writers[pick(one, writers.len())], readers[pick(other, readers.len())])
    }
}

async fn post((desk, node): (Arc<Desk>, usize), pairs: Arc<Pairs>, until: Instant) -> Result<()> {
    let mut connection = Connection::open(desk.nodes[node]).await?;
    let mut body = Vec::new();
    while Instant::now() < until {
        let event = desk.next_event(node);
        let (writer, agent) = pairs.pick(event);
        write_letter(&mut body, &desk.cast, agent, event)?;
        let began_ns = monotonic_ns();
        let status = connection.write(&pairs.bearers[writer], &body).await?;
        ensure!(status == 200, "the desk did not take a letter: {status}");
        desk.told.note_at(began_ns, &[Seen { agent, event }]);
    }
    Ok(())
}

/// A letter to an agent, as long as what people write.
fn write_letter(body: &mut Vec<u8>, cast: &Cast, agent: usize, letter: u64) -> Result<()> {
    body.clear();
    let to = cast.members[agent].agent;
    write!(
        body,
        "{{\"op\":\"deliver\",\"agent\":\"{to}\",\"dispatch_id\":\"e{letter}\",\"message\":\"{TEXT}\"}}"
    )
    .context("could not write into memory")
}

#[cfg(test)]
mod tests {
    use nightdesk_types::{AgentId, TenantId};
    use uuid::Uuid;

    use super::*;
    use crate::setup::Member;

    fn cast(tenants: u128, members: u128) -> Cast {
        let member = |number: u128| Member {
            tenant: TenantId::from_uuid(Uuid::from_u128(number % tenants)),
            agent: AgentId::from_uuid(Uuid::from_u128(number)),
            bot: 0,
            gateway: format!("gw-{number}"),
            secret: "secret".to_owned(),
        };
        let operator = TenantId::from_uuid(Uuid::max());
        Cast { operator, bots: Vec::new(), members: (0..members).map(member).collect() }
    }

    #[test]
    fn nobody_who_reads_writes_and_letters_stay_in_a_tenant() {
        let cast = cast(4, 40);
        let pairs = Pairs::of(&cast).unwrap();
        let picked: Vec<_> = (0..10_000).map(|letter| pairs.pick(letter)).collect();

        for (writer, reader) in &picked {
            assert_eq!(cast.members[*writer].tenant, cast.members[*reader].tenant);
            assert!(picked.iter().all(|(other, _)| other != reader), "{reader} reads and writes");
        }
        let mut pairs = picked;
        pairs.sort_unstable();
        pairs.dedup();
        assert_eq!(pairs.len(), 4 * 5 * 5, "every pair writes");
    }

    #[test]
    fn whoever_is_alone_writes_to_nobody() {
        assert!(Pairs::of(&cast(4, 4)).is_err());
    }
}
