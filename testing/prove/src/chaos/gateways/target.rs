//! Serves the targets of wake calls and of posts, and the addresses that must never be called.

use std::net::SocketAddr;
use std::sync::Arc;

use nightdesk_judge::Event;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::{Hall, posted};
use crate::called::{self, TargetCall};
use crate::chaos::plan::Plan;
use crate::wakers::{POST, WAKE};

/// Records every connection to an address that the desk must not call.
pub(super) async fn lure(hall: Arc<Hall>, address: SocketAddr) {
    // Without it no connection is caught, and the mutant run for this bug reports that.
    let Ok(listener) = TcpListener::bind(address).await else { return };
    while listener.accept().await.is_ok() {
        hall.notes.note(Event::Honeypot { address: address.to_string() });
    }
}

/// Records every call. A path that belongs to no agent is also a honeypot.
pub(super) async fn listen(hall: Arc<Hall>, address: SocketAddr) {
    // Without it no agent is woken, and the judge reports that.
    let Ok(listener) = TcpListener::bind(address).await else { return };
    let mut calls = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        calls.spawn(called(Arc::clone(&hall), stream));
        while calls.try_join_next().is_some() {}
    }
}

async fn called(hall: Arc<Hall>, mut stream: TcpStream) {
    // A node that dies before it has sent the path has called no agent.
    let Some(called) = TargetCall::read(&mut stream).await else { return };
    let path = called.path().unwrap_or_default();
    let member = |before| member(path, before).filter(|member| *member < hall.woken.len());
    if let Some(member) = member(WAKE) {
        hall.notes.note(Event::WakeRecv { agent: Plan::agent(member) });
        hall.woken[member].notify_one();
    } else if let Some(member) = member(POST) {
        return posted::take(hall, member, called, stream).await;
    } else {
        let address = stream.local_addr().map_or_else(|_| String::new(), |at| at.to_string());
        hall.notes.note(Event::Honeypot { address });
    }
    called::answer(stream).await;
}

/// Returns the member whose target was called, after the beginning of its path.
fn member(path: &str, before: &str) -> Option<usize> {
    path.strip_prefix(before)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_says_who_is_called() {
        let cases = [
            ("a call", "/wake/17", Some(17)),
            ("a post", "/post/17", None),
            ("nobody's path", "/latest/meta-data", None),
            ("not a request", "", None),
        ];
        for (name, path, want) in cases {
            assert_eq!(member(path, WAKE), want, "{name}");
        }
    }
}
