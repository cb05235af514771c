//! Reads the files that hold secrets.

use std::path::Path;

use anyhow::Context;
use zeroize::Zeroizing;

/// Returns the text of a secret file.
pub(crate) fn read(file: &Path) -> anyhow::Result<Zeroizing<String>> {
    let text = std::fs::read_to_string(file).map(Zeroizing::new);
    text.with_context(|| format!("could not read the secret file {}", file.display()))
}

/// Returns the password in a file, without the trailing newline.
pub(crate) fn password(file: Option<&Path>) -> anyhow::Result<Option<String>> {
    let text = file.map(read).transpose()?;
    Ok(text.map(|text| text.trim_end_matches(['\r', '\n']).to_owned()))
}
