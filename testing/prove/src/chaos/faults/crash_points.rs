//! Makes a node crash by itself at a given step.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use nightdesk_judge::monotonic_ns;

use crate::chance::Dice;
use crate::chaos::gateways::Order;
use crate::chaos::world::{Hit, World};
use crate::crash_points::environment;

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

/// Percentage of gateways that leave their lines while a node is to reach its crash point, and the interval until others
/// do. An agent is not called again sooner.
const LEAVE_PERCENT: u64 = 30;
const LEAVE_EVERY: Duration = Duration::from_secs(15);

/// Makes a node die at a step (K1 to K12, K18 and K19). A node must be started anew to get its crash point.
pub(super) fn die(world: &mut World, number: &'static str, dice: &mut Dice) -> Result<()> {
    die_hitting(world, number, dice, Hit::Events)
}

/// Makes a node die at a step of firing (K20 to K22).
pub(super) fn die_firing(world: &mut World, number: &'static str, dice: &mut Dice) -> Result<()> {
    die_hitting(world, number, dice, Hit::Fires)
}

fn die_hitting(world: &mut World, number: &'static str, dice: &mut Dice, hit: Hit) -> Result<()> {
    let node = dice.below(world.nodes.len());
    let mut strike = world.strikes(number, world.nodes[node].name());
    strike.hit = hit;
    world.nodes[node].kill()?;
    let crash = environment(number, 1 + dice.below(passings_max(number)));
    world.nodes[node].start_with(&[crash])?;
    until_it_died(world, node, number)?;
    strike.at_ns = monotonic_ns();
    thread::sleep(dice.between_ms(50, 500));
    world.nodes[node].start()?;
    world.healed(strike);
    Ok(())
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
            if node.has_ended()? {
                return Ok(());
            }
        }
        ensure!(Instant::now() < deadline, "no node came to {number} in {} s", PATIENCE.as_secs());
        thread::sleep(LOOK_EVERY);
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

/// Returns the order that brings gateways to the crash point. An agent is called only while it sleeps. A line's steps need
/// lines on this node, and the gateways moved to other nodes while it was down.
fn order(number: &str) -> Option<Order> {
    match number {
        "K7" | "K8" | "K9" | "K10" | "K11" | "K12" => Some(Order::Reset(LEAVE_PERCENT)),
        "K18" | "K19" => Some(Order::Sleep(LEAVE_PERCENT)),
        _ => None,
    }
}

fn until_it_died(world: &mut World, node: usize, number: &str) -> Result<()> {
    let deadline = Instant::now() + PATIENCE;
    let (order, mut next) = (order(number), Instant::now());
    while !world.nodes[node].has_ended()? {
        ensure!(Instant::now() < deadline, "no node came to {number} in {} s", PATIENCE.as_secs());
        if let Some(order) = order.as_ref().filter(|_| next <= Instant::now()) {
            world.gateways(order)?;
            next = Instant::now() + LEAVE_EVERY;
        }
        thread::sleep(LOOK_EVERY);
    }
    Ok(())
}
