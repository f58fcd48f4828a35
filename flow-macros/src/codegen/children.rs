//! The expressions directly inside an expression, to be changed.
//!
//! By hand: syn's own visitor of what can be changed took 0.3 s of each clean build, for which the library waits.

use syn::{Block, Expr, Pat, Stmt};

/// Shows `each` the expressions directly inside `expr`. Patterns, types, items and the arguments of macros are no part of it.
pub(super) fn children(expr: &mut Expr, each: &mut dyn FnMut(&mut Expr)) {
    match expr {
        Expr::Array(it) => it.elems.iter_mut().for_each(each),
        Expr::Assign(it) => [&mut it.left, &mut it.right].into_iter().for_each(|it| each(it)),
        Expr::Async(it) => block(&mut it.block, each),
        Expr::Await(it) => each(&mut it.base),
        Expr::Binary(it) => [&mut it.left, &mut it.right].into_iter().for_each(|it| each(it)),
        Expr::Block(it) => block(&mut it.block, each),
        Expr::Break(it) => it.expr.iter_mut().for_each(|it| each(it)),
        Expr::Call(it) => {
            each(&mut it.func);
            it.args.iter_mut().for_each(each);
        }
        Expr::Cast(it) => each(&mut it.expr),
        Expr::Closure(it) => each(&mut it.body),
        Expr::Const(it) => block(&mut it.block, each),
        Expr::Field(it) => each(&mut it.base),
        Expr::ForLoop(it) => {
            each(&mut it.expr);
            block(&mut it.body, each);
        }
        Expr::Group(it) => each(&mut it.expr),
        Expr::If(it) => {
            each(&mut it.cond);
            block(&mut it.then_branch, each);
            it.else_branch.iter_mut().for_each(|(_, it)| each(it));
        }
        Expr::Index(it) => [&mut it.expr, &mut it.index].into_iter().for_each(|it| each(it)),
        Expr::Let(it) => each(&mut it.expr),
        Expr::Loop(it) => block(&mut it.body, each),
        Expr::Match(it) => {
            each(&mut it.expr);
            for arm in &mut it.arms {
                if let Pat::Guard(guarded) = &mut arm.pat {
                    each(&mut guarded.guard);
                }
                each(&mut arm.body);
            }
        }
        Expr::MethodCall(it) => {
            each(&mut it.receiver);
            it.args.iter_mut().for_each(each);
        }
        Expr::Paren(it) => each(&mut it.expr),
        Expr::Range(it) => it.start.iter_mut().chain(&mut it.end).for_each(|it| each(it)),
        Expr::RawAddr(it) => each(&mut it.expr),
        Expr::Reference(it) => each(&mut it.expr),
        Expr::Repeat(it) => [&mut it.expr, &mut it.len].into_iter().for_each(|it| each(it)),
        Expr::Return(it) => it.expr.iter_mut().for_each(|it| each(it)),
        Expr::Struct(it) => {
            it.fields.iter_mut().for_each(|field| each(&mut field.expr));
            it.rest.iter_mut().for_each(|it| each(it));
        }
        Expr::Try(it) => each(&mut it.expr),
        Expr::TryBlock(it) => block(&mut it.block, each),
        Expr::Tuple(it) => it.elems.iter_mut().for_each(each),
        Expr::Unary(it) => each(&mut it.expr),
        Expr::Unsafe(it) => block(&mut it.block, each),
        Expr::While(it) => {
            each(&mut it.cond);
            block(&mut it.body, each);
        }
        Expr::Yield(it) => it.expr.iter_mut().for_each(|it| each(it)),
        // no expression inside
        _ => {}
    }
}

fn block(block: &mut Block, each: &mut dyn FnMut(&mut Expr)) {
    for stmt in &mut block.stmts {
        match stmt {
            Stmt::Local(local) => {
                if let Some(init) = &mut local.init {
                    each(&mut init.expr);
                    init.diverge.iter_mut().for_each(|(_, it)| each(it));
                }
            }
            Stmt::Expr(expr, _) => each(expr),
            Stmt::Item(_) | Stmt::Macro(_) => {}
        }
    }
}
