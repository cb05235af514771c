//! Logins at a provider by `OpenID` Connect: authorization code with PKCE.
//!
//! # Promise
//!
//! A login begins and ends in the same browser. Its code is exchanged once, by this desk, and the ID token counts only
//! if the provider signed it for this desk and this login. Nothing of a login is stored before it ended well: what a
//! login needs follows from its cookie and a secret of the desk.

mod attempt;
mod logins;
mod provider;
mod role_rules;

pub use attempt::{LoginAttempt, LoginKey, local_path};
pub use logins::Logins;
pub use provider::{
    LoginError, LoginProvider, ProvenLogin, ProviderCallError, ProviderCalls, ProviderSettings,
    TokenRequest,
};
pub use role_rules::{RoleRule, RoleRules, RuleRole};
