//! Freezes gateways at each step of going idle. The call that wakes them thaws them.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use crate::chance::Dice;
use crate::chaos::gateways::{Order, Step};
use crate::chaos::manner::Manner;
use crate::chaos::plan::Plan;
use crate::chaos::world::{Hit, World};

const STEPS: [Step; 4] = [Step::Awake, Step::SaidIdle, Step::KnownIdle, Step::Redialled];

/// Maximum time that they stay frozen. A line that is only silent becomes suspect after 45 s, and the machine may be
/// busy.
const PATIENCE: Duration = Duration::from_secs(90);

/// Polling interval.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Freezes gateways that go idle (F07). Each freeze is a strike, which hits the events that wait at the thaw.
pub(super) fn freeze(world: &mut World, number: &'static str, dice: &mut Dice) -> Result<()> {
    let mut frozen = Vec::new();
    for (step, member) in STEPS.into_iter().zip(normal(world, dice)) {
        let agent = Plan::agent(member);
        let mut strike = world.strikes(number, &format!("gateway:{agent}"));
        strike.hit = Hit::EventsOf(agent);
        frozen.push(strike);
        world.gateways(&Order::Freeze(member, step))?;
    }
    thawed(world)?;
    for strike in frozen {
        world.healed(strike);
    }
    Ok(())
}

/// Returns members with normal gateways, a different one for each step.
fn normal(world: &World, dice: &mut Dice) -> Vec<usize> {
    let mut normal: Vec<usize> =
        (0..world.manners.len()).filter(|m| world.manners[*m] == Manner::Normal).collect();
    let first = dice.below(normal.len());
    normal.rotate_left(first);
    normal
}

fn thawed(world: &mut World) -> Result<()> {
    let deadline = Instant::now() + PATIENCE;
    while world.gateways(&Order::Count)?.frozen > 0 {
        ensure!(Instant::now() < deadline, "a frozen gateway was not thawed by a call");
        thread::sleep(LOOK_EVERY);
    }
    Ok(())
}
