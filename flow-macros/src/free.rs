//! The outer names that a closure mentions, each at its first place.
//!
//! A free name is a lower-case single-segment path that nothing inside the closure binds. Names inside the arguments
//! of macros count, and `{x}` in format strings. What is called (`f(x)`) counts only where `f` is known to be a
//! value: otherwise it is a function, and a function needs no clone.

use crate::ast::{holes::is_hole, names as bound};
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use std::collections::HashSet;
use syn::parse::Parser;
use syn::visit::{self, Visit};
use syn::{Expr, ExprCall, ExprClosure, Macro, Member, Pat, Token, punctuated::Punctuated};

/// Macros of std and tracing whose first string is a format string.
const FORMATTING: &[&str] = &[
    "format",
    "print",
    "println",
    "eprint",
    "eprintln",
    "write",
    "writeln",
    "panic",
    "assert",
    "assert_eq",
    "assert_ne",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "unreachable",
    "format_args",
    "error",
    "warn",
    "info",
    "debug",
    "trace",
];

/// The free names of a closure; `values` are names known to be values.
pub(crate) fn names(closure: &ExprClosure, values: &HashSet<String>) -> Vec<Ident> {
    let mut free = Free { values, scopes: vec![HashSet::new()], found: Vec::new(), changed: Vec::new() };
    free.visit_expr_closure(closure);
    free.found
}

/// The free names to which a closure assigns.
pub(crate) fn changed(closure: &ExprClosure, values: &HashSet<String>) -> Vec<Ident> {
    let mut free = Free { values, scopes: vec![HashSet::new()], found: Vec::new(), changed: Vec::new() };
    free.visit_expr_closure(closure);
    free.changed
}

/// `r`, `r.city`, `r.place.city`
pub(crate) fn is_part(expr: &Expr, of: &[Ident]) -> bool {
    match expr {
        Expr::Path(path) => path.path.get_ident().is_some_and(|name| of.contains(name)),
        Expr::Field(field) => {
            let half_typed = matches!(&field.member, Member::Named(name) if is_hole(name));
            !half_typed && is_part(&field.base, of)
        }
        Expr::Paren(paren) => is_part(&paren.expr, of),
        _ => false,
    }
}

/// Whether a closure mentions nothing but parts of its parameters: `|r| r.city`, `|r| (r.id, r.city)`.
pub(crate) fn takes_apart(closure: &ExprClosure) -> bool {
    let params: Vec<Ident> = closure.inputs.iter().flat_map(bound).collect();
    match &*closure.body {
        Expr::Tuple(tuple) => tuple.elems.iter().all(|part| is_part(part, &params)),
        body => is_part(body, &params),
    }
}

/// What stands in an expression outside of closures: its closures, and the functions it calls.
#[derive(Default)]
pub(crate) struct Outside<'a> {
    pub closures: Vec<&'a ExprClosure>,
    pub calls: Vec<&'a ExprCall>,
}

impl<'a> Outside<'a> {
    pub fn of(expr: &'a Expr) -> Self {
        let mut outside = Outside::default();
        outside.visit_expr(expr);
        outside
    }
}

impl<'a> Visit<'a> for Outside<'a> {
    fn visit_expr_closure(&mut self, closure: &'a ExprClosure) {
        self.closures.push(closure);
    }

    fn visit_expr_call(&mut self, call: &'a ExprCall) {
        self.calls.push(call);
        visit::visit_expr_call(self, call);
    }
}

struct Free<'v> {
    values: &'v HashSet<String>,
    /// What the closure's own blocks, patterns and closures bind, innermost last.
    scopes: Vec<HashSet<String>>,
    found: Vec<Ident>,
    /// What is assigned to.
    changed: Vec<Ident>,
}

impl Free<'_> {
    fn bind(&mut self, pat: &Pat) {
        let names = bound(pat);
        if let Some(scope) = self.scopes.last_mut() {
            scope.extend(names.iter().map(Ident::to_string));
        }
    }

    fn scoped(&mut self, inside: impl FnOnce(&mut Self)) {
        self.scopes.push(HashSet::new());
        inside(self);
        self.scopes.pop();
    }

    fn is_free(&self, name: &Ident) -> bool {
        let text = name.to_string();
        let is_variable =
            text.starts_with(|c: char| c.is_lowercase() || c == '_') && text != "self" && text != "_";
        let is_bound = self.scopes.iter().any(|scope| scope.contains(&text));
        is_variable && !is_bound && !crate::ast::holes::is_hole(name)
    }

    fn mention(&mut self, name: &Ident) {
        if self.is_free(name) && !self.found.contains(name) {
            self.found.push(name.clone());
        }
    }

    /// `name = …`, `name += …`, `name.field = …`, `name[i] = …`
    fn change(&mut self, place: &Expr) {
        match place {
            Expr::Path(path) => {
                if let Some(name) = path.path.get_ident()
                    && self.is_free(name)
                    && !self.changed.contains(name)
                {
                    self.changed.push(name.clone());
                }
            }
            Expr::Field(field) => self.change(&field.base),
            Expr::Index(index) => self.change(&index.expr),
            _ => {}
        }
    }

    /// `{x}` and `{x:?}` in a format string; `{{` is a brace.
    fn format_string(&mut self, text: &str, at: Span, any: bool) {
        let text = text.replace("{{", "").replace("}}", "");
        for part in text.split('{').skip(1) {
            let inside = part.split('}').next().unwrap_or_default();
            for word in inside.split([':', '$', '.']).map(str::trim) {
                let known = any || self.values.contains(word);
                if let (true, Ok(name)) = (known, syn::parse_str::<Ident>(word)) {
                    self.mention(&Ident::new(&name.to_string(), at));
                }
            }
        }
    }

    /// Arguments of a macro that do not parse as expressions: known values only.
    fn tokens(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Ident(word) if self.values.contains(&word.to_string()) => self.mention(&word),
                TokenTree::Group(group) => self.tokens(group.stream()),
                _ => {}
            }
        }
    }
}

impl<'ast> Visit<'ast> for Free<'_> {
    fn visit_expr_closure(&mut self, closure: &'ast ExprClosure) {
        self.scoped(|free| {
            for input in &closure.inputs {
                free.visit_pat(input);
                free.bind(input);
            }
            free.visit_expr(&closure.body);
        });
    }

    fn visit_block(&mut self, block: &'ast syn::Block) {
        self.scoped(|free| visit::visit_block(free, block));
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        // the right side does not see the name yet
        if let Some(init) = &local.init {
            self.visit_expr(&init.expr);
            if let Some((_, otherwise)) = &init.diverge {
                self.visit_expr(otherwise);
            }
        }
        self.bind(&local.pat);
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        self.scoped(|free| {
            free.bind(&arm.pat);
            visit::visit_arm(free, arm);
        });
    }

    fn visit_expr_if(&mut self, branch: &'ast syn::ExprIf) {
        self.scoped(|free| {
            free.visit_expr(&branch.cond);
            free.visit_block(&branch.then_branch);
        });
        if let Some((_, otherwise)) = &branch.else_branch {
            self.visit_expr(otherwise);
        }
    }

    fn visit_expr_while(&mut self, repeat: &'ast syn::ExprWhile) {
        self.scoped(|free| visit::visit_expr_while(free, repeat));
    }

    fn visit_expr_for_loop(&mut self, repeat: &'ast syn::ExprForLoop) {
        self.visit_expr(&repeat.expr);
        self.scoped(|free| {
            free.bind(&repeat.pat);
            free.visit_block(&repeat.body);
        });
    }

    /// `if let` and `while let` bind for the block behind them.
    fn visit_expr_let(&mut self, test: &'ast syn::ExprLet) {
        self.visit_expr(&test.expr);
        self.bind(&test.pat);
    }

    fn visit_expr_assign(&mut self, assign: &'ast syn::ExprAssign) {
        self.change(&assign.left);
        visit::visit_expr_assign(self, assign);
    }

    fn visit_expr_binary(&mut self, binary: &'ast syn::ExprBinary) {
        use syn::BinOp::*;
        let assigns = matches!(
            binary.op,
            AddAssign(_)
                | SubAssign(_)
                | MulAssign(_)
                | DivAssign(_)
                | RemAssign(_)
                | BitAndAssign(_)
                | BitOrAssign(_)
                | BitXorAssign(_)
                | ShlAssign(_)
                | ShrAssign(_)
        );
        if assigns {
            self.change(&binary.left);
        }
        visit::visit_expr_binary(self, binary);
    }

    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        if let Some(name) = path.path.get_ident() {
            self.mention(name);
        }
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        match &*call.func {
            Expr::Path(path) => match path.path.get_ident() {
                Some(name) if self.values.contains(&name.to_string()) => self.mention(name),
                _ => {}
            },
            func => self.visit_expr(func),
        }
        for arg in &call.args {
            self.visit_expr(arg);
        }
    }

    fn visit_macro(&mut self, mac: &'ast Macro) {
        let name = mac.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
        let formats = FORMATTING.contains(&name.as_str());
        for token in mac.tokens.clone() {
            let TokenTree::Literal(literal) = token else { continue };
            if let Ok(text) = syn::parse2::<syn::LitStr>(TokenTree::Literal(literal.clone()).into()) {
                self.format_string(&text.value(), literal.span(), formats);
            }
        }
        let changed = self.changed.len();
        let list = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(mac.tokens.clone());
        match list {
            Ok(list) => {
                for expr in &list {
                    // `name = value` names an argument of the format string
                    let expr = match expr {
                        Expr::Assign(assign) if formats => &*assign.right,
                        expr => expr,
                    };
                    // the parsed arguments live no longer than this call, the visitor keeps only identifiers
                    Free::visit_expr(&mut *self, expr);
                }
            }
            Err(_) => self.tokens(mac.tokens.clone()),
        }
        // `name = value` in a macro assigns to nothing
        self.changed.truncate(changed);
    }

    /// A function inside the closure sees none of its names.
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if let (syn::Item::Fn(function), Some(scope)) = (item, self.scopes.last_mut()) {
            scope.insert(function.sig.ident.to_string());
        }
    }
}
