//! The tokens of this machine's user, one for each desk, in a file that only the user can read.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};

/// The desks at which the user is logged in.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Credentials {
    /// The desk that commands use without `--desk`: the one of the last login.
    #[serde(default)]
    desk: Option<String>,
    /// The token for each desk, by its URL.
    #[serde(default)]
    tokens: BTreeMap<String, String>,
}

/// A desk and the token for it.
pub(crate) struct DeskLogin {
    /// The desk's URL.
    pub(crate) desk: String,
    /// The token.
    pub(crate) token: String,
}

impl Credentials {
    /// Reads the file. A file that does not exist has no credentials.
    pub(crate) fn read(file: &Path) -> anyhow::Result<Self> {
        match fs::read_to_string(file) {
            Ok(text) => serde_json::from_str(&text).with_context(|| {
                format!(
                    "{} is no credentials file of nightdesk; remove it, and log in again",
                    file.display()
                )
            }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error).with_context(|| format!("could not read {}", file.display())),
        }
    }

    /// Adds the token of a desk, and uses the desk from now on.
    pub(crate) fn add(&mut self, login: DeskLogin) {
        self.desk = Some(login.desk.clone());
        self.tokens.insert(login.desk, login.token);
    }

    /// Removes the token of a desk. Returns it, if there was one.
    pub(crate) fn remove(&mut self, desk: &str) -> Option<String> {
        if self.desk.as_deref() == Some(desk) {
            self.desk = None;
        }
        self.tokens.remove(desk)
    }

    /// Returns the desk to use, and its token if the user is logged in there.
    pub(crate) fn find(&self, desk: Option<&str>) -> anyhow::Result<(String, Option<String>)> {
        let Some(desk) = desk.or(self.desk.as_deref()) else {
            bail!(
                "name a desk with --desk URL, and log in with `nightdesk login --desk URL`; on the desk's own \
                 machine, `nightdesk admin link --config desk.toml` prints a link for the login"
            );
        };
        Ok((desk.to_owned(), self.tokens.get(desk).cloned()))
    }

    /// Writes the file, which only the user can read.
    pub(crate) fn write(&self, file: &Path) -> anyhow::Result<()> {
        let failed = || format!("could not write {}", file.display());
        let folder = file.parent().with_context(failed)?;
        fs::create_dir_all(folder).with_context(failed)?;
        // A new file replaces the old one as a whole, so an interrupted command leaves no half of it.
        let new = file.with_extension("new");
        let mut options = fs::OpenOptions::new();
        let opened = options.write(true).create(true).truncate(true).mode(0o600).open(&new);
        let text = serde_json::to_vec_pretty(self)?;
        opened.with_context(failed)?.write_all(&text).with_context(failed)?;
        fs::rename(&new, file).with_context(failed)
    }
}

/// Returns the place of the file: `NIGHTDESK_CREDENTIALS`, or in the user's configuration folder.
pub(crate) fn default_file() -> anyhow::Result<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(file) = variable("NIGHTDESK_CREDENTIALS") {
        return Ok(PathBuf::from(file));
    }
    let folder = variable("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .or_else(|| variable("HOME").map(|home| Path::new(&home).join(".config")));
    let folder =
        folder.context("set HOME, or NIGHTDESK_CREDENTIALS to the file for your tokens")?;
    Ok(folder.join("nightdesk/credentials.json"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn login(desk: &str, token: &str) -> DeskLogin {
        DeskLogin { desk: desk.to_owned(), token: token.to_owned() }
    }

    #[test]
    fn the_desk_of_the_last_login_is_used() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a/credentials.json");
        let mut credentials = Credentials::read(&file).unwrap();
        assert!(credentials.find(None).unwrap_err().to_string().contains("nightdesk login"));
        credentials.add(login("https://one", "t1"));
        credentials.add(login("https://two", "t2"));
        credentials.write(&file).unwrap();

        let read = Credentials::read(&file).unwrap();
        assert_eq!(read.find(None).unwrap(), ("https://two".to_owned(), Some("t2".to_owned())));
        let one = read.find(Some("https://one")).unwrap();
        assert_eq!(one, ("https://one".to_owned(), Some("t1".to_owned())));
        assert_eq!(read.find(Some("https://three")).unwrap(), ("https://three".to_owned(), None));
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_logout_removes_the_token() {
        let mut credentials = Credentials::default();
        credentials.add(login("https://one", "t1"));

        assert_eq!(credentials.remove("https://one").as_deref(), Some("t1"));
        assert_eq!(credentials.remove("https://one"), None);
        assert!(credentials.find(None).is_err());
    }

    #[test]
    fn a_damaged_file_names_the_next_step() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("credentials.json");
        fs::write(&file, "not json").unwrap();

        assert!(Credentials::read(&file).unwrap_err().to_string().contains("log in again"));
    }
}
