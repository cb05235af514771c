//! The transport of a polled line: frames wait for a take, and requests become frames.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use nightdesk_protocol::close::Close;
use nightdesk_protocol::frame::{FrameHead, Outbound};
use nightdesk_protocol::{Frame, FromGateway};
use nightdesk_types::limits::LINE_REQUESTS_MAX;
use nightdesk_types::{AgentId, RequestId, Transport};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::timeout;

use super::PollError;
use super::held_frames::HeldFrames;
use crate::transport::{LineTransport, TransportBroken, TransportEvent};

/// A polled line, as requests see it.
#[derive(Debug)]
pub(super) struct PolledLine {
    agent: AgentId,
    to_session: mpsc::Sender<TransportEvent>,
    state: Mutex<PollState>,
    /// Its number rises with every change of the state.
    changes: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct PollState {
    descriptors: Vec<Frame>,
    held: HeldFrames,
    /// The requests that wait for the result of a send.
    sends: HashMap<RequestId, oneshot::Sender<Frame>>,
    /// The number of takes so far. Only the newest one waits.
    takes: u64,
    /// The takes that wait now.
    waiting: usize,
    ended: Option<LineEnd>,
}

/// The end of a line, with the desk's reason, if the desk ended it.
#[derive(Clone, Copy, Debug)]
struct LineEnd(Option<Close>);

impl PollState {
    fn gone(&self) -> PollError {
        PollError::Gone(self.ended.and_then(|LineEnd(close)| close))
    }
}

impl PolledLine {
    pub(super) const fn agent(&self) -> AgentId {
        self.agent
    }

    /// Passes an event to the session.
    pub(super) fn push(&self, event: TransportEvent) -> Result<(), PollError> {
        self.push_to(&self.lock(), event)
    }

    fn push_to(&self, state: &PollState, event: TransportEvent) -> Result<(), PollError> {
        self.to_session.try_send(event).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => PollError::Busy,
            mpsc::error::TrySendError::Closed(_) => state.gone(),
        })
    }

    /// Waits until the session answered all hellos.
    pub(super) async fn wait_for_descriptors(&self, count: usize) -> Result<Vec<Frame>, PollError> {
        let answered = |state: &mut PollState| {
            (state.descriptors.len() >= count).then(|| std::mem::take(&mut state.descriptors))
        };
        self.wait_for(answered).await
    }

    /// Waits for frames from a position on. Returns none after `wait`, or once a newer take waits.
    pub(super) async fn take(
        &self,
        position: u64,
        wait: Duration,
    ) -> Result<(u64, Vec<Frame>), PollError> {
        let number = self.begin_take();
        let _waiting = WaitingTake(self);
        let found = |state: &mut PollState| {
            let newer = (state.takes != number).then(|| (position, Vec::new()));
            newer.or_else(|| state.held.read_from(position))
        };
        match timeout(wait, self.wait_for(found)).await {
            Ok(taken) => taken,
            Err(_) => Ok((position, Vec::new())),
        }
    }

    /// Acknowledges an entry.
    pub(super) fn ack(&self, buffer_id: String) -> Result<(), PollError> {
        self.lock().held.drop_entry(&buffer_id);
        self.push(TransportEvent::Frame(Box::new(FromGateway::InboundAck { buffer_id })))
    }

    /// Performs an action and waits for the frame with its result.
    ///
    /// A repeat of a request that is under way waits for that one's result in its place: a second attempt could fail
    /// for lack of a turn, and tell the agent so, while the first one is still to be made.
    pub(super) async fn send(&self, outbound: Outbound) -> Result<Frame, PollError> {
        // An ending line drops the sender, and so does a repeat.
        self.begin_send(outbound)?.await.map_err(|_| self.gone())
    }

    fn begin_send(&self, outbound: Outbound) -> Result<oneshot::Receiver<Frame>, PollError> {
        let (tell, told) = oneshot::channel();
        let request_id = outbound.request_id.clone();
        let mut state = self.lock();
        if state.ended.is_some() {
            return Err(state.gone());
        }
        if !state.sends.contains_key(&request_id) {
            let frame = FromGateway::Outbound(Box::new(outbound));
            self.push_to(&state, TransportEvent::Frame(Box::new(frame)))?;
        }
        state.sends.insert(request_id, tell);
        drop(state);
        Ok(told)
    }

    fn begin_take(&self) -> u64 {
        let mut state = self.lock();
        state.takes += 1;
        state.waiting += 1;
        let number = state.takes;
        drop(state);
        self.announce();
        number
    }

    /// Waits until the state has what is looked for, or the line ends.
    async fn wait_for<T>(
        &self,
        mut find: impl FnMut(&mut PollState) -> Option<T>,
    ) -> Result<T, PollError> {
        let mut changes = self.changes.subscribe();
        loop {
            if let Some(found) = find(&mut self.lock()) {
                return Ok(found);
            }
            if self.lock().ended.is_some() || changes.changed().await.is_err() {
                return Err(self.gone());
            }
        }
    }

    fn gone(&self) -> PollError {
        self.lock().gone()
    }

    fn end(&self, close: Option<Close>) {
        let mut state = self.lock();
        let end = state.ended.get_or_insert(LineEnd(close));
        end.0 = end.0.or(close);
        state.sends.clear();
        drop(state);
        self.announce();
    }

    fn announce(&self) {
        self.changes.send_modify(|number| *number += 1);
    }

    fn lock(&self) -> MutexGuard<'_, PollState> {
        // The state is consistent at every step, also if a holder of the lock panicked.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A take that waits. Its client may hang up at any time.
struct WaitingTake<'a>(&'a PolledLine);

impl Drop for WaitingTake<'_> {
    fn drop(&mut self) {
        self.0.lock().waiting -= 1;
        // The agent was there until now. A session that is busy learns it from the next request.
        self.0.push(TransportEvent::Called).ok();
    }
}

/// A polled line, as its session sees it.
pub(super) struct PollTransport {
    kind: Transport,
    line: Arc<PolledLine>,
    from_agent: mpsc::Receiver<TransportEvent>,
    /// A ping was answered: a take waits.
    is_called: bool,
}

impl PollTransport {
    /// Creates both sides of a line.
    pub(super) fn new(agent: AgentId, kind: Transport) -> (Arc<PolledLine>, Self) {
        let (to_session, from_agent) = mpsc::channel(LINE_REQUESTS_MAX);
        let line = Arc::new(PolledLine {
            agent,
            to_session,
            state: Mutex::default(),
            changes: watch::Sender::default(),
        });
        (Arc::clone(&line), Self { kind, line, from_agent, is_called: false })
    }
}

impl LineTransport for PollTransport {
    fn kind(&self) -> Transport {
        self.kind
    }

    async fn next_event(&mut self) -> TransportEvent {
        if std::mem::take(&mut self.is_called) {
            return TransportEvent::Called;
        }
        let event = self.from_agent.recv().await;
        event.unwrap_or(TransportEvent::Ended(Close::Done.code()))
    }

    async fn feed_frame(&mut self, frame: Frame) -> Result<(), TransportBroken> {
        let mut state = self.line.lock();
        match frame.head() {
            FrameHead::Descriptor => state.descriptors.push(frame),
            FrameHead::Entry { buffer_id } => state.held.push_entry(frame, buffer_id),
            FrameHead::Result { request_id } => {
                // The request may have gone.
                if let Some(tell) = state.sends.remove(&request_id) {
                    drop(tell.send(frame));
                }
            }
            FrameHead::Stop { .. } => state.held.push_order(frame),
            FrameHead::Other => {}
        }
        Ok(())
    }

    async fn feed_ping(&mut self) -> Result<(), TransportBroken> {
        self.is_called = self.line.lock().waiting > 0;
        Ok(())
    }

    async fn flush(&mut self) -> Result<(), TransportBroken> {
        self.line.announce();
        Ok(())
    }

    async fn close(&mut self, close: Close) -> Result<(), TransportBroken> {
        self.line.end(Some(close));
        Ok(())
    }

    async fn linger(&mut self) {}
}

impl Drop for PollTransport {
    fn drop(&mut self) {
        self.line.end(None);
    }
}

#[cfg(test)]
mod tests;
