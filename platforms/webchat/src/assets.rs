//! The page's style, script and icon, each under a name that changes with its content.

use std::sync::LazyLock;

use aws_lc_rs::digest::{SHA256, digest};

/// A file of the page.
#[derive(Debug)]
pub struct Asset {
    /// The name with a digest of the content, so that browsers can cache the file forever.
    pub name: String,
    /// The content type.
    pub content_type: &'static str,
    /// The content.
    pub body: &'static str,
}

impl Asset {
    fn new(stem: &str, extension: &str, content_type: &'static str, body: &'static str) -> Self {
        const MARK_BYTES: usize = 8;
        let mark = hex::encode(&digest(&SHA256, body.as_bytes()).as_ref()[..MARK_BYTES]);
        Self { name: format!("{stem}.{mark}.{extension}"), content_type, body }
    }
}

/// All files of the page.
#[derive(Debug)]
pub struct Assets {
    /// The style sheet.
    pub style: Asset,
    /// The script.
    pub script: Asset,
    /// The icon.
    pub icon: Asset,
}

/// The built-in files of the page.
pub static ASSETS: LazyLock<Assets> = LazyLock::new(|| Assets {
    style: Asset::new("chat", "css", "text/css; charset=utf-8", include_str!("../assets/chat.css")),
    script: Asset::new(
        "chat",
        "js",
        "text/javascript; charset=utf-8",
        include_str!("../assets/chat.js"),
    ),
    icon: Asset::new("icon", "svg", "image/svg+xml", include_str!("../assets/icon.svg")),
});

impl Assets {
    /// Returns the file with this name.
    pub fn find_asset(&self, name: &str) -> Option<&Asset> {
        [&self.style, &self.script, &self.icon].into_iter().find(|asset| asset.name == name)
    }
}
