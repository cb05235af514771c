//! A connection that fails when its client stops to read.
//!
//! Otherwise a client that asks for a page and reads none of it would hold its connection, and the page, for ever.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use nightdesk_line::ConnectionProof;
use nightdesk_types::limits::{READ_STALL_MAX, UNPROVEN_READ_STALL_MAX};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// A stream whose writes fail when they wait for too long.
#[derive(Debug)]
pub(super) struct StallLimit<S> {
    inner: S,
    proof: ConnectionProof,
    /// The end of the present wait. A stream that does not wait has no timer.
    timer: Option<Pin<Box<Sleep>>>,
}

impl<S> StallLimit<S> {
    pub(super) const fn new(inner: S, proof: ConnectionProof) -> Self {
        Self { inner, proof, timer: None }
    }

    fn wait_max(&self) -> Duration {
        if self.proof.is_recorded() { READ_STALL_MAX } else { UNPROVEN_READ_STALL_MAX }
    }

    /// Passes a finished write on. A write that waits is failed at the end of its time.
    fn limit<T>(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.timer = None;
            return written;
        }
        let wait_max = self.wait_max();
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep(wait_max)));
        ready!(timer.as_mut().poll(cx));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client does not read")))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for StallLimit<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for StallLimit<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write(cx, bytes);
        self.limit(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write_vectored(cx, parts);
        self.limit(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.inner).poll_flush(cx);
        self.limit(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.inner).poll_shutdown(cx);
        self.limit(cx, shut)
    }
}

#[cfg(test)]
mod tests {
    use axum::http::Extensions;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
    use tokio::time::{Instant, timeout};

    use super::*;

    /// Writes more than fits to a client that reads nothing. Returns the time until the write fails.
    async fn time_until_failure(proof: ConnectionProof) -> Duration {
        let (desk, _client) = duplex(16);
        let (mut desk, began) = (StallLimit::new(desk, proof), Instant::now());
        let failed = desk.write_all(&[0; 64]).await;
        assert_eq!(failed.map_err(|error| error.kind()), Err(io::ErrorKind::TimedOut));
        began.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_does_not_read_is_left() {
        let (proof, mut extensions) = (ConnectionProof::default(), Extensions::new());
        extensions.insert(proof.clone());

        let unproven = time_until_failure(proof.clone()).await;
        assert!(unproven.abs_diff(UNPROVEN_READ_STALL_MAX) < Duration::from_millis(10));
        ConnectionProof::record_in(&extensions);
        let proven = time_until_failure(proof).await;
        assert!(proven.abs_diff(READ_STALL_MAX) < Duration::from_millis(10));
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_reads_slowly_is_served() {
        let (desk, mut client) = duplex(16);
        let mut desk = StallLimit::new(desk, ConnectionProof::default());
        let reading = tokio::spawn(async move {
            let mut part = [0; 16];
            for _ in 0..4 {
                sleep(UNPROVEN_READ_STALL_MAX.mul_f32(0.9)).await;
                client.read_exact(&mut part).await.expect("the desk writes");
            }
        });

        let written = timeout(10 * UNPROVEN_READ_STALL_MAX, desk.write_all(&[0; 64])).await;
        assert!(written.is_ok_and(|written| written.is_ok()));
        reading.await.expect("the client has read all");
    }
}
