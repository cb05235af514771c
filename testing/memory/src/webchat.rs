//! Implements the store of chats on our own pages.

use std::collections::BTreeMap;

use async_trait::async_trait;
use jiff::SignedDuration;
use nightdesk_types::limits::{CHAT_KEPT_DAYS, CHAT_LINES_KEPT_MAX};
use nightdesk_types::{StoreError, Timestamp};
use nightdesk_webchat::store::{
    AgentMessage, ChatLine, ChatStatus, ChatUpdate, LineAuthor, LineChange, Store, VisitorChat,
    VisitorMessage, WriteOutcome,
};

use super::Memory;

/// A chat's row, and its lines by name.
#[derive(Default)]
pub(super) struct ChatRow {
    last_seq: i64,
    status: Option<(String, Timestamp)>,
    seen_at: Timestamp,
    lines: BTreeMap<i64, ChatLine>,
}

impl ChatRow {
    fn write(&mut self, line: ChatLine) -> i64 {
        let seq = self.last_seq + 1;
        self.lines.insert(seq, ChatLine { seq, message: seq, ..line });
        self.move_on(seq);
        seq
    }

    fn move_on(&mut self, seq: i64) {
        self.last_seq = seq;
        self.lines.retain(|_, line| line.seq > seq - CHAT_LINES_KEPT_MAX);
    }

    fn amend(&mut self, message: i64, amend: &LineChange) -> bool {
        let seq = self.last_seq + 1;
        let line = self.lines.get_mut(&message);
        let own = line.filter(|line| line.author == LineAuthor::Agent && !line.deleted);
        let Some(line) = own else { return false };
        line.seq = seq;
        line.edited = true;
        match amend {
            LineChange::Edit(text) => line.text.clone_from(text),
            LineChange::Delete => {
                line.text.clear();
                line.prompt = None;
                line.deleted = true;
            }
        }
        self.move_on(seq);
        true
    }

    fn news(&self, now: Timestamp, lines: Vec<ChatLine>) -> ChatUpdate {
        let status = self.status.as_ref().map(|(text, set_at)| ChatStatus {
            text: text.clone(),
            set_at: *set_at,
            stood: now.duration_since(*set_at).try_into().unwrap_or_default(),
        });
        ChatUpdate { head: self.last_seq, lines, status }
    }
}

impl Memory {
    fn chat<T>(&self, chat: &VisitorChat, act: impl FnOnce(&mut ChatRow) -> T) -> T {
        let now = self.now();
        let mut state = self.lock();
        let row = state.chats.entry(chat.clone()).or_default();
        row.seen_at = now;
        act(row)
    }

    fn read(
        &self,
        chat: &VisitorChat,
        lines: impl FnOnce(&ChatRow) -> Vec<ChatLine>,
    ) -> ChatUpdate {
        let now = self.now();
        let state = self.lock();
        state.chats.get(chat).map(|row| row.news(now, lines(row))).unwrap_or_default()
    }
}

/// Returns a line that has no number yet.
const fn line(at: Timestamp, author: LineAuthor, text: String, nonce: Option<String>) -> ChatLine {
    let (seq, message) = (0, 0);
    ChatLine { seq, message, at, author, text, nonce, prompt: None, edited: false, deleted: false }
}

#[async_trait]
impl Store for Memory {
    async fn write_visitor_message(
        &self,
        chat: &VisitorChat,
        said: &VisitorMessage,
    ) -> Result<WriteOutcome, StoreError> {
        let VisitorMessage { at, nonce, text } = said.clone();
        Ok(self.chat(chat, |row| {
            if row.lines.values().any(|line| line.nonce.as_ref() == Some(&nonce)) {
                return WriteOutcome::Before;
            }
            row.write(line(at, LineAuthor::Visitor, text, Some(nonce)));
            WriteOutcome::New
        }))
    }

    async fn write_agent_message(
        &self,
        chat: &VisitorChat,
        answer: &AgentMessage,
    ) -> Result<i64, StoreError> {
        let AgentMessage { at, text, prompt } = answer.clone();
        Ok(self.chat(chat, |row| {
            row.status = None;
            row.write(ChatLine { prompt, ..line(at, LineAuthor::Agent, text, None) })
        }))
    }

    async fn change_line(
        &self,
        chat: &VisitorChat,
        message: i64,
        amend: &LineChange,
    ) -> Result<bool, StoreError> {
        Ok(self.chat(chat, |row| row.amend(message, amend)))
    }

    async fn set_status(&self, chat: &VisitorChat, status: Option<&str>) -> Result<(), StoreError> {
        let now = self.now();
        self.chat(chat, |row| row.status = status.map(|text| (text.to_owned(), now)));
        Ok(())
    }

    async fn lines_since(
        &self,
        chat: &VisitorChat,
        after: i64,
        lines_max: usize,
    ) -> Result<ChatUpdate, StoreError> {
        Ok(self.read(chat, |row| {
            let changed = row.lines.values().filter(|line| line.seq > after);
            let mut lines: Vec<ChatLine> = changed.cloned().collect();
            lines.sort_by_key(|line| line.seq);
            lines.truncate(lines_max);
            lines
        }))
    }

    async fn latest_lines(
        &self,
        chat: &VisitorChat,
        lines_max: usize,
    ) -> Result<ChatUpdate, StoreError> {
        Ok(self.read(chat, |row| {
            let mut lines: Vec<ChatLine> =
                row.lines.values().rev().take(lines_max).cloned().collect();
            lines.sort_by_key(|line| (line.at, line.message));
            lines
        }))
    }

    async fn delete_old(&self) -> Result<u64, StoreError> {
        let kept = SignedDuration::from_hours(i64::from(CHAT_KEPT_DAYS) * 24);
        let oldest = self.now().checked_sub(kept).unwrap_or(Timestamp::MIN);
        let mut state = self.lock();
        let mut forgotten = 0;
        for row in state.chats.values_mut() {
            let before = row.lines.len();
            row.lines.retain(|_, line| line.at >= oldest);
            forgotten += (before - row.lines.len()) as u64;
        }
        state.chats.retain(|_, row| !row.lines.is_empty() || row.seen_at >= oldest);
        Ok(forgotten)
    }
}
