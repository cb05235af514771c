//! Fetches attachments. The URL in a message expires after a day. The desk's reference names the message and is valid
//! as long as the message exists.

use async_trait::async_trait;
use nightdesk_kit::PlatformCallError;
use nightdesk_port::{Bot, FetchError, FileContent, Files};
use reqwest::StatusCode;

use crate::Discord;
use crate::api::ApiCall;
use crate::events::{DiscordMessage, FileRef};

/// Statuses of a deleted message, and of a bot that was removed.
const GONE: [StatusCode; 2] = [StatusCode::NOT_FOUND, StatusCode::FORBIDDEN];

#[async_trait]
impl Files for Discord {
    async fn fetch(&self, bot: &Bot, reference: &str) -> Result<FileContent, FetchError> {
        let unfetched = |error: PlatformCallError| error.into_fetch_error(&GONE);
        let address = match FileRef::parse(reference).ok_or(FetchError::Gone)? {
            FileRef::Attached { channel, message, file } => {
                let call = ApiCall::get(format!("channels/{channel}/messages/{message}"));
                let message: DiscordMessage = self.api.call(bot, call).await.map_err(unfetched)?;
                let file = message.files().find(|one| one.id == file);
                file.ok_or(FetchError::Gone)?.url.clone()
            }
            FileRef::Sticker(name) => self.api.sticker(&name),
        };
        self.api.download(&address).await.map_err(unfetched)
    }
}

#[cfg(test)]
mod tests;
