//! Reads the state of the server as far as an operator can correct it: the rights of the desk's login, the partitions
//! of days, and the archive of the server's log.

use nightdesk_types::StoreError;

use crate::Pg;

/// The rights of the role with which this node logs in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginRights {
    /// The role.
    pub role: String,
    /// Row-level security does not bind it.
    pub bypasses_walls: bool,
    /// It owns tables, or may act as their owner.
    pub owns_tables: bool,
    /// It may run the functions that the desk calls. True if there are none yet.
    pub runs_functions: bool,
}

/// The partition of a day.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StoredDay {
    /// The partitioned table.
    pub table: String,
    /// The days from today by the server's clock. Negative in the past.
    pub days_ahead: i32,
}

/// The state of the server's log archive, from which a backup is brought up to date.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogArchive {
    /// The server archives its log.
    pub is_on: bool,
    /// The time since the last archived part.
    pub archived_secs_ago: Option<i64>,
    /// The last try failed.
    pub is_failing: bool,
}

impl Pg {
    /// Reads the rights of this node's login.
    pub async fn login_rights(&self) -> Result<LoginRights, StoreError> {
        run_to_end!(self.single("read the rights of the login"), |connection| {
            sqlx::query_as!(
                LoginRights,
                r#"select current_user::text as "role!",
                       (r.rolsuper or r.rolbypassrls) as "bypasses_walls!",
                       exists (
                           select from pg_class c
                           where c.relnamespace = 'public'::regnamespace
                             and c.relkind in ('r', 'p') and pg_has_role(c.relowner, 'usage')
                       ) as "owns_tables!",
                       coalesce(
                           has_function_privilege(
                               to_regprocedure('open_days(integer, integer)')::oid, 'execute'
                           ), true
                       ) as "runs_functions!"
                   from pg_roles r where r.rolname = current_user"#
            )
            .fetch_one(connection)
            .await
        })
    }

    /// Lists the partitions of days.
    pub async fn stored_days(&self) -> Result<Vec<StoredDay>, StoreError> {
        run_to_end!(self.single("list partitions"), |connection| {
            sqlx::query_as!(
                StoredDay,
                r#"select parent as "table!",
                       day - (clock_timestamp() at time zone 'utc')::date as "days_ahead!"
                   from stored_days() order by 1, 2"#
            )
            .fetch_all(connection)
            .await
        })
    }

    /// Reads the state of the log archive.
    pub async fn log_archive(&self) -> Result<LogArchive, StoreError> {
        run_to_end!(self.single("read the state of the log archive"), |connection| {
            sqlx::query_as!(
                LogArchive,
                r#"select current_setting('archive_mode') <> 'off' as "is_on!",
                       extract(epoch from clock_timestamp() - last_archived_time)::bigint
                           as archived_secs_ago,
                       coalesce(
                           last_failed_time > coalesce(last_archived_time, '-infinity'), false
                       ) as "is_failing!"
                   from pg_stat_archiver"#
            )
            .fetch_one(connection)
            .await
        })
    }
}
