//! Opens the store of file contents.

use std::path::Path;
use std::sync::Arc;

use object_store::local::LocalFileSystem;
use object_store::prefix::PrefixStore;
use object_store::{ObjectStore, parse_url_opts};
use url::Url;

/// The place cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum MediaPlaceError {
    /// The folder cannot be created.
    #[error("the folder cannot be created")]
    Folder(#[source] std::io::Error),
    /// The object store cannot be opened.
    #[error("the object store cannot be opened")]
    Objects(#[from] object_store::Error),
}

/// Opens a place: a folder, or a bucket such as `s3://files/desk`. Further settings of a bucket, such as keys, are read
/// from the environment, under the names that its own tools use.
pub fn open_place(place: &str) -> Result<Arc<dyn ObjectStore>, MediaPlaceError> {
    match Url::parse(place) {
        Ok(url) => {
            let wants = std::env::vars().map(|(name, value)| (name.to_ascii_lowercase(), value));
            let (bucket, folder) = parse_url_opts(&url, wants)?;
            Ok(Arc::new(PrefixStore::new(bucket, folder)))
        }
        Err(_) => open_folder(Path::new(place)),
    }
}

fn open_folder(path: &Path) -> Result<Arc<dyn ObjectStore>, MediaPlaceError> {
    std::fs::create_dir_all(path).map_err(MediaPlaceError::Folder)?;
    Ok(Arc::new(LocalFileSystem::new_with_prefix(path)?.with_automatic_cleanup(true)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_made_and_a_bucket_is_known() {
        let above = tempfile::tempdir().expect("make a folder");
        let folder = above.path().join("deep/media");
        open_place(folder.to_str().expect("a plain path")).expect("a folder is a place");
        assert!(folder.is_dir());

        open_place("s3://files/desk").expect("a bucket is a place");
        open_place("ftp://files").expect_err("nobody knows how to put files there");
        let file = above.path().join("a file");
        std::fs::write(&file, "x").expect("write a file");
        open_place(file.to_str().expect("a plain path")).expect_err("a file is no folder");
    }
}
