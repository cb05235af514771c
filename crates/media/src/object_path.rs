//! Paths of uploaded files in the object store.

use nightdesk_types::{TenantId, TenantScope};
use object_store::path::{Path, PathPart};

use crate::MediaId;

/// The folder of all uploaded files. The desk lists and removes nothing outside it.
const UPLOADS: &str = "nightdesk-uploads";

/// Returns the folder of all uploaded files.
pub(crate) fn uploads_path() -> Path {
    Path::from(UPLOADS)
}

/// Returns the folder of a tenant's files.
pub(crate) fn tenant_path(scope: TenantScope) -> Path {
    Path::from_iter([UPLOADS.to_owned(), scope.tenant().to_string()])
}

/// Returns the path of a file. No caller can choose any part of it.
pub(crate) fn object_path(scope: TenantScope, id: MediaId) -> Path {
    Path::from_iter([UPLOADS.to_owned(), scope.tenant().to_string(), id.to_string()])
}

/// Returns true if the path is one that [`object_path`] makes.
pub(crate) fn is_object_path(path: &Path) -> bool {
    let parts: Vec<PathPart<'_>> = path.parts().take(4).collect();
    let [folder, tenant, id] = parts.as_slice() else { return false };
    let (tenant, id) = (tenant.as_ref(), id.as_ref());
    let is_tenant = tenant.parse().is_ok_and(|parsed: TenantId| parsed.to_string() == tenant);
    let is_id = MediaId::parse(id).is_some_and(|parsed| parsed.to_string() == id);
    folder.as_ref() == UPLOADS && is_tenant && is_id
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn only_the_desks_own_paths_are_recognised() {
        let scope = TenantScope::for_tenant(TenantId::from_uuid(Uuid::from_u128(0xabc)));
        let own = object_path(scope, MediaId::new());
        assert!(is_object_path(&own), "{own}");

        let (tenant, id) = (scope.tenant().to_string(), MediaId::new().to_string());
        for foreign in [
            String::new(),
            "vault.key".to_owned(),
            format!("{tenant}/{id}"),
            format!("media/{tenant}/{id}"),
            format!("{UPLOADS}/{id}"),
            format!("{UPLOADS}/{tenant}"),
            format!("{UPLOADS}/{tenant}/{id}/{id}"),
            format!("{UPLOADS}/{tenant}/{id}.bak"),
            format!("{UPLOADS}/{tenant}/{}", "A".repeat(32)),
            format!("{UPLOADS}/{}/{id}", tenant.to_uppercase()),
            format!("{UPLOADS}/{}/{id}", tenant.replace('-', "")),
        ] {
            assert!(!is_object_path(&Path::from(foreign.as_str())), "{foreign}");
        }
    }
}
