//! Runs the fake Discord as a program, for third-party clients. It prints the URLs of its API and of its control, and
//! ends with its input. It listens on the given address, or on the loopback.
#![expect(clippy::print_stdout, reason = "its starter reads the address")]

use std::io;
use std::net::{IpAddr, Ipv4Addr};

use nightdesk_fake_discord::{FakeDiscord, Settings};

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let address = match std::env::args().nth(1) {
        Some(named) => named.parse().map_err(io::Error::other)?,
        None => IpAddr::V4(Ipv4Addr::LOCALHOST),
    };
    let fake = FakeDiscord::start_at(address, Settings::default()).await?;
    println!("{}\n{}", fake.url(), fake.control_url());
    // The parent process holds the other side of the input.
    let over = tokio::task::spawn_blocking(|| io::copy(&mut io::stdin(), &mut io::sink()));
    drop(over.await);
    Ok(())
}
