//! The collector of everything the macro has to say to the user.
//!
//! A phase reports every mistake it finds and goes on; nothing returns on the first one. What was collected has
//! to be read: dropping an unread collector panics, so no phase can lose a message.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};

/// One sentence for the user and what to do about it. `message.rs` makes all of them.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub text: String,
    pub help: Option<String>,
}

impl Message {
    pub fn new(text: impl Into<String>) -> Self {
        Message { text: text.into(), help: None }
    }

    pub fn help(self, help: impl Into<String>) -> Self {
        Message { help: Some(help.into()), ..self }
    }

    /// The message as rustc prints it: the help on a line of its own.
    pub fn rendered(&self) -> String {
        match &self.help {
            Some(help) => format!("{}\nhelp: {help}", self.text),
            None => self.text.clone(),
        }
    }
}

/// A message and the first and last token it points at.
///
/// Two spans, because joining them is not possible on stable: an error whose first token has one span and whose
/// other tokens have the second is underlined from one to the other.
pub(crate) struct Report {
    pub start: Span,
    pub end: Span,
    pub message: Message,
}

impl Report {
    /// Input: the report "`a` is never consumed" at `a`.
    /// Output: `::core::compile_error! { "`a` is never consumed…" }`, spanned at `a`.
    pub fn to_error(&self) -> TokenStream {
        let text = self.message.rendered();
        let head = quote_spanned!(self.start=> ::core::compile_error!);
        let tail = quote_spanned!(self.end=> { #text });
        quote::quote!(#head #tail)
    }
}

/// What a pipeline's phases reported, in the order they did.
#[derive(Default)]
pub(crate) struct Reports {
    pub errors: Vec<Report>,
    pub warnings: Vec<Report>,
}

/// Collects reports; read them with [`Diagnostics::finish`].
pub(crate) struct Diagnostics {
    reports: Reports,
    strict: bool,
    read: bool,
}

impl Diagnostics {
    pub fn new() -> Self {
        Diagnostics { reports: Reports::default(), strict: false, read: false }
    }

    /// `#[strict]`: from here on a warning is an error.
    pub fn make_strict(&mut self) {
        self.strict = true;
    }

    pub fn error(&mut self, at: &dyn ToTokens, message: Message) {
        let (start, end) = ends(at);
        self.error_at(start, end, message);
    }

    pub fn error_at(&mut self, start: Span, end: Span, message: Message) {
        self.reports.errors.push(Report { start, end, message });
    }

    pub fn warning(&mut self, at: &dyn ToTokens, message: Message) {
        let (start, end) = ends(at);
        let list = if self.strict { &mut self.reports.errors } else { &mut self.reports.warnings };
        list.push(Report { start, end, message });
    }

    /// Everything that was reported.
    pub fn finish(mut self) -> Reports {
        self.read = true;
        std::mem::take(&mut self.reports)
    }
}

impl Drop for Diagnostics {
    fn drop(&mut self) {
        assert!(self.read || std::thread::panicking(), "the diagnostics of a phase were not read");
    }
}

/// The spans of the first and the last token.
fn ends(at: &dyn ToTokens) -> (Span, Span) {
    let mut tokens = at.to_token_stream().into_iter();
    let start = tokens.next().map_or_else(Span::call_site, |token| token.span());
    let end = tokens.last().map_or(start, |token| token.span());
    (start, end)
}
