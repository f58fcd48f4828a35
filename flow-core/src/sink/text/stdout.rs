//! Standard output as a sink.

use crate::error::{Error, Result};
use crate::metrics::Counter;
use crate::sink::{Sink, Writer, write_error};
use crate::stage::{Commit, OpenCx};
use crate::time::Timestamp;
use std::fmt::Display;
use std::io::{self, BufWriter, Stdout as StandardOutput, Write};

/// Bytes gathered before they are written.
const BUFFER_BYTES: usize = 64 * 1024;

/// A sink that prints one `Display` a line; made by [`stdout`].
#[derive(Debug, Clone, Copy)]
pub struct Stdout(());

/// Prints one record a line on standard output, as its `Display` says.
///
/// Lines appear when some have gathered, when the pipeline waits for input, and at its end. They cannot be
/// taken back: for a result that is there as a whole or not at all, write a file.
pub fn stdout() -> Stdout {
    Stdout(())
}

#[diagnostic::do_not_recommend]
impl<T: Display + 'static> Sink<T> for Stdout {
    type Writer = StdoutWriter;
    const SINGLE: bool = true;

    fn name(&self) -> &'static str {
        "stdout"
    }

    fn open(&self, cx: &mut OpenCx) -> Result<StdoutWriter> {
        let counted = Counted { output: io::stdout(), bytes: cx.metrics().counter("bytes") };
        Ok(StdoutWriter { output: BufWriter::with_capacity(BUFFER_BYTES, counted) })
    }
}

/// Prints lines.
pub struct StdoutWriter {
    output: BufWriter<Counted>,
}

struct Counted {
    output: StandardOutput,
    bytes: Counter,
}

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.output.write(bytes)?;
        self.bytes.add(written as u64);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

impl<T: Display + 'static> Writer<T> for StdoutWriter {
    #[inline]
    fn write(&mut self, record: T, _: Timestamp) -> Result<()> {
        writeln!(self.output, "{record}").map_err(|error| failed(&error))
    }

    fn flush(&mut self) -> Result<()> {
        self.output.flush().map_err(|error| failed(&error))
    }

    fn finish(mut self) -> Result<Option<Box<dyn Commit>>> {
        self.output.flush().map_err(|error| failed(&error))?;
        Ok(None)
    }
}

#[cold]
fn failed(error: &io::Error) -> Error {
    write_error("standard output", error)
}
