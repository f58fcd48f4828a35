//! History in a batch, and then a stream that goes on from it: together the rows of one run over both.

#![recursion_limit = "256"]

mod bootstrap;
mod pipelines;
mod rules;
mod savepoints;
