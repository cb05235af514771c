//! Fetches attachments. The URL in a message expires after a day. The desk's reference names the message and is valid
//! as long as the message exists.

use async_trait::async_trait;
use futures_util::{StreamExt, TryStreamExt};
use nightdesk_port::{Bot, FetchError, FileBytes, Files};
use reqwest::StatusCode;

use crate::Discord;
use crate::api::{Call, CallError};
use crate::words::{FileRef, Message};

#[async_trait]
impl Files for Discord {
    async fn fetch(&self, bot: &Bot, reference: &str) -> Result<FileBytes, FetchError> {
        let address = match FileRef::read(reference).ok_or(FetchError::Gone)? {
            FileRef::Attached { channel, message, file } => {
                let call = Call::get(format!("channels/{channel}/messages/{message}"));
                let message: Message = self.api.call(bot, call).await.map_err(unfetched)?;
                let file = message.files().find(|one| one.id == file);
                file.ok_or(FetchError::Gone)?.url.clone()
            }
            FileRef::Sticker(name) => self.api.sticker(&name),
        };
        let answer = self.api.download(&address).await.map_err(unfetched)?;
        // The error omits the URL, because the URL alone gives access to the file.
        Ok(answer.bytes_stream().map_err(|error| error.without_url().into()).boxed())
    }
}

fn unfetched(error: CallError) -> FetchError {
    // The message was deleted, or the bot was removed.
    let is_gone = |status| matches!(status, StatusCode::NOT_FOUND | StatusCode::FORBIDDEN);
    if matches!(&error, CallError::Refused(no) if is_gone(no.status)) {
        return FetchError::Gone;
    }
    FetchError::Unavailable(error.into())
}

#[cfg(test)]
mod tests;
