//! The fake Discord as a program, for clients that are not ours. It prints where its API is and where it is
//! controlled, and ends with its input.
#![expect(clippy::print_stdout, reason = "whoever starts it reads where it is")]

use std::io;

use nightdesk_testkit::discord::{FakeDiscord, Settings};

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let fake = FakeDiscord::start_with(Settings::default()).await?;
    println!("{}\n{}", fake.url(), fake.control_url());
    // Whoever started it holds the other end.
    let over = tokio::task::spawn_blocking(|| io::copy(&mut io::stdin(), &mut io::sink()));
    drop(over.await);
    Ok(())
}
