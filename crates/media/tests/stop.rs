//! The media stop over a memory store.
#![expect(clippy::expect_used, reason = "a test that cannot set up should stop")]

use std::fs::{self, File};
use std::path::{Path as FolderPath, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures_util::{Stream, TryStreamExt, stream};
use nightdesk_media::{
    Media, MediaId, MediaLocation, MediaPlaceError, MediaRecord, MemoryPermit, MemoryRequest,
    ScopedAgent, UploadError, UploadLabel, open_place,
};
use nightdesk_memory::Memory;
use nightdesk_testkit::FakeClock;
use nightdesk_types::limits::{MEDIA_BYTES_MAX, MEDIA_KEPT, MEDIA_TENANT_BYTES_MAX};
use nightdesk_types::{AgentId, BotId, Clock, TenantId, TenantScope};
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use tempfile::TempDir;
use tokio::time::Instant;
use uuid::Uuid;

const DESK: &str = "https://desk.example.org";

fn agent(tenant: u128, agent: u128) -> ScopedAgent {
    let scope = TenantScope::for_tenant(TenantId::from_uuid(Uuid::from_u128(tenant)));
    (scope, AgentId::from_uuid(Uuid::from_u128(agent)))
}

fn memory() -> Memory {
    Memory::new(FakeClock::default())
}

fn media() -> Media {
    let clock = Arc::new(FakeClock::default());
    Media::new(Arc::new(memory()), Arc::new(InMemory::new()), DESK, clock)
}

fn chunks(chunks: &[&'static [u8]]) -> impl Stream<Item = Result<Bytes, String>> + Send {
    let chunks: Vec<Result<Bytes, String>> =
        chunks.iter().map(|chunk| Ok(Bytes::from_static(chunk))).collect();
    stream::iter(chunks)
}

async fn take(
    media: &Media,
    whose: ScopedAgent,
    bytes: &'static [u8],
) -> Result<MediaId, UploadError> {
    let (mime, filename) = (Some("text/plain".to_owned()), Some("a.txt".to_owned()));
    let memory = memory_for(media, whose, bytes.len()).await;
    media
        .store_upload(whose, UploadLabel { mime, filename }, chunks(&[bytes]), &memory)
        .await
        .map(|(id, _)| id)
}

async fn memory_for(media: &Media, whose: ScopedAgent, bytes: usize) -> MemoryPermit {
    let bytes = u64::try_from(bytes).expect("a size");
    let request = MemoryRequest { tenant: whose.0.tenant(), bytes, until: Instant::now() };
    media.reserve_memory(request).await.expect("there is memory")
}

async fn read(media: &Media, whose: ScopedAgent, id: MediaId) -> Option<Bytes> {
    let record = media.find_record(whose, id).await.expect("find a file")?;
    let key = match record.location {
        MediaLocation::Here { key } => Some(key),
        MediaLocation::There { .. } => None,
    };
    let key = key.expect("the file is here");
    let content = media.read_content(whose, id, &key).await.expect("read a file")?;
    let chunks: Vec<Bytes> = content.bytes.try_collect().await.expect("a whole file");
    let bytes = chunks.concat();
    assert_eq!(u64::try_from(bytes.len()), Ok(content.size));
    Some(bytes.into())
}

#[tokio::test]
async fn a_file_is_its_agents_and_nobody_elses() {
    let (media, ann) = (media(), agent(1, 1));
    let id = take(&media, ann, b"hello").await.expect("take a file");

    let kept = media.find_record(ann, id).await.expect("find a file").expect("it is Ann's");
    assert_eq!((kept.filename.as_deref(), kept.size), (Some("a.txt"), Some(5)));
    assert_eq!(read(&media, ann, id).await.as_deref(), Some(&b"hello"[..]));
    for other in [agent(1, 2), agent(2, 1), agent(2, 2)] {
        assert_eq!(media.find_record(other, id).await.expect("find a file"), None, "{other:?}");
    }
    assert_eq!(read(&media, agent(2, 1), id).await, None, "it lies with its tenant");
}

#[tokio::test]
async fn what_a_platform_has_is_told_to_those_it_is_told_to() {
    let (media, bot) = (media(), BotId::from_uuid(Uuid::from_u128(9)));
    let lies = MediaLocation::There { bot, reference: "file-1".to_owned() };
    let photo = MediaRecord { mime: None, filename: None, size: Some(7), location: lies };
    let both = [agent(1, 1), agent(2, 2)];
    let urls = media.register_files(&both, vec![photo.clone()]).await.expect("refer to a file");

    let id = MediaId::from_url(&urls[0]).expect("a URL of a desk");
    assert!(urls[0].starts_with(DESK) && !urls[0].contains("file-1"), "{}", urls[0]);
    for one in both {
        assert_eq!(media.find_record(one, id).await.expect("find a file"), Some(photo.clone()));
    }
    assert_eq!(media.find_record(agent(1, 2), id).await.expect("find a file"), None);
}

#[tokio::test]
async fn a_file_is_whole_and_within_its_bounds() {
    const MIB: &[u8] = &[7; 1024 * 1024];
    let (media, ann) = (media(), agent(1, 1));
    let (largest, memory) = (vec![MIB; 25], memory_for(&media, ann, MEDIA_BYTES_MAX).await);
    let taken = media.store_upload(ann, UploadLabel::default(), chunks(&largest), &memory).await;
    assert_eq!(taken.expect("as large as it may be").1, 25 * 1024 * 1024);

    let larger: Vec<&'static [u8]> = largest.into_iter().chain([&b"x"[..]]).collect();
    let refused = media.store_upload(ann, UploadLabel::default(), chunks(&larger), &memory).await;
    assert!(matches!(refused, Err(UploadError::TooLarge)), "{refused:?}");
    assert!(matches!(take(&media, ann, b"").await, Err(UploadError::Empty)));
    let broken = stream::iter([Ok(Bytes::from_static(b"half")), Err("gone")]);
    let refused = media.store_upload(ann, UploadLabel::default(), broken, &memory).await;
    assert!(matches!(refused, Err(UploadError::BrokeOff(_))), "{refused:?}");
}

/// Returns a stop with files in a folder, so that a test can make them large and old.
fn in_folder() -> (Media, TempDir) {
    let folder = tempfile::tempdir().expect("make a folder");
    let objects = LocalFileSystem::new_with_prefix(folder.path()).expect("open the folder");
    let clock = Arc::new(FakeClock::default());
    (Media::new(Arc::new(memory()), Arc::new(objects), DESK, clock), folder)
}

fn file(folder: &TempDir, whose: ScopedAgent, id: MediaId) -> File {
    let path = folder.path().join("nightdesk-uploads").join(whose.0.tenant().to_string());
    let path = path.join(id.to_string());
    File::options().write(true).open(path).expect("open a file")
}

#[tokio::test]
async fn a_tenant_has_so_much_and_another_has_its_own() {
    let ((media, folder), ann, bob) = (in_folder(), agent(1, 1), agent(2, 2));
    let id = take(&media, ann, b"x").await.expect("there is room");
    file(&folder, ann, id).set_len(MEDIA_TENANT_BYTES_MAX - 1).expect("make it large");

    take(&media, ann, b"x").await.expect("there is room for one more");
    assert!(matches!(take(&media, ann, b"x").await, Err(UploadError::Full)));
    take(&media, bob, b"x").await.expect("Bob has room of his own");
}

#[tokio::test]
async fn a_sweep_removes_what_is_old_and_leaves_what_is_young() {
    let ((media, folder), ann) = (in_folder(), agent(1, 1));
    let [old, young] = [take(&media, ann, b"old").await, take(&media, ann, b"young").await];
    let (old, young) = (old.expect("take a file"), young.expect("take a file"));
    let now = Duration::from_secs(FakeClock::default().now().as_second().unsigned_abs());
    let second = Duration::from_secs(1);
    for (id, age) in [(old, MEDIA_KEPT + second), (young, MEDIA_KEPT.saturating_sub(second))] {
        let made_at = SystemTime::UNIX_EPOCH + now.saturating_sub(age);
        file(&folder, ann, id).set_modified(made_at).expect("give it an age");
    }

    assert_eq!(media.sweep().await.expect("sweep"), 1);
    assert_eq!(read(&media, ann, old).await, None);
    assert!(read(&media, ann, young).await.is_some());
}

#[tokio::test]
async fn a_sweep_leaves_foreign_files_alone() {
    let ((media, folder), ann) = (in_folder(), agent(1, 1));
    let own = take(&media, ann, b"own").await.expect("take a file");
    let own = find(folder.path(), &own.to_string()).expect("the file is in the folder");
    let beside = own.parent().expect("a folder");
    let hex = "0123456789abcdef0123456789abcdef";
    let foreign = [
        folder.path().join("vault.key"),
        folder.path().join("backups/monday.tar"),
        folder.path().join(hex),
        folder.path().join(format!("{}/{hex}", ann.0.tenant())),
        beside.join("vault.key"),
        beside.join(hex.to_uppercase()),
        beside.join("deeper").join(hex),
        beside.join("..").join("notes").join(hex),
    ];
    for path in &foreign {
        fs::create_dir_all(path.parent().expect("a folder")).expect("make a folder");
        fs::write(path, "precious").expect("write a file");
    }
    for path in foreign.iter().chain([&own]) {
        let file = File::options().write(true).open(path).expect("open a file");
        file.set_modified(SystemTime::UNIX_EPOCH).expect("make it old");
    }

    assert_eq!(media.sweep().await.expect("sweep"), 1);
    let lost: Vec<_> = foreign.iter().filter(|path| !path.exists()).collect();
    assert_eq!(lost, Vec::<&PathBuf>::new(), "files that the desk did not write");
    assert!(!own.exists(), "the desk's own old file is removed");
}

/// Opens a folder with the desk's own file, and with a foreign one at this path, if there is one.
async fn open_folder(foreign: Option<&str>) -> Result<(), MediaPlaceError> {
    let ((media, folder), ann) = (in_folder(), agent(1, 1));
    take(&media, ann, b"own").await.expect("take a file");
    if let Some(foreign) = foreign {
        let path = folder.path().join(foreign);
        fs::create_dir_all(path.parent().expect("a folder")).expect("make a folder");
        fs::write(path, "precious").expect("write a file");
    }
    open_place(folder.path().to_str().expect("a plain path")).await.map(drop)
}

#[tokio::test]
async fn a_folder_that_holds_anything_else_is_refused() {
    open_folder(None).await.expect("the desk's own files are no obstacle");
    for foreign in ["vault.key", "backups/monday.tar", "nightdesk-uploads/notes.txt"] {
        let refused = open_folder(Some(foreign)).await.expect_err("it has another use").to_string();
        assert!(refused.contains(foreign) && refused.contains("choose a folder"), "{refused}");
    }
}

#[tokio::test]
async fn a_folder_is_made_and_an_unknown_scheme_is_refused() {
    let above = tempfile::tempdir().expect("make a folder");
    let open = async |path: &FolderPath| open_place(path.to_str().expect("a plain path")).await;
    let folder = above.path().join("deep/media");
    open(&folder).await.expect("a folder is a place");
    assert!(folder.is_dir());

    open_place("memory:///").await.expect("the memory of a trial desk is a place");
    open_place("ftp://files").await.expect_err("the desk has no client for it");
    let file = above.path().join("a file");
    fs::write(&file, "x").expect("write a file");
    open(&file).await.expect_err("a file is no folder");
}

/// Returns the path of the file with this name, anywhere in a folder.
fn find(folder: &FolderPath, name: &str) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).expect("list a folder");
    entries.map(|entry| entry.expect("read an entry").path()).find_map(|path| {
        if path.is_dir() { find(&path, name) } else { path.ends_with(name).then_some(path) }
    })
}
