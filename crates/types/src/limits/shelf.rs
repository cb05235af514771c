//! Skills and data that agents share.

use std::time::Duration;

/// How long a skill's name may be.
pub const SKILL_NAME_BYTES_MAX: usize = 128;

/// How large a skill may be.
pub const SKILL_BYTES_MAX: usize = 256 * 1024;

/// How many lines at the top of a skill are looked at for headers.
pub const SKILL_HEADER_LINES_MAX: usize = 256;

/// How many values of one header are taken.
pub const SKILL_HEADER_VALUES_MAX: usize = 64;

/// How large what is noted beside a skill, or beside data, may be.
pub const METADATA_BYTES_MAX: usize = 16 * 1024;

/// How many bytes an author's name may have.
pub const AUTHOR_BYTES_MAX: usize = 128;

/// How many revisions of a skill are kept, the newest.
pub const SKILL_REVISIONS_KEPT_MAX: usize = 100;

/// How many skills a tenant may have, unless it is said otherwise.
pub const SKILLS_QUOTA: i64 = 500;

/// How many skills any one shelf may hold, whatever is said: all of them are looked at at once.
pub const SKILLS_MAX: usize = 5_000;

/// How many bytes a tenant's skills and data may have, every kept revision counted, unless it is said
/// otherwise.
pub const SHELF_BYTES_QUOTA: i64 = 256 * 1024 * 1024;

/// How many entries of data a tenant may have, unless it is said otherwise.
pub const DATA_ENTRIES_QUOTA: i64 = 10_000;

/// How large one entry of data may be.
pub const DATA_BYTES_MAX: usize = 64 * 1024;

/// How long the first line is that stands for an entry of data, in characters.
pub const DATA_SUMMARY_CHARS_MAX: usize = 200;

/// How many tags or recipients an entry of data may have.
pub const DATA_TAGS_MAX: usize = 64;

/// How many bytes one of them may have.
pub const DATA_TAG_BYTES_MAX: usize = 128;

/// How many entries a query answers, if it does not say.
pub const DATA_QUERY_DEFAULT: usize = 10;

/// How many entries a query answers at most.
pub const DATA_QUERY_MAX: usize = 100;

/// How long a query, or a pattern of names, may be.
pub const SHELF_QUERY_BYTES_MAX: usize = 1024;

/// How much memory a pattern of names may take.
pub const NAME_PATTERN_MEMORY_BYTES_MAX: usize = 256 * 1024;

/// How many expired entries of data a write clears away.
pub const DATA_CLEARED_MAX: i64 = 100;

/// How long a body may be that holds a skill or an entry of data: every byte of it may be written as six.
pub const SHELF_BODY_BYTES_MAX: usize = 2 * 1024 * 1024;

/// How long a folder of skills is waited for.
pub const FOLDER_WAIT: Duration = Duration::from_secs(5);

const _: () = assert!(
    SHELF_BODY_BYTES_MAX > 6 * SKILL_BYTES_MAX && SHELF_BODY_BYTES_MAX > 6 * DATA_BYTES_MAX,
    "the largest comes through, however it is written"
);
const _: () = assert!(DATA_QUERY_DEFAULT <= DATA_QUERY_MAX, "the default is within the bound");
const _: () = assert!(
    SKILLS_QUOTA.unsigned_abs() <= SKILLS_MAX as u64,
    "who was told nothing else has no more skills than can be looked at"
);
const _: () = assert!(
    (SKILL_BYTES_MAX as u64) < SHELF_BYTES_QUOTA.unsigned_abs()
        && (DATA_BYTES_MAX as u64) < SHELF_BYTES_QUOTA.unsigned_abs(),
    "one of the largest fits"
);
