//! Disturbs PostgreSQL without ending it: it stands still, its connections are ended, or there are none left.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::chance::Dice;
use crate::chaos::means::Stopped;
use crate::chaos::world::World;
use crate::cluster::APP_ROLE;
use crate::procfs;
use crate::stage::DATABASE;

/// Time for which PostgreSQL stands still: longer than a lease and any timeout of a query.
const STOPPED: Duration = Duration::from_secs(20);

/// Number of ended connections, one every 200 ms.
const ENDED: u32 = 25;

/// Maximum number of connections that are held. A server permits fewer.
const HELD_MAX: usize = 500;

/// Time for which all connections are held.
const HELD_MS: (u64, u64) = (3_000, 5_000);

/// Pause between two attempts to get a connection.
const TRY_EVERY: Duration = Duration::from_millis(20);

/// Time limit for the server's answer to a login.
const LOGIN_WAIT: Duration = Duration::from_secs(5);

/// Version 3.0 of PostgreSQL's protocol.
const PROTOCOL: u32 = 3 << 16;

/// The server's message that a login was successful.
const AUTHENTICATED: u8 = b'R';

/// Stops all processes of PostgreSQL for a while (F15).
pub(super) fn stand_still(world: &mut World, number: &'static str, _: &mut Dice) -> Result<()> {
    let strike = world.strikes(number, "postgres");
    // The parent is stopped first, so that it starts no process in the meantime.
    let parent = world.cluster.pid();
    let mut stopped = Stopped::stop(vec![parent])?;
    stopped.also(&procfs::children(parent)?)?;
    thread::sleep(STOPPED);
    drop(stopped);
    world.recover()?;
    world.healed(strike);
    Ok(())
}

/// Ends a random connection of the nodes every 200 ms (F16).
pub(super) fn end_connections(world: &mut World, number: &'static str, _: &mut Dice) -> Result<()> {
    let strike = world.strikes(number, "postgres");
    let end_them = format!(
        "do $$ begin
             for round in 1..{ENDED} loop
                 perform pg_stat_clear_snapshot();
                 perform pg_terminate_backend(pid) from (
                     select pid from pg_stat_activity where application_name = 'nightdesk'
                     order by random() limit 1
                 ) one;
                 perform pg_sleep(0.2);
             end loop;
         end $$"
    );
    world.cluster.ask(DATABASE, &end_them)?;
    world.recover()?;
    world.healed(strike);
    Ok(())
}

/// Holds all connections that PostgreSQL has left, and those of the nodes that it ends (F18).
pub(super) fn take_connections(
    world: &mut World,
    number: &'static str,
    dice: &mut Dice,
) -> Result<()> {
    let strike = world.strikes(number, "postgres");
    let port = world.cluster.port();
    let mut held = Vec::new();
    take_all(port, &mut held)?;
    ensure!(!held.is_empty(), "PostgreSQL has no connection left, before the fault");
    let end_half = "select count(pg_terminate_backend(pid)) from pg_stat_activity
                    where application_name = 'nightdesk' and random() < 0.5";
    world.cluster.ask(DATABASE, end_half)?;
    let until = Instant::now() + dice.between_ms(HELD_MS.0, HELD_MS.1);
    while Instant::now() < until {
        take_all(port, &mut held)?;
        thread::sleep(TRY_EVERY);
    }
    drop(held);
    world.recover()?;
    world.healed(strike);
    Ok(())
}

/// Logs in until the server refuses.
fn take_all(port: u16, held: &mut Vec<TcpStream>) -> Result<()> {
    while held.len() < HELD_MAX {
        let Some(connection) = log_in(port)? else { return Ok(()) };
        held.push(connection);
    }
    Ok(())
}

/// Logs in as the desk. Returns `None` if the server refuses.
fn log_in(port: u16) -> Result<Option<TcpStream>> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).context("PostgreSQL is gone")?;
    stream.set_read_timeout(Some(LOGIN_WAIT)).context("could not set a timeout")?;
    stream.write_all(&login(APP_ROLE, DATABASE)?).context("PostgreSQL takes no login")?;
    let mut kind = [0];
    stream.read_exact(&mut kind).context("PostgreSQL does not answer a login")?;
    Ok((kind[0] == AUTHENTICATED).then_some(stream))
}

/// Returns the first message of a connection.
fn login(user: &str, database: &str) -> Result<Vec<u8>> {
    let fields = format!("user\0{user}\0database\0{database}\0\0");
    let length = u32::try_from(2 * size_of::<u32>() + fields.len())?;
    Ok([&length.to_be_bytes()[..], &PROTOCOL.to_be_bytes()[..], fields.as_bytes()].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_says_its_length_and_version() {
        let login = login("ann", "desk").unwrap();

        assert_eq!(login.len(), 32);
        assert_eq!(login[..8], [0, 0, 0, 32, 0, 3, 0, 0]);
        assert_eq!(&login[8..], b"user\0ann\0database\0desk\0\0");
    }
}
