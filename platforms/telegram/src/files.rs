//! Fetches attachments, which require the bot's key.

use async_trait::async_trait;
use nightdesk_kit::PlatformCallError;
use nightdesk_port::{Bot, FetchError, FileContent, Files};
use reqwest::StatusCode;
use serde::Deserialize;
use serde_json::json;

use crate::Telegram;
use crate::events::FILE_SCHEME;

/// Status of a file that is too large or too old.
const GONE: [StatusCode; 1] = [StatusCode::BAD_REQUEST];

#[derive(Deserialize)]
struct FileResponse {
    file_path: Option<String>,
}

#[async_trait]
impl Files for Telegram {
    async fn fetch(&self, bot: &Bot, reference: &str) -> Result<FileContent, FetchError> {
        let id = reference.strip_prefix(FILE_SCHEME).ok_or(FetchError::Gone)?;
        let key = bot.key.as_ref();
        let unfetched = |error: PlatformCallError| error.into_fetch_error(&GONE);
        let found: FileResponse =
            self.api.call(key, "getFile", &json!({ "file_id": id })).await.map_err(unfetched)?;
        let path = found.file_path.ok_or(FetchError::Gone)?;
        self.api.download(key, &path).await.map_err(unfetched)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::TryStreamExt;
    use nightdesk_fake_telegram::FakeTelegram;

    use super::*;
    use crate::tests::{TOKEN, bot, telegram_at};

    async fn fetched(fake: &FakeTelegram, reference: &str) -> Result<String, FetchError> {
        let content = telegram_at(&fake.url()).fetch(&bot(), reference).await?;
        let bytes: Vec<_> = content.bytes.try_collect().await.expect("all of it");
        Ok(String::from_utf8(bytes.concat()).expect("a text"))
    }

    #[tokio::test]
    async fn a_file_is_fetched_by_what_its_message_calls_it() {
        let fake = FakeTelegram::open().await;
        fake.bot(TOKEN, "desk_bot");

        let cat = fetched(&fake, "telegram-file:cat-1").await.expect("a file");
        assert_eq!(cat, "what is in cat-1");
        for odd in ["cat-1", "telegram-file:", "https://elsewhere.example/cat"] {
            let gone = fetched(&fake, odd).await;
            assert!(matches!(gone, Err(FetchError::Gone)), "{odd}: {gone:?}");
        }
        for odd in ["telegram-file:../../etc", "telegram-file:a?b", "telegram-file:a#b"] {
            let unread = fetched(&fake, odd).await;
            assert!(matches!(unread, Err(FetchError::Unavailable(_))), "{odd}: {unread:?}");
        }
    }

    #[tokio::test]
    async fn nobody_fetches_with_a_key_that_is_not_taken() {
        let fake = FakeTelegram::open().await;
        let refused = fetched(&fake, "telegram-file:cat-1").await.expect_err("no such bot");

        assert!(!format!("{refused:?}").contains(TOKEN), "{refused:?}");
    }
}
