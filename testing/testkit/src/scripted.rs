//! Implements the scripted platform, whose messages and answers a test decides.
//!
//! It may claim to be `discord`, `telegram` or any other platform: a client sees the bot's platform, and only the
//! transport is ours.
//!
//! In: a signed request, `{"id": "<event key>", "event": {…}}` or `{"events": [{…}, …]}`; see [`SIGNATURE_HEADER`] and
//! [`sign`]. One event may carry `"capability": {"kind": …, "value": …}`. Out: `{"bot": "<handle>", "send": {…}}` is
//! posted to the bot's `settings.deliver_url`, with the `"capability"` or the `"file"` if one is used, and the HTTP
//! response is the result. An event's attachments have their text in `settings.files`, if there are any.
//!
//! # Promise
//!
//! No part of a request is read before its signature is verified, and no part of an event or a send is in any log or
//! error.

use async_trait::async_trait;
use nightdesk_port::{
    Bot, Deliver, DeliverError, FetchError, File, FileContent, Files, Platform,
    PlatformCapabilities, Receipt, Receive, ReceiveError, RequestContent, SignedRequest,
    VisibilitySource,
};
use nightdesk_types::event::Source;
use nightdesk_types::{Send, Visibility};
use nightdesk_vault::Key;

mod signature;
mod words;
mod settings;
mod call;

use crate::memory_file;
use call::Aid;

#[cfg(test)]
mod tests;

pub use signature::{SIGNATURE_HEADER, sign};

/// The adapter of the scripted platform.
#[derive(Debug)]
pub struct Scripted {
    client: reqwest::Client,
}

impl Scripted {
    /// Opens the one client that makes all calls.
    pub fn new() -> Result<Self, reqwest::Error> {
        Ok(Self { client: call::client()? })
    }
}

impl Receive for Scripted {
    fn receive(
        &self,
        bot: &Bot,
        request: &SignedRequest<'_>,
    ) -> Result<RequestContent, ReceiveError> {
        signature::check(bot, request)?;
        let mut events = words::events(request.body, &bot.platform)?;
        let Some(capability) = words::capability(request.body) else {
            return Ok(RequestContent::Events(events));
        };
        let event = events.pop().ok_or(ReceiveError::Unreadable)??;
        Ok(RequestContent::Bearing(Box::new(event), capability))
    }
}

#[async_trait]
impl Deliver for Scripted {
    async fn deliver(&self, bot: &Bot, send: &Send) -> Result<Receipt, DeliverError> {
        let url = settings::deliver_url(bot).ok_or(DeliverError::Unsupported)?;
        call::make(&self.client, url, (bot, send), Aid::default()).await
    }

    async fn follow_up(
        &self,
        bot: &Bot,
        send: &Send,
        capability: &Key,
    ) -> Result<Receipt, DeliverError> {
        let url = settings::deliver_url(bot).ok_or(DeliverError::Unsupported)?;
        let aid = Aid { capability: Some(capability), file: None };
        call::make(&self.client, url, (bot, send), aid).await
    }

    async fn upload(
        &self,
        bot: &Bot,
        send: &Send,
        file: &File,
        _name: &str,
    ) -> Result<Receipt, DeliverError> {
        let url = settings::deliver_url(bot).ok_or(DeliverError::Unsupported)?;
        let aid = Aid { capability: None, file: Some(file) };
        call::make(&self.client, url, (bot, send), aid).await
    }
}

impl Platform for Scripted {
    fn capabilities(&self, bot: &Bot) -> PlatformCapabilities {
        settings::capabilities(bot)
    }

    fn files(&self, bot: &Bot) -> Option<&dyn Files> {
        settings::has_files(bot).then_some(self)
    }

    fn visibility_source(&self) -> Option<&dyn VisibilitySource> {
        Some(self)
    }
}

#[async_trait]
impl Files for Scripted {
    async fn fetch(&self, bot: &Bot, reference: &str) -> Result<FileContent, FetchError> {
        let text = settings::file(bot, reference).ok_or(FetchError::Gone)?;
        memory_file(text).source.open().await
    }
}

impl VisibilitySource for Scripted {
    fn visibility_of(&self, bot: &Bot, source: &Source, person: &str) -> Visibility {
        settings::sight(bot, &source.chat_id, person)
    }
}
