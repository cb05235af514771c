//! Version: which edition of the relay contract we speak, and with which clients that is proved.
//!
//! All of it stands in `clients.json` beside this crate's manifest, which the tests of stock clients and the documentation read
//! too.

use std::sync::LazyLock;

use serde::Deserialize;

/// The relay contract's version. Within it fields are only ever added, so it is never
/// compared, only told.
pub fn contract_version() -> i64 {
    known().contract.version
}

/// The contract and the stock clients we know.
pub fn known() -> &'static Known {
    static KNOWN: LazyLock<Known> =
        LazyLock::new(|| serde_json::from_str(include_str!("../clients.json")).unwrap_or_default());
    &KNOWN
}

/// The contract and the stock clients we know.
#[derive(Debug, Default, Deserialize)]
pub struct Known {
    /// The relay contract.
    pub contract: Contract,
    /// Stock clients that every promise is proved with, the oldest first.
    pub clients: Vec<ProvedClient>,
}

/// The relay contract, and where it was read.
#[derive(Debug, Default, Deserialize)]
pub struct Contract {
    /// Its version.
    pub version: i64,
    /// Upstream's repository.
    pub repository: String,
    /// The text in it.
    pub document: String,
    /// The tag it was read at.
    pub tag: String,
    /// The commit of that tag.
    pub commit: String,
}

/// A stock client that every promise is proved with.
#[derive(Debug, Deserialize)]
pub struct ProvedClient {
    /// Its version.
    pub version: String,
    /// The rules it is served by.
    pub rules: String,
}

#[cfg(test)]
mod tests {
    use nightdesk_types::ClientRules;

    use super::*;

    #[test]
    fn the_file_of_clients_can_be_read() {
        assert_eq!(known().contract.version, 1);
        let served = known().clients.iter().map(|client| ClientRules::named(&client.rules));
        let served: Option<Vec<ClientRules>> = served.collect();
        assert_eq!(served, Some(vec![ClientRules::Hermes019, ClientRules::Hermes020]));
    }

    #[test]
    fn the_page_about_clients_names_what_the_file_does() {
        const PAGE: &str = include_str!("../../../docs/clients.md");
        let Known { contract, clients } = known();
        let rows = clients.iter().map(|client| format!("| Hermes {} |", client.version));
        let told =
            [&contract.tag, &contract.commit, &contract.document].map(|one| format!("`{one}`"));
        for want in rows.chain(told).chain([format!("version {} of", contract.version)]) {
            assert!(PAGE.contains(&want), "docs/clients.md does not say {want:?}");
        }
    }
}
