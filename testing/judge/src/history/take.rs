//! Converts records to rows.

use crate::event::{EntryState, Event, GatewayState, Record};
use crate::history::rows::{
    About, Ack, Answer, Ask, Close, Entry, Epoch, Frozen, Line, Loan, Mark, MayPark, Owning, Park,
    Receipt, Said, Send, Socket, Stop, Use,
};
use crate::history::{Fault, History, Killed};
use crate::names::{Name, number};

/// An event for agents.
pub(super) struct Sent<'a> {
    pub(super) bot: &'a str,
    pub(super) chat: &'a str,
    pub(super) nonce: &'a str,
    pub(super) expect: &'a [String],
    pub(super) order: Option<u64>,
}

impl History {
    /// Adds the next record in order of time.
    pub(crate) fn take(&mut self, record: &Record) {
        let mark = Mark { at_ns: record.at_ns, record: self.events };
        self.events += 1;
        self.last = Some(mark);
        self.take_event(mark, &record.proc, &record.ev);
    }

    #[expect(clippy::too_many_lines, reason = "one arm for each event, and nothing else")]
    fn take_event(&mut self, mark: Mark, proc: &str, event: &Event) {
        match event {
            Event::PlatSend { id, bot, chat, nonce, expect, order, .. } => {
                let sent = Sent { bot, chat, nonce, expect, order: *order };
                self.take_send(mark, id, &sent);
            }
            Event::PlatAck { id, status, .. } => self.take_told(mark, id, *status),
            Event::PlatLook { id, found: false } => {
                let name = self.names.of(id);
                self.missing.push(About { mark, name });
            }
            Event::PlatSock { bot, shard, socket, what } => {
                let [bot, shard, socket] = self.names([bot, shard, socket]);
                self.sockets.push(Socket { mark, bot, shard, id: socket, what: *what });
            }
            Event::PlatLend { id, capability, good_for_ms } => {
                let [event, capability] = self.names([id, capability]);
                self.loans.push(Loan { mark, event, capability, good_for_ms: *good_for_ms });
            }
            Event::PlatFollowed { capability, request, .. } => {
                let [what, request] = self.names([capability, request]);
                self.uses.push(Use { mark, request, what });
            }
            Event::PlatEgress { chat, nonce, request, .. } => {
                let [chat, nonce] = self.names([chat, nonce]);
                let request = request.as_deref().map(|request| self.names.of(request));
                self.said.push(Said { mark, chat, nonce, request });
            }

            Event::GwOpen { conn, gateway, agent } => {
                let [conn, gateway, agent] = self.names([conn, gateway, agent]);
                let proc = self.names.of(proc);
                self.line_by_conn.set(conn, self.lines.len());
                self.lines.push(Line { opened: mark, proc, gateway, agent, closed: None });
            }
            Event::GwRecv { conn, agent, buffer_id, nonce, bytes, passthrough } => {
                let [conn, agent, buffer, nonce] = self.names([conn, agent, buffer_id, nonce]);
                let (bytes, passthrough) = (*bytes, *passthrough);
                let (done, crossed) = (None, false);
                self.receipts.push(Receipt {
                    mark,
                    conn,
                    agent,
                    buffer,
                    nonce,
                    bytes,
                    passthrough,
                    is_never_acked: false,
                    done,
                    crossed,
                });
            }
            Event::GwAck { conn, buffer_id, .. } => {
                let [conn, buffer] = self.names([conn, buffer_id]);
                self.acks.push(Ack { mark, conn, buffer });
            }
            Event::GwClose { conn, code, reason } => {
                let [conn, reason] = self.names([conn, reason]);
                self.close(conn, Close { mark, code: *code, reason });
            }
            Event::StopRecv { conn, agent, chat, .. } => {
                let [conn, agent, chat] = self.names([conn, agent, chat]);
                self.stops.push(Stop { mark, chat, agent: Some(agent), conn: Some(conn) });
            }
            Event::OutReq { conn, request, chat, nonce, .. } => {
                let [conn, request, chat, nonce] = self.names([conn, request, chat, nonce]);
                self.asks.push(Ask { mark, conn, request, chat, nonce });
            }
            Event::FollowReq { agent, request, .. } => {
                let [what, request] = self.names([agent, request]);
                self.uses_asked.push(Use { mark, request, what });
            }
            Event::OutRes { conn, request, result } => {
                let [conn, request] = self.names([conn, request]);
                self.answers.push(Answer { mark, conn, request, result: *result });
            }
            Event::GwState { agent, what } => self.take_state(mark, agent, *what),

            Event::WakeRecv { agent } => {
                let about = self.about(mark, agent);
                self.calls.push(about);
            }
            Event::Honeypot { address } => {
                let about = self.about(mark, address);
                self.honeypots.push(about);
            }

            Event::JobArm { .. }
            | Event::JobCancel { .. }
            | Event::JobAnswer { .. }
            | Event::FireRecv { .. }
            | Event::FireAnswer { .. }
            | Event::FireRow { .. } => self.take_time(mark, event),

            Event::LetterSend { .. }
            | Event::LetterAck { .. }
            | Event::LetterReply { .. }
            | Event::ShelfPut { .. }
            | Event::ShelfAnswer { .. }
            | Event::ShelfRow { .. }
            | Event::ShelfLeak { .. } => self.take_letters(mark, event),

            Event::Begin { faults, .. } => {
                self.begins += 1;
                self.faulty = *faults;
            }
            Event::Revoked { gateway } => {
                let about = self.about(mark, gateway);
                self.revoked.push(about);
            }
            Event::BadSecret { gateway } => {
                let about = self.about(mark, gateway);
                self.bad_secrets.push(about);
            }
            Event::StopReq { chat, agent, .. } => {
                let chat = self.names.of(chat);
                let agent = agent.as_deref().map(|agent| self.names.of(agent));
                self.stops_asked.push(Stop { mark, chat, agent, conn: None });
            }
            Event::Wakeable { agent } => {
                let about = self.about(mark, agent);
                self.wakeable.push(about);
            }
            Event::Posted { agent } => {
                let about = self.about(mark, agent);
                self.posted.push(about);
            }
            Event::MayPark { nonce, reason } => {
                let [nonce, reason] = self.names([nonce, reason]);
                self.may_park.push(MayPark { nonce, reason });
            }
            Event::Resubmitted { nonce } => {
                let about = self.about(mark, nonce);
                self.resubmitted.push(about);
            }
            Event::FaultOn { id, target, .. } => {
                let id = self.names.of(id);
                self.faults.push(Fault::new(&mut self.names, mark, id, target));
            }
            Event::FaultOff { id } => self.end_fault(mark, id),
            Event::Quiesce => self.quiesced = Some(mark),
            Event::Canary { place } => {
                let about = self.about(mark, place);
                self.canaries.push(about);
            }
            Event::Audited { fault: Some(fault) } => {
                let about = self.about(mark, fault);
                self.audit_faults.push(about);
            }
            Event::Started { proc } => {
                let about = self.about(mark, proc);
                self.started.push(about);
            }
            Event::Killed { proc, records } => {
                let proc = self.names.of(proc);
                self.killed.push(Killed { mark, proc, records: *records });
            }

            Event::Inbox { agent, seq, buffer_id, state } => {
                let [agent, buffer] = self.names([agent, buffer_id]);
                let (acked, state) = ((*state == EntryState::Acked).then_some(mark), *state);
                self.take_entry(Entry { agent, seq: *seq, buffer, acked, last: mark, state });
            }
            Event::Parked { agent, seq, buffer_id, reason } => {
                let [agent, buffer, reason] = self.names([agent, buffer_id, reason]);
                self.parks.push(Park { mark, agent, seq: *seq, buffer, reason });
            }
            Event::Lease { resource, owner, epoch } if !owner.is_empty() => {
                let owner = self.names.of(owner);
                self.take_epoch(mark, resource, *epoch, Owning::Leased(owner));
            }
            Event::OwnAcq { resource, epoch } => {
                self.take_epoch(mark, resource, *epoch, Owning::Acquired);
            }
            Event::Commit { resource, epoch } => {
                self.take_epoch(mark, resource, *epoch, Owning::Committed);
            }
            // These events inform people; no promise depends on them.
            Event::Audited { fault: None }
            | Event::PlatLook { found: true, .. }
            | Event::PlatShown { .. }
            | Event::Lease { .. }
            | Event::OwnLost { .. }
            | Event::End => {}
        }
    }

    pub(super) fn names<const N: usize>(&mut self, texts: [&String; N]) -> [Name; N] {
        texts.map(|text| self.names.of(text))
    }

    pub(super) fn about(&mut self, mark: Mark, text: &str) -> About {
        About { mark, name: self.names.of(text) }
    }

    /// Adds an event. If a platform repeats it, the first time counts.
    pub(super) fn take_send(&mut self, mark: Mark, id: &str, sent: &Sent<'_>) {
        let Sent { bot, chat, nonce, expect, order } = *sent;
        let id = self.names.of(id);
        if self.send_by_id.get(id).is_some() {
            return;
        }
        let [bot, chat, nonce] = [bot, chat, nonce].map(|text| self.names.of(text));
        let expect_from = number(self.expected.len());
        self.expected.extend(expect.iter().map(|agent| self.names.of(agent)));
        self.send_by_id.set(id, self.sends.len());
        if self.send_by_nonce.get(nonce).is_none() {
            self.send_by_nonce.set(nonce, self.sends.len());
        }
        self.sends.push(Send {
            mark,
            bot,
            chat,
            nonce,
            order,
            expect_from,
            expect_count: number(expect.len()),
            told: None,
        });
    }

    fn take_told(&mut self, mark: Mark, id: &str, status: u16) {
        let id = self.names.of(id);
        if (200..300).contains(&status) {
            self.is_told(mark, id);
        }
    }

    /// Records that the sender knows that the event was accepted.
    pub(super) fn is_told(&mut self, mark: Mark, id: Name) {
        if let Some(row) = self.send_by_id.get(id) {
            self.sends[row].told.get_or_insert(mark);
        }
    }

    fn close(&mut self, conn: Name, close: Close) {
        if let Some(row) = self.line_by_conn.get(conn) {
            self.lines[row].closed.get_or_insert(close);
        }
    }

    /// Records a frozen gateway as a fault of its own, because only the gateway itself reports it.
    fn take_state(&mut self, mark: Mark, agent: &str, what: GatewayState) {
        let id = format!("frozen {agent}");
        let name = self.names.of(agent);
        match what {
            GatewayState::Frozen => {
                let id = self.names.of(&id);
                let target = format!("gateway:{agent}");
                self.faults.push(Fault::new(&mut self.names, mark, id, &target));
                self.frozen.push(Frozen { agent: name, on: mark, off: None });
            }
            GatewayState::Thawed => {
                self.end_fault(mark, &id);
                let frozen = self.frozen.iter_mut().rev().find(|frozen| frozen.agent == name);
                if let Some(frozen) = frozen {
                    frozen.off.get_or_insert(mark);
                }
            }
            GatewayState::Idle => {}
        }
    }

    fn end_fault(&mut self, mark: Mark, id: &str) {
        let id = self.names.of(id);
        let on = self.faults.iter_mut().rev().find(|fault| fault.id == id && fault.off.is_none());
        if let Some(fault) = on {
            fault.off = Some(mark);
        }
    }

    /// Merges the observations of an entry: the first one that shows it acked, and the last one.
    fn take_entry(&mut self, seen: Entry) {
        let Some(row) = self.entry_by_buffer.get(seen.buffer) else {
            self.entry_by_buffer.set(seen.buffer, self.entries.len());
            return self.entries.push(seen);
        };
        let entry = &mut self.entries[row];
        *entry = Entry {
            acked: entry.acked.or(seen.acked),
            last: seen.last,
            state: seen.state,
            ..*entry
        };
    }

    fn take_epoch(&mut self, mark: Mark, resource: &str, number: u64, what: Owning) {
        let resource = self.names.of(resource);
        self.epochs.push(Epoch { mark, resource, number, what });
    }
}
