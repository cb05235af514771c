//! Redials a lost line as the stock client does.
//!
//! The delay is one second, then doubles after each failed dial, up to half a minute. It has no jitter, so gateways
//! that were cut off together come back together. A successful upgrade resets the delay. After a 4401 the gateway never
//! dials again.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::anyhow;
use nightdesk_protocol::close::Close;
use tokio::time::{sleep, timeout};

use super::Hall;
use super::line::{Line, node_of};
use super::socket::{NoLine, Socket};

/// Delay of the first dial.
const FIRST: Duration = Duration::from_secs(1);

/// Maximum delay.
const TOP: Duration = Duration::from_secs(30);

/// Timeout of an upgrade.
const UPGRADE_WAIT: Duration = Duration::from_secs(10);

/// Timeout of the answer to a hello.
const GREET_WAIT: Duration = Duration::from_secs(30);

/// Holds a line and its successors for as long as the gateway redials.
pub(super) async fn live(hall: Arc<Hall>, mut line: Line) {
    loop {
        let Err(why) = line.hold(&hall.book).await else { return };
        hall.book.ended(&why);
        let member = line.member();
        drop(line);
        if !hall.book.comes_back.load(Ordering::Relaxed) || hall.is_final(&why) {
            return;
        }
        let Some(next) = hall.dial_again(member).await else { return };
        line = next;
        hall.book.open.fetch_add(1, Ordering::Relaxed);
        hall.book.again.fetch_add(1, Ordering::Relaxed);
    }
}

impl Hall {
    /// Redials with increasing delay until a line is open or the gateway is revoked.
    async fn dial_again(&self, member: usize) -> Option<Line> {
        let mut ladder = Ladder::default();
        loop {
            sleep(ladder.wait()).await;
            match self.dial_once(member, &mut ladder).await {
                Ok(socket) => return Some(Line::on(socket, member, self.nodes.len())),
                Err(why) if self.is_final(&why) => return None,
                Err(NoLine::Refused(_)) => {
                    self.book.put_off.fetch_add(1, Ordering::Relaxed);
                }
                Err(_) => {}
            }
        }
    }

    async fn dial_once(&self, member: usize, ladder: &mut Ladder) -> Result<Socket, NoLine> {
        let token = self.cast.members[member].token(&self.clock);
        let node = node_of(member, &self.nodes);
        let upgrade = timeout(UPGRADE_WAIT, Socket::upgrade(node, token.expose())).await;
        let mut socket = upgrade.map_err(|_| anyhow!("no upgrade in time"))??;
        *ladder = Ladder::default();
        timeout(GREET_WAIT, socket.greet()).await.map_err(|_| anyhow!("no greeting in time"))??;
        Ok(socket)
    }

    /// Returns true if the gateway is revoked, and counts it.
    fn is_final(&self, why: &NoLine) -> bool {
        let is_final = matches!(why, NoLine::Closed(code) if *code == Close::Revoked.code());
        self.book.revoked.fetch_add(is_final.into(), Ordering::Relaxed);
        is_final
    }
}

/// Delay of the next dial.
#[derive(Debug)]
struct Ladder(Duration);

impl Default for Ladder {
    fn default() -> Self {
        Self(FIRST)
    }
}

impl Ladder {
    fn wait(&mut self) -> Duration {
        let wait = self.0;
        self.0 = TOP.min(2 * wait);
        wait
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_as_the_stock_client_does() {
        let mut ladder = Ladder::default();
        let waits: Vec<u64> = (0..7).map(|_| ladder.wait().as_secs()).collect();
        assert_eq!(waits, [1, 2, 4, 8, 16, 30, 30]);
    }
}
