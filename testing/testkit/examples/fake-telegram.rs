//! The fake Telegram as a program, for clients that are not ours. It prints where it is, and ends with
//! its input.
#![expect(clippy::print_stdout, reason = "whoever starts it reads where it is")]

use std::io;
use std::net::SocketAddr;

use nightdesk_testkit::telegram::FakeTelegram;

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let fake = FakeTelegram::open_at(SocketAddr::from(([127, 0, 0, 1], 0))).await?;
    println!("{}", fake.url());
    // Whoever started it holds the other end.
    let over = tokio::task::spawn_blocking(|| io::copy(&mut io::stdin(), &mut io::sink()));
    drop(over.await);
    Ok(())
}
