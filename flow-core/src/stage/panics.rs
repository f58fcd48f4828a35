//! Turns a panic of a user's closure into an error that says where it came from.

use crate::error::{Error, ErrorKind, Result};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

thread_local! {
    /// Whether this thread is stepping a stage; the place of its last panic.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Only a panic hook learns where a panic came from. Panics of threads that step stages are kept for the job's error and
/// not printed; all others go to the hook that was there before.
fn install_hook() {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if GUARDED.get() {
                let place = info.location().map(|l| format!("{}:{}:{}", l.file(), l.line(), l.column()));
                PLACE.with_borrow_mut(|p| *p = place);
            } else {
                before(info);
            }
        }));
    });
}

/// Runs `f`, a call of a closure that is stepped behind [`guard`] and has changed nothing if it panics.
#[inline(always)]
pub(crate) fn caught<R>(f: impl FnOnce() -> R) -> Result<R> {
    catch_unwind(AssertUnwindSafe(f)).map_err(|payload| panic_error(payload.as_ref()))
}

/// Runs `f`; a panic in it becomes an error.
pub(crate) fn guard<R>(f: impl FnOnce() -> Result<R>) -> Result<R> {
    install_hook();
    let outer = GUARDED.replace(true);
    // The stage is not stepped again after a panic: its state is never seen.
    let result = catch_unwind(AssertUnwindSafe(f));
    GUARDED.set(outer);
    result.unwrap_or_else(|payload| Err(panic_error(payload.as_ref())))
}

#[cold]
#[inline(never)]
fn panic_error(payload: &(dyn Any + Send)) -> Error {
    let text = payload.downcast_ref::<&str>().map(|s| (*s).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    let error = Error::new(ErrorKind::Panic, text.unwrap_or_else(|| "a panic without a message".to_owned()));
    match PLACE.with_borrow_mut(Option::take) {
        Some(place) => error.at_text(place),
        None => error,
    }
}
