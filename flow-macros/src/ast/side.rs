//! A side of a process: `let small: Side<Small> = side();`.

use super::block::Block;
use crate::message;
use proc_macro2::Ident;
use syn::{Expr, GenericArgument, Local, PathArguments, Type};

/// Beside its results a process has at most so many.
pub(crate) const SIDES_MAX: usize = 3;

/// A side, as it is declared.
pub(crate) struct Side {
    pub name: Ident,
    /// The type of its records.
    pub records: Type,
}

/// Whether that is the type of a side, and of which records; `Some(None)` where it does not say.
pub(super) fn side_type(ty: &Type) -> Option<Option<&Type>> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == "Side")?;
    let PathArguments::AngleBracketed(args) = &last.arguments else { return Some(None) };
    match (args.args.first(), args.args.len()) {
        (Some(GenericArgument::Type(records)), 1) => Some(Some(records)),
        _ => Some(None),
    }
}

fn is_side(init: &Expr) -> bool {
    let Expr::Call(call) = init else { return false };
    call.args.is_empty() && matches!(&*call.func, Expr::Path(path) if path.path.is_ident("side"))
}

impl Block {
    pub(super) fn side(&mut self, name: &Ident, is_mut: bool, records: Option<&Type>, local: &Local) {
        let init = local.init.as_ref().is_some_and(|init| is_side(&init.expr));
        let (Some(records), true, false) = (records, init, is_mut) else {
            return self.mistake(name, message::side_usage(name));
        };
        if let Some(attr) = local.attrs.first() {
            return self.mistake(attr, message::side_attribute());
        }
        if self.is_declared(name) {
            return self.mistake(name, message::state_twice(name));
        }
        if self.sides.len() == SIDES_MAX {
            return self.mistake(name, message::too_many_sides(SIDES_MAX));
        }
        self.sides.push(Side { name: name.clone(), records: records.clone() });
    }
}
