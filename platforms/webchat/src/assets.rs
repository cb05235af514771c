//! Assets: the page's style, script and icon, each under a name that changes with it.

use std::sync::LazyLock;

use aws_lc_rs::digest::{SHA256, digest};

/// A file of the page.
#[derive(Debug)]
pub struct Asset {
    /// Its name, with a mark of what it holds: it may be kept for ever.
    pub name: String,
    /// What it is.
    pub content_type: &'static str,
    /// What it holds.
    pub body: &'static str,
}

impl Asset {
    fn new(
        (stem, extension): (&str, &str),
        content_type: &'static str,
        body: &'static str,
    ) -> Self {
        const MARK_BYTES: usize = 8;
        let mark = hex::encode(&digest(&SHA256, body.as_bytes()).as_ref()[..MARK_BYTES]);
        Self { name: format!("{stem}.{mark}.{extension}"), content_type, body }
    }
}

/// Every file of the page.
#[derive(Debug)]
pub struct Assets {
    /// How it looks.
    pub style: Asset,
    /// What it does by itself.
    pub script: Asset,
    /// What stands in the tab.
    pub icon: Asset,
}

/// The files of the page, as they were built in.
pub static ASSETS: LazyLock<Assets> = LazyLock::new(|| Assets {
    style: Asset::new(
        ("chat", "css"),
        "text/css; charset=utf-8",
        include_str!("../assets/chat.css"),
    ),
    script: Asset::new(
        ("chat", "js"),
        "text/javascript; charset=utf-8",
        include_str!("../assets/chat.js"),
    ),
    icon: Asset::new(("icon", "svg"), "image/svg+xml", include_str!("../assets/icon.svg")),
});

impl Assets {
    /// The file of a name.
    pub fn named(&self, name: &str) -> Option<&Asset> {
        [&self.style, &self.script, &self.icon].into_iter().find(|asset| asset.name == name)
    }
}
