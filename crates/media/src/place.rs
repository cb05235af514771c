//! Opens the store of file contents.

use std::error::Error;
use std::future::ready;
use std::path::Path;
use std::sync::Arc;

use futures_util::{StreamExt, TryStreamExt, pin_mut};
use nightdesk_types::limits::{MEDIA_PLACE_CHECK_WAIT, MEDIA_PLACE_CHECKED_MAX};
use object_store::local::LocalFileSystem;
use object_store::path::Path as ObjectPath;
use object_store::prefix::PrefixStore;
use object_store::{ObjectStore, parse_url_opts};
use tokio::time::timeout;
use url::Url;

use crate::object_path::is_object_path;

/// The place cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum MediaPlaceError {
    /// The folder cannot be created.
    #[error("the folder cannot be created")]
    Folder(#[source] std::io::Error),
    /// The object store cannot be opened.
    #[error("the object store cannot be opened")]
    Objects(#[from] object_store::Error),
    /// The folder cannot be listed.
    #[error("the folder cannot be listed")]
    List(#[source] Box<dyn Error + Send + Sync>),
    /// The place has another use, too.
    #[error(
        "it holds {0}, which is not an uploaded file of the desk; choose a folder, or a prefix of a bucket, that nothing else uses, or move the other files away"
    )]
    ForeignFile(ObjectPath),
}

/// The store of file contents.
pub type MediaPlace = Arc<dyn ObjectStore>;

/// Opens a place: a folder, or a bucket such as `s3://files/desk`. Further settings of a bucket, such as keys, are read
/// from the environment, under the names that its own tools use.
///
/// A place that holds anything but the desk's uploaded files is refused, because the desk removes old files there.
pub async fn open_place(place: &str) -> Result<MediaPlace, MediaPlaceError> {
    match Url::parse(place) {
        Ok(url) => {
            let variables = std::env::vars();
            // A list, because a future with the variables could not move between threads.
            let settings: Vec<_> =
                variables.map(|(name, value)| (name.to_ascii_lowercase(), value)).collect();
            open_bucket(&url, settings.into_iter()).await
        }
        Err(_) => open_folder(Path::new(place)).await,
    }
}

/// Opens a bucket. One that does not answer is accepted, so that messages are served while it is down.
async fn open_bucket(
    url: &Url,
    settings: impl Iterator<Item = (String, String)>,
) -> Result<MediaPlace, MediaPlaceError> {
    let (bucket, folder) = parse_url_opts(url, settings)?;
    let objects = Arc::new(PrefixStore::new(bucket, folder));
    match refuse_foreign_files(&*objects).await {
        Ok(()) => {}
        Err(MediaPlaceError::List(error)) => {
            tracing::warn!(error = &*error as &dyn Error, "the store of files does not answer");
        }
        Err(refused) => return Err(refused),
    }
    Ok(objects)
}

async fn open_folder(path: &Path) -> Result<MediaPlace, MediaPlaceError> {
    std::fs::create_dir_all(path).map_err(MediaPlaceError::Folder)?;
    let objects = LocalFileSystem::new_with_prefix(path)?.with_automatic_cleanup(true);
    refuse_foreign_files(&objects).await?;
    Ok(Arc::new(objects))
}

/// Returns an error that names the first file which the desk did not write.
async fn refuse_foreign_files(objects: &dyn ObjectStore) -> Result<(), MediaPlaceError> {
    let paths = objects.list(None).take(MEDIA_PLACE_CHECKED_MAX).map_ok(|object| object.location);
    let foreign = paths.try_filter(|path| ready(!is_object_path(path)));
    pin_mut!(foreign);
    let found = timeout(MEDIA_PLACE_CHECK_WAIT, foreign.try_next()).await;
    let found = found.map_err(|late| MediaPlaceError::List(late.into()))?;
    match found.map_err(|error| MediaPlaceError::List(error.into()))? {
        Some(path) => Err(MediaPlaceError::ForeignFile(path)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_bucket_that_does_not_answer_stops_no_node() {
        let settings = [
            ("aws_endpoint", "http://127.0.0.1:9"),
            ("aws_allow_http", "true"),
            ("aws_access_key_id", "id"),
            ("aws_secret_access_key", "secret"),
        ];
        let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let url = Url::parse("s3://files/desk").expect("a URL");

        open_bucket(&url, settings.into_iter()).await.expect("messages need no files");
    }
}
