//! The sealed form of a file's content in the object store.
//!
//! Each file has a random key of its own, which is part of the file's sealed record. The content is sealed in chunks, so
//! that it can be streamed; the number of a chunk and whether it is the last are its nonce, so chunks cannot be
//! reordered, dropped or added.

use std::error::Error;

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use aws_lc_rs::{constant_time, rand};
use bytes::{Bytes, BytesMut};
use futures_util::stream;
use futures_util::{Stream, StreamExt, TryStreamExt};
use nightdesk_types::limits::MEDIA_CHUNK_BYTES;
use zeroize::Zeroizing;

use crate::{MediaId, MediaStream};

const KEY_BYTES: usize = 32;

/// Length of the tag of each chunk.
const TAG_BYTES: usize = 16;

/// Length of a sealed chunk, except for the last.
const SEALED_BYTES: usize = MEDIA_CHUNK_BYTES + TAG_BYTES;

/// The key of one file's content.
#[derive(Clone)]
pub struct ContentKey(Zeroizing<[u8; KEY_BYTES]>);

nightdesk_types::opaque_debug!(ContentKey);

impl PartialEq for ContentKey {
    fn eq(&self, other: &Self) -> bool {
        constant_time::verify_slices_are_equal(&*self.0, &*other.0).is_ok()
    }
}

impl Eq for ContentKey {}

impl ContentKey {
    /// Returns a new random key.
    ///
    /// # Panics
    ///
    /// If the system gives no random bytes.
    #[expect(clippy::expect_used, reason = "without randomness nothing may be sealed at all")]
    pub fn random() -> Self {
        let mut key = Zeroizing::new([0; KEY_BYTES]);
        rand::fill(key.as_mut_slice()).expect("the system gives random bytes");
        Self(key)
    }

    /// Reads a key from a file's record.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(|bytes| Self(Zeroizing::new(bytes)))
    }

    /// Lends the key for a file's record.
    pub fn bytes(&self) -> &[u8; KEY_BYTES] {
        &self.0
    }

    #[expect(clippy::expect_used, reason = "the length is part of the type")]
    fn aead(&self) -> LessSafeKey {
        let key = UnboundKey::new(&AES_256_GCM, self.0.as_slice()).expect("32 bytes make a key");
        LessSafeKey::new(key)
    }
}

/// Returns the nonce of a chunk. It is unique, because each file has its own key and is sealed once.
fn chunk_nonce(number: u64, is_last: bool) -> Nonce {
    let mut nonce = [0; NONCE_LEN];
    nonce[..8].copy_from_slice(&number.to_be_bytes());
    nonce[8] = u8::from(is_last);
    Nonce::assume_unique_for_key(nonce)
}

/// Seals the content of one file as it arrives.
pub(crate) struct ContentSealer {
    aead: LessSafeKey,
    id: MediaId,
    /// The chunk that is not sealed yet: it may be the last.
    chunk: Vec<u8>,
    sealed: Vec<Bytes>,
}

impl ContentSealer {
    pub(crate) fn new(key: &ContentKey, id: MediaId) -> Self {
        let chunk = Vec::with_capacity(SEALED_BYTES);
        Self { aead: key.aead(), id, chunk, sealed: Vec::new() }
    }

    pub(crate) fn add(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.chunk.len() == MEDIA_CHUNK_BYTES {
                self.seal_chunk(false);
            }
            let (now, later) =
                bytes.split_at(bytes.len().min(MEDIA_CHUNK_BYTES - self.chunk.len()));
            self.chunk.extend_from_slice(now);
            bytes = later;
        }
    }

    /// Seals the rest. Returns the sealed chunks.
    pub(crate) fn finish(mut self) -> Vec<Bytes> {
        self.seal_chunk(true);
        self.sealed
    }

    #[expect(clippy::expect_used, reason = "sealing fails only for bodies of many gigabytes")]
    fn seal_chunk(&mut self, is_last: bool) {
        let mut chunk = std::mem::replace(&mut self.chunk, Vec::with_capacity(SEALED_BYTES));
        let nonce = chunk_nonce(self.sealed.len() as u64, is_last);
        self.aead
            .seal_in_place_append_tag(nonce, Aad::from(self.id.uuid().into_bytes()), &mut chunk)
            .expect("a chunk is short");
        self.sealed.push(chunk.into());
    }
}

/// Returns the size of a content whose sealed form has this size.
pub(crate) const fn opened_size(stored_bytes: u64) -> u64 {
    let chunks = stored_bytes.div_ceil(SEALED_BYTES as u64);
    stored_bytes.saturating_sub(chunks * TAG_BYTES as u64)
}

/// The stored content was changed or cut.
#[derive(Debug, thiserror::Error)]
#[error("the stored file does not open")]
struct ContentError;

/// A content that is being opened.
struct ContentOpener {
    aead: LessSafeKey,
    id: MediaId,
    stored: MediaStream,
    /// Stored bytes that are not opened yet, of which some are in the buffer.
    left_bytes: u64,
    buffer: BytesMut,
    number: u64,
}

/// Opens a content of this stored size as it is read.
pub(crate) fn open_content<E>(
    key: &ContentKey,
    id: MediaId,
    stored_bytes: u64,
    stored: impl Stream<Item = Result<Bytes, E>> + Send + 'static,
) -> MediaStream
where
    E: Into<Box<dyn Error + Send + Sync>> + 'static,
{
    let stored = stored.map_err(Into::into).boxed();
    let (aead, buffer) = (key.aead(), BytesMut::with_capacity(SEALED_BYTES));
    let opener = ContentOpener { aead, id, stored, left_bytes: stored_bytes, buffer, number: 0 };
    stream::try_unfold(opener, ContentOpener::open_next).boxed()
}

impl ContentOpener {
    /// Returns the next chunk and the rest. `None`: the last one was returned.
    async fn open_next(mut self) -> Result<Option<(Bytes, Self)>, Box<dyn Error + Send + Sync>> {
        if self.left_bytes == 0 {
            return Ok(None);
        }
        let chunk_bytes = self.left_bytes.min(SEALED_BYTES as u64);
        let wanted = usize::try_from(chunk_bytes)?;
        while self.buffer.len() < wanted {
            let more = self.stored.try_next().await?.ok_or(ContentError)?;
            self.buffer.extend_from_slice(&more);
        }
        self.left_bytes -= chunk_bytes;
        let nonce = chunk_nonce(self.number, self.left_bytes == 0);
        let mut chunk = self.buffer.split_to(wanted);
        let aad = Aad::from(self.id.uuid().into_bytes());
        let opened = self.aead.open_in_place(nonce, aad, &mut chunk);
        let opened_bytes = opened.map_err(|_| ContentError)?.len();
        chunk.truncate(opened_bytes);
        self.number += 1;
        Ok(Some((chunk.freeze(), self)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ID: MediaId = MediaId::from_uuid(uuid::Uuid::from_u128(7));

    fn seal(key: &ContentKey, content: &[u8], piece_bytes: usize) -> Vec<u8> {
        let mut sealer = ContentSealer::new(key, ID);
        content.chunks(piece_bytes).for_each(|piece| sealer.add(piece));
        sealer.finish().concat()
    }

    async fn open(key: &ContentKey, id: MediaId, stored: &[u8]) -> Option<Vec<u8>> {
        let pieces: Vec<Result<Bytes, ContentError>> =
            stored.chunks(10_000).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
        let bytes = stored.len() as u64;
        let opened = open_content(key, id, bytes, stream::iter(pieces));
        opened.try_collect::<Vec<Bytes>>().await.ok().map(|chunks| chunks.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn a_content_is_opened_as_it_was_sealed(
            bytes in prop_oneof![1..200_usize, MEDIA_CHUNK_BYTES - 2..MEDIA_CHUNK_BYTES + 3,
                3 * MEDIA_CHUNK_BYTES - 2..3 * MEDIA_CHUNK_BYTES + 3],
            piece_bytes in 1_000..200_000_usize,
        ) {
            let (key, content) = (ContentKey::random(), vec![b'x'; bytes]);
            let sealed = seal(&key, &content, piece_bytes);
            prop_assert_eq!(opened_size(sealed.len() as u64), bytes as u64);
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            prop_assert_eq!(runtime.block_on(open(&key, ID, &sealed)), Some(content));
        }
    }

    #[tokio::test]
    async fn a_content_that_was_changed_does_not_open() {
        let key = ContentKey::random();
        let content = [1, 2, 3].map(|byte| vec![byte; MEDIA_CHUNK_BYTES]).concat();
        let sealed = seal(&key, &content, 4_096);
        let mut flipped = sealed.clone();
        flipped[SEALED_BYTES + 5] ^= 1;
        let (first, rest) = sealed.split_at(SEALED_BYTES);
        let (second, last) = rest.split_at(SEALED_BYTES);
        let changed = [
            ("a flipped bit", flipped),
            ("a cut at a chunk", sealed[..2 * SEALED_BYTES].to_vec()),
            ("a cut in a chunk", sealed[..2 * SEALED_BYTES + 100].to_vec()),
            ("two chunks swapped", [second, first, last].concat()),
            ("a chunk twice", [first, first, last].concat()),
        ];

        assert!(open(&key, ID, &sealed).await.is_some());
        for (name, changed) in changed {
            assert!(open(&key, ID, &changed).await.is_none(), "{name}");
        }
        assert!(open(&ContentKey::random(), ID, &sealed).await.is_none(), "another key");
        let other = MediaId::from_uuid(uuid::Uuid::from_u128(8));
        assert!(open(&key, other, &sealed).await.is_none(), "another file");
    }
}
