//! People who log in to the desk, and their programs.
//!
//! # Promise
//!
//! A request does nothing that its user's roles do not allow, and a token never more than its user. The store decides
//! the roles, never the request. A tenant in which a user has no role looks like one that does not exist. An operator
//! reads no messages, unless a second operator approved it for a reason and a time, and the tenant was told.
//!
//! Begin with [`access`]: it has the decision. [`Users`] authenticates, [`oidc`] logs in at a provider, and
//! [`UserStore`] is the contract of a backend.

mod role;
pub mod access;
mod session;
mod secret;
pub mod glass;
mod store;
mod users;
pub mod oidc;

pub use access::{Access, Denial, OpenGlass, Place, Right, TokenLimits, reads_messages_of};
pub use glass::{GlassRefusal, GlassRequest, GlassState, decide_approval};
pub use role::{Role, TenantRole};
pub use secret::SecretKind;
pub use session::SessionTimes;
pub use store::{
    ApiTokenStore, CredentialHolder, GlassStore, ListedApiToken, ListedUser, LoginStore,
    NewApiToken, NewUser, ProviderLogin, RoleSource, StoredApiToken, StoredUserSession,
    TokenCreation, UserDirectory, UserSelection, UserStore,
};
pub use users::{CreatedToken, Users, is_user_name};
