//! A line over a WebSocket.

use std::io;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use super::{ConnectionFate, DoorState, entry_id};
use crate::conformance::facts::{SignalFate, TrialFact};
use crate::conformance::fault::{FaultAction, SignalKind};
use crate::conformance::limits::READ_BYTES;
use crate::conformance::wire::call::reports_stop;
use crate::conformance::wire::http::{PlainHttp, read_head};
use crate::conformance::wire::websocket::{WsEnd, WsFrame, WsLines};

const SWITCHING_PROTOCOLS: u16 = 101;

/// One direction of a line: its bytes, and the lines in them.
#[derive(Default)]
struct Direction {
    bytes: Vec<u8>,
    lines: WsLines,
}

/// Both ends of a line.
struct PassedLine {
    client: BufReader<TcpStream>,
    desk: BufReader<TcpStream>,
}

impl DoorState {
    /// Passes a dial on, and then the frames of the line in both directions.
    pub(super) async fn pass_line(
        &self,
        mut client: BufReader<TcpStream>,
        request: &PlainHttp,
    ) -> io::Result<()> {
        if let Some(refusal) = self.note_dial() {
            return refusal.write_response(&mut client).await;
        }
        let mut desk = BufReader::new(TcpStream::connect(self.desk).await?);
        desk.write_all(&request.head_bytes()).await?;
        let response = read_head(&mut desk).await?.ok_or(io::ErrorKind::UnexpectedEof)?;
        client.write_all(&response.head_bytes()).await?;
        if response.status() != SWITCHING_PROTOCOLS {
            tokio::io::copy(&mut desk, &mut client).await?;
            return Ok(());
        }
        self.pass_frames(PassedLine { client, desk }).await
    }

    async fn pass_frames(&self, mut line: PassedLine) -> io::Result<()> {
        let (mut up, mut down) = (Direction::default(), Direction::default());
        let (mut from_client, mut from_desk) = (vec![0; READ_BYTES], vec![0; READ_BYTES]);
        loop {
            let fate = tokio::select! {
                read = line.client.read(&mut from_client) => match read? {
                    0 => return Ok(()),
                    count => {
                        up.bytes.extend(&from_client[..count]);
                        self.pass_up(&mut line, &mut up).await?
                    }
                },
                read = line.desk.read(&mut from_desk) => match read? {
                    0 => return Ok(()),
                    count => {
                        down.bytes.extend(&from_desk[..count]);
                        self.pass_down(&mut line, &mut down).await?
                    }
                },
            };
            if fate == ConnectionFate::Cut {
                self.notebook.record(TrialFact::Cut);
                return Ok(());
            }
        }
    }

    /// Passes on the program's frames that are complete.
    async fn pass_up(
        &self,
        line: &mut PassedLine,
        up: &mut Direction,
    ) -> io::Result<ConnectionFate> {
        while let Some(frame) = WsFrame::take_from(&mut up.bytes).map_err(io::Error::other)? {
            if !frame.is_data() {
                line.desk.write_all(&frame.to_bytes(WsEnd::Client)).await?;
                continue;
            }
            for text in up.lines.take(&frame).map_err(io::Error::other)? {
                let action = self.note_line_of_program(&text);
                if action != FaultAction::CutBefore && action != FaultAction::Swallow {
                    let bytes = WsFrame::text(&text).to_bytes(WsEnd::Client);
                    let copies = if action == FaultAction::Twice { 2 } else { 1 };
                    line.desk.write_all(&bytes.repeat(copies)).await?;
                }
                if matches!(action, FaultAction::CutBefore | FaultAction::CutAfter) {
                    return Ok(ConnectionFate::Cut);
                }
                self.write_copies(line).await?;
            }
        }
        Ok(ConnectionFate::Open)
    }

    /// Notes a frame of the program, and returns the action on it.
    fn note_line_of_program(&self, text: &[u8]) -> FaultAction {
        let frame: Value = serde_json::from_slice(text).unwrap_or_default();
        match frame["type"].as_str() {
            Some("inbound_ack") => self.note_ack(frame["bufferId"].as_str().unwrap_or_default()),
            Some("outbound") if frame["action"]["op"] == "send" => {
                self.note_send(frame["action"]["content"].as_str().unwrap_or_default());
                self.next_action(SignalKind::Send)
            }
            Some("interrupt_result") => {
                let stopped = reports_stop(&frame);
                self.notebook.record(TrialFact::StopResult { stopped });
                FaultAction::Pass
            }
            Some(_) | None => FaultAction::Pass,
        }
    }

    fn note_ack(&self, id: &str) -> FaultAction {
        let action = self.next_action(SignalKind::Ack);
        let is_lost = matches!(action, FaultAction::Swallow | FaultAction::CutBefore);
        let fate = if is_lost { SignalFate::Withheld } else { SignalFate::Passed };
        self.notebook.record(TrialFact::Ack { entry: id.to_owned(), fate });
        self.note_ack_of_copies(&[id.to_owned()]);
        action
    }

    async fn write_copies(&self, line: &mut PassedLine) -> io::Result<()> {
        for frame in self.take_copies() {
            self.note_frame(&frame);
            let text = format!("{frame}\n");
            let bytes = WsFrame::text(text.as_bytes()).to_bytes(WsEnd::Server);
            line.client.write_all(&bytes).await?;
        }
        Ok(())
    }

    /// Passes on the desk's frames that are complete.
    async fn pass_down(
        &self,
        line: &mut PassedLine,
        down: &mut Direction,
    ) -> io::Result<ConnectionFate> {
        while let Some(frame) = WsFrame::take_from(&mut down.bytes).map_err(io::Error::other)? {
            if !frame.is_data() {
                line.client.write_all(&frame.to_bytes(WsEnd::Server)).await?;
                continue;
            }
            for text in down.lines.take(&frame).map_err(io::Error::other)? {
                let read: Value = serde_json::from_slice(&text).unwrap_or_default();
                let action = self.note_line_of_desk(&read);
                if action != FaultAction::CutBefore {
                    let copies = if action == FaultAction::Twice { 2 } else { 1 };
                    (0..copies).for_each(|_| self.note_frame(&read));
                    let bytes = WsFrame::text(&text).to_bytes(WsEnd::Server);
                    line.client.write_all(&bytes.repeat(copies)).await?;
                }
                if matches!(action, FaultAction::CutBefore | FaultAction::CutAfter) {
                    return Ok(ConnectionFate::Cut);
                }
            }
        }
        Ok(ConnectionFate::Open)
    }

    /// Returns the action on a frame of the desk.
    fn note_line_of_desk(&self, frame: &Value) -> FaultAction {
        if entry_id(frame).is_some() {
            let action = self.next_action(SignalKind::Entry);
            if action == FaultAction::Again {
                self.keep_for_later(frame);
            }
            return action;
        }
        match frame["type"].as_str() {
            Some("descriptor") => {
                self.notebook.record(TrialFact::Opening);
                FaultAction::Pass
            }
            Some("outbound_result") => self.next_action(SignalKind::SendResult),
            Some(_) | None => FaultAction::Pass,
        }
    }
}
