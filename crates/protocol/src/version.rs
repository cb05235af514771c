//! The version of the relay contract, and the clients with which it is proved.
//!
//! The data is in `clients.json` beside this crate's manifest, which the tests of stock clients and the documentation
//! also read.

use std::sync::LazyLock;

use serde::Deserialize;

/// Returns the relay contract's version. Within it fields are only added, so the version is only reported and never
/// compared.
pub fn contract_version() -> i64 {
    known_versions().contract.version
}

/// Returns the contract and the known stock clients.
pub fn known_versions() -> &'static KnownVersions {
    static KNOWN: LazyLock<KnownVersions> =
        LazyLock::new(|| serde_json::from_str(include_str!("../clients.json")).unwrap_or_default());
    &KNOWN
}

/// The contract and the known stock clients.
#[derive(Debug, Default, Deserialize)]
pub struct KnownVersions {
    /// The relay contract.
    pub contract: Contract,
    /// The stock clients with which every promise is proved, the oldest first.
    pub clients: Vec<ProvedClient>,
}

/// The relay contract and its source.
#[derive(Debug, Default, Deserialize)]
pub struct Contract {
    /// Its version.
    pub version: i64,
    /// Upstream's repository.
    pub repository: String,
    /// The document in it.
    pub document: String,
    /// The tag of the document.
    pub tag: String,
    /// The commit of that tag.
    pub commit: String,
}

/// A stock client with which every promise is proved.
#[derive(Debug, Deserialize)]
pub struct ProvedClient {
    /// Its version.
    pub version: String,
    /// The rules for serving it.
    pub rules: String,
}

#[cfg(test)]
mod tests {
    use nightdesk_types::ClientRules;

    use super::*;

    #[test]
    fn the_file_of_clients_can_be_read() {
        assert_eq!(known_versions().contract.version, 1);
        let served =
            known_versions().clients.iter().map(|client| ClientRules::from_slug(&client.rules));
        let served: Option<Vec<ClientRules>> = served.collect();
        assert_eq!(served, Some(vec![ClientRules::Hermes019, ClientRules::Hermes020]));
    }

    #[test]
    fn the_page_about_clients_names_what_the_file_does() {
        const PAGE: &str = include_str!("../../../docs/clients.md");
        let KnownVersions { contract, clients } = known_versions();
        let rows = clients.iter().map(|client| format!("| Hermes {} |", client.version));
        let told =
            [&contract.tag, &contract.commit, &contract.document].map(|one| format!("`{one}`"));
        for want in rows.chain(told).chain([format!("version {} of", contract.version)]) {
            assert!(PAGE.contains(&want), "docs/clients.md does not say {want:?}");
        }
    }
}
