//! Times in the input as milliseconds since the epoch.

use arrayvec::ArrayString;
use serde::{Deserialize, Deserializer, de};

/// `2013-01-01T10:00:00Z` as milliseconds since the epoch.
pub fn utc_ms<'de, D: Deserializer<'de>>(field: D) -> Result<i64, D::Error> {
    let text = ArrayString::<32>::deserialize(field)?;
    let time =
        humantime::parse_rfc3339(&text).map_err(|error| de::Error::custom(format!("`{text}`: {error}")))?;
    let since = time.duration_since(std::time::UNIX_EPOCH).map_err(de::Error::custom)?;
    i64::try_from(since.as_millis()).map_err(de::Error::custom)
}
