//! Rows: what binds to the parameters of a statement, and how it is kept until it is committed.
//!
//! A row is kept as its values, one after the other: a byte that says which, and then: nothing for null (0), 8 bytes for an integer (1) and a
//! float (2), a length (4) and the bytes for text (3) and a blob (4). Little-endian.

use crate::unpack::Unpack;
use rusqlite::types::{ToSql, ToSqlOutput, Value};

/// A record whose fields are the parameters `?1`, `?2` … of a statement: a tuple of what is [`rusqlite::ToSql`], up to 12.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no row for SQLite",
    label = "not a tuple of `rusqlite::ToSql` values",
    note = "`.map(|x| (x.a, x.b))` before the sink makes one; `(x,)` is a row of one value"
)]
pub trait SqlRow: 'static {
    /// How many values it has.
    const WIDTH: usize;
    /// They.
    ///
    /// # Errors
    /// When one has no form in SQLite.
    fn values(&self) -> rusqlite::Result<Vec<Value>>;
}

macro_rules! tuples {
    ($(($($name:ident $at:tt),+))+) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($name: ToSql + 'static),+> SqlRow for ($($name,)+) {
            const WIDTH: usize = [$($at),+].len();
            fn values(&self) -> rusqlite::Result<Vec<Value>> {
                Ok(vec![$(value(self.$at.to_sql()?)?),+])
            }
        }
    )+};
}

tuples! {
    (A 0)
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
    (A 0, B 1, C 2, D 3, E 4)
    (A 0, B 1, C 2, D 3, E 4, F 5)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11)
}

fn value(output: ToSqlOutput<'_>) -> rusqlite::Result<Value> {
    match output {
        ToSqlOutput::Borrowed(value) => {
            Value::try_from(value).map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
        }
        ToSqlOutput::Owned(value) => Ok(value),
        other => {
            let what = format!("{other:?} is no plain value");
            Err(rusqlite::Error::ToSqlConversionFailure(what.into()))
        }
    }
}

/// The bytes of a row.
pub(super) fn encode(values: &[Value]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for value in values {
        match value {
            Value::Null => bytes.push(0),
            Value::Integer(n) => {
                bytes.push(1);
                bytes.extend(n.to_le_bytes());
            }
            Value::Real(x) => {
                bytes.push(2);
                bytes.extend(x.to_le_bytes());
            }
            Value::Text(text) => long(&mut bytes, 3, text.as_bytes()),
            Value::Blob(blob) => long(&mut bytes, 4, blob),
        }
    }
    bytes
}

fn long(bytes: &mut Vec<u8>, kind: u8, value: &[u8]) {
    bytes.push(kind);
    bytes.extend(u32::try_from(value.len()).unwrap_or(u32::MAX).to_le_bytes());
    bytes.extend(value);
}

/// The row; nothing where they are not a row's bytes.
pub(super) fn decode(bytes: &[u8]) -> Option<Vec<Value>> {
    let (mut bytes, mut values) = (Unpack::new(bytes), Vec::new());
    while let Some(kind) = bytes.u8() {
        values.push(match kind {
            0 => Value::Null,
            1 => Value::Integer(i64::from_le_bytes(bytes.array()?)),
            2 => Value::Real(f64::from_le_bytes(bytes.array()?)),
            3 => Value::Text(String::from_utf8(bytes.bytes()?.to_vec()).ok()?),
            4 => Value::Blob(bytes.bytes()?.to_vec()),
            _ => return None,
        });
    }
    Some(values)
}
