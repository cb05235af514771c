//! Reads and writes the files of a folder.
//!
//! A change writes the versions first, then the skill itself, then the log of its changes. If the process dies in
//! between, the skill is newer than its log, as after a manual edit.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use nightdesk_types::StoreError;
use nightdesk_types::limits::{SKILL_BYTES_MAX, SKILL_REVISIONS_KEPT_MAX, SKILLS_MAX};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::header::Header;
use crate::name::is_plain;
use crate::plan::{StoredSkill, WritePlan};
use crate::skill::VersionInfo;
use crate::store::{Revision, RevisionStamp};

/// Suffix of a skill's file.
const SUFFIX: &str = ".skill.md";

/// Folder of earlier versions.
const ASIDE: &str = ".shelf";

/// Extra length of a skill's file: its status line may have been added.
const STATUS_LINE_BYTES_MAX: usize = 256;

/// Maximum size of the log of one skill.
const LOG_BYTES_MAX: usize = 1024 * 1024;

/// A folder.
pub(super) struct SkillFolder {
    root: PathBuf,
}

/// A locked folder.
pub(super) struct LockedFolder<'a> {
    folder: &'a SkillFolder,
    _lock: File,
}

/// The changes of a skill, newest last.
#[derive(Default, Serialize, Deserialize)]
struct ChangeLog {
    author: Option<String>,
    metadata_bag: Option<Map<String, Value>>,
    created_at: i64,
    status_changed_at: i64,
    changes: Vec<VersionInfo>,
}

impl SkillFolder {
    pub(super) fn open(root: PathBuf) -> Result<Self, StoreError> {
        let aside = root.join(ASIDE);
        fs::create_dir_all(aside).map_err(|error| store_error("open a folder of skills", error))?;
        Ok(Self { root })
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Waits for the folder's lock, which excludes other threads and processes.
    pub(super) fn lock(&self) -> Result<LockedFolder<'_>, StoreError> {
        let lock = File::create(self.root.join(ASIDE).join("lock"));
        let lock = lock.and_then(|lock| lock.lock().map(|()| lock));
        let lock = lock.map_err(|error| store_error("lock a folder of skills", error))?;
        Ok(LockedFolder { folder: self, _lock: lock })
    }

    fn file(&self, name: &str) -> PathBuf {
        self.root.join(format!("{name}{SUFFIX}"))
    }

    fn temp_path(&self, name: &str) -> PathBuf {
        self.root.join(ASIDE).join(name)
    }
}

impl LockedFolder<'_> {
    /// Returns the names of all skills.
    pub(super) fn names(&self) -> Result<Vec<String>, StoreError> {
        let listed = names(&self.folder.root).map_err(|error| store_error("list skills", error))?;
        if listed.len() > SKILLS_MAX {
            let many = format!("the folder has more than {SKILLS_MAX} skills");
            return Err(StoreError::broken("list skills", many));
        }
        Ok(listed)
    }

    /// Returns the current version of a skill.
    pub(super) fn current(&self, name: &str) -> Result<Option<Revision>, StoreError> {
        let Some((source, at)) = self.file(name)? else {
            return Ok(None);
        };
        let log = self.log(name)?;
        Ok(Some(revision(name, source, at, log)))
    }

    /// Returns the last revision of a skill with this version.
    pub(super) fn earlier(
        &self,
        current: &Revision,
        version: &str,
    ) -> Result<Option<Revision>, StoreError> {
        let name = &current.info.name;
        let changes = self.changes(current)?;
        let Some(info) = changes.into_iter().rev().find(|change| change.version == version) else {
            return Ok(None);
        };
        let path = self.folder.temp_path(name).join(&info.content_hash);
        let read = read(&path, SKILL_BYTES_MAX + STATUS_LINE_BYTES_MAX);
        let source = read.map_err(|error| store_error("read an old version of a skill", error))?;
        let kept = StoredSkill { source, ..current.skill.clone() };
        let status_changed_at = info.changed_at;
        Ok(Some(Revision { info, skill: kept, status_changed_at, ..current.clone() }))
    }

    /// Returns the changes of a skill, newest last.
    pub(super) fn changes(&self, current: &Revision) -> Result<Vec<VersionInfo>, StoreError> {
        let mut changes = self.log(&current.info.name)?.changes;
        if changes.last().is_none_or(|last| last.content_hash != current.info.content_hash) {
            changes.push(current.info.clone());
        }
        Ok(changes)
    }

    /// Replaces a revision by the next one.
    pub(super) fn put(&self, before: Option<&Revision>, next: &Revision) -> Result<(), StoreError> {
        let name = &next.info.name;
        if before.is_none() && self.names()?.len() >= SKILLS_MAX {
            let full = format!("a folder has at most {SKILLS_MAX} skills");
            return Err(StoreError::broken("write a skill", full));
        }
        let mut changes =
            before.map(|before| self.changes(before)).transpose()?.unwrap_or_default();
        changes.push(next.info.clone());
        let forgotten = changes.len().saturating_sub(SKILL_REVISIONS_KEPT_MAX);
        changes.drain(..forgotten);
        let log = ChangeLog {
            author: next.skill.author.clone(),
            metadata_bag: next.skill.metadata_bag.clone(),
            created_at: next.created_at,
            status_changed_at: next.status_changed_at,
            changes,
        };
        self.write(name, before, next, &log).map_err(|error| store_error("write a skill", error))
    }

    /// Removes a skill and its history.
    pub(super) fn remove(&self, name: &str) -> Result<(), StoreError> {
        let done = fs::remove_file(self.folder.file(name))
            .and_then(|()| sync(&self.folder.root))
            .and_then(|()| remove_all(&self.folder.temp_path(name)));
        done.map_err(|error| store_error("remove a skill", error))
    }

    fn write(
        &self,
        name: &str,
        before: Option<&Revision>,
        next: &Revision,
        log: &ChangeLog,
    ) -> io::Result<()> {
        let aside = self.folder.temp_path(name);
        if before.is_none() {
            // These files are of a removed skill: a process died before it deleted them.
            remove_all(&aside)?;
        }
        fs::create_dir_all(&aside)?;
        for revision in before.into_iter().chain([next]) {
            let path = aside.join(&revision.info.content_hash);
            if !path.exists() {
                self.replace(&path, revision.skill.source.as_bytes())?;
            }
        }
        self.replace(&self.folder.file(name), next.skill.source.as_bytes())?;
        self.replace(&aside.join(LOG), &serde_json::to_vec(log)?)?;
        forget(&aside, log)
    }

    /// Replaces a file as a whole.
    fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let new = self.folder.root.join(ASIDE).join("new");
        let mut file = File::create(&new)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&new, path)?;
        path.parent().map_or(Ok(()), sync)
    }

    /// Returns the content and the time of a skill's file.
    fn file(&self, name: &str) -> Result<Option<(String, i64)>, StoreError> {
        let path = self.folder.file(name);
        // A symbolic link may lead anywhere, so it is ignored.
        let Ok(about) = fs::symlink_metadata(&path).map(|about| (about.is_file(), about)) else {
            return Ok(None);
        };
        let (true, about) = about else {
            return Ok(None);
        };
        let at = about.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        let at = at.and_then(|since| i64::try_from(since.as_secs()).ok()).unwrap_or(0);
        match read(&path, SKILL_BYTES_MAX + STATUS_LINE_BYTES_MAX) {
            Ok(source) => Ok(Some((source, at))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                tracing::warn!(
                    skill.name = name,
                    "the file of skill {name} is too long or not text"
                );
                Ok(None)
            }
            Err(error) => Err(store_error("read a skill", error)),
        }
    }

    fn log(&self, name: &str) -> Result<ChangeLog, StoreError> {
        let path = self.folder.temp_path(name).join(LOG);
        let text = match read(&path, LOG_BYTES_MAX) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(ChangeLog::default());
            }
            Err(error) => return Err(store_error("read the history of a skill", error)),
        };
        let read = serde_json::from_str(&text);
        read.map_err(|error| StoreError::broken("read the history of a skill", error))
    }
}

/// Name of the log file. No digest has this form.
const LOG: &str = "log.json";

/// Combines a file and the log of its changes.
fn revision(name: &str, source: String, at: i64, log: ChangeLog) -> Revision {
    let kept = StoredSkill { source, author: log.author, metadata_bag: log.metadata_bag };
    let stamp = RevisionStamp { changed_at: at, changed_by: None };
    let found = Revision::first(name, kept, stamp.clone());
    let Some(last) = log.changes.last() else {
        return found;
    };
    let before = Revision {
        info: last.clone(),
        skill: found.skill.clone(),
        created_at: log.created_at,
        status_changed_at: log.status_changed_at,
    };
    if last.content_hash == found.info.content_hash {
        return before;
    }
    let status = Header::parse(&found.skill.source).declared_status();
    let previous_status = Some(last.status).filter(|previous| *previous != status);
    let edited = WritePlan { skill: found.skill, status, previous_status, changes: true };
    Revision::next(name, edited, Some(&before), stamp)
}

fn names(root: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(root)? {
        let file = entry?.file_name();
        let name = file.to_str().and_then(|file| file.strip_suffix(SUFFIX));
        names.extend(name.filter(|name| is_plain(name)).map(ToOwned::to_owned));
    }
    Ok(names)
}

/// Reads a text of limited length.
fn read(path: &Path, bytes_max: usize) -> io::Result<String> {
    let mut text = String::new();
    let one_more = u64::try_from(bytes_max).unwrap_or(u64::MAX).saturating_add(1);
    File::open(path)?.take(one_more).read_to_string(&mut text)?;
    if text.len() > bytes_max {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the file is too long"));
    }
    Ok(text)
}

/// Removes the files of versions that are no longer in the log.
fn forget(aside: &Path, log: &ChangeLog) -> io::Result<()> {
    for entry in fs::read_dir(aside)? {
        let entry = entry?;
        let is_known = entry.file_name().to_str().is_some_and(|file| {
            file == LOG || log.changes.iter().any(|change| change.content_hash == file)
        });
        if !is_known {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn remove_all(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Flushes a folder's entries to the disk.
fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

fn store_error(operation: &'static str, error: io::Error) -> StoreError {
    StoreError::unavailable(operation, error)
}
