//! Posts letters between agents, as their gateways would. In every tenant one half of the agents writes, and the other
//! half reads.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use nightdesk_judge::monotonic_ns;
use nightdesk_types::SystemClock;

use super::{Connection, Desk, TEXT};
use crate::history::Seen;
use crate::setup::Cast;

/// Writers and readers, and the writers' tokens.
#[derive(Debug)]
struct Pairs {
    /// Indexes of the writing and the reading members of each tenant.
    tenants: Vec<(Vec<usize>, Vec<usize>)>,
    bearers: Vec<String>,
    written: AtomicUsize,
}

/// Posts letters until a time, over this many connections.
pub(super) async fn post_until(desk: &Arc<Desk>, connections: u64, until: Instant) -> Result<()> {
    let pairs = Arc::new(Pairs::of(&desk.cast)?);
    let post = |node| tokio::spawn(post((Arc::clone(desk), node), Arc::clone(&pairs), until));
    super::all(super::nodes(desk, connections).map(post)).await
}

impl Pairs {
    fn of(cast: &Cast) -> Result<Self> {
        let tenants = cast.writers_and_readers();
        let is_alone = |(writers, _): &(Vec<usize>, _)| writers.is_empty();
        ensure!(!tenants.iter().any(is_alone), "a tenant has nobody to write to");
        let clock = SystemClock::start();
        let shown = cast.members.iter();
        let bearers = shown.map(|member| format!("Bearer {}", member.token(&clock).expose()));
        Ok(Self { tenants, bearers: bearers.collect(), written: AtomicUsize::new(0) })
    }

    /// Returns writer and reader of the next letter: all pairs in turn, because of the rate limit of each pair.
    fn next(&self) -> (usize, usize) {
        let nth = self.written.fetch_add(1, Ordering::Relaxed);
        let (writers, readers) = &self.tenants[nth % self.tenants.len()];
        let nth = nth / self.tenants.len();
        let writer = nth % writers.len();
        (writers[writer], readers[(nth / writers.len() + writer) % readers.len()])
    }
}

async fn post((desk, node): (Arc<Desk>, usize), pairs: Arc<Pairs>, until: Instant) -> Result<()> {
    let mut connection = Connection::open(desk.nodes[node]).await?;
    let mut body = Vec::new();
    while Instant::now() < until {
        let event = desk.next_event(node);
        let (writer, agent) = pairs.next();
        write_letter(&mut body, &desk.cast, agent, event)?;
        let began_ns = monotonic_ns();
        let status = connection.write(&pairs.bearers[writer], &body).await?;
        ensure!(status == 200, "the desk did not take a letter: {status}");
        desk.told.note_at(began_ns, &[Seen { agent, event }]);
    }
    Ok(())
}

/// Writes a letter to an agent, as long as an author's message.
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
    use super::*;

    #[test]
    fn nobody_who_reads_writes_and_letters_stay_in_a_tenant() {
        let cast = Cast::imagined(4, 40);
        let pairs = Pairs::of(&cast).unwrap();
        let picked: Vec<_> = (0..4 * 5 * 5).map(|_| pairs.next()).collect();

        for (writer, reader) in &picked {
            assert_eq!(cast.members[*writer].tenant, cast.members[*reader].tenant);
            assert!(picked.iter().all(|(other, _)| other != reader), "{reader} reads and writes");
        }
        let mut pairs = picked;
        pairs.sort_unstable();
        pairs.dedup();
        assert_eq!(pairs.len(), 4 * 5 * 5, "every pair writes once");
    }

    #[test]
    fn whoever_is_alone_writes_to_nobody() {
        assert!(Pairs::of(&Cast::imagined(4, 4)).is_err());
    }
}
