//! Aid: what a call is made with besides what it says, and the call.

use std::error::Error;

use nightdesk_port::{CAPABILITY_GONE, DeliverError, File, Receipt};
use nightdesk_types::send::Op;
use nightdesk_types::{AgentId, BotId, Send, TenantScope};
use nightdesk_vault::Key;

use crate::Settled;
use crate::stop::{Account, Egress, Errand};
use crate::store::SendKey;

/// A capability, as a send asks for it.
#[derive(Clone, Copy, Debug)]
pub struct Lent<'a> {
    /// For whom the send is made.
    pub scope: TenantScope,
    /// Which agent asked for it.
    pub agent: AgentId,
    /// Through which bot it goes, ...
    pub bot: BotId,
    /// ... and to which chat.
    pub chat: &'a str,
    /// In which session, as its client calls it.
    pub session_key: &'a str,
    /// Which capability.
    pub kind: &'a str,
}

/// A file, as a send speaks of it.
#[derive(Clone, Copy, Debug)]
pub struct Spoken<'a> {
    /// For whom the send is made.
    pub scope: TenantScope,
    /// Which agent asked for it.
    pub agent: AgentId,
    /// Where it is said to be.
    pub url: &'a str,
}

/// Why there is no file to send.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It is none of the agent's, or not any more.
    #[error("media absent or expired")]
    Gone,
    /// It may come later.
    #[error("the file could not be read")]
    Unavailable(#[source] Box<dyn Error + std::marker::Send + Sync>),
}

/// What a call needs besides what it says.
pub(crate) enum Aid {
    Nothing,
    Lent(Key),
    /// What was lent has ended.
    Ended,
    File(File),
}

/// One call, the name under which the platform does it once, and what it is made with.
#[derive(Clone, Copy)]
pub(crate) struct Call<'a> {
    pub(crate) send: &'a Send,
    pub(crate) name: &'a str,
    pub(crate) aid: &'a Aid,
}

impl Call<'_> {
    /// Makes it. What was to be said with something that has ended is said without it.
    pub(crate) async fn make(self, account: &Account) -> Result<Receipt, DeliverError> {
        let Account { bot, platform, .. } = account;
        match self.aid {
            Aid::Nothing => platform.deliver_as(bot, self.send, self.name).await,
            Aid::File(file) => platform.upload(bot, self.send, file, self.name).await,
            Aid::Ended => self.make_plainly(account).await,
            Aid::Lent(lent) => match platform.follow_up(bot, self.send, lent).await {
                Err(DeliverError::Refused { platform_code })
                    if platform_code == CAPABILITY_GONE =>
                {
                    self.make_plainly(account).await
                }
                answered => answered,
            },
        }
    }

    async fn make_plainly(self, account: &Account) -> Result<Receipt, DeliverError> {
        let Op::FollowUp { content, .. } = &self.send.op else {
            return Err(DeliverError::Unsupported);
        };
        let op = Op::Send { content: content.clone(), reply_to: None };
        let send = Send { op, ..self.send.clone() };
        let receipt = account.platform.deliver_as(&account.bot, &send, self.name).await?;
        Ok(Receipt { is_plain: true, ..receipt })
    }
}

impl Egress {
    /// What a call needs besides, right before it is used: it may have ended meanwhile.
    pub(crate) async fn aid(&self, key: &SendKey, errand: &Errand) -> Result<Aid, Settled> {
        let SendKey { scope, agent, .. } = *key;
        match errand.calls.first().map(|call| &call.op) {
            Some(Op::FollowUp { session_key, kind, .. }) => {
                let (bot, chat) = (errand.account.bot.id, errand.chat.as_str());
                let asked = Lent { scope, agent, bot, chat, session_key, kind };
                match self.accounts.capability(&asked).await {
                    Ok(Some(lent)) => Ok(Aid::Lent(lent)),
                    Ok(None) => Ok(Aid::Ended),
                    Err(error) => Err(unavailable(error)),
                }
            }
            Some(Op::SendMedia { source_url: url, .. }) => {
                match self.accounts.file(&Spoken { scope, agent, url }).await {
                    Ok(Some(file)) => Ok(Aid::File(file)),
                    Ok(None) => Ok(Aid::Nothing),
                    Err(gone @ FileError::Gone) => Err(Settled::Failed(gone.to_string())),
                    Err(FileError::Unavailable(error)) => Err(unavailable(error)),
                }
            }
            Some(_) | None => Ok(Aid::Nothing),
        }
    }
}

/// Nothing was done.
fn unavailable(error: impl Into<Box<dyn Error + std::marker::Send + Sync>>) -> Settled {
    Settled::from(Err(DeliverError::Unavailable(error.into())))
}
