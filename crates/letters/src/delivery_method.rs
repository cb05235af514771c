//! The ways by which a letter goes to its agent.

/// A way that the desk supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DeliveryMethod {
    /// Through gate and inbox.
    Road,
    /// Posted to a URL.
    Webhook,
    /// As a file in a folder.
    FileDrop,
    /// Typed into a terminal.
    Tmux,
}

impl DeliveryMethod {
    /// All ways.
    pub const ALL: [Self; 4] = [Self::Road, Self::Webhook, Self::FileDrop, Self::Tmux];

    /// Returns the name in receipts, configuration and metrics.
    pub const fn slug(self) -> &'static str {
        match self {
            Self::Road => "road",
            Self::Webhook => "webhook",
            Self::FileDrop => "file-drop",
            Self::Tmux => "tmux",
        }
    }
}
