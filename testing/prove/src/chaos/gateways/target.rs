//! Targets: where wake calls go, and where none may go.

use std::net::SocketAddr;
use std::sync::Arc;

use nightdesk_judge::Event;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::Hall;
use crate::called;
use crate::chaos::plan::Plan;

/// Where an agent is called: `/wake/17`.
const WAKE: &str = "/wake/";

/// Notes whoever comes to an address that nobody may be led to, whatever it wants there.
pub(super) async fn lure(hall: Arc<Hall>, address: SocketAddr) {
    // Without it nobody is caught, and whoever plants the bug sees that.
    let Ok(listener) = TcpListener::bind(address).await else { return };
    while listener.accept().await.is_ok() {
        hall.notes.note(Event::Honeypot { address: address.to_string() });
    }
}

/// Notes every call. A path that is no agent's is a honeypot, too.
pub(super) async fn listen(hall: Arc<Hall>, address: SocketAddr) {
    // Without it nobody is woken, and the judge says so.
    let Ok(listener) = TcpListener::bind(address).await else { return };
    let mut calls = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        calls.spawn(called(Arc::clone(&hall), stream));
    }
}

async fn called(hall: Arc<Hall>, mut stream: TcpStream) {
    // A node that dies before it has said whom it calls has called nobody.
    let Some(path) = called::path(&mut stream).await else { return };
    if let Some(member) = member(&path).filter(|member| *member < hall.woken.len()) {
        hall.notes.note(Event::WakeRecv { agent: Plan::agent(member) });
        hall.woken[member].notify_one();
    } else {
        let address = stream.local_addr().map_or_else(|_| String::new(), |at| at.to_string());
        hall.notes.note(Event::Honeypot { address });
    }
    called::answer(stream).await;
}

/// Whose target was called.
fn member(path: &str) -> Option<usize> {
    path.strip_prefix(WAKE)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_says_who_is_called() {
        let cases = [
            ("a call", "/wake/17", Some(17)),
            ("nobody's path", "/latest/meta-data", None),
            ("not a request", "", None),
        ];
        for (name, path, want) in cases {
            assert_eq!(member(path), want, "{name}");
        }
    }
}
