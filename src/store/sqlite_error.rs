//! What an error of SQLite says of the state: damaged, held by others, or simply failed.

use rusqlite::ErrorCode;
use rusqlite::ffi::SQLITE_IOERR_SHORT_READ as SHORT_READ;

use crate::error::{Error, ErrorKind};
use crate::store::damaged::damaged;

/// Whether a value is not what this version has stored in its column.
fn is_other_than_stored(cause: &rusqlite::Error) -> bool {
    use rusqlite::Error::{FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, Utf8Error};
    matches!(cause, FromSqlConversionFailure(..) | IntegralValueOutOfRange(..) | InvalidColumnType(..) | Utf8Error(..))
}

impl From<rusqlite::types::FromSqlError> for Error {
    fn from(cause: rusqlite::types::FromSqlError) -> Error {
        damaged(cause)
    }
}

impl From<rusqlite::Error> for Error {
    fn from(cause: rusqlite::Error) -> Error {
        let code = cause.sqlite_error();
        let kind = match code.map(|it| it.code) {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => return damaged(cause),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => ErrorKind::Busy,
            // A page that is only half there, and a text that is none: SQLite itself does not call that corrupt.
            Some(_) if code.is_some_and(|it| it.extended_code == SHORT_READ) => return damaged(cause),
            None if is_other_than_stored(&cause) => return damaged(cause),
            _ => ErrorKind::Failed,
        };
        Error::failed(format!("the state database failed: {cause}"))
            .of_kind(kind)
            .hint("`fusebox doctor` shows what is wrong with it")
    }
}
