//! Stops of people: `/stop`, a bot's word, or the button under a running answer.

use std::error::Error;
use std::sync::Arc;

use futures_util::future::join_all;
use nightdesk_gate::{AdmittedEvent, ChatStopCommand, Recipient, StopForm, StopWord};
use nightdesk_letters::Party;
use nightdesk_port::Bot;
use nightdesk_types::StoreError;

use super::decide::{notice_text, strongest};
use super::{StopOrder, StopOrigin, StopSession, Stopping};
use crate::limits::LimitedAction;
use crate::notices::StopNotice;

/// The setting of a bot with its own word.
const WORD: &str = "stop_word";

/// Returns the word that stops a turn on a bot, if the bot has one.
pub(crate) fn stop_word(bot: &Bot) -> Option<StopWord> {
    StopWord::new(bot.settings[WORD].as_str()?)
}

impl From<StopForm> for StopOrigin {
    fn from(form: StopForm) -> Self {
        match form {
            StopForm::Command => Self::Command,
            StopForm::Word => Self::Word,
            StopForm::Button => Self::Button,
        }
    }
}

impl Stopping {
    /// Executes a person's command in the background, and tells the person the result.
    pub(crate) fn run_command(self: &Arc<Self>, event: AdmittedEvent, command: ChatStopCommand) {
        let (bot, source) = (event.verified().bot(), event.verified().get().source());
        let author = source.user_id.as_deref().unwrap_or_default();
        if self.limits.allow(LimitedAction::Stop, &format!("{bot} {author}")).is_err() {
            return;
        }
        let stopping = Arc::clone(self);
        self.tasks.spawn(async move {
            if let Err(error) = stopping.stop_all(&event, command).await {
                tracing::warn!(
                    error = &error as &dyn Error,
                    "a person's stop failed; the person was not told and may repeat it"
                );
            }
        });
    }

    /// Stops the person's session at each recipient of the command.
    async fn stop_all(
        &self,
        event: &AdmittedEvent,
        command: ChatStopCommand,
    ) -> Result<(), StoreError> {
        let verified = event.verified();
        let source = verified.get().source().clone();
        let order = StopOrder {
            session: StopSession::of_source(source, Some(verified.bot())),
            origin: command.form.into(),
            drops_waiting: command.drops_waiting,
        };
        let stops = event.recipients().iter().map(|Recipient { scope, agent, .. }| {
            self.stop(Party { scope: *scope, agent: *agent }, &order)
        });
        let reports = join_all(stops).await.into_iter().collect::<Result<Vec<_>, _>>()?;
        let Some(outcome) = strongest(reports.iter().map(|report| report.outcome)) else {
            return Ok(());
        };
        let dropped = reports.iter().map(|report| report.dropped).sum();
        let first = reports.iter().position(|report| report.outcome == outcome).unwrap_or(0);
        let Some(recipient) = event.recipients().get(first) else { return Ok(()) };
        let text = notice_text(outcome, dropped);
        self.notices.notify_stopped(&StopNotice { event, recipient, text: &text }).await
    }
}
