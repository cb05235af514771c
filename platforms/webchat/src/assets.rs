//! The page's style, script and icon.

use std::sync::LazyLock;

use nightdesk_pages::Asset;

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
    style: Asset::style("chat", include_str!("../assets/chat.css")),
    script: Asset::script("chat", include_str!("../assets/chat.js")),
    icon: Asset::icon("icon", include_str!("../assets/icon.svg")),
});

impl Assets {
    /// Returns every file.
    pub const fn all(&self) -> [&Asset; 3] {
        [&self.style, &self.script, &self.icon]
    }
}
