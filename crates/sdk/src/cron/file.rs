//! A book on disk, for one process or several.
//!
//! It is replaced atomically: written to a temporary file, synced, renamed. A lock on a separate file prevents
//! concurrent replacement, and the system releases it when its process ends.

use std::error::Error;
use std::fs::{self, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Instant;

use async_trait::async_trait;

use super::book::Book;
use super::limits::{FILE_BYTES_MAX, LOCK_AGAIN, LOCK_WAIT};
use super::store::{Store, StoreError};

/// Stores the book in a file. Processes that name the same file share it; the file must be on a local disk of the
/// machine that they all run on.
#[derive(Clone, Debug)]
pub struct FileStore {
    path: PathBuf,
}

impl FileStore {
    /// Stores it at this path. The folder must exist; the file need not.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    fn sibling_path(&self, ending: &str) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(ending);
        name.into()
    }

    fn load(&self) -> io::Result<Book> {
        let file = match fs::File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Book::default()),
            Err(error) => return Err(error),
        };
        let mut text = Vec::new();
        file.take(FILE_BYTES_MAX).read_to_end(&mut text)?;
        // An unreadable file is left unchanged, so that it can be repaired.
        Ok(serde_json::from_slice(&text)?)
    }

    fn swap(&self, book: &Book) -> io::Result<bool> {
        let _lock = lock(&self.sibling_path(".lock"))?;
        if self.load()?.version() + 1 != book.version() {
            return Ok(false);
        }
        let fresh = self.sibling_path(".new");
        let mut file = private().create(true).truncate(true).write(true).open(&fresh)?;
        file.write_all(&serde_json::to_vec_pretty(book)?)?;
        file.sync_all()?;
        fs::rename(&fresh, &self.path)?;
        sync_folder(&self.path)?;
        Ok(true)
    }
}

/// Returns options for a private file, because a job may carry confidential data.
fn private() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only there a file has a mode"))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Takes the lock, which is held until the file is dropped.
fn lock(path: &Path) -> io::Result<fs::File> {
    let file = private().create(true).truncate(false).write(true).open(path)?;
    let began = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if began.elapsed() < LOCK_WAIT => sleep(LOCK_AGAIN),
            Err(TryLockError::WouldBlock) => return Err(io::ErrorKind::TimedOut.into()),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

/// Syncs the folder: only then is a rename durable.
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    fs::File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

#[async_trait]
impl Store for FileStore {
    async fn read(&self) -> Result<Book, StoreError> {
        let file = self.clone();
        self.run_blocking(move || file.load()).await
    }

    async fn replace(&self, book: Book) -> Result<bool, StoreError> {
        let file = self.clone();
        self.run_blocking(move || file.swap(&book)).await
    }
}

impl FileStore {
    /// Runs on a blocking thread to its end, even if the caller stops waiting.
    async fn run_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> io::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let what = || format!("could not read or write the jobs in {}", self.path.display());
        let failed = |error: Box<dyn Error + Send + Sync>| StoreError::new(what(), error);
        let worked =
            tokio::task::spawn_blocking(work).await.map_err(|error| failed(error.into()))?;
        worked.map_err(|error| failed(error.into()))
    }
}
