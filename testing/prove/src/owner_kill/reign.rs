//! Controls two nodes: one listens until it dies, then the other does.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use nightdesk_judge::monotonic_ns;

use super::deaths::Death;
use crate::chance::Dice;
use crate::chaos::street::{Order, Standing};
use crate::chaos::world::World;
use crate::stage::DATABASE;
use crate::ui;

/// Time limit for any step: longer than the promised time.
const PATIENCE: Duration = Duration::from_secs(75);

/// Polling interval.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Range of the time that an owner which has caught up keeps running, in milliseconds.
const REIGNS_MS: (u64, u64) = (200, 2_500);

/// Maximum number of unconfirmed messages of an owner that has caught up: a heartbeat every 2 s confirms stored ones.
const BEHIND_MAX: u64 = 1_000;

/// The node that listens for the bot on Discord.
const OWNER: &str = "
    select o.node from owners o join bots b on o.resource = 'bot/' || b.bot_id
    where b.adapter = 'discord'";

/// The cursor of its event stream.
const CURSOR: &str = "select cursor from source_cursors where source = 'gateway'";

/// The current owner.
pub(super) struct Reign {
    owner: usize,
    dice: Dice,
}

impl Reign {
    /// Waits until a node listens.
    pub(super) fn begun(world: &mut World, seed: u64) -> Result<Self> {
        accepted_after(world, 0)?;
        let name = world.cluster.ask(DATABASE, OWNER)?;
        let owner = world.nodes.iter().position(|node| node.name() == name.trim());
        let owner = owner.context("nobody owns the bot on Discord")?;
        Ok(Self { owner, dice: Dice::of(seed, 80_000) })
    }

    const fn heir(&self) -> usize {
        1 - self.owner
    }

    /// Makes one owner after the other die. Returns the times without a listener.
    pub(super) fn die(&mut self, world: &mut World, deaths: &[Death]) -> Result<Vec<Duration>> {
        let mut takeovers = Vec::new();
        for (nth, death) in deaths.iter().copied().enumerate() {
            let [next, next_but_one] = [1, 2].map(|more| deaths.get(nth + more).copied());
            let is_last = next == Some(Death::Taking);
            let dies = if death == Death::Taking { self.heir() } else { self.owner };
            let strike = world.strikes(death.number(), world.nodes[dies].name());
            let died_ns = self.dies(world, death)?;
            if death == Death::Taking {
                start(world, self.owner, next)?;
            }
            if !is_last {
                let took = accepted_after(world, died_ns)?;
                takeovers.push(took);
                ui::say(&format!("{} {}: {took:.2?}", takeovers.len(), death.number()));
                start(world, dies, next_but_one)?;
                self.owner = 1 - dies;
            }
            world.healed(strike);
        }
        Ok(takeovers)
    }

    /// Makes the owner die, or its successor. Returns the time of death.
    fn dies(&mut self, world: &mut World, death: Death) -> Result<u64> {
        let dies = match death {
            Death::Killed => {
                self.reigns(world)?;
                let died_ns = monotonic_ns();
                world.nodes[self.owner].kill()?;
                return Ok(died_ns);
            }
            Death::Unstored => {
                self.reigns(world)?;
                world.street(&Order::EndSession)?;
                self.owner
            }
            Death::At(..) => self.owner,
            Death::Taking => self.heir(),
        };
        world.nodes[dies].aborts_within(PATIENCE).with_context(|| format!("{death:?}"))?;
        Ok(monotonic_ns())
    }

    /// Waits until an owner's session is stored and it has caught up, and for a while longer.
    fn reigns(&mut self, world: &mut World) -> Result<()> {
        let began = Instant::now();
        while !has_caught_up(world)? {
            ensure!(began.elapsed() < PATIENCE, "an owner did not catch up");
            thread::sleep(LOOK_EVERY);
        }
        thread::sleep(self.dice.between_ms(REIGNS_MS.0, REIGNS_MS.1));
        Ok(())
    }

    /// Makes each node hand over in an orderly way. Returns the times without a listener.
    pub(super) fn hand_over(&mut self, world: &mut World) -> Result<Vec<Duration>> {
        (0..world.nodes.len()).map(|_| self.hands_over(world)).collect()
    }

    fn hands_over(&mut self, world: &mut World) -> Result<Duration> {
        self.reigns(world)?;
        let before = world.street(&Order::Count)?;
        let strike = world.strikes("F08", world.nodes[self.owner].name());
        let told_ns = monotonic_ns();
        world.nodes[self.owner].signal("TERM")?;
        world.nodes[self.owner].ends_within(PATIENCE)?;
        accepted_after(world, told_ns)?;
        let after = world.street(&Order::Count)?;
        ensure!(after.identifies == before.identifies, "a hand-over cost a session");
        ensure!(after.hung_up > before.hung_up && after.ended == 0, "nobody hung up in order");
        start(world, self.owner, None)?;
        world.healed(strike);
        self.owner = self.heir();
        let last = |all: &[u64]| all.iter().copied().max().unwrap_or_default();
        let gap_ns = last(&after.accepted_ns).saturating_sub(last(&after.closed_ns));
        let gap = Duration::from_nanos(gap_ns);
        ui::say(&format!("handed over: {gap:.2?}"));
        Ok(gap)
    }
}

/// Starts a node that dies this way when it listens the next time.
fn start(world: &mut World, node: usize, death: Option<Death>) -> Result<()> {
    let environment = death.and_then(Death::environment);
    world.nodes[node].start_with(environment.as_slice())
}

/// Returns true if an owner's session is stored and most messages are confirmed.
fn has_caught_up(world: &mut World) -> Result<bool> {
    let Standing { said, told, session, .. } = world.street(&Order::Count)?;
    let is_stored = world.cluster.ask(DATABASE, CURSOR)?.contains(&session);
    Ok(is_stored && said.saturating_sub(told) <= BEHIND_MAX)
}

/// Waits until Discord accepts a session. Returns the time since `since_ns`.
fn accepted_after(world: &mut World, since_ns: u64) -> Result<Duration> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let standing = world.street(&Order::Count)?;
        let mut accepted = standing.accepted_ns.into_iter().filter(|at_ns| *at_ns > since_ns);
        if let Some(at_ns) = accepted.next() {
            return Ok(Duration::from_nanos(at_ns - since_ns));
        }
        ensure!(Instant::now() < deadline, "nobody listens");
        thread::sleep(LOOK_EVERY);
    }
}
