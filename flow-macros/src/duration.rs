//! Duration literals: `5s`, `100ms`, `15min`, `1h`, `1d`.

use syn::{Expr, ExprUnary, Lit, LitInt, UnOp};

/// From the shortest to the longest.
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

/// Milliseconds in the longest unit that divides them: `90min`.
pub(crate) fn written(millis: i64) -> String {
    let fits = |(_, length): &&(&str, i64)| millis != 0 && millis % length == 0;
    let (unit, length) = UNITS.iter().rev().find(fits).unwrap_or(&UNITS[0]);
    format!("{}{unit}", millis / length)
}

/// `90min` for `1.5h`, where that is a whole number of milliseconds.
pub(crate) fn whole(literal: &syn::LitFloat) -> Option<String> {
    let (_, length) = UNITS.iter().find(|(unit, _)| *unit == literal.suffix())?;
    let millis = literal.base10_digits().parse::<f64>().ok()? * *length as f64;
    // below 2^53 every whole number is one of `f64`
    let is_whole = millis.fract() == 0.0 && millis < 9e15;
    is_whole.then(|| written(millis as i64))
}

/// `1h + 30min` for `1h30min`: the parts of a literal that Rust reads as one.
pub(crate) fn parts(literal: &LitInt) -> Option<String> {
    let text = literal.to_string();
    let mut parts: Vec<String> = Vec::new();
    for char in text.chars() {
        let begins =
            parts.last().is_none_or(|part| char.is_ascii_digit() && part.ends_with(char::is_alphabetic));
        match parts.last_mut() {
            Some(part) if !begins => part.push(char),
            _ => parts.push(char.to_string()),
        }
    }
    let is_duration = |part: &String| {
        syn::parse_str::<LitInt>(part).is_ok_and(|part| matches!(number(&part), Number::Duration(_)))
    };
    (parts.len() > 1 && parts.iter().all(is_duration)).then(|| parts.join(" + "))
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
    fn other_ways_to_write_it() {
        let whole = |text| whole(&syn::parse_str(text).expect("a literal"));
        assert_eq!(whole("1.5h").as_deref(), Some("90min"));
        assert_eq!(whole("0.5s").as_deref(), Some("500ms"));
        assert_eq!(whole("1e3s").as_deref(), Some("1000s"));
        assert_eq!(whole("2.0h").as_deref(), Some("2h"));
        assert_eq!(whole("0.0001s"), None);
        assert_eq!(whole("1e30d"), None);
        let parts = |text| parts(&syn::parse_str(text).expect("a literal"));
        assert_eq!(parts("1h30min").as_deref(), Some("1h + 30min"));
        assert_eq!(parts("1d12h30min").as_deref(), Some("1d + 12h + 30min"));
        assert_eq!(parts("1h"), None);
        assert_eq!(parts("1x30min"), None);
    }

    #[test]
    fn below_zero() {
        let expr: Expr = syn::parse_str("-(5h)").expect("an expression");
        assert_eq!(argument(&expr), Argument::Millis(-18_000_000));
    }
}
