//! The file of a send.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use futures_util::{StreamExt, TryStreamExt};
use nightdesk_port::{DeliverError, FetchError, File, FileContent, FileSource, Receipt};
use nightdesk_types::Send;
use nightdesk_types::send::Op;

use crate::SendResult;
use crate::account::{Account, Accounts, FileError, FileRequest};
use crate::plan::SendPlan;
use crate::store::SendKey;

/// A file that is read while it is uploaded.
pub(crate) struct SendFile {
    file: File,
    has_broken_off: Arc<AtomicBool>,
}

impl SendFile {
    /// Finds the file of a send, and waits until there is memory for it. `None`: the send needs none.
    pub(crate) async fn find(
        accounts: &dyn Accounts,
        key: &SendKey,
        errand: &SendPlan,
    ) -> Result<Option<Self>, SendResult> {
        let SendKey { scope, agent, .. } = *key;
        let op = errand.calls.first().map(|call| &call.op);
        let Some(Op::SendMedia { source_url: url, .. }) = op else { return Ok(None) };
        let request = FileRequest { scope, agent, url, until: errand.until };
        match accounts.find_file(&request).await {
            Ok(file) => Ok(file.map(Self::new)),
            Err(gone @ FileError::Gone) => Err(SendResult::Failed(gone.to_string())),
            Err(busy @ FileError::Busy) => {
                Err(SendResult::Failed(format!("network: {busy}; nothing was sent")))
            }
            Err(FileError::Unavailable(error)) => Err(SendResult::unavailable(error)),
        }
    }

    fn new(file: File) -> Self {
        let has_broken_off = Arc::new(AtomicBool::new(false));
        let source =
            WatchedSource { inner: file.source, has_broken_off: Arc::clone(&has_broken_off) };
        Self { file: File { source: Arc::new(source), ..file }, has_broken_off }
    }

    /// Makes a call that uploads the file. A platform executes no call whose file broke off before its end.
    pub(crate) async fn upload(
        &self,
        account: &Account,
        send: &Send,
        name: &str,
    ) -> Result<Receipt, DeliverError> {
        self.has_broken_off.store(false, Ordering::Relaxed);
        match account.platform.upload(&account.bot, send, &self.file, name).await {
            Err(DeliverError::Ambiguous(error)) if self.has_broken_off.load(Ordering::Relaxed) => {
                Err(DeliverError::Unavailable(error))
            }
            answered => answered,
        }
    }
}

/// A file's content, with a note if it broke off.
struct WatchedSource {
    inner: Arc<dyn FileSource>,
    has_broken_off: Arc<AtomicBool>,
}

#[async_trait]
impl FileSource for WatchedSource {
    async fn open(&self) -> Result<FileContent, FetchError> {
        let FileContent { size, bytes } = self.inner.open().await?;
        let has_broken_off = Arc::clone(&self.has_broken_off);
        let bytes = bytes.inspect_err(move |_| has_broken_off.store(true, Ordering::Relaxed));
        Ok(FileContent { size, bytes: bytes.boxed() })
    }
}
