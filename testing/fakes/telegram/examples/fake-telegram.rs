//! Runs the fake Telegram as a program, for third-party clients. It prints its URL, and ends with its input.
#![expect(clippy::print_stdout, reason = "its starter reads the address")]

use std::io;
use std::net::SocketAddr;

use nightdesk_fake_telegram::FakeTelegram;

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let fake = FakeTelegram::open_at(SocketAddr::from(([127, 0, 0, 1], 0))).await?;
    println!("{}", fake.url());
    // The parent process holds the other side of the input.
    let over = tokio::task::spawn_blocking(|| io::copy(&mut io::stdin(), &mut io::sink()));
    drop(over.await);
    Ok(())
}
