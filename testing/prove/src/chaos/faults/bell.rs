//! Disturbs Redis, the bell between the nodes: it goes away and comes back empty, stands still, or ends subscriptions.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::chance::Dice;
use crate::chaos::means::Stopped;
use crate::chaos::world::World;

/// Time for which Redis stands still.
const STOPPED_MS: (u64, u64) = (4_000, 6_000);

/// Interval between two ends of all subscriptions, and the duration of the fault.
const END_EVERY: Duration = Duration::from_millis(100);
const ENDS_FOR: Duration = Duration::from_secs(5);

/// Time limit for an answer of Redis.
const ANSWER_WAIT: Duration = Duration::from_secs(5);

/// Ends the connections of all subscribers.
const END_SUBSCRIPTIONS: &[u8] = b"CLIENT KILL TYPE pubsub\r\n";

/// Stops Redis for a while (F25).
pub(super) fn stop(world: &mut World, number: &'static str, dice: &mut Dice) -> Result<()> {
    let strike = world.strikes(number, "redis");
    let redis = world.redis.as_mut().context("there is no Redis")?;
    redis.stop()?;
    thread::sleep(dice.between_ms(2_000, 6_000));
    redis.start_again()?;
    world.healed(strike);
    Ok(())
}

/// Makes Redis stand still (F26). No request of a node may wait for it.
pub(super) fn stand_still(world: &mut World, number: &'static str, dice: &mut Dice) -> Result<()> {
    let pid = world.redis.as_ref().context("there is no Redis")?.pid();
    let strike = world.strikes(number, "redis");
    let stopped = Stopped::stop(vec![pid])?;
    thread::sleep(dice.between_ms(STOPPED_MS.0, STOPPED_MS.1));
    drop(stopped);
    world.healed(strike);
    Ok(())
}

/// Ends the nodes' subscriptions again and again (F27).
pub(super) fn end_subscriptions(
    world: &mut World,
    number: &'static str,
    _: &mut Dice,
) -> Result<()> {
    let port = world.redis.as_ref().context("there is no Redis")?.port();
    let mut redis = TcpStream::connect(("127.0.0.1", port)).context("Redis is gone")?;
    redis.set_read_timeout(Some(ANSWER_WAIT)).context("could not set a timeout")?;
    let strike = world.strikes(number, "redis");
    let until = Instant::now() + ENDS_FOR;
    while Instant::now() < until {
        redis.write_all(END_SUBSCRIPTIONS).context("Redis takes no order")?;
        // The number of ended connections, which does not matter here.
        let mut answer = [0; 64];
        let read = redis.read(&mut answer).context("Redis does not answer")?;
        ensure!(read > 0, "Redis hung up");
        thread::sleep(END_EVERY);
    }
    world.healed(strike);
    Ok(())
}
