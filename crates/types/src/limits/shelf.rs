//! Limits of skills and data that agents share.

use std::time::Duration;

/// Longest name of a skill, in bytes.
pub const SKILL_NAME_BYTES_MAX: usize = 128;

/// Largest skill.
pub const SKILL_BYTES_MAX: usize = 256 * 1024;

/// Lines at the top of a skill that are searched for headers.
pub const SKILL_HEADER_LINES_MAX: usize = 256;

/// Values of one header that are read.
pub const SKILL_HEADER_VALUES_MAX: usize = 64;

/// Largest metadata of a skill or a data entry.
pub const METADATA_BYTES_MAX: usize = 16 * 1024;

/// Longest author name, in bytes.
pub const AUTHOR_BYTES_MAX: usize = 128;

/// Newest revisions that are stored per skill.
pub const SKILL_REVISIONS_KEPT_MAX: usize = 100;

/// Default number of skills per tenant.
pub const SKILLS_QUOTA: i64 = 500;

/// Most skills on one shelf under any quota: a query reads all of them at once.
pub const SKILLS_MAX: usize = 5_000;

/// Skills on one page of a list for people.
pub const SKILLS_PAGE_MAX: usize = 1_000;

/// Default size of a tenant's skills and data, including every stored revision.
pub const SHELF_BYTES_QUOTA: i64 = 256 * 1024 * 1024;

/// Default number of data entries per tenant.
pub const DATA_ENTRIES_QUOTA: i64 = 10_000;

/// Largest data entry.
pub const DATA_BYTES_MAX: usize = 64 * 1024;

/// Longest summary of a data entry, which is its first line, in characters.
pub const DATA_SUMMARY_CHARS_MAX: usize = 200;

/// Tags or recipients of a data entry.
pub const DATA_TAGS_MAX: usize = 64;

/// Longest tag or recipient, in bytes.
pub const DATA_TAG_BYTES_MAX: usize = 128;

/// Default number of entries that a query returns.
pub const DATA_QUERY_DEFAULT: usize = 10;

/// Most entries that a query returns.
pub const DATA_QUERY_MAX: usize = 100;

/// Longest query or name pattern, in bytes.
pub const SHELF_QUERY_BYTES_MAX: usize = 1024;

/// Memory limit of a compiled name pattern.
pub const NAME_PATTERN_MEMORY_BYTES_MAX: usize = 256 * 1024;

/// Expired data entries that one write removes.
pub const DATA_CLEARED_MAX: i64 = 100;

/// Largest request body with a skill or a data entry: JSON may escape each byte as six.
pub const SHELF_BODY_BYTES_MAX: usize = 2 * 1024 * 1024;

/// Timeout of reading a folder of skills.
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
