//! The store of letters, their receipts, and the grants between agents.

use async_trait::async_trait;
use nightdesk_gate::{LetterGrants, decide_letter};
use nightdesk_inbox::LocalEntry;
use nightdesk_letters::decide::{
    DueDecision, DueFacts, InboxCapacity, LetterDecision, LetterFacts, LetterPlace, current_state,
    decide_batch, decide_due, decide_reply,
};
use nightdesk_letters::{
    AddressFacts, AddressQuery, DeliveryRecord, DueLetter, Grant, GrantedPeer, Grants, Hooks,
    Letter, LetterEntry, LetterState, LetterStore, NamedAgent, NewLetter, Party, Peer, PeerLine,
    Posting, PostingOutcome, Receipt, Receipts, ReplyOutcome,
};
use nightdesk_office::ReceivedLetter;
use nightdesk_register::audit::Kind;
use nightdesk_types::limits::{HOP_REMEMBERED, LETTERS_KEPT, LETTERS_PAGE_MAX};
use nightdesk_types::{AgentId, LetterId, Quota, Seq, StoreError, TenantScope, Timestamp};
use serde_json::{Value, json};

use super::{AgentKey, Memory, State};

/// A letter's row.
pub(super) struct LetterRow {
    new: NewLetter,
    entry: Option<LetterEntry>,
    hop: u32,
    state: LetterState,
    seq: Option<Seq>,
    sent_at: Timestamp,
    due_at: Option<Timestamp>,
    reply_by: Option<Timestamp>,
    reply: Option<(String, Timestamp)>,
}

impl LetterRow {
    /// Returns the time at which the letter was or will be delivered to its agent.
    fn put_at(&self) -> Timestamp {
        self.due_at.unwrap_or(self.sent_at)
    }

    fn settle(&mut self, now: Timestamp) {
        self.state = current_state(self.state, self.reply_by, now);
    }

    fn letter(&self, is_acked: bool) -> Letter {
        let NewLetter { from, to, dispatch_id, route, kind, session, correlation_id, .. } =
            &self.new;
        Letter {
            id: self.new.id,
            from: from.agent,
            to: to.agent,
            dispatch_id: dispatch_id.clone(),
            route: *route,
            kind: *kind,
            session: session.clone(),
            correlation_id: correlation_id.clone(),
            hop: self.hop,
            state: self.state,
            seq: self.seq,
            is_acked,
            sent_at: self.sent_at,
            due_at: self.due_at,
            reply_by: self.reply_by,
            reply: self.reply.clone(),
        }
    }
}

impl State {
    /// Returns the letters that an agent received, without the names of their senders.
    pub(super) fn letters_to(&self, to: AgentKey, now: Timestamp) -> Vec<ReceivedLetter> {
        let to_agent = |row: &&LetterRow| (row.new.to.scope, row.new.to.agent) == to;
        let put = self
            .letters
            .iter()
            .filter(to_agent)
            .filter(|row| row.state != LetterState::Scheduled && row.put_at() <= now);
        let received = put.map(|row| ReceivedLetter {
            id: row.new.id,
            from_tenant: row.new.from.scope.tenant(),
            from: row.new.from.agent,
            from_name: None,
            hop: row.hop,
            put_at: row.put_at(),
        });
        received.collect()
    }

    fn grants_between(&self, from: Party, to: Party) -> LetterGrants {
        LetterGrants {
            by_sender: self.letter_grants.contains_key(&(from, to)),
            by_recipient: self.letter_grants.contains_key(&(to, from)),
        }
    }

    fn may_write(&self, from: Party, to: Party) -> bool {
        decide_letter(from.key(), to.key(), self.grants_between(from, to)).is_ok()
    }

    /// Returns the highest hop among the letters that an agent received within `HOP_REMEMBERED`.
    fn highest_hop(&self, to: Party, now: Timestamp) -> u32 {
        let since = now.checked_sub(HOP_REMEMBERED).unwrap_or(Timestamp::MIN);
        let lately = self.letters.iter().filter(|row| row.new.to == to && row.put_at() > since);
        lately.map(|row| row.hop).max().unwrap_or(0)
    }

    fn sent(&mut self, from: Party, id: LetterId, now: Timestamp) -> Option<Letter> {
        let row = self.letters.iter_mut().find(|row| row.new.from == from && row.new.id == id)?;
        row.settle(now);
        let (to, seq) = (row.new.to, row.seq);
        let row = self.letters.iter().find(|row| row.new.id == id)?;
        let inbox = self.agents.get(&(to.scope, to.agent));
        let acked = seq.zip(inbox).is_some_and(|(seq, inbox)| !inbox.cursor.is_before(seq));
        Some(row.letter(acked))
    }

    fn live(&self, party: Party) -> Option<PeerLine> {
        let agent = self.agents.get(&(party.scope, party.agent))?;
        let line = agent.line.as_ref().filter(|line| self.is_open(line))?;
        let session = self.gateways.get(&line.gateway)?.called().to_owned();
        let sessions = line.sessions.clone();
        Some(PeerLine { session, sessions, is_busy: agent.is_waited_for() })
    }

    /// Returns the size of an agent's pending entries and its tenant's quota.
    fn room(&self, to: Party) -> Option<InboxCapacity> {
        let (entries, bytes) = self.agents.get(&(to.scope, to.agent))?.pending();
        Some(InboxCapacity {
            entries,
            entries_max: self.allowed(to.scope, Quota::PendingEntries),
            bytes,
            bytes_max: self.allowed(to.scope, Quota::PendingBytes),
        })
    }

    fn letter_facts(&self, letter: &NewLetter, now: Timestamp) -> LetterFacts {
        let is_it = |row: &&LetterRow| {
            row.new.from == letter.from
                && row.new.to == letter.to
                && row.new.dispatch_id == letter.dispatch_id
        };
        LetterFacts {
            repeated: self.letters.iter().find(is_it).map(|row| row.new.id),
            grants: self.grants_between(letter.from, letter.to),
            capacity: self.room(letter.to),
            highest_hop: self.highest_hop(letter.from, now),
        }
    }

    /// Applies the decision about a letter.
    fn put_letter(
        &mut self,
        posting: &Posting,
        decision: LetterDecision,
        now: Timestamp,
    ) -> PostingOutcome {
        match decision {
            LetterDecision::Refuse(refusal) => PostingOutcome::from(refusal),
            LetterDecision::Repeat(first) => {
                let first = self.sent(posting.letter.from, first, now);
                first.map(Box::new).map_or(PostingOutcome::Unknown, PostingOutcome::Duplicate)
            }
            LetterDecision::Write { hop, place, .. } => self.write_letter(posting, hop, place, now),
        }
    }

    fn write_letter(
        &mut self,
        Posting { letter, entry }: &Posting,
        hop: u32,
        place: LetterPlace,
        now: Timestamp,
    ) -> PostingOutcome {
        let mut row = LetterRow {
            new: letter.clone(),
            entry: letter.when.map(|_| entry.clone()),
            hop,
            state: if letter.when.is_some() { LetterState::Scheduled } else { LetterState::Put },
            seq: None,
            sent_at: now,
            due_at: letter.when,
            reply_by: letter.wait.and_then(|wait| now.checked_add(wait).ok()),
            reply: None,
        };
        let put = match place {
            LetterPlace::Later => PostingOutcome::Scheduled,
            LetterPlace::Outlet => PostingOutcome::Noted,
            LetterPlace::Inbox => {
                let LetterEntry { bot, chat_id, body } = entry.clone();
                let entry = LocalEntry { bot, chat_id, body };
                row.seq = self.put_by_hand((letter.to.scope, letter.to.agent), entry, now);
                let seq = row.seq.unwrap_or_default();
                PostingOutcome::Stored { seq, live: self.live(letter.to) }
            }
        };
        self.letters.push(row);
        put
    }

    fn address_facts(&self, AddressQuery { from, agent }: &AddressQuery) -> AddressFacts {
        let id = agent.parse::<AgentId>().ok();
        let name_of = |id: AgentId| Some(self.agents.get(&(from.scope, id))?.name.clone());
        let by_id = id.and_then(|id| Some(NamedAgent { id, name: name_of(id)? }));
        let by_name = || {
            let mut own = self.agents.iter().filter(|((scope, _), _)| *scope == from.scope);
            let ((_, id), row) = own.find(|(_, row)| row.name == *agent)?;
            Some(NamedAgent { id: *id, name: row.name.clone() })
        };
        let granted =
            self.letter_grants.keys().find(|(party, peer)| party == from && Some(peer.agent) == id);
        AddressFacts {
            sender: name_of(from.agent),
            own: by_id.or_else(by_name),
            peer: granted.map(|(_, peer)| GrantedPeer {
                party: *peer,
                grants: self.grants_between(*from, *peer),
            }),
        }
    }

    /// Removes letters that are older than the retention time, except scheduled ones.
    pub(super) fn forget_letters(&mut self, now: Timestamp) {
        let before = now.checked_sub(LETTERS_KEPT).unwrap_or(Timestamp::MIN);
        self.letters.retain(|row| row.sent_at >= before || row.state == LetterState::Scheduled);
    }
}

#[async_trait]
impl LetterStore for Memory {
    async fn resolve_addresses(
        &self,
        queries: &[AddressQuery],
    ) -> Result<Vec<AddressFacts>, StoreError> {
        let state = self.lock();
        Ok(queries.iter().map(|query| state.address_facts(query)).collect())
    }

    async fn put(&self, postings: &[Posting]) -> Result<Vec<PostingOutcome>, StoreError> {
        let now = self.now();
        let mut state = self.lock();
        let facts: Vec<_> =
            postings.iter().map(|posting| state.letter_facts(&posting.letter, now)).collect();
        let decisions = decide_batch(postings, &facts, now);
        let mut puts = Vec::with_capacity(postings.len());
        for (posting, decision) in postings.iter().zip(decisions) {
            puts.push(state.put_letter(posting, decision, now));
            let letter = &posting.letter;
            let by_hand = letter.from.scope.actor().is_user();
            if by_hand && matches!(decision, LetterDecision::Write { .. }) {
                let about = json!({ "agent_id": letter.to.agent, "letter_id": letter.id });
                self.tell(&mut state, letter.from.scope, Kind::EntryPut, &about);
            }
        }
        Ok(puts)
    }

    async fn take_due(&self, to: Party, letter: LetterId) -> Result<Option<DueLetter>, StoreError> {
        let mut state = self.lock();
        let its = |row: &LetterRow| row.new.to == to && row.new.id == letter;
        let Some(nth) = state.letters.iter().position(its) else { return Ok(None) };
        let row = &state.letters[nth];
        let facts = DueFacts {
            from: row.new.from,
            to,
            grants: state.grants_between(row.new.from, to),
            capacity: state.room(to),
            body_bytes: row.entry.as_ref().map(|entry| entry.body.len()),
        };
        let decision = decide_due(&facts);
        let row = &mut state.letters[nth];
        if decision == DueDecision::Deliver && row.state == LetterState::Scheduled {
            row.state = LetterState::Put;
        }
        let entry = row.entry.clone().filter(|_| decision != DueDecision::Drop);
        let is_full = decision == DueDecision::WaitForRoom;
        Ok(entry.map(|entry| DueLetter { entry, route: row.new.route, is_full }))
    }

    async fn record_delivery(
        &self,
        to: Party,
        letter: LetterId,
        seq: Option<Seq>,
    ) -> Result<(), StoreError> {
        let mut state = self.lock();
        let its = |row: &&mut LetterRow| row.new.to == to && row.new.id == letter;
        if let Some(row) = state.letters.iter_mut().find(its).filter(|row| row.seq.is_none()) {
            (row.seq, row.entry) = (seq, None);
            if row.state == LetterState::Scheduled {
                row.state = LetterState::Put;
            }
        }
        Ok(())
    }

    async fn store_reply(
        &self,
        by: Party,
        letter: LetterId,
        words: &str,
    ) -> Result<ReplyOutcome, StoreError> {
        let now = self.now();
        let mut state = self.lock();
        let its = |row: &&mut LetterRow| row.new.to == by && row.new.id == letter;
        let Some(row) = state.letters.iter_mut().find(its) else {
            return Ok(ReplyOutcome::Unknown);
        };
        let replied = decide_reply(row.state, row.reply_by, now);
        row.settle(now);
        if replied == ReplyOutcome::Taken {
            (row.state, row.reply) = (LetterState::Replied, Some((words.to_owned(), now)));
        }
        Ok(replied)
    }

    async fn letter(&self, from: Party, letter: LetterId) -> Result<Option<Letter>, StoreError> {
        let now = self.now();
        Ok(self.lock().sent(from, letter, now))
    }

    async fn letters(
        &self,
        from: Party,
        before: Option<LetterId>,
    ) -> Result<Vec<Letter>, StoreError> {
        let now = self.now();
        let mut state = self.lock();
        let key = |row: &LetterRow| (row.sent_at, row.new.id);
        let mut ids: Vec<_> =
            state.letters.iter().filter(|row| row.new.from == from).map(key).collect();
        ids.sort_unstable_by(|one, other| other.cmp(one));
        let after = before.and_then(|before| ids.iter().position(|(_, id)| *id == before));
        let ids = ids.into_iter().skip(after.map_or(0, |nth| nth + 1)).take(LETTERS_PAGE_MAX);
        Ok(ids.filter_map(|(_, id)| state.sent(from, id, now)).collect())
    }

    async fn peers(&self, of: Party, at_most: usize) -> Result<Vec<Peer>, StoreError> {
        let state = self.lock();
        let own = state.agents.iter().filter(|((scope, _), _)| *scope == of.scope);
        let mut own: Vec<_> = own
            .map(|((scope, agent), row)| {
                let party = Party { scope: *scope, agent: *agent };
                Peer { party, name: Some(row.name.clone()), live: state.live(party) }
            })
            .collect();
        own.sort_by(|one, other| one.name.cmp(&other.name));
        let granted = state.letter_grants.keys().filter(|(party, _)| *party == of);
        let others = granted.filter(|(party, peer)| state.may_write(*party, *peer));
        let mut others: Vec<_> = others
            .map(|(_, peer)| Peer { party: *peer, name: None, live: state.live(*peer) })
            .collect();
        others.sort_by_key(|peer| peer.party.agent);
        Ok(own.into_iter().chain(others).take(at_most).collect())
    }

    async fn find_line(&self, party: Party) -> Result<Option<PeerLine>, StoreError> {
        Ok(self.lock().live(party))
    }
}

fn about(party: Party, peer: Party) -> Value {
    json!({
        "agent_id": party.agent,
        "peer_tenant_id": peer.scope.tenant(),
        "peer_agent_id": peer.agent,
    })
}

#[async_trait]
impl Grants for Memory {
    async fn grant(&self, party: Party, peer: Party) -> Result<bool, StoreError> {
        let now = self.now();
        let mut state = self.lock();
        if !state.agents.contains_key(&(party.scope, party.agent)) {
            return Err(StoreError::broken("grant letters", "the tenant has no such agent"));
        }
        let is_news = !state.letter_grants.contains_key(&(party, peer));
        if is_news {
            state.letter_grants.insert((party, peer), now);
            self.tell(&mut state, party.scope, Kind::LettersGranted, &about(party, peer));
        }
        Ok(is_news)
    }

    async fn release(&self, party: Party, peer: Party) -> Result<bool, StoreError> {
        let mut state = self.lock();
        let was_there = state.letter_grants.remove(&(party, peer)).is_some();
        if was_there {
            self.tell(&mut state, party.scope, Kind::LettersReleased, &about(party, peer));
        }
        Ok(was_there)
    }

    async fn grants(
        &self,
        scope: TenantScope,
        agent: Option<AgentId>,
        at_most: usize,
    ) -> Result<Vec<Grant>, StoreError> {
        let state = self.lock();
        let its = state.letter_grants.iter().filter(|((party, _), _)| {
            party.scope == scope && agent.is_none_or(|agent| party.agent == agent)
        });
        let grant = |((party, peer), granted_at): (&(Party, Party), &Timestamp)| Grant {
            party: *party,
            peer: *peer,
            granted_at: *granted_at,
            is_mutual: state.may_write(*party, *peer),
        };
        Ok(its.take(at_most).map(grant).collect())
    }
}

#[async_trait]
impl Hooks for Memory {
    async fn make_hook(
        &self,
        party: Party,
        name: &str,
        digest: [u8; 32],
    ) -> Result<bool, StoreError> {
        let mut state = self.lock();
        let key = (party.scope, name.to_owned());
        if state.letter_hooks.contains_key(&key) {
            return Ok(false);
        }
        state.letter_hooks.insert(key, (party, digest));
        let about = json!({ "agent_id": party.agent, "name": name });
        self.tell(&mut state, party.scope, Kind::LetterHookMade, &about);
        Ok(true)
    }

    async fn remove_hook(&self, scope: TenantScope, name: &str) -> Result<bool, StoreError> {
        let mut state = self.lock();
        let gone = state.letter_hooks.remove(&(scope, name.to_owned())).is_some();
        if gone {
            self.tell(&mut state, scope, Kind::LetterHookRemoved, &json!({ "name": name }));
        }
        Ok(gone)
    }

    async fn hooks(
        &self,
        scope: TenantScope,
        at_most: usize,
    ) -> Result<Vec<(String, Party)>, StoreError> {
        let state = self.lock();
        let its = state.letter_hooks.iter().filter(|((of, _), _)| *of == scope);
        let hook = |((_, name), (party, _)): (&(TenantScope, String), &(Party, [u8; 32]))| {
            (name.clone(), *party)
        };
        Ok(its.take(at_most).map(hook).collect())
    }

    async fn find_hook_agent(&self, digest: [u8; 32]) -> Result<Option<Party>, StoreError> {
        let state = self.lock();
        let found = state.letter_hooks.values().find(|(_, kept)| *kept == digest);
        Ok(found.map(|(party, _)| *party))
    }
}

#[async_trait]
impl Receipts for Memory {
    async fn store_receipts(&self, receipts: &[Receipt]) -> Result<(), StoreError> {
        let mut state = self.lock();
        for Receipt { scope, record } in receipts.iter().cloned() {
            let DeliveryRecord { dispatch_id, connector, address, .. } = record.clone();
            state.letter_receipts.insert((scope, dispatch_id, connector, address), record);
        }
        Ok(())
    }

    async fn read_receipts(
        &self,
        scope: TenantScope,
        dispatch_id: &str,
    ) -> Result<Vec<DeliveryRecord>, StoreError> {
        let state = self.lock();
        let its = state.letter_receipts.iter();
        let its = its.filter(|((of, id, ..), _)| *of == scope && id == dispatch_id);
        Ok(its.map(|(_, record)| record.clone()).collect())
    }
}
