//! A pane for each window.

use super::Sliding;
use crate::error::Result;
use crate::time::{Grid, Millis, Timestamp};
use crate::window::spec::{Assign, Span};

/// Sliding windows that have nothing in common: each record is added to all of its windows, in order of arrival.
#[derive(Clone)]
pub struct Each(pub Sliding);

impl Assign for Each {
    const SEVERAL: bool = true;

    fn span(&self, t: Timestamp) -> Span {
        let slices = self.0.slices();
        let slice = slices.of(t);
        slices.windows_of(&slice).map_or(slice, |(_, last)| slices.window(last))
    }

    fn windows(&self, t: Timestamp) -> impl Iterator<Item = Span> + Clone + use<> {
        self.0.windows(t)
    }

    fn grid(&self, lateness: Millis) -> Grid {
        self.0.grid(lateness)
    }

    fn check(&self) -> Result<()> {
        self.0.check()
    }

    fn describe(&self) -> String {
        self.0.describe()
    }
}
