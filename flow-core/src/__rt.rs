//! The only names that generated code uses. Not part of the public interface.

mod emit;

pub use crate::__emit;
pub use crate::job::Job;
pub use crate::op::tee::TeeOf;
pub use crate::process::EmitsNothing;
pub use crate::process::states::{Named, Plain, Timed, TimedEntries, WithFunction};
pub use crate::process::{First, Second, Side, Third, Ttl};
pub use crate::sink::ignore;
pub use crate::stage::meta::scope;
pub use crate::time::Millis;
pub use crate::window::aggregate::{drop_late, fail, side};
pub use crate::window::processing;

/// A closure's own clone of a name outside it.
#[diagnostic::on_unimplemented(
    message = "`{T}` cannot be used inside an operator: it is not `Clone + Send + 'static`",
    label = "each parallel instance gets a clone of this `{T}`, on a thread of its own",
    note = "derive `Clone` for it, share it through `Arc`, or open it where it is used: `.map_init(|cx| open(), |it, x| …)`"
)]
pub trait Capture<T> {
    /// An instance's own clone.
    fn clone_of(value: &T) -> T;
}

/// The parallel instances of an operator.
pub enum Instances {}

#[diagnostic::do_not_recommend]
impl<T: Clone + Send + 'static> Capture<T> for Instances {
    fn clone_of(value: &T) -> T {
        value.clone()
    }
}

/// A clone of a captured value, which may be given to every instance.
pub fn capture<T>(value: &T) -> T
where
    Instances: Capture<T>,
{
    Instances::clone_of(value)
}

/// A pipeline begins.
pub fn begin(name: &'static str) -> Job {
    Job::new(name)
}

/// What a pipeline with compile errors returns, so that its callers have no further error.
pub fn stub() -> Job {
    Job::new("not compiled")
}
