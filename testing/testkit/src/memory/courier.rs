//! The store of letters, of what came of them, and of who may write to whom.

use async_trait::async_trait;
use nightdesk_courier::{
    Due, Grant, Grants, Hooks, Letter, LetterEntry, LetterState, Letters, Live, NewLetter, Party,
    Peer, Put, Receipts, Record, Replied,
};
use nightdesk_inbox::TestEntry;
use nightdesk_register::audit::Kind;
use nightdesk_types::limits::{HOP_REMEMBERED, HOPS_MAX, LETTERS_KEPT, LETTERS_PAGE_MAX};
use nightdesk_types::{Actor, AgentId, LetterId, Quota, Seq, StoreError, TenantScope, Timestamp};
use serde_json::{Value, json};

use super::{Memory, State};

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
    /// When it came to its agent, or will.
    fn put_at(&self) -> Timestamp {
        self.due_at.unwrap_or(self.sent_at)
    }

    /// Times out, if it was waited for long enough.
    fn settle(&mut self, now: Timestamp) {
        if self.state == LetterState::Put && self.reply_by.is_some_and(|by| now >= by) {
            self.state = LetterState::TimedOut;
        }
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
    fn may_write(&self, one: Party, other: Party) -> bool {
        let said = |party, peer| self.letter_grants.contains_key(&(party, peer));
        one.scope == other.scope || (said(one, other) && said(other, one))
    }

    /// What the next letter of an agent would be the end of.
    fn hop(&self, from: Party, now: Timestamp) -> u32 {
        let since = now.checked_sub(HOP_REMEMBERED).unwrap_or(Timestamp::MIN);
        let lately = self.letters.iter().filter(|row| row.new.to == from && row.put_at() > since);
        lately.map(|row| row.hop).max().unwrap_or(0) + 1
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

    fn live(&self, party: Party, now: Timestamp) -> Option<Live> {
        let agent = self.agents.get(&(party.scope, party.agent))?;
        let line = agent.line.as_ref().filter(|line| self.is_open(line, now))?;
        let session = self.gateways.get(&line.gateway)?.called().to_owned();
        Some(Live { session, is_busy: agent.is_waited_for() })
    }

    fn may_put(&self, letter: &NewLetter, now: Timestamp) -> Result<u32, Put> {
        let NewLetter { from, to, .. } = letter;
        if !self.may_write(*from, *to) {
            return Err(Put::NotGranted);
        }
        if !self.agents.contains_key(&(to.scope, to.agent)) {
            return Err(Put::Unknown);
        }
        Some(self.hop(*from, now)).filter(|hop| *hop <= HOPS_MAX).ok_or(Put::TooManyHops)
    }

    /// Whether an entry is more than the inbox of an agent may hold.
    fn is_full(&self, to: Party, entry: &LetterEntry) -> bool {
        let allowed = |quota| self.allowed(to.scope, quota);
        let most = (allowed(Quota::PendingEntries), allowed(Quota::PendingBytes));
        let inbox = self.agents.get(&(to.scope, to.agent));
        inbox.is_some_and(|inbox| inbox.is_full_for(entry.body.len(), most))
    }

    fn put_letter(&mut self, letter: &NewLetter, entry: &LetterEntry, now: Timestamp) -> Put {
        let is_it = |row: &&LetterRow| {
            row.new.from == letter.from
                && row.new.to == letter.to
                && row.new.dispatch_id == letter.dispatch_id
        };
        if let Some(id) = self.letters.iter().find(is_it).map(|row| row.new.id) {
            let before = self.sent(letter.from, id, now);
            return before.map(Box::new).map_or(Put::Unknown, Put::Duplicate);
        }
        let hop = match self.may_put(letter, now) {
            Ok(hop) => hop,
            Err(refused) => return refused,
        };
        let due_at = letter.when;
        let is_now = due_at.is_none_or(|due| due <= now);
        if is_now && !letter.goes_out && self.is_full(letter.to, entry) {
            return Put::Full;
        }
        let mut row = LetterRow {
            new: letter.clone(),
            entry: due_at.map(|_| entry.clone()),
            hop,
            state: if due_at.is_some() { LetterState::Scheduled } else { LetterState::Put },
            seq: None,
            sent_at: now,
            due_at,
            reply_by: letter.wait.and_then(|wait| now.checked_add(wait).ok()),
            reply: None,
        };
        if due_at.is_some() || letter.goes_out {
            self.letters.push(row);
            return if due_at.is_some() { Put::Kept } else { Put::Noted };
        }
        let LetterEntry { bot, chat_id, body } = entry.clone();
        let entry = TestEntry { bot, chat_id, body };
        row.seq = self.put_by_hand((letter.to.scope, letter.to.agent), entry, now);
        let seq = row.seq.unwrap_or_default();
        self.letters.push(row);
        Put::Stored { seq, live: self.live(letter.to, now) }
    }

    /// Forgets letters that are old enough.
    pub(super) fn forget_letters(&mut self, now: Timestamp) {
        let before = now.checked_sub(LETTERS_KEPT).unwrap_or(Timestamp::MIN);
        self.letters.retain(|row| row.sent_at >= before || row.state == LetterState::Scheduled);
    }
}

#[async_trait]
impl Letters for Memory {
    async fn put(&self, letter: &NewLetter, entry: &LetterEntry) -> Result<Put, StoreError> {
        let now = self.now();
        let mut state = self.lock();
        let put = state.put_letter(letter, entry, now);
        let by_hand = letter.from.scope.actor() == Actor::Operator;
        if by_hand && matches!(put, Put::Stored { .. } | Put::Kept | Put::Noted) {
            let about = json!({ "agent_id": letter.to.agent, "letter_id": letter.id });
            self.tell(&mut state, letter.from.scope, Kind::EntryPut, &about);
        }
        Ok(put)
    }

    async fn due(&self, to: Party, letter: LetterId) -> Result<Option<Due>, StoreError> {
        let mut state = self.lock();
        let its = |row: &LetterRow| row.new.to == to && row.new.id == letter;
        let Some(nth) = state.letters.iter().position(its) else { return Ok(None) };
        let row = &state.letters[nth];
        let Some(entry) = row.entry.clone().filter(|_| state.may_write(row.new.from, to)) else {
            return Ok(None);
        };
        let is_full = state.is_full(to, &entry);
        let row = &mut state.letters[nth];
        if row.state == LetterState::Scheduled && !is_full {
            row.state = LetterState::Put;
        }
        Ok(Some(Due { entry, route: row.new.route, is_full }))
    }

    async fn came(&self, to: Party, letter: LetterId, seq: Option<Seq>) -> Result<(), StoreError> {
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

    async fn reply(&self, by: Party, letter: LetterId, words: &str) -> Result<Replied, StoreError> {
        let now = self.now();
        let mut state = self.lock();
        let its = |row: &&mut LetterRow| row.new.to == by && row.new.id == letter;
        let Some(row) = state.letters.iter_mut().find(its) else {
            return Ok(Replied::Unknown);
        };
        row.settle(now);
        Ok(match row.state {
            LetterState::Scheduled => Replied::Unknown,
            LetterState::Replied => Replied::Again,
            LetterState::TimedOut => Replied::Late,
            LetterState::Put => {
                (row.state, row.reply) = (LetterState::Replied, Some((words.to_owned(), now)));
                Replied::Taken
            }
        })
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
        let (state, now) = (self.lock(), self.now());
        let own = state.agents.iter().filter(|((scope, _), _)| *scope == of.scope);
        let mut own: Vec<_> = own
            .map(|((scope, agent), row)| {
                let party = Party { scope: *scope, agent: *agent };
                Peer { party, name: Some(row.name.clone()), live: state.live(party, now) }
            })
            .collect();
        own.sort_by(|one, other| one.name.cmp(&other.name));
        let granted = state.letter_grants.keys().filter(|(party, _)| *party == of);
        let others = granted.filter(|(party, peer)| state.may_write(*party, *peer));
        let mut others: Vec<_> = others
            .map(|(_, peer)| Peer { party: *peer, name: None, live: state.live(*peer, now) })
            .collect();
        others.sort_by_key(|peer| peer.party.agent);
        Ok(own.into_iter().chain(others).take(at_most).collect())
    }

    async fn live(&self, party: Party) -> Result<Option<Live>, StoreError> {
        Ok(self.lock().live(party, self.now()))
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
        Ok(its.map(grant).collect())
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

    async fn hooks(&self, scope: TenantScope) -> Result<Vec<(String, Party)>, StoreError> {
        let state = self.lock();
        let its = state.letter_hooks.iter().filter(|((of, _), _)| *of == scope);
        Ok(its.map(|((_, name), (party, _))| (name.clone(), *party)).collect())
    }

    async fn hook_at(&self, digest: [u8; 32]) -> Result<Option<Party>, StoreError> {
        let state = self.lock();
        let found = state.letter_hooks.values().find(|(_, kept)| *kept == digest);
        Ok(found.map(|(party, _)| *party))
    }
}

#[async_trait]
impl Receipts for Memory {
    async fn note(&self, scope: TenantScope, record: &Record) -> Result<(), StoreError> {
        let Record { dispatch_id, connector, address, .. } = record.clone();
        let key = (scope, dispatch_id, connector, address);
        self.lock().letter_receipts.insert(key, record.clone());
        Ok(())
    }

    async fn receipts(
        &self,
        scope: TenantScope,
        dispatch_id: &str,
    ) -> Result<Vec<Record>, StoreError> {
        let state = self.lock();
        let its = state.letter_receipts.iter();
        let its = its.filter(|((of, id, ..), _)| *of == scope && id == dispatch_id);
        Ok(its.map(|(_, record)| record.clone()).collect())
    }
}
