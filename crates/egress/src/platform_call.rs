//! Platform calls, and the capabilities that they need.

use nightdesk_port::{CAPABILITY_GONE, DeliverError, Receipt};
use nightdesk_types::Send;
use nightdesk_types::send::Op;
use nightdesk_vault::Key;

use crate::SendResult;
use crate::account::{Account, Accounts, CapabilityRequest};
use crate::plan::SendPlan;
use crate::send_file::SendFile;
use crate::store::SendKey;

/// The resource that a call needs besides its content.
pub(crate) enum CallResource {
    Nothing,
    Lent(Key),
    /// The capability has expired.
    Ended,
    File(SendFile),
}

/// One call, the platform's idempotency key for it, and its resource.
#[derive(Clone, Copy)]
pub(crate) struct PlatformCall<'a> {
    pub(crate) send: &'a Send,
    pub(crate) name: &'a str,
    pub(crate) resource: &'a CallResource,
}

impl PlatformCall<'_> {
    /// Makes the call. If the capability has expired, sends the text as an ordinary message.
    pub(crate) async fn make(self, account: &Account) -> Result<Receipt, DeliverError> {
        let Account { bot, platform, .. } = account;
        match self.resource {
            CallResource::Nothing => platform.deliver_as(bot, self.send, self.name).await,
            CallResource::File(file) => file.upload(account, self.send, self.name).await,
            CallResource::Ended => self.make_without_capability(account).await,
            CallResource::Lent(lent) => match platform.follow_up(bot, self.send, lent).await {
                Err(DeliverError::Refused { platform_code })
                    if platform_code == CAPABILITY_GONE =>
                {
                    self.make_without_capability(account).await
                }
                answered => answered,
            },
        }
    }

    async fn make_without_capability(self, account: &Account) -> Result<Receipt, DeliverError> {
        let Op::FollowUp { content, .. } = &self.send.op else {
            return Err(DeliverError::Unsupported);
        };
        let op = Op::Send { content: content.clone(), reply_to: None };
        let send = Send { op, ..self.send.clone() };
        let receipt = account.platform.deliver_as(&account.bot, &send, self.name).await?;
        Ok(Receipt { is_plain: true, ..receipt })
    }
}

impl CallResource {
    /// Returns the resource of a call: its file, or the capability, which is loaded directly before its use, because it
    /// may have expired meanwhile.
    pub(crate) async fn load(
        accounts: &dyn Accounts,
        key: &SendKey,
        errand: &SendPlan,
        file: Option<SendFile>,
    ) -> Result<Self, SendResult> {
        let SendKey { scope, agent, .. } = *key;
        let op = errand.calls.first().map(|call| &call.op);
        let Some(Op::FollowUp { session_key, kind, .. }) = op else {
            return Ok(file.map_or(Self::Nothing, Self::File));
        };
        let (bot, chat) = (errand.account.bot.id, errand.chat.as_str());
        let asked = CapabilityRequest { scope, agent, bot, chat, session_key, kind };
        match accounts.find_capability(&asked).await {
            Ok(Some(lent)) => Ok(Self::Lent(lent)),
            Ok(None) => Ok(Self::Ended),
            Err(error) => Err(SendResult::unavailable(error)),
        }
    }
}
