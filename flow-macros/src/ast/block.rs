//! The block of a process: `{ let mut last: Option<f64> = None; on_event(|e, ctx| …); on_timer(|t, ctx| …); }`.
//!
//! Reading never fails: what cannot be read is left out and told.

use super::side::{Side, side_type};
use crate::diag::Message;
use crate::message;
use crate::suggest::closest;
use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprClosure, Local, Pat, Stmt, Token, Type};

/// What a process declares and does.
#[derive(Default)]
pub(crate) struct Block {
    pub states: Vec<State>,
    pub sides: Vec<Side>,
    /// `#[broadcast] let mut rules: …`: what every instance has.
    pub shared: Option<State>,
    pub handlers: Vec<Handler>,
    /// What is wrong, and where.
    pub mistakes: Vec<(TokenStream, Message)>,
}

/// `#[ttl(1h)] let mut last: Option<f64> = None;`
pub(crate) struct State {
    pub name: Ident,
    pub ty: Type,
    pub init: Expr,
    pub ttl: Option<Ttl>,
    /// Whether it says `#[ttl(never)]`.
    pub lives_forever: bool,
}

/// `#[ttl(1h, on = watermark, renew = read)]`
pub(crate) struct Ttl {
    pub length: Expr,
    pub on_watermark: bool,
    pub renewed_by_reading: bool,
    /// As it is written.
    pub text: TokenStream,
}

/// What `#[ttl(…)]` says.
enum Life {
    For(Box<Ttl>),
    Forever,
}

fn is_never(expr: &Expr) -> bool {
    matches!(expr, Expr::Path(path) if path.path.is_ident("never"))
}

/// `on_event(|e, ctx| …)`
pub(crate) struct Handler {
    pub name: Ident,
    pub closure: ExprClosure,
}

/// What a process may do, and on what.
pub(crate) const HANDLERS: &[(&str, &str)] = &[
    ("on_event", "on_event(|event, ctx| …)"),
    ("on_left", "on_left(|record, ctx| …)"),
    ("on_right", "on_right(|record, ctx| …)"),
    ("on_broadcast", "on_broadcast(|record, ctx| …)"),
    ("on_timer", "on_timer(|t, ctx| …)"),
    ("on_processing_timer", "on_processing_timer(|t, ctx| …)"),
];

/// States whose entries expire one by one.
const OF_ENTRIES: &[&str] = &["MapState", "ListState", "ReducingState", "AggregatingState"];

/// States that have a function.
const FUNCTIONAL: &[&str] = &["ReducingState", "AggregatingState"];

/// The block that an argument is.
pub(crate) fn block(expr: &Expr) -> Option<Block> {
    let Expr::Block(block) = expr else { return None };
    let mut read = Block::default();
    for statement in &block.block.stmts {
        match statement {
            Stmt::Local(local) => read.state(local),
            Stmt::Expr(Expr::Call(call), _) if called(&call.func).is_some() => {
                if let Some(name) = called(&call.func) {
                    read.handler(name, &call.args);
                }
            }
            other => read.mistake(other, message::not_in_a_process()),
        }
    }
    Some(read)
}

fn called(func: &Expr) -> Option<&Ident> {
    if let Expr::Path(path) = func { path.path.get_ident() } else { None }
}

impl Block {
    /// Whether it says what is done on this.
    pub fn has(&self, handler: &str) -> bool {
        self.handlers.iter().any(|one| one.name == handler)
    }

    /// Whether a state or a side has this name.
    pub(super) fn is_declared(&self, name: &Ident) -> bool {
        self.states.iter().chain(&self.shared).any(|state| state.name == *name)
            || self.sides.iter().any(|side| side.name == *name)
    }

    /// Whether one of its closures mentions this name.
    pub fn mentions(&self, name: &str) -> bool {
        self.handlers.iter().any(|one| mentions(one.closure.body.to_token_stream(), name))
    }

    /// Whether one of its closures emits something, or gives its context away to what may.
    pub fn emits(&self) -> bool {
        self.handlers.iter().any(Handler::may_emit)
    }

    pub(super) fn mistake(&mut self, at: &dyn ToTokens, message: Message) {
        self.mistakes.push((at.to_token_stream(), message));
    }

    fn state(&mut self, local: &Local) {
        let (pat, ty) = match &local.pat {
            Pat::Type(typed) => (&*typed.pat, Some(&*typed.ty)),
            pat => (pat, None),
        };
        let Pat::Ident(name) = pat else {
            return self.mistake(pat, message::state_pattern());
        };
        let (is_mut, name) = (name.mutability.is_some(), &name.ident);
        let Some(ty) = ty else { return self.mistake(name, message::state_without_type(name)) };
        if let Some(records) = side_type(ty) {
            return self.side(name, is_mut, records, local);
        }
        let Some(init) = &local.init else { return self.mistake(name, message::state_without_value(name)) };
        if self.is_declared(name) {
            return self.mistake(name, message::state_twice(name));
        }
        if !is_mut {
            return self.mistake(name, message::state_not_mut(name));
        }
        let init = (*init.expr).clone();
        if let Some(attr) = local.attrs.iter().find(|attr| attr.path().is_ident("broadcast")) {
            let alone = local.attrs.iter().all(|one| one.path().is_ident("doc") || std::ptr::eq(one, attr));
            if !alone || attr.meta.require_path_only().is_err() {
                return self.mistake(attr, message::broadcast_usage());
            }
            if self.shared.is_some() {
                return self.mistake(name, message::broadcast_twice(name));
            }
            let (name, ty) = (name.clone(), ty.clone());
            self.shared = Some(State { name, ty, init, ttl: None, lives_forever: true });
            return;
        }
        let life = local.attrs.iter().filter_map(|attr| self.attribute(attr)).last();
        let (ttl, lives_forever) = match life {
            Some(Life::For(ttl)) => (Some(*ttl), false),
            Some(Life::Forever) => (None, true),
            None => (None, false),
        };
        self.states.push(State { name: name.clone(), ty: ty.clone(), init, ttl, lives_forever });
    }

    /// Of the attributes only `ttl` is one of a state.
    fn attribute(&mut self, attr: &Attribute) -> Option<Life> {
        if attr.path().is_ident("doc") {
            return None;
        }
        if !attr.path().is_ident("ttl") {
            self.mistake(attr, message::state_attribute());
            return None;
        }
        let Ok(args) = attr.parse_args_with(Punctuated::<Expr, Token![,]>::parse_terminated) else {
            self.mistake(attr, message::ttl_usage());
            return None;
        };
        if args.len() == 1 && args.first().is_some_and(is_never) {
            return Some(Life::Forever);
        }
        let mut ttl = None;
        for arg in args {
            match (super::given(arg), &mut ttl) {
                (super::Given::Positional(never), _) if is_never(&never) => {
                    self.mistake(&never, message::never_is_all());
                    return None;
                }
                (super::Given::Positional(length), None) => {
                    let text = attr.meta.require_list().map(|list| list.tokens.clone()).unwrap_or_default();
                    ttl = Some(Ttl { length, on_watermark: false, renewed_by_reading: false, text });
                }
                (super::Given::Named(one), Some(ttl)) => self.ttl_option(&one, ttl),
                (super::Given::Positional(at), _) => self.mistake(&at, message::ttl_usage()),
                (super::Given::Named(one), _) => self.mistake(&one.name, message::ttl_usage()),
            }
        }
        if ttl.is_none() {
            self.mistake(attr, message::ttl_usage());
        }
        ttl.map(Box::new).map(Life::For)
    }

    fn ttl_option(&mut self, one: &super::NamedArg, ttl: &mut Ttl) {
        let is = |word: &str| matches!(&one.value, Expr::Path(path) if path.path.is_ident(word));
        match one.name.to_string().as_str() {
            "on" if is("watermark") => ttl.on_watermark = true,
            "on" if is("clock") => {}
            "on" => self.mistake(&one.value, message::ttl_on()),
            "renew" if is("read") => ttl.renewed_by_reading = true,
            "renew" if is("write") => {}
            "renew" => self.mistake(&one.value, message::ttl_renew()),
            _ => self.mistake(&one.name, message::ttl_unknown(&one.name)),
        }
    }

    fn handler(&mut self, name: &Ident, args: &Punctuated<Expr, Token![,]>) {
        let text = name.to_string();
        let Some((_, usage)) = HANDLERS.iter().find(|known| known.0 == text) else {
            let meant = closest(&text, HANDLERS.iter().map(|known| known.0));
            return self.mistake(name, message::unknown_handler(&text, meant));
        };
        if self.has(&text) {
            return self.mistake(name, message::handler_twice(&text));
        }
        match (args.first(), args.len()) {
            (Some(Expr::Closure(closure)), 1) if closure.inputs.len() == 2 => {
                self.handlers.push(Handler { name: name.clone(), closure: closure.clone() });
            }
            _ => self.mistake(name, message::handler_usage(&text, usage)),
        }
    }
}

impl Handler {
    fn may_emit(&self) -> bool {
        if self.name == "on_broadcast" {
            return false;
        }
        let context = match self.closure.inputs.last() {
            Some(Pat::Type(typed)) => &*typed.pat,
            Some(pat) => pat,
            None => return false,
        };
        let Pat::Ident(context) = context else { return false };
        may_emit(self.closure.body.to_token_stream(), &context.ident)
    }
}

/// What a context can do beside emitting results.
const EMITS_NOTHING: &[&str] = &[
    "key",
    "now",
    "timestamp",
    "watermark",
    "instance",
    "parallelism",
    "clear",
    "output",
    "set_timer",
    "delete_timer",
    "set_interval",
    "delete_interval",
    "set_processing_timer",
    "delete_processing_timer",
    "set_processing_interval",
    "delete_processing_interval",
];

/// Whether anything is done with `context` that may emit: another method than these, or it stands alone.
fn may_emit(tokens: TokenStream, context: &Ident) -> bool {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    tokens.iter().enumerate().any(|(i, token)| match token {
        TokenTree::Ident(ident) if ident == context => {
            let dot = matches!(tokens.get(i + 1), Some(TokenTree::Punct(dot)) if dot.as_char() == '.');
            let method = tokens.get(i + 2).map(ToString::to_string).unwrap_or_default();
            !dot || !EMITS_NOTHING.contains(&method.as_str())
        }
        TokenTree::Group(group) => may_emit(group.stream(), context),
        _ => false,
    })
}

impl State {
    /// Whether its entries expire one by one.
    pub fn is_of_entries(&self) -> bool {
        self.is_one_of(OF_ENTRIES)
    }

    /// Whether it has a function, which is not written down with it.
    pub fn is_functional(&self) -> bool {
        self.is_one_of(FUNCTIONAL)
    }

    fn is_one_of(&self, names: &[&str]) -> bool {
        let Type::Path(path) = &self.ty else { return false };
        path.path.segments.last().is_some_and(|last| names.iter().any(|name| last.ident == name))
    }
}

fn mentions(tokens: TokenStream, word: &str) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == word,
        // in a format string
        TokenTree::Literal(text) => text.to_string().contains(&format!("{{{word}")),
        TokenTree::Group(group) => mentions(group.stream(), word),
        _ => false,
    })
}
