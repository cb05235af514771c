//! Wakers: where agents are called, and what lets the desk call there.

use std::fmt::Write as _;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use anyhow::{Context, Result};

use crate::cluster::Cluster;
use crate::setup::Cast;
use crate::stage::DATABASE;

/// More than any agent of a proof is woken: how often is not what is proved here.
const PER_HOUR: u32 = 100_000;

/// Agents entered in one statement: it has to fit into an argument.
const AT_ONCE: usize = 500;

/// An address of this machine that no node is told of.
const HONEYPOT: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));

/// Where nobody may be led: a port that is open, at an address that is not.
pub fn honeypot(targets: &[SocketAddr]) -> SocketAddr {
    SocketAddr::new(HONEYPOT, targets[0].port())
}

/// What a node is told so that it may call there.
pub fn settings(targets: &[SocketAddr]) -> String {
    let ports: Vec<String> = targets.iter().map(|target| target.port().to_string()).collect();
    format!(
        "[wake]\nper_hour = {PER_HOUR}\n\
         [outside]\nhosts = [\"127.0.0.1\"]\nhttp = true\nports = [{}]\n\
         [outside.rates.\"127.0.0.1\"]\nper_second = 10000\nat_once = 1000\n",
        ports.join(", ")
    )
}

/// Enters where each agent is called: at the target of its number.
pub fn enter(cluster: &Cluster, cast: &Cast, target: impl Fn(usize) -> SocketAddr) -> Result<()> {
    for first in (0..cast.members.len()).step_by(AT_ONCE) {
        let mut rows = String::new();
        for (number, member) in cast.members.iter().enumerate().skip(first).take(AT_ONCE) {
            let comma = if number == first { "" } else { "," };
            let (tenant, agent, target) = (member.tenant, member.agent, target(number));
            write!(rows, "{comma}('{tenant}', '{agent}', 1, 'http://{target}/wake/{number}')")
                .context("could not write into memory")?;
        }
        let insert =
            format!("insert into wakers (tenant_id, agent_id, position, url) values {rows}");
        cluster.ask(DATABASE, &insert)?;
    }
    Ok(())
}
