//! Starting a thread. std's way is compiled again for each closure; this one once for all that give nothing back.

use std::io::Result;
use std::thread::{Builder, JoinHandle};

pub(crate) fn spawn(name: String, run: Box<dyn FnOnce() + Send>) -> Result<JoinHandle<()>> {
    Builder::new().name(name).spawn(run)
}
