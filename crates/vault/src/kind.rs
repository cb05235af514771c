//! Kinds of what is sealed, as they are bound into it.

/// What a gateway signs its tokens with.
pub const GATEWAY_SECRET: &str = "gateway-secret";

/// The key to an account on a platform.
pub const BOT_KEY: &str = "bot-key";

/// What a platform lent us for one session.
pub const CAPABILITY: &str = "capability";

/// What the desk's issuer signs with.
pub const SIGNING_KEY: &str = "signing-key";

/// A secret that the nodes of the desk share.
pub const DESK_SECRET: &str = "desk-secret";
