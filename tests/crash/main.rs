//! Real processes that are killed, and jobs whose closures, sinks and disks fail while they take checkpoints: in the end every result stands
//! there once, in the order of its key.
//!
//! By default a short selection runs; `FLOW_FAULTS=all` runs everything, and `FLOW_KILLS=1000` kills so often at random. The program that
//! is killed is `child.rs`, with the feature `failpoints` of flow-core; what has to come out is computed without it (`flow_tests::crashing`).
//!
//! | fault | test | not there |
//! |---|---|---|
//! | K1–K21: killed at each step, twice in a row, at the first, second and a late checkpoint, × three pipelines in memory, and three whose state is on the disk | [`points`]`::f_k_p…`, `nothing_is_read_twice_but_since_the_last_checkpoint` |  |
//! | K22–K25: killed at each step of a start, three times in a row | [`points`]`::f_k22_…` to `f_k25_…` | |
//! | K26: random kills over one long input, and at random places of loops | [`kills`], [`supersteps`] | |
//! | K27: a second process, a parent that dies | [`processes`]`::f_k27_…` | |
//! | K28: stopped and continued; signals | [`processes`]`::f_k28_…`; signals with the example `ledger`: `tests/programs/ledger.rs` | |
//! | T1–T4: crash states of the disk, damage, other jobs | flow-core's `checkpoint/tests` | |
//! | D1: disk full while a checkpoint is written | [`disks`]`::f_d1_…` | |
//! | D2, D3: each call of the disk fails once, in its turn; a full disk, and files that cannot grow, under a sink in a whole process | [`disks`]`::f_d2_f_d3_…`, [`limits`]`::f_d2_…`, [`spilled`]`::f_d2_…`, [`large`]`::f_d2_…` | |
//! | U1: panics in each kind of closure, destructor, serializer, merge of an aggregate | [`closures`]`::f_u1_…` | |
//! | U2: a record that always panics, with dead letters and without | [`poison`]`::f_u2_…`, [`closures`]`::f_u2_…` | |
//! | U3: a closure fails, blocks, allocates without bound, overflows the stack, aborts | [`closures`]`::f_u3_…`, [`limits`]`::f_u3_…` | |
//! | S1–S5: commits that fail, in doubt, never work, one of two; staging that fails | [`sinks`]`::f_s…` | S5: the run ends and begins again; it does not go on without the checkpoint |
//! | S6: a transaction that ends before the outage does | [`sinks`]`::f_s6_…` | |
//! | S7: a zombie goes on | [`processes`]`::f_s7_…` | |
//! | C1: a wall clock that jumps, shakes, stands still | [`clocks`] | by a clock that is given to the job, not by `libfaketime` |
//! | C2: odd times | [`disks`]`::f_c2_odd_times` | |
//! | B1: a sink that is much slower, or stands still | [`pressure`], [`limits`]`::f_b1_…` | |
//! | B2: more threads than cores | [`limits`]`::f_b2_…`, by processor time; where there is no `taskset` it says so | |
//! | B3: worksets of a loop that are larger than all rings | [`feedback`]`::f_b3_…` | |
//! | B4: one idle source of two | flow-core's `tests/drift.rs`, without checkpoints | with checkpoints |
//! | V1: another parallelism | [`processes`]`::f_v1_…` | V2, V3: in flow-core's `checkpoint/tests` as far as they are there |
//! | X1: keys spread unevenly, many keys, a large window | [`skewed`]`::f_x1_…` | the report has no counters by instance, so nothing shows the skew |
//! | X2: records out of order, within the bound and within the lateness | [`skewed`]`::f_x2_…` | |
//! | N1: few files, little memory, no folder, a folder that goes | [`limits`]`::f_n1_…` | permissions, which say nothing to root: a file in place of the folder |
//! | L1 | | all of it |

#![allow(clippy::unwrap_used, reason = "a test that unwraps fails where it should")]

mod clocks;
mod closures;
mod disks;
mod feedback;
mod kills;
mod large;
mod limits;
mod points;
mod poison;
mod pressure;
mod processes;
mod runner;
mod sinks;
mod skewed;
mod spilled;
mod supersteps;
