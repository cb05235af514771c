//! Drops packets with the kernel's packet filter.
//!
//! The table of rules belongs to an `nft` process: the kernel removes it with that process, also if this one is killed.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::cluster::output;

/// Time limit for the rules to be in place.
const SET_WITHIN: Duration = Duration::from_secs(5);

/// Polling interval.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Direction of packets, seen from the process that listens on the port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::chaos) enum Way {
    In,
    Out,
}

/// Packets that are dropped.
#[derive(Clone, Copy, Debug)]
pub(in crate::chaos) struct PacketLoss {
    /// The port that a process listens on.
    pub(in crate::chaos) port: u16,
    /// The direction.
    pub(in crate::chaos) way: Way,
    /// The percentage of packets.
    pub(in crate::chaos) percent: u32,
}

impl PacketLoss {
    /// Returns the loss of all packets of a direction.
    pub(in crate::chaos) const fn all(port: u16, way: Way) -> Self {
        Self { port, way, percent: 100 }
    }
}

/// Rules that drop packets on this machine's own addresses. Dropping the value removes them.
#[derive(Debug)]
pub(in crate::chaos) struct PacketFilter {
    nft: Child,
}

impl PacketFilter {
    /// Returns true if this machine has the packet filter and permits its use.
    pub(in crate::chaos) fn is_possible() -> bool {
        Self::set(&[]).is_ok()
    }

    /// Drops these packets from now on.
    pub(in crate::chaos) fn set(losses: &[PacketLoss]) -> Result<Self> {
        let table = format!("nightdesk_{}", std::process::id());
        let nft = Command::new("nft")
            .arg("-i")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("could not run nft")?;
        let mut filter = Self { nft };
        let orders = filter.nft.stdin.as_mut().context("nft has no ear")?;
        orders.write_all(rules(&table, losses)?.as_bytes()).context("nft takes no rules")?;
        let deadline = Instant::now() + SET_WITHIN;
        let list = || output(Command::new("nft").args(["list", "table", "ip", &table]));
        while !list().is_ok_and(|text| drops_in(&text) >= losses.len()) {
            ensure!(Instant::now() < deadline, "the packet filter did not take the rules");
            thread::sleep(LOOK_EVERY);
        }
        Ok(filter)
    }
}

impl Drop for PacketFilter {
    fn drop(&mut self) {
        drop(self.nft.stdin.take());
        self.nft.kill().ok();
        self.nft.wait().ok();
    }
}

/// Returns the orders that make a table with a rule for each loss.
fn rules(table: &str, losses: &[PacketLoss]) -> Result<String> {
    let mut text = format!(
        "add table ip {table} {{ flags owner; }}\n\
         add chain ip {table} lost {{ type filter hook input priority 0; policy accept; }}\n"
    );
    for PacketLoss { port, way, percent } in losses {
        let end = match way {
            Way::In => "dport",
            Way::Out => "sport",
        };
        let share = if *percent < 100 {
            format!("numgen random mod 100 < {percent} ")
        } else {
            String::new()
        };
        writeln!(text, "add rule ip {table} lost iif lo tcp {end} {port} {share}drop")
            .context("could not write into memory")?;
    }
    Ok(text)
}

fn drops_in(listed: &str) -> usize {
    listed.lines().filter(|line| line.trim_end().ends_with(" drop")).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_is_one_rule() {
        let losses = [
            PacketLoss::all(5_432, Way::In),
            PacketLoss { port: 6_379, way: Way::Out, percent: 30 },
        ];
        let rules = rules("t", &losses).unwrap();

        let wanted = "add rule ip t lost iif lo tcp dport 5432 drop\n\
                      add rule ip t lost iif lo tcp sport 6379 numgen random mod 100 < 30 drop\n";
        assert!(rules.ends_with(wanted), "{rules}");
        assert!(rules.contains("flags owner"), "{rules}");
        assert_eq!(drops_in(&rules), losses.len());
    }
}
