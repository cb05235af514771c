//! Runs the suite on a folder of skills, and tests the properties of folders.

#![expect(clippy::expect_used, reason = "a test that cannot set up should stop")]

use std::fs::{self, File};
use std::sync::Arc;

use async_trait::async_trait;
use nightdesk_conformance::shelf_contract::{SkillHarness, skill_store};
use nightdesk_shelf::{
    Approval, FolderSkills, PublicKey, SkillFilter, SkillPatch, SkillStatus, SkillStore,
};
use nightdesk_types::SystemClock;
use nightdesk_types::limits::SKILL_REVISIONS_KEPT_MAX;
use tempfile::TempDir;

/// Temporary folders, deleted with the harness.
#[derive(Clone)]
struct Folders {
    all: Arc<TempDir>,
}

impl Folders {
    fn new() -> Self {
        Self { all: Arc::new(TempDir::new().expect("a folder")) }
    }

    fn open(&self, approval: Approval) -> FolderSkills {
        let one = TempDir::new_in(self.all.path()).expect("a folder").keep();
        FolderSkills::open(one, approval, Arc::new(SystemClock::start())).expect("it opens")
    }
}

#[async_trait]
impl SkillHarness for Folders {
    type Store = FolderSkills;

    async fn fresh(&self) -> FolderSkills {
        self.open(Approval::Unsecured)
    }

    async fn secured(&self, key: PublicKey) -> Option<FolderSkills> {
        Some(self.open(Approval::Secured(key)))
    }

    async fn edit_behind(&self, store: &FolderSkills, name: &str, source: &str) -> bool {
        let path = file_of(store, name).await;
        let written = fs::metadata(&path).and_then(|about| about.modified()).expect("a file");
        fs::write(&path, source).expect("it is written");
        File::options().append(true).open(&path).and_then(|f| f.set_modified(written)).is_ok()
    }
}

async fn root_of(store: &FolderSkills) -> String {
    let manifest = store.manifest().await.expect("a folder says where it is");
    manifest.manifest.root_dir.expect("a folder says where it is")
}

async fn file_of(store: &FolderSkills, name: &str) -> String {
    format!("{}/{name}.skill.md", root_of(store).await)
}

#[tokio::test]
async fn a_folder_passes_every_case() {
    let report = skill_store(&Folders::new()).await;

    assert_eq!(report.failed(), [""; 0], "{report}");
}

#[tokio::test]
async fn what_is_not_a_skill_is_not_one() {
    let folders = Folders::new();
    let store = folders.open(Approval::Unsecured);
    let root = root_of(&store).await;
    fs::write(format!("{root}/notes.md"), "x").expect("it is written");
    fs::write(format!("{root}/.odd.skill.md"), "x").expect("it is written");
    fs::write(format!("{root}/bytes.skill.md"), [0xff]).expect("it is written");
    std::os::unix::fs::symlink("/etc/hostname", format!("{root}/link.skill.md")).expect("a link");
    fs::create_dir(format!("{root}/folder.skill.md")).expect("a folder");

    assert_eq!(store.query(&SkillFilter::default()).await.expect("it answers"), []);
    assert!(store.load("link", None).await.is_err());
}

#[tokio::test]
async fn a_file_that_was_put_there_by_hand_is_a_skill() {
    let folders = Folders::new();
    let store = folders.open(Approval::Unsecured);
    fs::write(file_of(&store, "mine").await, "# Status: Approved\nx").expect("it is written");

    let meta = store.metadata("mine").await.expect("it is a skill");
    assert_eq!((meta.status, meta.author), (SkillStatus::Approved, None));
    let patch = SkillPatch { author: Some("perry".into()), ..<_>::default() };
    store.store("mine", "y", &patch).await.expect("it is kept");
    assert_eq!(store.versions("mine").await.expect("it has a past").len(), 2);
    let old = store.load("mine", Some(&meta.version)).await.expect("it was so");
    assert_eq!(old.source, "# Status: Approved\nx");
}

#[tokio::test]
async fn the_oldest_revisions_are_let_go() {
    let folders = Folders::new();
    let store = folders.open(Approval::Unsecured);
    let first = store.store("a", "0", &SkillPatch::default()).await.expect("it is kept");
    for number in 1..=SKILL_REVISIONS_KEPT_MAX {
        store.store("a", &number.to_string(), &SkillPatch::default()).await.expect("it is kept");
    }

    assert_eq!(store.versions("a").await.expect("a past").len(), SKILL_REVISIONS_KEPT_MAX);
    assert!(store.load("a", Some(&first.version)).await.is_err());
    let left = fs::read_dir(format!("{}/.shelf/a", root_of(&store).await)).expect("a folder");
    assert_eq!(left.count(), SKILL_REVISIONS_KEPT_MAX + 1, "and the log");
}

#[tokio::test]
async fn two_who_open_a_folder_see_the_same() {
    let folders = Folders::new();
    let one = folders.open(Approval::Unsecured);
    let clock = Arc::new(SystemClock::start());
    let other = FolderSkills::open(root_of(&one).await, Approval::Unsecured, clock).expect("opens");
    one.store("a", "x", &SkillPatch::default()).await.expect("it is kept");

    assert_eq!(other.load("a", None).await.expect("it is there").source, "x");
    let none = SkillPatch::default();
    let (a, b) = tokio::join!(one.store("a", "y", &none), other.store("a", "z", &none));
    a.and(b).expect("both are kept");
    assert_eq!(one.versions("a").await.expect("a past").len(), 3);
}
