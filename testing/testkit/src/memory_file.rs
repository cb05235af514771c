//! Makes files in memory.

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use nightdesk_port::{FetchError, File, FileContent, FileSource};

/// Returns a file with this content, without a name or a type.
pub fn memory_file(content: impl Into<Vec<u8>>) -> File {
    File { source: Arc::new(MemorySource(content.into())), mime: None, filename: None }
}

struct MemorySource(Vec<u8>);

#[async_trait]
impl FileSource for MemorySource {
    async fn open(&self) -> Result<FileContent, FetchError> {
        let Self(content) = self;
        let size = u64::try_from(content.len()).ok();
        let bytes = content.clone().into();
        Ok(FileContent { size, bytes: stream::once(async { Ok(bytes) }).boxed() })
    }
}
