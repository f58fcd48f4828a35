//! Duration literals: `5s`, `100ms`, `15min`, `1h`, `1d`.

use syn::{Expr, ExprUnary, Lit, LitInt, UnOp};

const UNITS: &[(&str, i64)] =
    &[("ms", 1), ("s", 1_000), ("min", 60_000), ("h", 3_600_000), ("d", 86_400_000)];

/// What Rust itself can stand behind a number.
const RUST_SUFFIXES: &[&str] =
    &["u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize", "f32", "f64"];

/// What a number is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    /// Milliseconds.
    Duration(i64),
    /// No suffix.
    Bare,
    /// A suffix of Rust's.
    Rust,
    UnknownUnit,
    TooLong,
}

pub(crate) fn number(literal: &LitInt) -> Number {
    let suffix = literal.suffix();
    if suffix.is_empty() {
        return Number::Bare;
    }
    if RUST_SUFFIXES.contains(&suffix) {
        return Number::Rust;
    }
    let Some((_, millis)) = UNITS.iter().find(|(unit, _)| *unit == suffix) else {
        return Number::UnknownUnit;
    };
    match literal.base10_digits().parse::<i64>().ok().and_then(|count| count.checked_mul(*millis)) {
        Some(millis) => Number::Duration(millis),
        None => Number::TooLong,
    }
}

/// Is it `1.5h`?
pub(crate) fn is_fractional(literal: &syn::LitFloat) -> bool {
    UNITS.iter().any(|(unit, _)| *unit == literal.suffix())
}

/// An argument where a duration is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Argument<'a> {
    /// A literal, also below zero.
    Millis(i64),
    /// The digits of a number without a unit.
    Bare(&'a str),
    /// An expression: only its value can be checked, when the job is built.
    Expression,
}

pub(crate) fn argument(expr: &Expr) -> Argument<'_> {
    match expr {
        Expr::Paren(paren) => argument(&paren.expr),
        Expr::Group(group) => argument(&group.expr),
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => match argument(expr) {
            Argument::Millis(millis) => Argument::Millis(-millis),
            other => other,
        },
        Expr::Lit(lit) => match &lit.lit {
            Lit::Int(int) => match number(int) {
                Number::Duration(millis) => Argument::Millis(millis),
                Number::Bare | Number::Rust => Argument::Bare(int.base10_digits()),
                Number::UnknownUnit | Number::TooLong => Argument::Expression,
            },
            _ => Argument::Expression,
        },
        _ => Argument::Expression,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Number {
        number(&syn::parse_str(text).expect("a literal"))
    }

    #[test]
    fn units() {
        assert_eq!(of("100ms"), Number::Duration(100));
        assert_eq!(of("5s"), Number::Duration(5_000));
        assert_eq!(of("15min"), Number::Duration(900_000));
        assert_eq!(of("1h"), Number::Duration(3_600_000));
        assert_eq!(of("1_0d"), Number::Duration(864_000_000));
    }

    #[test]
    fn other_numbers() {
        assert_eq!(of("5"), Number::Bare);
        assert_eq!(of("5u64"), Number::Rust);
        assert_eq!(of("5m"), Number::UnknownUnit);
        assert_eq!(of("9999999999999999d"), Number::TooLong);
    }

    #[test]
    fn below_zero() {
        let expr: Expr = syn::parse_str("-(5h)").expect("an expression");
        assert_eq!(argument(&expr), Argument::Millis(-18_000_000));
    }
}
