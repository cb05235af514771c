//! Settings of a build with the feature `failpoints`. Proofs use such builds; a release has no failpoints.

#[cfg(feature = "failpoints")]
mod settings {
    use std::path::PathBuf;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::thread;
    use std::time::{Duration, Instant};

    use anyhow::Context;

    use crate::ui;

    /// The failpoint at which the process aborts, and the number of the pass: `inbox::stored_before_answer:17`.
    const CRASH: &str = "NIGHTDESK_CRASH";

    /// The failpoint that blocks its thread, the number of the first pass, and the milliseconds:
    /// `desk::event_verified:17:5000`. Every pass blocks until this time is over, so soon all threads of the executor do.
    const BLOCK: &str = "NIGHTDESK_BLOCK";

    /// The folder of the next release's migrations. The process then acts as that release.
    const NEXT_RELEASE: &str = "NIGHTDESK_NEXT_RELEASE";

    /// Sets the process to abort or to block at a failpoint, if the environment names one.
    pub(crate) fn arm() -> anyhow::Result<()> {
        if let Some(crash) = setting(CRASH) {
            arm_crash(&crash)?;
        }
        setting(BLOCK).map_or(Ok(()), |block| arm_block(&block))
    }

    fn arm_crash(crash: &str) -> anyhow::Result<()> {
        let (point, pass) =
            crash.rsplit_once(':').with_context(|| format!("{CRASH} has no number of a pass"))?;
        let left = AtomicU32::new(number(pass)?);
        let abort_at_pass = move || {
            if left.fetch_sub(1, Ordering::Relaxed) == 1 {
                std::process::abort();
            }
        };
        fail::cfg_callback(point, abort_at_pass).map_err(anyhow::Error::msg)?;
        ui::print_text(&format!("aborts at {crash}"));
        Ok(())
    }

    fn arm_block(block: &str) -> anyhow::Result<()> {
        let (rest, millis) =
            block.rsplit_once(':').with_context(|| format!("{BLOCK} has no milliseconds"))?;
        let (point, pass) =
            rest.rsplit_once(':').with_context(|| format!("{BLOCK} has no number of a pass"))?;
        let lasts = Duration::from_millis(number(millis)?.into());
        let (first_pass, passed) = (number(pass)?, AtomicU32::new(0));
        let ends_at = OnceLock::new();
        let block_from_pass = move || {
            if passed.fetch_add(1, Ordering::Relaxed) + 1 < first_pass {
                return;
            }
            let mut is_first = false;
            let ends_at = ends_at.get_or_init(|| {
                is_first = true;
                ui::print_text("blocks its threads");
                Instant::now() + lasts
            });
            thread::sleep(ends_at.saturating_duration_since(Instant::now()));
            if is_first {
                ui::print_text("blocks its threads no more");
            }
        };
        fail::cfg_callback(point, block_from_pass).map_err(anyhow::Error::msg)?;
        ui::print_text(&format!("blocks at {block}"));
        Ok(())
    }

    fn number(text: &str) -> anyhow::Result<u32> {
        text.parse().with_context(|| format!("{text} is no number"))
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
