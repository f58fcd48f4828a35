//! What of an expansion rustc sees, and what rust-analyzer does.
//!
//! `dataflow!` wraps everything it writes in `__emit!`, which has two definitions. rustc gets a pipeline without
//! mistakes as it is; of one with mistakes it gets only the errors and a stub of the right signature, so that
//! broken text causes no further errors. rust-analyzer always gets the pipeline, broken or not, so that it goes on
//! completing; and it does not get the picture: it compares two expansions by the offset of the cursor, and the
//! picture's length depends on the text.
//!
//! The groups: of a function its attributes, itself, what stands beside it, and the attributes with its picture; of
//! an expression its statements, and those of the stub.

/// See the module.
#[cfg(rust_analyzer)]
#[doc(hidden)]
#[macro_export]
macro_rules! __emit {
    (item $kind:ident { $($attrs:tt)* } { $($function:tt)* } { $($beside:tt)* } { $($picture:tt)* }) => {
        $($attrs)* $($function)* $($beside)*
    };
    (expr $kind:ident { $($statements:tt)* } { $($stub:tt)* }) => {
        $($statements)* $($stub)*
    };
}

/// See the module.
#[cfg(not(rust_analyzer))]
#[doc(hidden)]
#[macro_export]
macro_rules! __emit {
    (item ok { $($attrs:tt)* } { $($function:tt)* } { $($beside:tt)* } { $($picture:tt)* }) => {
        $($attrs)* $($picture)* $($function)* $($beside)*
    };
    (item no { $($attrs:tt)* } { $($function:tt)* } { $($beside:tt)* } { $($picture:tt)* }) => {
        $($beside)*
    };
    (expr ok { $($statements:tt)* } { $($stub:tt)* }) => {
        $($statements)*
    };
    (expr no { $($statements:tt)* } { $($stub:tt)* }) => {
        $($stub)*
    };
}
