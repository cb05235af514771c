//! Configuration of alerts, and of the mail server that sends them.

use std::path::PathBuf;

use anyhow::{Context, ensure};
use nightdesk_alerts::MailAddress;
use nightdesk_types::is_loopback_host;
use nightdesk_types::limits::{DISK_FREE_BYTES_LOW, WATCHED_FOLDERS_MAX};
use serde::Deserialize;

use super::secret_file::password;

/// The settings of alerts. Since 0.2.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct AlertsSection {
    /// Free space of a folder's disk, in MiB, below which there is an alert.
    pub(crate) disk_free_mib: u64,
    /// Folders whose disks are looked at besides those to which the desk writes.
    pub(crate) folders: Vec<PathBuf>,
}

impl Default for AlertsSection {
    fn default() -> Self {
        Self { disk_free_mib: DISK_FREE_BYTES_LOW >> 20, folders: Vec::new() }
    }
}

impl AlertsSection {
    pub(super) fn validate(&self) -> anyhow::Result<()> {
        ensure!(
            self.folders.len() <= WATCHED_FOLDERS_MAX,
            "alerts.folders has {} folders; name at most {WATCHED_FOLDERS_MAX}",
            self.folders.len()
        );
        Ok(())
    }

    /// Returns the limit of free space in bytes.
    pub(crate) const fn disk_free_bytes(&self) -> u64 {
        self.disk_free_mib.saturating_mul(1024 * 1024)
    }
}

/// The mail server. Since 0.2.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MailSection {
    /// The host of the SMTP server.
    pub(crate) server: String,
    /// The port. Without it: 465, 587 or 25, by `tls`.
    pub(crate) port: Option<u16>,
    /// The encryption of the connection.
    #[serde(default)]
    pub(crate) tls: MailTls,
    /// The user at the server.
    pub(crate) user: Option<String>,
    /// The file with the user's password.
    pub(crate) password_file: Option<PathBuf>,
    /// The sender of mails.
    pub(crate) from: String,
    /// The file with certificates (PEM) that are trusted besides the usual roots.
    pub(crate) root_certificate_file: Option<PathBuf>,
}

/// The encryption of the connection to the mail server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum MailTls {
    /// TLS from the start.
    #[default]
    Full,
    /// TLS after `STARTTLS`, which the server must offer.
    Starttls,
    /// None. Only for a server on this machine.
    None,
}

impl MailTls {
    /// Returns the usual port.
    const fn port(self) -> u16 {
        match self {
            Self::Full => 465,
            Self::Starttls => 587,
            Self::None => 25,
        }
    }
}

impl MailSection {
    pub(super) fn validate(&self) -> anyhow::Result<()> {
        let Self { server, tls, user, password_file, .. } = self;
        ensure!(!server.is_empty(), "mail.server is empty; name the host of the SMTP server");
        ensure!(
            *tls != MailTls::None || is_loopback_host(server),
            "mail.tls is \"none\", but mail.server {server} is another machine; use \"full\" or \"starttls\""
        );
        ensure!(
            user.is_some() == password_file.is_some(),
            "mail.user and mail.password_file belong together; set both or neither"
        );
        self.sender()?;
        Ok(())
    }

    /// Returns the port.
    pub(crate) fn port(&self) -> u16 {
        self.port.unwrap_or_else(|| self.tls.port())
    }

    /// Returns the sender.
    pub(crate) fn sender(&self) -> anyhow::Result<MailAddress> {
        MailAddress::parse(&self.from).with_context(|| {
            format!("mail.from {:?} is no plain address such as desk@example.org", self.from)
        })
    }

    /// Reads the password of the user.
    pub(crate) fn password(&self) -> anyhow::Result<Option<String>> {
        password(self.password_file.as_deref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(toml: &str) -> Result<u16, String> {
        let file = config::File::from_str(toml, config::FileFormat::Toml);
        let built = config::Config::builder().add_source(file).build().unwrap();
        let read: MailSection = built.try_deserialize().map_err(|error| error.to_string())?;
        read.validate().map_err(|error| format!("{error:#}"))?;
        Ok(read.port())
    }

    #[test]
    fn a_mail_server_is_reached_over_tls_or_on_this_machine() {
        let cases = [
            ("server = \"mail.example.org\"\nfrom = \"desk@example.org\"", Ok(465)),
            ("server = \"m.example.org\"\ntls = \"starttls\"\nfrom = \"a@example.org\"", Ok(587)),
            ("server = \"127.0.0.1\"\ntls = \"none\"\nport = 2525\nfrom = \"a@b\"", Ok(2525)),
            ("server = \"m.example.org\"\ntls = \"none\"\nfrom = \"a@b\"", Err("another machine")),
            ("server = \"m.example.org\"\nfrom = \"Desk <a@b>\"", Err("no plain address")),
            ("server = \"m.example.org\"\nfrom = \"a@b\"\nuser = \"desk\"", Err("both or neither")),
            ("server = \"m.example.org\"\nfrom = \"a@b\"\npassword = \"x\"", Err("password")),
        ];
        for (toml, want) in cases {
            match (read(toml), want) {
                (Ok(port), Ok(wanted)) => assert_eq!(port, wanted, "{toml}"),
                (Err(words), Err(wanted)) => assert!(words.contains(wanted), "{toml}: {words}"),
                (read, want) => panic!("{toml}: {read:?}, not {want:?}"),
            }
        }
    }
}
