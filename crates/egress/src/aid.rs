//! Platform calls, and the capabilities and files that they need.

use std::error::Error;

use nightdesk_port::{CAPABILITY_GONE, DeliverError, File, Receipt};
use nightdesk_types::Send;
use nightdesk_types::send::Op;
use nightdesk_vault::Key;
use tokio::time::Instant;

use crate::Settled;
use crate::account::{Account, Accounts, FileError, Lent, Spoken};
use crate::store::SendKey;

/// The calls of a send, and their deadline.
pub(crate) struct Errand {
    pub(crate) account: Account,
    pub(crate) chat: String,
    pub(crate) calls: Vec<Send>,
    pub(crate) until: Instant,
}

/// The resource that a call needs besides its content.
pub(crate) enum Aid {
    Nothing,
    Lent(Key),
    /// The capability has expired.
    Ended,
    File(File),
}

/// One call, the platform's idempotency key for it, and its resource.
#[derive(Clone, Copy)]
pub(crate) struct Call<'a> {
    pub(crate) send: &'a Send,
    pub(crate) name: &'a str,
    pub(crate) aid: &'a Aid,
}

impl Call<'_> {
    /// Makes the call. If the capability has expired, sends the text as an ordinary message.
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

impl Aid {
    /// Loads the resource of a call directly before its use, because it may have expired meanwhile.
    pub(crate) async fn load(
        accounts: &dyn Accounts,
        key: &SendKey,
        errand: &Errand,
    ) -> Result<Self, Settled> {
        let SendKey { scope, agent, .. } = *key;
        match errand.calls.first().map(|call| &call.op) {
            Some(Op::FollowUp { session_key, kind, .. }) => {
                let (bot, chat) = (errand.account.bot.id, errand.chat.as_str());
                let asked = Lent { scope, agent, bot, chat, session_key, kind };
                match accounts.capability(&asked).await {
                    Ok(Some(lent)) => Ok(Self::Lent(lent)),
                    Ok(None) => Ok(Self::Ended),
                    Err(error) => Err(unavailable(error)),
                }
            }
            Some(Op::SendMedia { source_url: url, .. }) => {
                match accounts.file(&Spoken { scope, agent, url }).await {
                    Ok(Some(file)) => Ok(Self::File(file)),
                    Ok(None) => Ok(Self::Nothing),
                    Err(gone @ FileError::Gone) => Err(Settled::Failed(gone.to_string())),
                    Err(FileError::Unavailable(error)) => Err(unavailable(error)),
                }
            }
            Some(_) | None => Ok(Self::Nothing),
        }
    }
}

/// Returns the result of a send for which no call was made.
fn unavailable(error: impl Into<Box<dyn Error + std::marker::Send + Sync>>) -> Settled {
    Settled::from(Err(DeliverError::Unavailable(error.into())))
}
