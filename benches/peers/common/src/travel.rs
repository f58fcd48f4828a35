//! Events that can be serialised, for the peers that ask it of what they exchange. (Within a process none does it.)

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::elements::Ev;

impl Serialize for Ev {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        (self.key, self.ts, self.val).serialize(to)
    }
}

impl<'de> Deserialize<'de> for Ev {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let (key, ts, val) = Deserialize::deserialize(from)?;
        Ok(Ev { key, ts, val })
    }
}
