//! The only names that generated code uses. Not part of the public interface.

mod emit;

pub use crate::__emit;
pub use crate::job::Job;
pub use crate::op::tee::TeeOf;
pub use crate::sink::ignore;
pub use crate::stage::meta::scope;
pub use crate::time::Millis;
pub use crate::window::aggregate::{drop_late, fail, side};

/// A closure's own clone of a name outside it.
#[diagnostic::on_unimplemented(
    message = "a captured `{Self}` cannot be given to every parallel instance: it is not `Send + 'static`",
    label = "`{Self}` is used by an operator, which may run on any thread",
    note = "share it through `Arc`, or open it where it is used: `.map_init(|cx| open(), |it, x| …)`"
)]
pub trait Capture: Send + 'static {}
#[diagnostic::do_not_recommend]
impl<T: Send + 'static> Capture for T {}

/// Proves that a captured value may be given to every instance.
pub fn capture<T: Capture>(value: T) -> T {
    value
}

/// A pipeline begins.
pub fn begin(name: &'static str) -> Job {
    Job::new(name)
}

/// What a pipeline with compile errors returns, so that its callers have no further error.
pub fn stub() -> Job {
    Job::new("not compiled")
}
