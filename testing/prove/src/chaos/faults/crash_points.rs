//! A node dies by itself at a given step.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use nightdesk_judge::monotonic_ns;

use crate::chance::Dice;
use crate::chaos::gateways::Order;
use crate::chaos::world::{Hit, World};

/// How long a node may take to get to the step.
const PATIENCE: Duration = Duration::from_mins(1);

/// How often we look whether it died.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// At which passing it dies, at most. Few backlogs have many pages, and nobody is called often.
const PASSINGS_MAX: usize = 40;
const PAGES_MAX: usize = 5;
const CALLS_MAX: usize = 2;
const FIRES_MAX: usize = 10;

/// At which send it dies: late enough to be listening by then.
const SENDS_MIN: usize = 3;
const SENDS_MAX: usize = 20;

/// How many agents in a hundred fall asleep, so that there is somebody to call, and how soon
/// others do: nobody is called again so soon.
const SLEEPERS_PERCENT: u64 = 30;
const SLEEPERS_EVERY: Duration = Duration::from_secs(15);

/// K1 to K12, K18 and K19. To be told when to die, a node must be started anew.
pub(super) fn die(world: &mut World, number: &'static str, dice: &mut Dice) -> Result<()> {
    die_hitting(world, number, dice, Hit::Events)
}

/// K20 to K22.
pub(super) fn die_firing(world: &mut World, number: &'static str, dice: &mut Dice) -> Result<()> {
    die_hitting(world, number, dice, Hit::Fires)
}

fn die_hitting(world: &mut World, number: &'static str, dice: &mut Dice, hit: Hit) -> Result<()> {
    let node = dice.below(world.nodes.len());
    let mut strike = world.strikes(number, world.nodes[node].name());
    strike.hit = hit;
    world.nodes[node].kill()?;
    let at = format!("{number}:{}", 1 + dice.below(passings_max(number)));
    world.nodes[node].start_with(&[("NIGHTDESK_CRASH_AT", at.clone())])?;
    until_it_died(world, node, &at)?;
    strike.at_ns = monotonic_ns();
    thread::sleep(dice.between_ms(50, 500));
    world.nodes[node].start()?;
    world.healed(strike);
    Ok(())
}

/// K13 to K15. Who will own the bots is not known, so all nodes are told.
pub(super) fn die_calling(world: &mut World, number: &'static str, dice: &mut Dice) -> Result<()> {
    let mut strike = world.strikes(number, "node");
    let at = format!("{number}:{}", SENDS_MIN + dice.below(SENDS_MAX - SENDS_MIN));
    for node in &mut world.nodes {
        node.kill()?;
    }
    for node in &mut world.nodes {
        node.start_with(&[("NIGHTDESK_CRASH_AT", at.clone())])?;
    }
    until_one_died(world, &at)?;
    strike.at_ns = monotonic_ns();
    thread::sleep(dice.between_ms(50, 500));
    for node in &mut world.nodes {
        node.kill()?;
        node.start()?;
    }
    world.healed(strike);
    Ok(())
}

fn until_one_died(world: &mut World, at: &str) -> Result<()> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        for node in &mut world.nodes {
            if node.has_ended()? {
                return Ok(());
            }
        }
        ensure!(Instant::now() < deadline, "no node came to {at} in {} s", PATIENCE.as_secs());
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

fn until_it_died(world: &mut World, node: usize, at: &str) -> Result<()> {
    let needs_sleepers = passings_max(at.split(':').next().unwrap_or(at)) == CALLS_MAX;
    let deadline = Instant::now() + PATIENCE;
    let mut next = needs_sleepers.then(Instant::now);
    while !world.nodes[node].has_ended()? {
        ensure!(Instant::now() < deadline, "no node came to {at} in {} s", PATIENCE.as_secs());
        if next.is_some_and(|next| next <= Instant::now()) {
            world.gateways(&Order::Sleep(SLEEPERS_PERCENT))?;
            next = Some(Instant::now() + SLEEPERS_EVERY);
        }
        thread::sleep(LOOK_EVERY);
    }
    Ok(())
}
