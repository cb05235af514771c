//! Reads the vault's keys from files or from a program of the operator.

use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, bail, ensure};
use nightdesk_types::limits::{KEY_COMMAND_BYTES_MAX, KEY_COMMAND_WAIT};
use nightdesk_vault::Vault;
use tokio::io::AsyncReadExt;
use tokio::process::Command;
use tokio::time::timeout;
use zeroize::Zeroizing;

use super::{Config, VaultSection, secret_file};

/// Checks that the keys come from one source.
pub(super) fn check(vault: &VaultSection) -> anyhow::Result<()> {
    match (&vault.key_file, vault.key_command.first()) {
        (Some(_), None) => Ok(()),
        (None, Some(program)) => {
            ensure!(
                program.starts_with('/'),
                "vault.key_command must begin with the absolute path of a program, like \
                 /usr/local/bin/keys"
            );
            Ok(())
        }
        (None, None) => {
            bail!("vault.key_file is not set; create a key with `nightdesk key new > vault.key`")
        }
        (Some(_), Some(_)) => {
            bail!("vault.key_file and vault.key_command are both set; remove one of them")
        }
    }
}

/// Returns the text of all keys: the sealing key first, then the keys that only open.
pub(super) async fn text(vault: &VaultSection) -> anyhow::Result<Zeroizing<String>> {
    let mut text = match &vault.key_file {
        Some(file) => read(file)?,
        None => run_key_command(&vault.key_command).await?,
    };
    for file in &vault.old_key_files {
        text.push('\n');
        text.push_str(&read(file)?);
    }
    Ok(text)
}

fn read(file: &Path) -> anyhow::Result<Zeroizing<String>> {
    secret_file::read(file).with_context(|| {
        format!(
            "could not read the vault's key file {}; create it with `nightdesk key new > {0}`",
            file.display()
        )
    })
}

/// Reads the keys again, for a running desk.
pub(crate) async fn read_again(config: &Config, vault: &Vault) -> anyhow::Result<()> {
    Ok(vault.read_again(&text(&config.vault).await?)?)
}

async fn run_key_command(command: &[String]) -> anyhow::Result<Zeroizing<String>> {
    let (program, arguments) = command.split_first().context("vault.key_command is empty")?;
    let ended = timeout(KEY_COMMAND_WAIT, run(program, arguments)).await;
    let text = ended.with_context(|| {
        format!("vault.key_command took more than {} s", KEY_COMMAND_WAIT.as_secs())
    })?;
    text.with_context(|| format!("vault.key_command {program} printed no keys"))
}

async fn run(program: &str, arguments: &[String]) -> anyhow::Result<Zeroizing<String>> {
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        // If the caller stops waiting, it drops the child, which ends it.
        .kill_on_drop(true)
        .spawn()?;
    let mut text = Zeroizing::new(String::new());
    if let Some(stdout) = child.stdout.take() {
        let bytes_max = u64::try_from(KEY_COMMAND_BYTES_MAX).unwrap_or(u64::MAX);
        stdout.take(bytes_max).read_to_string(&mut text).await?;
    }
    let status = child.wait().await?;
    ensure!(status.success(), "it ended with {status}");
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(script: &str) -> VaultSection {
        let key_command = ["/bin/sh", "-c", script].map(str::to_owned).to_vec();
        VaultSection { key_command, ..VaultSection::default() }
    }

    #[tokio::test]
    async fn a_program_puts_the_keys_out() {
        let key = Vault::new_key_file();
        let text = text(&command(&format!("echo {}", *key))).await.unwrap();

        assert_eq!(text.trim(), key.as_str());
        assert!(self::text(&command("exit 3")).await.is_err());
        let endless = self::text(&command("yes")).await.unwrap_err();
        assert!(!format!("{endless:#}").contains('y'.to_string().repeat(3).as_str()));
    }

    #[test]
    fn keys_come_from_one_place() {
        let file = Some("vault.key".into());
        let both = VaultSection { key_file: file.clone(), ..command("true") };
        let relative =
            VaultSection { key_command: vec!["keys".to_owned()], ..VaultSection::default() };

        assert!(check(&VaultSection { key_file: file, ..VaultSection::default() }).is_ok());
        assert!(check(&command("true")).is_ok());
        for wrong in [VaultSection::default(), both, relative] {
            assert!(check(&wrong).is_err(), "{wrong:?}");
        }
    }
}
