//! One mistake, one error.
//!
//! A bound is stated twice: at the operator, where a user should read that it does not hold, and where the pipeline ends,
//! where the whole chain is proved. An operator says [`Proved<X::Out, Chain>`](Proved) for its chain: the same type, but
//! one that rustc knows only if it knows `X::Out`. Where the bound on `X` does not hold it knows neither, and what follows
//! is no further error.
//!
//! That needs a part that is unknown without the bound. An associated type is, unless the trait has a blanket impl. For
//! those a `claim!` has a parameter which is found only where the bound holds: `key_by<…, P>` asks `Q: KeyOf<P>` and
//! returns `Proved<P, …>`.

/// `Type`, where `Part` is a type at all.
pub type Proved<Part, Type> = <Part as Known>::As<Type>;

/// A type that is known: every one.
pub trait Known {
    /// `Type`.
    type As<Type>;
}

impl<Part: ?Sized> Known for Part {
    type As<Type> = Type;
}

/// The parameter of a claim that holds.
pub enum Holds {}

/// The parameter of an impl that never applies. It is there so that rustc has to choose, and finds [`Holds`] only where
/// the claim holds.
pub enum Never {}

/// What no type is.
pub trait Impossible {
    /// Nothing is here.
    fn never<R>(&self) -> R;
}

/// Input: `pub trait KeyOf<P> for Q where Q: Key`
/// Output: the trait, implemented for `Holds` where the bounds hold, and for `Never` nowhere.
///
/// What may be done where it holds can follow: `{ /// Says so. fn name(it: &Self) -> &'static str { it.name() } }`.
macro_rules! claim {
    (
        $(#[$attr:meta])* pub trait $claim:ident<P $(, $arg:ident)*> for $x:ident where $bound:ident $(<$of:ident>)?
        $({ $(#[$doc:meta])* fn $method:ident($it:ident: &Self) -> $made:ty { $body:expr } })?
    ) => {
        $(#[$attr])*
        pub trait $claim<P $(, $arg)*> {
            $($(#[$doc])* fn $method($it: &Self) -> $made where Self: Sized;)?
        }
        #[diagnostic::do_not_recommend]
        impl<$($arg,)* $x: $bound $(<$of>)?> $claim<$crate::op::proved::Holds $(, $arg)*> for $x {
            $(fn $method($it: &Self) -> $made { $body })?
        }
        #[diagnostic::do_not_recommend]
        impl<$($arg,)* $x: $crate::op::proved::Impossible> $claim<$crate::op::proved::Never $(, $arg)*> for $x {
            $(fn $method($it: &Self) -> $made { $it.never() })?
        }
    };
}
pub(crate) use claim;
