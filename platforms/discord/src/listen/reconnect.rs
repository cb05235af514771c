//! Decides between two sockets: the address, resume or new session, delay, and the end.

use std::time::Duration;

use nightdesk_port::ListenError;
use nightdesk_types::backoff::Backoff;

use super::cursor::SessionCursor;
use super::session::{ConnectionEnd, GatewaySession};

/// Attempts to resume a session before a new one begins.
const RESUMES_MAX: u32 = 3;

/// Delay after a socket that worked.
const AGAIN_MIN: Duration = Duration::from_millis(200);

/// Delays after repeated failures.
const AGAIN: Backoff = Backoff { first: Duration::from_secs(1), max: Duration::from_secs(30) };

/// Delay that Discord requires after an invalid session.
const ANEW_MIN: Duration = Duration::from_secs(1);

/// Delay that Discord requires between two new sessions of a bot.
pub(super) const IDENTIFY_EVERY: Duration = Duration::from_secs(5);

/// Reasons why a bot may not listen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FatalClose {
    KeyRejected,
    /// The bot is in too many servers for its number of sockets.
    TooFewSockets,
    Barred(&'static str),
}

const TOO_MANY_SERVERS: &str = "the bot is in too many servers";

/// The reason when the day's new sessions are used up.
pub(super) const SPENT: FatalClose =
    FatalClose::Barred("the bot began too many sessions today, and would lose its token");

impl From<FatalClose> for ListenError {
    fn from(fatal: FatalClose) -> Self {
        match fatal {
            FatalClose::KeyRejected => Self::KeyRejected,
            FatalClose::TooFewSockets => Self::Barred { reason: TOO_MANY_SERVERS },
            FatalClose::Barred(reason) => Self::Barred { reason },
        }
    }
}

/// The sequence of sockets of one shard.
#[derive(Debug)]
pub(super) struct ReconnectState {
    /// Address for new sessions.
    main: String,
    session: Option<SessionCursor>,
    /// True if there was an earlier session.
    is_after_another: bool,
    lost_after: Option<u64>,
    /// True if the session's own address did not respond.
    is_url_dead: bool,
    failed_resumes: u32,
    failures: u32,
    begun: ReconnectProgress,
}

/// Progress of this course so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReconnectProgress {
    Nothing,
    Talks,
    Sessions,
}

impl ReconnectState {
    /// Creates a course that resumes a session, or begins one, possibly after earlier sessions.
    pub(super) const fn new(
        main: String,
        session: Option<SessionCursor>,
        is_after_others: bool,
    ) -> Self {
        Self {
            main,
            is_after_another: session.is_some() || is_after_others,
            session,
            lost_after: None,
            is_url_dead: false,
            failed_resumes: 0,
            failures: 0,
            begun: ReconnectProgress::Nothing,
        }
    }

    /// Creates the next conversation.
    pub(super) fn next_session(&self) -> GatewaySession {
        GatewaySession::new(self.session.clone(), self.is_after_another, self.lost_after)
    }

    /// Returns the address of the next conversation. Discord's address must have the main address's scheme.
    pub(super) fn url(&self) -> &str {
        let scheme = |url: &str| url.split_once("://").map(|(scheme, _)| scheme.to_owned());
        let own = self.session.as_ref().map(|session| session.url.as_str());
        let is_good = |url: &&str| !self.is_url_dead && scheme(url) == scheme(&self.main);
        own.filter(is_good).unwrap_or(&self.main)
    }

    /// Returns the delay before the next conversation.
    pub(super) fn reconnect_delay(&self) -> Duration {
        let again = match self.failures {
            0 if self.begun == ReconnectProgress::Nothing => Duration::ZERO,
            0 => AGAIN_MIN,
            failures => AGAIN.after(failures),
        };
        match (&self.session, self.begun) {
            (None, ReconnectProgress::Sessions) => again.max(IDENTIFY_EVERY),
            (None, ReconnectProgress::Talks) => again.max(ANEW_MIN),
            (None, ReconnectProgress::Nothing) | (Some(_), _) => again,
        }
    }

    /// Returns true if the next conversation begins a new session.
    pub(super) const fn begins_anew(&self) -> bool {
        self.session.is_none()
    }

    /// Records that a new session was requested.
    pub(super) const fn record_identify(&mut self) {
        self.begun = ReconnectProgress::Sessions;
    }

    /// Applies the end of a conversation. Returns a reason if the bot may not continue.
    pub(super) fn record_end(
        &mut self,
        talk: &GatewaySession,
        ended: ConnectionEnd,
    ) -> Option<FatalClose> {
        let was_resuming = self.session.is_some();
        if self.begun == ReconnectProgress::Nothing {
            self.begun = ReconnectProgress::Talks;
        }
        if talk.is_live() || self.has_moved(talk) {
            self.record_success(talk);
        } else {
            self.failures = self.failures.saturating_add(1);
            if was_resuming {
                self.failed_resumes += 1;
                self.is_url_dead = true;
            }
        }
        self.apply_end(ended);
        if self.failed_resumes >= RESUMES_MAX {
            self.drop_session();
        }
        if let ConnectionEnd::Closed(Some(code)) = ended { fatal_close(code) } else { None }
    }

    /// Returns true if the conversation delivered some of the missed events.
    fn has_moved(&self, talk: &GatewaySession) -> bool {
        let seq = |session: &SessionCursor| session.seq;
        talk.cursor().map(seq) > self.session.as_ref().map(seq)
    }

    fn record_success(&mut self, talk: &GatewaySession) {
        let session = talk.cursor().cloned();
        let is_another = |new: &SessionCursor| {
            self.session.as_ref().is_none_or(|session| session.session != new.session)
        };
        if session.as_ref().is_some_and(is_another) {
            self.is_url_dead = false;
        }
        self.is_after_another |= session.is_some();
        self.session = session;
        self.failed_resumes = 0;
        self.failures = 0;
    }

    fn apply_end(&mut self, ended: ConnectionEnd) {
        match ended {
            ConnectionEnd::Gap => {
                self.lost_after = self.session.as_ref().map(|session| session.seq);
            }
            // Discord no longer knows the sequence number or the session.
            ConnectionEnd::Invalid { is_resumable: false }
            | ConnectionEnd::Closed(Some(4003 | 4007 | 4009)) => {
                self.drop_session();
            }
            ConnectionEnd::NotReached
            | ConnectionEnd::Unanswered
            | ConnectionEnd::Reconnect
            | ConnectionEnd::Invalid { is_resumable: true }
            | ConnectionEnd::Zombie
            | ConnectionEnd::Closed(_) => {}
        }
    }

    fn drop_session(&mut self) {
        self.session = None;
        self.failed_resumes = 0;
        self.is_url_dead = false;
        self.lost_after = None;
    }
}

/// Returns the reason for a close code that is final.
const fn fatal_close(code: u16) -> Option<FatalClose> {
    Some(match code {
        4004 => FatalClose::KeyRejected,
        4010 | 4011 => FatalClose::TooFewSockets,
        4012 => FatalClose::Barred("Discord no longer supports this version of its gateway"),
        4013 => FatalClose::Barred("Discord does not know the requested intents"),
        4014 => FatalClose::Barred(
            "switch on the server members intent and the message content intent in Discord's developer portal",
        ),
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
