//! The style, the scripts and the icon of the pages.

use std::sync::LazyLock;

use nightdesk_pages::Asset;

/// All files of the pages.
#[derive(Debug)]
pub(crate) struct Assets {
    /// The style sheet.
    pub(crate) style: Asset,
    /// htmx, which loads parts of pages.
    pub(crate) htmx: Asset,
    /// The script that replaces the rows of an open page.
    pub(crate) live: Asset,
    /// The icon.
    pub(crate) icon: Asset,
}

/// The built-in files of the pages.
pub(crate) static ASSETS: LazyLock<Assets> = LazyLock::new(|| Assets {
    style: Asset::style("desk", include_str!("../assets/desk.css")),
    htmx: Asset::script("htmx", include_str!("../assets/htmx.min.js")),
    live: Asset::script("live", include_str!("../assets/live.js")),
    icon: Asset::icon("desk", include_str!("../assets/icon.svg")),
});

impl Assets {
    /// Returns every file.
    pub(crate) const fn all(&self) -> [&Asset; 4] {
        [&self.style, &self.htmx, &self.live, &self.icon]
    }
}
