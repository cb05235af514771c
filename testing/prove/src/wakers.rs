//! Sets the URLs at which the desk calls agents, and the configuration that permits these calls.

use std::fmt::Write as _;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use anyhow::{Context, Result};

use crate::cluster::Cluster;
use crate::setup::{Cast, Member};
use crate::stage::DATABASE;

/// A rate limit above the wakes of any agent: these proofs do not test the limit.
const PER_HOUR: u32 = 100_000;

/// Paths of an agent's targets of wake calls and of posts: `/wake/17` and `/post/17`.
pub(crate) const WAKE: &str = "/wake/";
pub(crate) const POST: &str = "/post/";

/// Number of agents in one statement, which has to fit into an argument.
const AT_ONCE: usize = 500;

/// An address of this machine that no node's configuration names.
const HONEYPOT: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));

/// Returns the address that the desk must never call: an open port at a forbidden address.
pub fn honeypot(targets: &[SocketAddr]) -> SocketAddr {
    SocketAddr::new(HONEYPOT, targets[0].port())
}

/// Returns the configuration that permits a node to call the targets.
pub fn settings(targets: &[SocketAddr]) -> String {
    let ports: Vec<String> = targets.iter().map(|target| target.port().to_string()).collect();
    format!(
        "[wake]\nper_hour = {PER_HOUR}\n\
         [outside]\nhosts = [\"127.0.0.1\"]\nhttp = true\nports = [{}]\n\
         [outside.rates.\"127.0.0.1\"]\nper_second = 10000\nat_once = 1000\n",
        ports.join(", ")
    )
}

/// Stores each agent's wake URL: the target of its number.
pub fn enter(cluster: &Cluster, cast: &Cast, target: impl Fn(usize) -> SocketAddr) -> Result<()> {
    for first in (0..cast.members.len()).step_by(AT_ONCE) {
        let mut rows = String::new();
        for (number, member) in cast.members.iter().enumerate().skip(first).take(AT_ONCE) {
            let comma = if number == first { "" } else { "," };
            let (tenant, agent, target) = (member.tenant, member.agent, target(number));
            write!(rows, "{comma}('{tenant}', '{agent}', 1, 'http://{target}{WAKE}{number}')")
                .context("could not write into memory")?;
        }
        let insert =
            format!("insert into wakers (tenant_id, agent_id, position, url) values {rows}");
        cluster.ask(DATABASE, &insert)?;
    }
    Ok(())
}

/// Stores the URL to which each of these agents' entries are posted.
pub fn enter_webhooks(
    cluster: &Cluster,
    cast: &Cast,
    members: impl Iterator<Item = (usize, SocketAddr)>,
) -> Result<()> {
    for (number, target) in members {
        let Member { tenant, agent, .. } = &cast.members[number];
        let insert = format!(
            "insert into agent_webhooks (tenant_id, agent_id, url, salt)
             values ('{tenant}', '{agent}', 'http://{target}{POST}{number}', 'salt-{number}')"
        );
        cluster.ask(DATABASE, &insert)?;
    }
    Ok(())
}
