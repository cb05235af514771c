//! The fake Discord as a program, for clients that are not ours. It prints where its API is and where it is
//! controlled, and ends with its input. It is at the address that is named, or at the loopback's.
#![expect(clippy::print_stdout, reason = "whoever starts it reads where it is")]

use std::io;
use std::net::{IpAddr, Ipv4Addr};

use nightdesk_testkit::discord::{FakeDiscord, Settings};

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let address = match std::env::args().nth(1) {
        Some(named) => named.parse().map_err(io::Error::other)?,
        None => IpAddr::V4(Ipv4Addr::LOCALHOST),
    };
    let fake = FakeDiscord::start_at(address, Settings::default()).await?;
    println!("{}\n{}", fake.url(), fake.control_url());
    // Whoever started it holds the other end.
    let over = tokio::task::spawn_blocking(|| io::copy(&mut io::stdin(), &mut io::sink()));
    drop(over.await);
    Ok(())
}
