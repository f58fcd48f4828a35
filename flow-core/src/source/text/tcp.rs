//! Lines from a TCP connection.

use super::broken::ReadError;
use super::format::OpenLines;
use super::lines::{LineOptions, LineReader};
use super::pump::{ForStage, pump};
use super::reading::{Fail, OnBroken, Results, TextReader};
use crate::error::Result;
use crate::op::kind::{Once, Unbounded};
use crate::source::{Source, once};
use crate::stage::OpenCx;
use std::io::{self, Read};
use std::marker::PhantomData;
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

/// How long connecting to one address may take.
const CONNECT_SECONDS_MAX: u64 = 10;

/// A source of the lines that come over a TCP connection; made by [`tcp_lines`].
#[derive(Debug, Clone)]
pub struct TcpLines<B = Fail> {
    address: String,
    options: LineOptions,
    policy: PhantomData<fn() -> B>,
}

/// Connects to `address` (`host:port`) and gives the lines that come, until the other side closes the
/// connection. It is unbounded, and cannot be read again.
///
/// The connection is read on a thread of its own. What has come is handed on before the thread waits for
/// more, and when the pipeline is slower than the sender, the thread stops reading.
pub fn tcp_lines(address: impl Into<String>) -> TcpLines {
    TcpLines { address: address.into(), options: LineOptions::default(), policy: PhantomData }
}

impl TcpLines {
    /// Gives `Result<String, Broken>` records: a broken line is an `Err`, and reading goes on behind it.
    #[must_use]
    pub fn results(self) -> TcpLines<Results> {
        TcpLines { address: self.address, options: self.options, policy: PhantomData }
    }
}

impl<B> TcpLines<B> {
    /// Replaces invalid UTF-8 by U+FFFD instead of failing, and counts the lines in `invalid`.
    #[must_use]
    pub fn lossy(mut self) -> Self {
        self.options.lossy = true;
        self
    }

    /// The longest line accepted, instead of 1 MiB.
    #[must_use]
    pub fn line_limit(mut self, bytes: usize) -> Self {
        self.options.limit_bytes = bytes;
        self
    }
}

impl<B> TcpLines<B> {
    /// Connects, and reads on a thread.
    pub(super) fn connect(&self, stage: ForStage) -> Result<TextReader<String, B, OpenLines>, ReadError> {
        Ok(TextReader::new(connect_and_read(&self.address, &self.options, stage)?))
    }
}

fn connect_and_read(address: &str, options: &LineOptions, stage: ForStage) -> Result<OpenLines, ReadError> {
    let name: Arc<str> = address.into();
    let failed = |source: io::Error| ReadError::Io { file: name.clone(), source: source.into() };
    let mut stream = connect(address).map_err(failed)?;
    let other = stream.try_clone().map_err(failed)?;
    // A waiting read returns when the connection is shut down; one that is closed already may say so.
    let close = Box::new(move || drop(other.shutdown(Shutdown::Both)));
    let options = options.clone();
    let records = {
        let name = name.clone();
        move |bytes| LineReader::new(name, bytes, &options)
    };
    let pumped =
        pump(Box::new(move |bytes| stream.read(bytes)), records, Some(close), stage).map_err(failed)?;
    Ok(OpenLines::pumped(pumped))
}

#[diagnostic::do_not_recommend]
impl<B: OnBroken<String>> Source for TcpLines<B> {
    type Item = B::Item;
    type Split = ();
    type Reader = TextReader<String, B, OpenLines>;
    type Bounds = Unbounded;
    type Replay = Once;

    fn name(&self) -> &'static str {
        "tcp_lines"
    }

    fn splits(&self) -> Result<Vec<()>> {
        Ok(vec![()])
    }

    fn open(&self, (): (), cx: &mut OpenCx) -> Result<Self::Reader> {
        once(cx, &format!("what comes from {}", self.address))?;
        Ok(self.connect(ForStage::of(cx))?)
    }
}

fn connect(address: &str) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, Duration::from_secs(CONNECT_SECONDS_MAX)) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}
