//! Requests of a program, and their responses.

use std::io;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::{ConnectionFate, DoorState};
use crate::conformance::facts::{SignalFate, TrialFact};
use crate::conformance::fault::{FaultAction, SignalKind};
use crate::conformance::limits::OPENING_WAIT;
use crate::conformance::wire::call::{LineCall, LineCallKind};
use crate::conformance::wire::http::PlainHttp;

impl DoorState {
    /// Passes a request on, and its response back.
    pub(super) async fn pass_exchange(
        &self,
        client: &mut BufReader<TcpStream>,
        request: PlainHttp,
    ) -> io::Result<ConnectionFate> {
        let Some(call) = LineCall::read(&request) else {
            self.call_desk(client, &request).await?.write_response(client).await?;
            return Ok(ConnectionFate::Open);
        };
        match call.kind {
            LineCallKind::Take => self.pass_take(client, &request, &call).await,
            LineCallKind::Ack => self.pass_ack(client, &request, &call).await,
            LineCallKind::Send => self.pass_send(client, &request, &call).await,
            LineCallKind::Stopped => {
                self.notebook.record(TrialFact::StopResult { stopped: call.is_stopped() });
                self.call_desk(client, &request).await?.write_response(client).await?;
                Ok(ConnectionFate::Open)
            }
        }
    }

    async fn pass_take(
        &self,
        client: &mut BufReader<TcpStream>,
        request: &PlainHttp,
        call: &LineCall,
    ) -> io::Result<ConnectionFate> {
        if let Some(refusal) = call.is_dial().then(|| self.note_dial()).flatten() {
            refusal.write_response(client).await?;
            return Ok(ConnectionFate::Open);
        }
        let mut response = if call.is_dial() {
            self.open_line(client, request, call).await?
        } else {
            self.call_desk(client, request).await?
        };
        if call.is_success(&response) && self.set_frames(call, &mut response) == ConnectionFate::Cut
        {
            return Ok(ConnectionFate::Cut);
        }
        response.write_response(client).await?;
        Ok(ConnectionFate::Open)
    }

    /// Passes on a take that opens a line. If the desk keeps it, the line is open.
    async fn open_line(
        &self,
        client: &mut BufReader<TcpStream>,
        request: &PlainHttp,
        call: &LineCall,
    ) -> io::Result<PlainHttp> {
        let calling = self.call_desk(client, request);
        tokio::pin!(calling);
        if let Ok(response) = timeout(OPENING_WAIT, &mut calling).await {
            let response = response?;
            if call.is_success(&response) {
                self.notebook.record(TrialFact::Opening);
            }
            return Ok(response);
        }
        self.notebook.record(TrialFact::Opening);
        calling.await
    }

    /// Makes the faults of the entries in a response.
    fn set_frames(&self, call: &LineCall, response: &mut PlainHttp) -> ConnectionFate {
        let arrived = call.frames(response);
        let mut frames = self.take_copies();
        let has_copies = !frames.is_empty();
        let mut is_cut = false;
        for frame in &arrived {
            frames.push(frame.clone());
            match self.next_action(SignalKind::Entry) {
                FaultAction::Twice => frames.push(frame.clone()),
                FaultAction::Again => self.keep_for_later(frame),
                FaultAction::CutBefore | FaultAction::CutAfter => is_cut = true,
                FaultAction::Pass | FaultAction::Swallow | FaultAction::Refuse => {}
            }
        }
        if is_cut {
            // The desk repeats a response that was lost.
            self.notebook.record(TrialFact::Cut);
            return ConnectionFate::Cut;
        }
        for frame in &frames {
            self.note_frame(frame);
        }
        if has_copies || frames.len() != arrived.len() {
            call.set_frames(response, &frames);
        }
        ConnectionFate::Open
    }

    async fn pass_ack(
        &self,
        client: &mut BufReader<TcpStream>,
        request: &PlainHttp,
        call: &LineCall,
    ) -> io::Result<ConnectionFate> {
        let ids = call.acked();
        let action = self.next_action(SignalKind::Ack);
        let is_lost = matches!(action, FaultAction::Swallow | FaultAction::CutBefore);
        let fate = if is_lost { SignalFate::Withheld } else { SignalFate::Passed };
        for entry in ids.clone() {
            self.notebook.record(TrialFact::Ack { entry, fate });
        }
        if action == FaultAction::CutBefore {
            return Ok(self.cut_connection());
        }
        self.note_ack_of_copies(&ids);
        let swallowed = (action == FaultAction::Swallow).then(|| call.without_acks(request));
        let response = self.call_desk(client, swallowed.as_ref().unwrap_or(request)).await?;
        self.respond(client, &response, action).await
    }

    async fn pass_send(
        &self,
        client: &mut BufReader<TcpStream>,
        request: &PlainHttp,
        call: &LineCall,
    ) -> io::Result<ConnectionFate> {
        self.note_send(call.content().unwrap_or_default());
        let action = self.next_action(SignalKind::Send);
        if action == FaultAction::CutBefore {
            return Ok(self.cut_connection());
        }
        let response = self.call_desk(client, request).await?;
        if action == FaultAction::Twice {
            self.call_desk(client, request).await?;
        }
        if self.next_action(SignalKind::SendResult) == FaultAction::CutBefore {
            return Ok(self.cut_connection());
        }
        self.respond(client, &response, action).await
    }

    async fn respond(
        &self,
        client: &mut BufReader<TcpStream>,
        response: &PlainHttp,
        action: FaultAction,
    ) -> io::Result<ConnectionFate> {
        if action == FaultAction::CutAfter {
            return Ok(self.cut_connection());
        }
        response.write_response(client).await?;
        Ok(ConnectionFate::Open)
    }

    fn cut_connection(&self) -> ConnectionFate {
        self.notebook.record(TrialFact::Cut);
        ConnectionFate::Cut
    }

    /// Calls the desk, as long as the program waits for the response.
    async fn call_desk(
        &self,
        client: &mut BufReader<TcpStream>,
        request: &PlainHttp,
    ) -> io::Result<PlainHttp> {
        let calling = request.call(self.desk);
        tokio::pin!(calling);
        tokio::select! {
            response = &mut calling => return response,
            next = client.fill_buf() => {
                if next?.is_empty() {
                    return Err(io::ErrorKind::ConnectionAborted.into());
                }
            }
        }
        // The program has sent its next request already, and waits for this response.
        calling.await
    }
}
