//! Chooses senders and recipients: one half of a tenant's agents writes to the other half, and to agents of other
//! tenants if both sides granted it. They also try where only one side granted it, or neither.

use std::fmt::Write as _;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::cluster::Cluster;
use crate::setup::Cast;
use crate::stage::DATABASE;

/// An agent that writes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Writer {
    /// Its index among the members.
    pub member: usize,
    /// Agents to which it may write.
    pub friends: Vec<usize>,
    /// Agents to which it may not write.
    pub strangers: Vec<usize>,
}

/// The sides that granted letters between a writer and an agent of another tenant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Granted {
    Both,
    OnlyWriter,
    OnlyOther,
    Nobody,
}

impl Granted {
    const ALL: [Self; 4] = [Self::Both, Self::OnlyWriter, Self::OnlyOther, Self::Nobody];
}

/// An agent of another tenant, and the grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Abroad {
    writer: usize,
    other: usize,
    granted: Granted,
}

/// Chooses this many writers, and stores their grants.
pub fn enter(cluster: &Cluster, cast: &Cast, writers: usize) -> Result<Vec<Writer>> {
    let (writers, abroad) = chosen(cast, writers);
    let mut rows = String::new();
    for Abroad { writer, other, granted } in abroad {
        let sides: &[_] = match granted {
            Granted::Both => &[(writer, other), (other, writer)],
            Granted::OnlyWriter => &[(writer, other)],
            Granted::OnlyOther => &[(other, writer)],
            Granted::Nobody => &[],
        };
        for (one, peer) in
            sides.iter().map(|(one, peer)| (&cast.members[*one], &cast.members[*peer]))
        {
            let comma = if rows.is_empty() { "" } else { "," };
            write!(
                rows,
                "{comma}('{}','{}','{}','{}')",
                one.tenant, one.agent, peer.tenant, peer.agent
            )
            .context("could not write into memory")?;
        }
    }
    if !rows.is_empty() {
        let insert = format!(
            "insert into letter_grants (tenant_id, agent_id, peer_tenant_id, peer_agent_id)
             values {rows}"
        );
        cluster.ask(DATABASE, &insert)?;
    }
    Ok(writers)
}

fn chosen(cast: &Cast, writers: usize) -> (Vec<Writer>, Vec<Abroad>) {
    let halves = cast.writers_and_readers();
    let mut abroad = Vec::new();
    // First one agent of each tenant, then the next of each.
    let ranks = 0..cast.members.len();
    let all = ranks.flat_map(|rank| (0..halves.len()).map(move |tenant| (tenant, rank)));
    let places = all.filter_map(|(tenant, rank)| Some((tenant, *halves[tenant].0.get(rank)?)));
    let writers = places.take(writers).map(|(tenant, member)| {
        let mut writer =
            Writer { member, friends: halves[tenant].1.clone(), strangers: Vec::new() };
        // Each grant uses another tenant, as far as there are enough.
        let others = (1..halves.len()).map(|step| &halves[(tenant + step) % halves.len()].1);
        for (granted, readers) in Granted::ALL.into_iter().zip(others) {
            let Some(other) = readers.first().copied() else { continue };
            abroad.push(Abroad { writer: member, other, granted });
            let is_friend = granted == Granted::Both;
            if is_friend { writer.friends.push(other) } else { writer.strangers.push(other) }
        }
        writer
    });
    (writers.collect(), abroad)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_reads_does_not_write_and_only_both_sides_make_friends() {
        let cast = Cast::imagined(10, 40);
        let (writers, abroad) = chosen(&cast, 12);
        assert_eq!(writers.len(), 12);
        for writer in &writers {
            let tenant = |member: usize| cast.members[member].tenant;
            let is_own = |other: &&usize| tenant(**other) == tenant(writer.member);
            assert_eq!(writer.friends.iter().filter(is_own).count(), 2);
            assert_eq!((writer.friends.len(), writer.strangers.len()), (3, 3));
            assert!(!writer.strangers.iter().any(|other| is_own(&other)));
            let reads = |other: &Writer| other.friends.contains(&writer.member);
            assert!(!writers.iter().any(reads), "{} reads and writes", writer.member);
        }
        for Abroad { writer, other, granted } in abroad {
            let found = writers.iter().find(|one| one.member == writer).unwrap();
            assert_eq!(found.friends.contains(&other), granted == Granted::Both);
        }
    }
}
