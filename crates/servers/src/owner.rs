//! The user that PostgreSQL runs as: it refuses to run as root.

use std::os::unix::fs::chown;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

/// The user of the Debian package.
const SERVER_USER: &str = "postgres";

/// The user that a server runs as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The user of this process.
    Ourselves,
    /// The packaged user, because this process runs as root.
    Packaged { uid: u32, gid: u32 },
}

impl Owner {
    /// Returns the user of this process, unless it is root.
    pub(crate) fn find() -> Result<Self> {
        if id(&["-u"])? != 0 {
            return Ok(Self::Ourselves);
        }
        let advice = "running as root needs the user postgres, which postgresql-15 creates";
        let uid = id(&["-u", SERVER_USER]).context(advice)?;
        let gid = id(&["-g", SERVER_USER]).context(advice)?;
        Ok(Self::Packaged { uid, gid })
    }

    /// Makes the owner the owner of the folder.
    pub(crate) fn take_over(self, folder: &Path) -> Result<()> {
        match self {
            Self::Ourselves => Ok(()),
            Self::Packaged { uid, gid } => chown(folder, Some(uid), Some(gid))
                .with_context(|| format!("could not change the owner of {}", folder.display())),
        }
    }

    /// Returns a command that runs the program as the owner; the spawned process id is the program's.
    pub(crate) fn command(self, program: &Path) -> Command {
        match self {
            Self::Ourselves => Command::new(program),
            Self::Packaged { uid, gid } => {
                let mut command = Command::new("setpriv");
                command
                    .arg(format!("--reuid={uid}"))
                    .arg(format!("--regid={gid}"))
                    .args(["--clear-groups", "--"])
                    .arg(program);
                command
            }
        }
    }
}

fn id(args: &[&str]) -> Result<u32> {
    let output = Command::new("id").args(args).output().context("could not run id")?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    let text = String::from_utf8(output.stdout).context("id did not print text")?;
    text.trim().parse().context("id did not print a number")
}
