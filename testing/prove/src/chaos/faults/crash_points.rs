//! A node dies by itself at a given step.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use nightdesk_judge::monotonic_ns;

use crate::chance::Dice;
use crate::chaos::world::World;

/// How long a node may take to get to the step.
const PATIENCE: Duration = Duration::from_secs(20);

/// How often we look whether it died.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// At which passing it dies, at most. Few backlogs have many pages.
const PASSINGS_MAX: usize = 100;
const PAGES_MAX: usize = 5;

/// K1 to K12. To be told when to die, a node must be started anew.
pub(super) fn die(world: &mut World, number: &'static str, dice: &mut Dice) -> Result<()> {
    let node = dice.below(world.nodes.len());
    let mut strike = world.strikes(number, world.nodes[node].name());
    world.nodes[node].kill()?;
    let passings = if number == "K11" { PAGES_MAX } else { PASSINGS_MAX };
    let at = format!("{number}:{}", 1 + dice.below(passings));
    world.nodes[node].start_with(&[("NIGHTDESK_CRASH_AT", at.clone())])?;
    let deadline = Instant::now() + PATIENCE;
    while !world.nodes[node].has_ended()? {
        ensure!(Instant::now() < deadline, "no node came to {at} in {} s", PATIENCE.as_secs());
        thread::sleep(LOOK_EVERY);
    }
    strike.at_ns = monotonic_ns();
    thread::sleep(dice.between_ms(50, 500));
    world.nodes[node].start()?;
    world.healed(strike);
    Ok(())
}
