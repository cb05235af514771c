//! Makes nodes crash by themselves at given steps.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use nightdesk_judge::monotonic_ns;

use super::Fault;
use crate::chance::Dice;
use crate::chaos::gateways::Order;
use crate::chaos::street::Order as StreetOrder;
use crate::chaos::world::{Hit, Strike, World};
use crate::crash_points::environment;
use crate::stage::DATABASE;

/// Time limit for a node to reach the step.
const PATIENCE: Duration = Duration::from_mins(1);

/// Polling interval.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// Maximum pass of the step at which the node dies. Few backlogs have many pages, and an agent is not called often.
const PASSINGS_MAX: usize = 40;
const PAGES_MAX: usize = 5;
const CALLS_MAX: usize = 2;
const FIRES_MAX: usize = 10;

/// Range of the send at which the node dies: late enough that it listens by then.
const SENDS_MIN: usize = 3;
const SENDS_MAX: usize = 20;

/// Percentage of agents that fall asleep, so that there are agents to call, and the interval until others do: an agent
/// is not called again so soon.
const SLEEPERS_PERCENT: u64 = 30;
const SLEEPERS_EVERY: Duration = Duration::from_secs(15);

/// Percentage of lines that are reset, so that gateways dial anew, and the interval in which the lines are counted. The
/// gateways of a node that was away are on other nodes, and stay there.
const REDIALS_PERCENT: u64 = 30;
const LINES_COUNTED_EVERY: Duration = Duration::from_secs(2);

/// Polling interval for a session.
const SESSIONS_COUNTED_EVERY: Duration = Duration::from_millis(100);

/// Discord requires five seconds between two new sessions. A node that died has forgotten when it began its last one.
const RESTARTED_AFTER: Duration = Duration::from_secs(5);

/// Number of lines with which a node comes to the steps of a line.
const LINES_MIN: usize = 10;

/// Activity that brings a node to a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Brings {
    /// Events that are posted.
    Posts,
    /// Lines of gateways.
    Lines,
    /// Agents that sleep while they have messages.
    Sleepers,
    /// Jobs of agents.
    Jobs,
}

impl Brings {
    fn to(number: &str) -> Self {
        match number {
            "K7" | "K8" | "K9" | "K10" | "K11" | "K12" => Self::Lines,
            "K18" | "K19" => Self::Sleepers,
            "K20" | "K21" | "K22" => Self::Jobs,
            _ => Self::Posts,
        }
    }
}

fn passings_max(number: &str) -> usize {
    match number {
        "K11" => PAGES_MAX,
        "K18" | "K19" => CALLS_MAX,
        "K20" | "K21" | "K22" => FIRES_MAX,
        _ => PASSINGS_MAX,
    }
}

/// Makes a node die at a step (K1 to K12, K18 to K22). A node must be started anew to get its crash point.
pub(super) fn die(world: &mut World, number: &'static str, dice: &mut Dice) -> Result<()> {
    die_together(world, &[number], dice)
}

/// Makes as many nodes as there are faults die, each at its own step, at the same time.
pub(super) fn die_at_once(world: &mut World, faults: &[Fault], dice: &mut Dice) -> Result<()> {
    let numbers: Vec<&'static str> = faults.iter().map(|fault| fault.number).collect();
    die_together(world, &numbers, dice)
}

/// A node with a crash point.
struct Mortal {
    node: usize,
    strike: Strike,
    number: &'static str,
}

fn die_together(world: &mut World, numbers: &[&'static str], dice: &mut Dice) -> Result<()> {
    let mut nodes: Vec<usize> = (0..world.nodes.len()).collect();
    dice.shuffle(&mut nodes);
    let mut living = Vec::new();
    for (&node, &number) in nodes.iter().zip(numbers) {
        let mut strike = world.strikes(number, world.nodes[node].name());
        if Brings::to(number) == Brings::Jobs {
            strike.hit = Hit::Fires;
        }
        world.nodes[node].kill()?;
        let crash = environment(number, 1 + dice.below(passings_max(number)));
        world.nodes[node].start_with(&[crash])?;
        living.push(Mortal { node, strike, number });
    }
    let deadline = Instant::now() + PATIENCE;
    let mut help = Help::new(numbers);
    while !living.is_empty() {
        for index in (0..living.len()).rev() {
            if world.nodes[living[index].node].has_aborted()? {
                let Mortal { node, mut strike, .. } = living.swap_remove(index);
                strike.at_ns = monotonic_ns();
                thread::sleep(dice.between_ms(50, 500));
                world.nodes[node].start()?;
                world.healed(strike);
            }
        }
        let waiting: Vec<&str> = living.iter().map(|mortal| mortal.number).collect();
        let secs = PATIENCE.as_secs();
        ensure!(
            living.is_empty() || Instant::now() < deadline,
            "no node came to {} in {secs} s",
            waiting.join(" and ")
        );
        help.give(world, &living)?;
        thread::sleep(LOOK_EVERY);
    }
    Ok(())
}

/// Arranges that nodes come to their steps.
struct Help {
    sleepers_at: Option<Instant>,
    lines_at: Option<Instant>,
}

impl Help {
    fn new(numbers: &[&str]) -> Self {
        let now = Instant::now();
        let needs = |what| numbers.iter().any(|number| Brings::to(number) == what);
        Self {
            sleepers_at: needs(Brings::Sleepers).then_some(now),
            lines_at: needs(Brings::Lines).then_some(now),
        }
    }

    fn give(&mut self, world: &mut World, living: &[Mortal]) -> Result<()> {
        let now = Instant::now();
        if self.sleepers_at.is_some_and(|at| at <= now) {
            world.gateways(&Order::Sleep(SLEEPERS_PERCENT))?;
            self.sleepers_at = Some(now + SLEEPERS_EVERY);
        }
        if self.lines_at.is_some_and(|at| at <= now) {
            for mortal in living.iter().filter(|one| Brings::to(one.number) == Brings::Lines) {
                if lines(world, mortal.node)? < LINES_MIN {
                    world.gateways(&Order::Reset(REDIALS_PERCENT))?;
                }
            }
            self.lines_at = Some(now + LINES_COUNTED_EVERY);
        }
        Ok(())
    }
}

/// Returns the number of open lines on a node.
fn lines(world: &World, node: usize) -> Result<usize> {
    let name = world.nodes[node].name();
    let open = format!(
        "select count(*) from lines l join nodes n on (n.node, n.epoch) = (l.node, l.node_epoch)
         where n.node = '{name}' and l.closed_at is null"
    );
    world.cluster.ask(DATABASE, &open)?.trim().parse().context("could not count the lines")
}

/// Makes a node die in a send (K13 to K15). The bots' next owner is unknown, so all nodes get the crash point.
pub(super) fn die_calling(world: &mut World, number: &'static str, dice: &mut Dice) -> Result<()> {
    let mut strike = world.strikes(number, "node");
    let crash = environment(number, SENDS_MIN + dice.below(SENDS_MAX - SENDS_MIN));
    for node in &mut world.nodes {
        node.kill()?;
    }
    for node in &mut world.nodes {
        node.start_with(std::slice::from_ref(&crash))?;
    }
    until_one_died(world, number)?;
    strike.at_ns = monotonic_ns();
    thread::sleep(dice.between_ms(50, 500));
    for node in &mut world.nodes {
        node.kill()?;
        node.start()?;
    }
    world.healed(strike);
    Ok(())
}

fn until_one_died(world: &mut World, number: &str) -> Result<()> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        for node in &mut world.nodes {
            if node.has_aborted()? {
                return Ok(());
            }
        }
        ensure!(Instant::now() < deadline, "no node came to {number} in {} s", PATIENCE.as_secs());
        thread::sleep(LOOK_EVERY);
    }
}

/// Makes a node die while it takes a bot over that listens to its platform (K16), or after it began a new session there
/// (K17). A node that owns no such bot gets the crash point, and then all others are killed.
pub(super) fn die_taking(world: &mut World, number: &'static str, dice: &mut Dice) -> Result<()> {
    let heir = heir(world)?;
    let mut strike = world.strikes(number, "node");
    world.nodes[heir].kill()?;
    world.nodes[heir].start_with(&[environment(number, 1)])?;
    let killed_ns = monotonic_ns();
    for node in (0..world.nodes.len()).filter(|node| *node != heir) {
        world.nodes[node].kill()?;
    }
    if number == "K17" {
        // The old session would go on.
        if !dies_before_caught_up(world, heir, killed_ns)? {
            world.street(&StreetOrder::EndSession)?;
        }
    }
    world.nodes[heir].aborts_within(PATIENCE).with_context(|| format!("at {number}"))?;
    strike.at_ns = monotonic_ns();
    thread::sleep(RESTARTED_AFTER + dice.between_ms(50, 500));
    for node in &mut world.nodes {
        node.start()?;
    }
    world.healed(strike);
    Ok(())
}

/// Waits until Discord has accepted a session after this time, and the node has stored everything that was said before.
/// Messages in a private chat that the desk does not know yet are lost with the session. Returns true if the node has
/// died meanwhile: the old session was gone, so the node has begun a new one by itself.
fn dies_before_caught_up(world: &mut World, node: usize, after_ns: u64) -> Result<bool> {
    let deadline = Instant::now() + PATIENCE;
    let mut said = None;
    loop {
        if world.nodes[node].has_aborted()? {
            return Ok(true);
        }
        let street = world.street(&StreetOrder::Count)?;
        if street.accepted_ns.iter().any(|at_ns| *at_ns > after_ns) {
            let said = *said.get_or_insert(street.said);
            if street.told >= said {
                return Ok(false);
            }
        }
        ensure!(
            Instant::now() < deadline,
            "the node does not catch up with Discord: {} of {said:?} messages are stored",
            street.told
        );
        thread::sleep(SESSIONS_COUNTED_EVERY);
    }
}

/// Returns a node that owns no bot which listens to its platform.
fn heir(world: &World) -> Result<usize> {
    let owners = world.cluster.ask(
        DATABASE,
        "select o.node from owners o join bots b on o.resource = 'bot/' || b.bot_id
         where b.adapter in ('discord', 'telegram')",
    )?;
    let owns = |node: &usize| owners.lines().any(|owner| owner == world.nodes[*node].name());
    (0..world.nodes.len()).find(|node| !owns(node)).context("every node owns a bot that listens")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_of_a_line_needs_lines() {
        for (number, want) in [
            ("K6", Brings::Posts),
            ("K7", Brings::Lines),
            ("K8", Brings::Lines),
            ("K12", Brings::Lines),
            ("K18", Brings::Sleepers),
            ("K22", Brings::Jobs),
        ] {
            assert_eq!(Brings::to(number), want, "{number}");
        }
    }
}
