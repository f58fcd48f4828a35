//! Who an operator is: the `let` it stands under, its name, its place in the user's source.

use std::cell::RefCell;
use std::panic::Location;

/// The identity of an operator. Its id is `let/operator`; a second one of that name under the same `let` gets `-2`.
#[derive(Debug, Clone, Copy)]
pub struct Meta {
    scope: &'static str,
    op: &'static str,
    nth: u32,
    at: &'static Location<'static>,
}

/// The `let` under which operators are being made on this thread, and those made so far.
struct Scope {
    name: &'static str,
    made: Vec<(&'static str, &'static str, u32)>,
}

thread_local! {
    static SCOPE: RefCell<Scope> = const { RefCell::new(Scope { name: "", made: Vec::new() }) };
}

/// Operators made from now on stand under the `let` `name`.
pub fn scope(name: &'static str) {
    SCOPE.with_borrow_mut(|s| s.name = name);
}

/// A new pipeline begins on this thread: no operator has been made.
pub fn new_pipeline() {
    SCOPE.with_borrow_mut(|s| *s = Scope { name: "", made: Vec::new() });
}

impl Meta {
    /// The identity of an operator that is made here and now.
    #[track_caller]
    pub fn new(op: &'static str) -> Self {
        let at = Location::caller();
        SCOPE.with_borrow_mut(|s| {
            let scope = s.name;
            let nth = match s.made.iter_mut().find(|m| m.0 == scope && m.1 == op) {
                Some(made) => {
                    made.2 += 1;
                    made.2
                }
                None => {
                    s.made.push((scope, op, 1));
                    1
                }
            };
            Meta { scope, op, nth, at }
        })
    }

    /// The same operator under another `let`, as `.named("…")` asks.
    #[must_use]
    pub fn named(self, scope: &'static str) -> Self {
        Meta { scope, nth: 1, ..self }
    }

    /// `let/operator`.
    pub fn id(&self) -> String {
        let slash = if self.scope.is_empty() { "" } else { "/" };
        let nth = if self.nth > 1 { format!("-{}", self.nth) } else { String::new() };
        format!("{}{slash}{}{nth}", self.scope, self.op)
    }

    /// The operator's name.
    pub fn op(&self) -> &'static str {
        self.op
    }

    /// The `let` it stands under.
    pub fn scope(&self) -> &'static str {
        self.scope
    }

    /// Where it was made.
    pub fn at(&self) -> &'static Location<'static> {
        self.at
    }
}

/// An operator as it describes itself when it is built.
#[derive(Debug, Clone)]
pub struct OpNode {
    /// Its id.
    pub id: String,
    /// Its name.
    pub op: &'static str,
    /// Where it was made: `file:line:column`.
    pub at: String,
    /// What was decided about it and why, for `explain`.
    pub note: String,
    /// The name of the stage it runs in.
    pub stage: String,
}
