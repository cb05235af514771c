//! Open dashboards: pages whose live rows are read as a browser reads them.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::browser::DeskBrowser;
use super::visitors::{TenantAdmin, Visitors};

/// Time limit for the first rows of all dashboards.
const OPENED_WITHIN: Duration = Duration::from_mins(1);

/// The attribute of a page that names the stream of its rows.
const LIVE: &str = "data-live=\"";

/// Dashboards that are open. Dropping them closes them.
#[derive(Debug)]
pub struct Dashboards {
    watchers: JoinSet<Result<()>>,
    updates: Arc<AtomicU64>,
}

/// A page that a user looks at.
#[derive(Debug)]
struct WatchedPage {
    browser: DeskBrowser,
    path: String,
}

impl WatchedPage {
    /// Returns the nth page: the pages with live rows in turn, the users in turn, and the nodes in turn.
    fn nth(nth: usize, visitors: &Visitors, nodes: &[SocketAddr]) -> Self {
        const KINDS: usize = 4;
        let Visitors { operators, admins } = visitors;
        let turn = nth / KINDS;
        let TenantAdmin { tenant, agent, browser } = &admins[turn % admins.len()];
        let (browser, path) = match nth % KINDS {
            0 => (browser, format!("/t/{tenant}")),
            1 => (browser, format!("/t/{tenant}/agents/{agent}")),
            2 => (browser, format!("/t/{tenant}/stuck")),
            _ => (&operators[turn % operators.len()], "/nodes".to_owned()),
        };
        Self { browser: browser.at(nodes[nth % nodes.len()]), path }
    }

    /// Opens the page, and reads its rows until they end. Reports the first ones.
    async fn watch(self, opened: mpsc::Sender<()>, updates: Arc<AtomicU64>) -> Result<()> {
        let page = self.browser.open(&self.path).await?;
        let live = live_path(&page.html);
        let live = live.with_context(|| format!("{} has no live rows", self.path))?;
        let mut opened = Some(opened);
        let on_rows = || {
            updates.fetch_add(1, Ordering::Relaxed);
            if let Some(opened) = opened.take() {
                // The receiver is gone if another page failed.
                opened.try_send(()).ok();
            }
        };
        self.browser.watch(&live, on_rows).await
    }
}

/// Returns the path of the stream that a page names.
fn live_path(html: &str) -> Option<String> {
    let (_, rest) = html.split_once(LIVE)?;
    Some(rest.split_once('"')?.0.replace("&#38;", "&").replace("&amp;", "&"))
}

impl Dashboards {
    /// Opens so many dashboards, and waits until each has shown its first rows.
    pub async fn open(count: usize, visitors: &Visitors, nodes: &[SocketAddr]) -> Result<Self> {
        let (tell, mut opened) = mpsc::channel(count.max(1));
        let mut dashboards = Self { watchers: JoinSet::new(), updates: Arc::default() };
        for nth in 0..count {
            let page = WatchedPage::nth(nth, visitors, nodes);
            let updates = Arc::clone(&dashboards.updates);
            dashboards.watchers.spawn(page.watch(tell.clone(), updates));
        }
        drop(tell);
        let all = async {
            let mut open = 0;
            while opened.recv().await.is_some() {
                open += 1;
            }
            open
        };
        let open: usize = timeout(OPENED_WITHIN, all).await.context("dashboards show no rows")?;
        dashboards.check()?;
        ensure!(open == count, "of {count} dashboards {open} are open");
        dashboards.updates.store(0, Ordering::Relaxed);
        Ok(dashboards)
    }

    /// Closes them. Returns the number of updates since they were open.
    pub async fn close(mut self) -> Result<u64> {
        self.check()?;
        self.watchers.shutdown().await;
        Ok(self.updates.load(Ordering::Relaxed))
    }

    /// Fails if one of them ended.
    fn check(&mut self) -> Result<()> {
        match self.watchers.try_join_next() {
            None => Ok(()),
            Some(ended) => match ended.context("a dashboard's task ended badly")? {
                Ok(()) => bail!("a dashboard ended"),
                Err(error) => Err(error),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_names_the_stream_of_its_rows() {
        let page = "<div id=\"live\" data-live=\"/t/a/live?prefix=&#38;after=b\">\n<p>";

        assert_eq!(live_path(page).as_deref(), Some("/t/a/live?prefix=&after=b"));
        assert_eq!(live_path("<p>nothing lives</p>"), None);
    }
}
