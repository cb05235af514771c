//! Answers wake calls, with limits on everything.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use nightdesk_protocol::Secret;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{sleep, timeout};

use super::calls::WakeCalls;
use crate::limits::{ACCEPT_AGAIN, CALL_BYTES_MAX, CALL_HEADERS_MAX, CALL_WAIT, CALLERS_MAX};

/// The accepted path, and the receiver of the calls.
pub(super) struct WakeEndpoint {
    path: Secret,
    calls: Arc<WakeCalls>,
}

impl WakeEndpoint {
    pub(super) fn new(secret: &Secret, calls: Arc<WakeCalls>) -> Self {
        Self { path: Secret::new(format!("/wake/{}", secret.expose())), calls }
    }

    fn respond(&self, request: &Request<Incoming>) -> StatusCode {
        let (path, said) = (self.path.expose().as_bytes(), request.uri().path().as_bytes());
        if *request.method() != Method::GET || verify_slices_are_equal(path, said).is_err() {
            return StatusCode::NOT_FOUND;
        }
        tracing::info!("the agent was called");
        self.calls.record_call();
        StatusCode::NO_CONTENT
    }
}

/// Serves until it is dropped.
#[expect(clippy::infinite_loop, reason = "the owner of the task ends it")]
pub(super) async fn serve(listener: TcpListener, door: Arc<WakeEndpoint>) -> Infallible {
    let mut callers = Callers::default();
    loop {
        match listener.accept().await {
            Ok((stream, _)) => callers.admit(stream, Arc::clone(&door)),
            Err(error) => {
                tracing::warn!(%error, "no wake call could be accepted");
                sleep(ACCEPT_AGAIN).await;
            }
        }
    }
}

/// The open connections.
#[derive(Default)]
struct Callers {
    /// Dropped with this, which ends every connection.
    tasks: JoinSet<()>,
    oldest_first: VecDeque<AbortHandle>,
}

impl Callers {
    /// Serves a connection. A call takes no time, so beyond the maximum the oldest connection is the suspicious one.
    fn admit(&mut self, stream: TcpStream, door: Arc<WakeEndpoint>) {
        while self.tasks.try_join_next().is_some() {}
        self.oldest_first.retain(|caller| !caller.is_finished());
        if self.oldest_first.len() == CALLERS_MAX
            && let Some(oldest) = self.oldest_first.pop_front()
        {
            oldest.abort();
        }
        self.oldest_first.push_back(self.tasks.spawn(serve_connection(stream, door)));
    }
}

async fn serve_connection(stream: TcpStream, door: Arc<WakeEndpoint>) {
    let answer = service_fn(move |request: Request<Incoming>| {
        let mut response = Response::new(String::new());
        *response.status_mut() = door.respond(&request);
        async move { Ok::<_, Infallible>(response) }
    });
    let served = http1::Builder::new()
        .keep_alive(false)
        .max_buf_size(CALL_BYTES_MAX)
        .max_headers(CALL_HEADERS_MAX)
        .serve_connection(TokioIo::new(stream), answer);
    // The result of a connection is not needed.
    drop(timeout(CALL_WAIT, served).await);
}
