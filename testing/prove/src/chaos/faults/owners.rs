//! Kills the node that owns a bot and has sends in progress, or stops it until other nodes consider it dead.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use nightdesk_judge::monotonic_ns;

use crate::chance::Dice;
use crate::chaos::world::{Hit, Strike, World};
use crate::stage::DATABASE;
use crate::ui;

/// Time limit for finding an owner in the middle of a call.
const MET_WITHIN: Duration = Duration::from_mins(1);

/// Time limit for other nodes to take over its bots, and for the owner to notice that its lease is over. Leases expire
/// sooner, but the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(45);

/// Polling interval.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Kills an owner in a call (F01). The node is started again when another node owns its bots.
pub(super) fn kill(world: &mut World, number: &'static str, dice: &mut Dice) -> Result<()> {
    let (strike, owner) = meet(world, number, dice)?;
    world.nodes[owner.node].kill()?;
    taken_over(world, &owner)?;
    world.nodes[owner.node].start()?;
    world.healed(strike);
    Ok(())
}

/// Pauses an owner until other nodes consider it dead (F05). Then its writes are refused, and it ends.
pub(super) fn pause(world: &mut World, number: &'static str, dice: &mut Dice) -> Result<()> {
    let (strike, owner) = meet(world, number, dice)?;
    taken_over(world, &owner)?;
    taken_for_dead(world, owner.node)?;
    let late = world.cluster.ask(DATABASE, "select clock_timestamp()")?;
    world.nodes[owner.node].signal("CONT")?;
    world.nodes[owner.node].ends_within(PATIENCE)?;
    let written = owner.settled_after(world, late.trim())?;
    ensure!(written == 0, "{written} sends were written by an owner that was one no more");
    world.nodes[owner.node].start()?;
    world.healed(strike);
    Ok(())
}

/// An owner that is stopped.
#[derive(Debug)]
struct Owner {
    node: usize,
    name: String,
    epoch: String,
}

/// Stops a node that owns a bot in the middle of a call.
fn meet(world: &World, number: &str, dice: &mut Dice) -> Result<(Strike, Owner)> {
    let mut strike = world.strikes(number, "node");
    let deadline = Instant::now() + MET_WITHIN;
    loop {
        ensure!(Instant::now() < deadline, "no owner of a bot was met in a call");
        let node = dice.below(world.nodes.len());
        world.nodes[node].signal("STOP")?;
        let owner = Owner::of(world, node)?;
        let (calling, waiting) = owner.under_way(world)?;
        if calling > 0 {
            strike.at_ns = monotonic_ns();
            strike.hit = Hit::Sends(calling + waiting);
            return Ok((strike, owner));
        }
        world.nodes[node].signal("CONT")?;
        thread::sleep(dice.between_ms(50, 500));
    }
}

/// Waits until other nodes own all bots of an owner.
fn taken_over(world: &World, owner: &Owner) -> Result<()> {
    let began = Instant::now();
    while owner.bots(world)? > 0 {
        ensure!(began.elapsed() < PATIENCE, "nobody took over the bots of {}", owner.name);
        thread::sleep(LOOK_EVERY);
    }
    ui::say(&format!("the bots of {} were taken over in {:.1?}", owner.name, began.elapsed()));
    Ok(())
}

/// Waits until other nodes consider a node dead.
pub(super) fn taken_for_dead(world: &World, node: usize) -> Result<()> {
    let name = world.nodes[node].name();
    let is_over = format!("select is_over from nodes where node = '{name}'");
    let deadline = Instant::now() + PATIENCE;
    while ask(world, &is_over)? != "t" {
        ensure!(Instant::now() < deadline, "nobody took {name} for dead");
        thread::sleep(LOOK_EVERY);
    }
    Ok(())
}

impl Owner {
    fn of(world: &World, node: usize) -> Result<Self> {
        let name = world.nodes[node].name().to_owned();
        let epoch = ask(world, &format!("select epoch from nodes where node = '{name}'"))?;
        Ok(Self { node, name, epoch })
    }

    /// Returns the number of sends in progress at the platform, and the number that wait for them.
    fn under_way(&self, world: &World) -> Result<(usize, usize)> {
        let Self { name, epoch, .. } = self;
        let counts = ask(
            world,
            &format!(
                "select count(*) filter (where s.state = 'calling'),
                        count(*) filter (where s.state = 'asked')
                 from sends s join owners o on o.resource = 'bot/' || s.bot_id
                 where s.state in ('asked', 'calling')
                   and (o.node, o.node_epoch) = ('{name}', {epoch})"
            ),
        )?;
        let (calling, waiting) = counts.split_once('|').context("could not count the sends")?;
        Ok((calling.parse()?, waiting.parse()?))
    }

    /// Returns the number of bots that it still owns and that have a send waiting.
    fn bots(&self, world: &World) -> Result<usize> {
        let Self { name, epoch, .. } = self;
        count(
            world,
            &format!(
                "select count(distinct s.bot_id)
                 from sends s join owners o on o.resource = 'bot/' || s.bot_id
                 where s.state in ('asked', 'calling')
                   and (o.node, o.node_epoch) = ('{name}', {epoch})"
            ),
        )
    }

    /// Returns the number of its sends that were settled after that time.
    fn settled_after(&self, world: &World, time: &str) -> Result<usize> {
        let Self { name, epoch, .. } = self;
        count(
            world,
            &format!(
                "select count(*) from sends where (node, node_epoch) = ('{name}', {epoch})
                   and state = 'settled' and settled_at > '{time}'"
            ),
        )
    }
}

fn count(world: &World, sql: &str) -> Result<usize> {
    ask(world, sql)?.parse().context("could not count")
}

fn ask(world: &World, sql: &str) -> Result<String> {
    Ok(world.cluster.ask(DATABASE, sql)?.trim().to_owned())
}
