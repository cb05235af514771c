//! Kinds of sealed values, as bound into them.

/// The secret that signs a gateway's tokens.
pub const GATEWAY_SECRET: &str = "gateway-secret";

/// The key to an account on a platform.
pub const BOT_KEY: &str = "bot-key";

/// A platform's credential for one session.
pub const CAPABILITY: &str = "capability";

/// The signing key of the desk's issuer.
pub const SIGNING_KEY: &str = "signing-key";

/// A secret that the nodes of the desk share.
pub const DESK_SECRET: &str = "desk-secret";
