//! Reads and writes the approval key files of the user who runs the command.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context;
use nightdesk_shelf::approval::sign::SigningKey;
use serde_json::json;

use crate::config::secret_file;
use crate::ui::CommandOutput;

/// File mode: only the owner reads it.
const OWN: u32 = 0o600;

/// Creates a key. An existing file is not overwritten.
pub(super) fn make(out: &Path) -> anyhow::Result<CommandOutput> {
    let key = SigningKey::generate();
    let mut public = out.as_os_str().to_owned();
    public.push(".pub");
    let public = PathBuf::from(public);
    let made = OpenOptions::new().write(true).create_new(true).mode(OWN).open(out);
    let mut file = made.with_context(|| format!("could not create {}", out.display()))?;
    file.write_all(key.to_pem().as_bytes()).and_then(|()| file.sync_all())?;
    fs::write(&public, key.public().to_pem())
        .with_context(|| format!("could not write {}", public.display()))?;
    Ok(CommandOutput::One(json!({
        "private_key": out.display().to_string(),
        "public_key": public.display().to_string(),
        "next": "store the private key away from the desk, and set the public key with `nightdesk skill secure`",
    })))
}

/// Reads a private key.
pub(super) fn read(file: &Path) -> anyhow::Result<SigningKey> {
    let text = secret_file::read(file)?;
    SigningKey::from_pem(&text).with_context(|| format!("{} cannot be used", file.display()))
}
