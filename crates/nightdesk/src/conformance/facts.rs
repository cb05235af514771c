//! Observations of a trial, in the order of their times.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, timeout};

/// The fate of a signal that the trial let pass or withheld.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SignalFate {
    Passed,
    Withheld,
}

/// One observation. A token is the unique word of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TrialFact {
    /// A person wrote a message.
    Question { chat: usize, token: String },
    /// A text of the agent with the token of a message appeared in a chat.
    Answer { chat: usize, token: String },
    /// The program asked for a line.
    Dial,
    /// The program got a line, or listens for posts.
    Opening,
    /// An entry was handed to the program.
    Delivery { entry: String, token: Option<String> },
    /// The program acknowledged an entry.
    Ack { entry: String, fate: SignalFate },
    /// The program sent a text with the token of a message.
    Send { token: String },
    /// The trial ended the program's line or its connections.
    Cut,
    /// The trial revoked the gateway.
    Revocation,
    /// The program's output names the revocation.
    RevocationReport,
    /// The trial posted an entry with a wrong signature.
    Forgery { status: u16 },
    /// A stop order for the turn of this message was handed to the program.
    StopOrder { token: String },
    /// The program answered a stop order.
    StopResult { stopped: bool },
    /// The trial killed the program.
    Kill,
    /// The program ended by itself.
    Exit { status: String },
}

/// An observation and its time since the beginning of the scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TimedFact {
    pub(super) at: Duration,
    pub(super) fact: TrialFact,
}

/// The observations of one scenario.
#[derive(Debug)]
pub(super) struct TrialNotebook {
    began_at: Instant,
    facts: Mutex<Vec<TimedFact>>,
    count: watch::Sender<usize>,
}

impl TrialNotebook {
    pub(super) fn new() -> Self {
        Self { began_at: Instant::now(), facts: Mutex::default(), count: watch::Sender::new(0) }
    }

    pub(super) fn record(&self, fact: TrialFact) {
        let at = self.began_at.elapsed();
        let mut facts = self.facts.lock().unwrap_or_else(PoisonError::into_inner);
        facts.push(TimedFact { at, fact });
        let count = facts.len();
        drop(facts);
        self.count.send_replace(count);
    }

    pub(super) fn facts(&self) -> Vec<TimedFact> {
        self.facts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until the observations fulfil a condition. Returns false if they did not in time.
    pub(super) async fn wait_until(
        &self,
        wait: Duration,
        is_fulfilled: impl Fn(&[TimedFact]) -> bool,
    ) -> bool {
        let mut count = self.count.subscribe();
        let fulfilled = count.wait_for(|_| is_fulfilled(&self.facts()));
        matches!(timeout(wait, fulfilled).await, Ok(Ok(_)))
    }

    /// Notes a stop order for the turn that began last.
    pub(super) fn note_stop(&self) {
        let last = self.facts().into_iter().rev().find_map(|timed| {
            let TrialFact::Delivery { token, .. } = timed.fact else { return None };
            token
        });
        self.record(TrialFact::StopOrder { token: last.unwrap_or_default() });
    }

    /// Returns the token of a message in a text.
    pub(super) fn token_in(&self, text: &str) -> Option<String> {
        let facts = self.facts.lock().unwrap_or_else(PoisonError::into_inner);
        let mut tokens = facts.iter().filter_map(|timed| question_token(&timed.fact));
        tokens.find(|token| text.contains(*token)).map(str::to_owned)
    }
}

fn question_token(fact: &TrialFact) -> Option<&str> {
    if let TrialFact::Question { token, .. } = fact { Some(token) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(token: &str) -> TrialFact {
        TrialFact::Question { chat: 0, token: token.to_owned() }
    }

    #[test]
    fn a_text_belongs_to_the_message_whose_token_it_contains() {
        let notebook = TrialNotebook::new();
        notebook.record(question("w1a1z"));
        notebook.record(question("w1a11z"));

        assert_eq!(notebook.token_in("you said w1a11z"), Some("w1a11z".to_owned()));
        assert_eq!(notebook.token_in("you said w1a2z"), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_ends_with_the_fact_or_with_its_bound() {
        let notebook = TrialNotebook::new();
        let has_kill = |facts: &[TimedFact]| facts.iter().any(|it| it.fact == TrialFact::Kill);
        let wait = Duration::from_secs(5);

        assert!(!notebook.wait_until(wait, has_kill).await);
        let (found, ()) = tokio::join!(notebook.wait_until(wait, has_kill), async {
            notebook.record(TrialFact::Kill);
        });
        assert!(found);
    }
}
