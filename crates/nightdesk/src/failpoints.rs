//! Settings of a build with the feature `failpoints`. Proofs use such builds; a release has no failpoints.

#[cfg(feature = "failpoints")]
mod settings {
    use std::path::PathBuf;
    use std::sync::atomic::{AtomicU32, Ordering};

    use anyhow::Context;

    use crate::ui;

    /// The failpoint at which the process aborts, and the number of the pass: `inbox::stored_before_answer:17`.
    const CRASH: &str = "NIGHTDESK_CRASH";

    /// The folder of the next release's migrations. The process then acts as that release.
    const NEXT_RELEASE: &str = "NIGHTDESK_NEXT_RELEASE";

    /// Sets the process to abort at a failpoint, if the environment names one.
    pub(crate) fn arm() -> anyhow::Result<()> {
        let Some(crash) = setting(CRASH) else { return Ok(()) };
        let (point, pass) =
            crash.rsplit_once(':').with_context(|| format!("{CRASH} has no number of a pass"))?;
        let left = AtomicU32::new(pass.parse().with_context(|| format!("{pass} is no number"))?);
        let abort_at_pass = move || {
            if left.fetch_sub(1, Ordering::Relaxed) == 1 {
                std::process::abort();
            }
        };
        fail::cfg_callback(point, abort_at_pass).map_err(anyhow::Error::msg)?;
        ui::print_text(&format!("aborts at {crash}"));
        Ok(())
    }

    /// Returns the folder of the next release's migrations, if this process acts as that release.
    pub(crate) fn next_release() -> Option<PathBuf> {
        setting(NEXT_RELEASE).map(PathBuf::from)
    }

    #[expect(clippy::disallowed_methods, reason = "only builds for proofs read the environment")]
    fn setting(name: &str) -> Option<String> {
        std::env::var(name).ok()
    }
}

#[cfg(not(feature = "failpoints"))]
mod settings {
    /// Does nothing in this build.
    pub(crate) const fn arm() -> anyhow::Result<()> {
        Ok(())
    }

    /// Returns `None` in this build.
    pub(crate) const fn next_release() -> Option<std::path::PathBuf> {
        None
    }
}

pub(crate) use settings::{arm, next_release};
