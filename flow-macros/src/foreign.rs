//! What things are called elsewhere, and what to write here instead: for those who come from Flink, SQL, Spark,
//! iterators or another library of streams.

use crate::ops::Shape;

/// Names, as [`plain`] writes them, and what to write instead.
type Row = (&'static [&'static str], &'static str);

#[rustfmt::skip]
static NAMES: &[Row] = &[
    // one record at a time
    (&["select", "project", "transform", "then", "apply_each"], "write `.map(|record| …)`"),
    (&["where", "having", "filter_not", "reject"], "a condition is `.filter(|record| …)`; what two streams are joined by is `key_by` on both sides"),
    (&["flatten"], "write `.flat_map(|record| record)`"),
    (&["map_err", "unwrap", "expect", "or_else", "and_then", "ok"], "errors are records: `.split_result()` gives the good ones and the others, and `.try_map(|record| …)` ends the job at the first"),
    (&["dead_letters", "dead_letter", "dead_letter_queue", "dlq", "catch", "catch_unwind", "catch_error", "recover", "on_error", "map_or", "map_or_else", "try_map_or"], "write `let (rows, dead) = ….try_map_or_dead(|record| …)`: records for which the closure panics or fails go aside, with why"),
    (&["peek", "tap", "do_on_next", "debug", "log"], "write `.inspect(|record| …)`"),
    (&["map_partition"], "what is opened once an instance is `.map_init(|ctx| …, |resource, record| …)`"),
    (&["map_values_with_state", "stateful", "stateful_map", "with_state", "flat_map_with_state", "filter_with_state", "update_state_by_key"], "write `.key_by(|record| …).map_with_state(init, |state, record| …)`, or `scan` to give nothing for some records"),
    (&["lag", "pairwise", "zip_with_next"], "remember the record before: `.key_by(|record| …).map_with_state(None, |last, record| last.replace(record))`"),
    (&["limit", "head", "first"], "write `.take(n)`"),
    (&["drop", "offset"], "write `.skip(n)`"),
    (&["take_while", "skip_while", "map_while", "enumerate", "zip"], "the order of records is known for each key only: count or compare with `.key_by(|record| …).scan(init, |state, record| …)`"),
    (&["sort", "sort_unstable", "sort_by_cached_key", "order_by", "sort_partition", "sorted"], "of a stream that ends, write `.sort_by_key(|record| …)`, or `.sort_by(|a, b| …)` for an order of two; the first by a measure are `.key_by(|record| …).top_n(10, |record| …)`"),
    (&["throttle"], "write `.rate_limit(100)`: so many records a second"),
    (&["sample", "debounce"], "take one record of each stretch of time: `.window(tumbling(1s, time = processing)).aggregate(|a| a.last())`"),
    (&["buffer", "chunks", "batch", "windowed", "chunk"], "write `.window(count(100)).aggregate(|a| a.collect())`"),

    // requests
    (&["async_wait", "ordered_wait", "map_async", "async_data_stream", "async_io", "for_each_async", "buffered"], "write `.async_map(|record| …, timeout = 5s)`"),
    (&["unordered_wait", "buffer_unordered", "map_async_unordered"], "write `.async_map(|record| …, timeout = 5s, unordered = true)`"),

    // time
    (&["assign_timestamps_and_watermarks", "assign_timestamps", "with_timestamps", "with_timestamp_assigner", "watermark", "assign_watermarks", "timestamp_by"], "write `.event_time(|record| …, disorder = 5s)`"),
    (&["with_idleness"], "write `.event_time(|record| …, disorder = 5s, idle = 10s)`"),
    (&["with_watermark_alignment"], "write `.event_time(|record| …, disorder = 5s, align = 10s)`"),

    // keys and exchanges
    (&["group_reduce", "map_groups", "apply_groups", "full_window_partition", "for_each_group"], "of a stream that ends, write `.key_by(|record| …).reduce_group(|key, records| …)`"),
    (&["group_by", "group_by_key", "key_selector", "partition_by_key", "key_by_field", "keyed"], "write `.key_by(|record| …)`"),
    (&["partition_custom", "custom_partition", "exchange"], "write `.partition_by(|record, n| …)`, or `.key_by(|record| …)` to bring equal keys together"),
    (&["rescale", "repartition", "distribute", "round_robin", "coalesce"], "write `.rebalance()`, or `.rebalance(parallelism = n)` for n instances"),
    (&["forward"], "records stay on their instance unless an exchange is written: remove it"),
    (&["parallelism", "set_parallelism", "with_parallelism", "set_max_parallelism", "max_parallelism"], "how many instances is said of an exchange, `.rebalance(parallelism = n)` or `.key_by(|record| …, parallelism = n)`, or of the whole job where it is run: `job.parallelism(n)`"),
    (&["values", "drop_key", "unkeyed", "un_key"], "the first operator that makes new records drops the key: write what comes next"),
    (&["start_new_chain", "disable_chaining", "slot_sharing_group"], "write `.boundary()`: what follows may run on a thread of its own"),
    (&["name", "uid", "set_uid", "uid_hash", "set_name", "as", "alias"], "write `.named(\"…\")`"),

    // several streams
    (&["merge", "concat", "chain", "union_all"], "write `.union(other)`"),
    (&["route", "branch", "split_by", "demux"], "write `let (a, b) = ….partition(|record| …)` for yes or no, or `.split(|record| …)` for an `Either` of two types"),
    (&["side_output", "get_side_output", "output"], "sides are streams of a tuple: `let (a, b) = ….split(|record| …)`, or `let name: Side<Type> = side();` in a `process`"),
    (&["fork", "tee", "clone", "cloned", "copy"], "give the stream a name and use it twice: each use sees every record"),
    (&["cache", "persist", "checkpoint"], "give the stream a name and use it twice; nothing is stored"),
    (&["iter", "into_iter", "par_iter", "to_stream", "stream"], "remove it: this is a stream, and its operators stand on it directly"),

    // joins
    (&["inner_join", "join_with"], "write `.join(other.key_by(|record| …))`, and behind it what belongs together: `.window(tumbling(1h))`, `.within(-5s, 5s)`, or, of streams that end, `.hash()`"),
    (&["hash_join"], "of streams that end, write `.join(other.key_by(|record| …)).hash()`"),
    (&["sort_merge_join", "merge_join"], "of streams that end, write `.join(other.key_by(|record| …)).sort_merge()`"),
    (&["left_semi_join", "left_semi", "semi", "exists"], "of streams that end, write `.semi_join(other.key_by(|record| …)).hash()`"),
    (&["left_anti_join", "left_anti", "anti", "except", "minus", "not_exists"], "of streams that end, write `.anti_join(other.key_by(|record| …)).hash()`"),
    (&["outer_join", "full_outer_join"], "write `.full_join(other.key_by(|record| …))`, and behind it what belongs together: `.window(tumbling(1h))`, `.within(-5s, 5s)`"),
    (&["left_outer_join"], "write `.left_join(other.key_by(|record| …))`, and behind it what belongs together: `.window(tumbling(1h))`, `.within(-5s, 5s)`"),
    (&["right_outer_join"], "write `.right_join(other.key_by(|record| …))`, and behind it what belongs together: `.window(tumbling(1h))`, `.within(-5s, 5s)`"),
    (&["interval_join", "join_interval", "between"], "write `.key_by(|record| …).join(other.key_by(|record| …)).within(-5s, 5s)`"),
    (&["window_join"], "write `.key_by(|record| …).join(other.key_by(|record| …)).window(tumbling(1h))`"),
    (&["temporal_join", "as_of_join", "join_as_of"], "write `.key_by(|record| …).join(other.key_by(|record| …)).as_of()`"),
    (&["lookup_join"], "write `.key_by(|record| …).join(other.key_by(|record| …)).lookup()`"),
    (&["cross_join", "cartesian", "cartesian_product", "cross_product"], "write `.cross(other)`, where both streams end"),
    (&["equal_to", "on", "using"], "both sides say what they are joined by: `.key_by(|record| …).join(other.key_by(|record| …))`"),
    (&["co_map", "co_flat_map", "co_process", "connect_keyed"], "write `.key_by(|record| …).connect(other.key_by(|record| …)).process({ on_left(|record, ctx| …); on_right(|record, ctx| …); })`"),

    // windows
    (&["time_window", "time_window_all", "tumble", "tumbling_window", "tumbling_time_window"], "write `.window(tumbling(1h))`"),
    (&["hop", "hopping", "sliding_window", "sliding_time_window", "hopping_window"], "write `.window(sliding(1h, 5min))`: the size, then the slide"),
    (&["session_window", "session_windows"], "write `.window(session(30min))`"),
    (&["count_window", "count_window_all", "tumbling_count_window", "sliding_count_window"], "write `.window(count(100))`, or `.window(count(100, every = 10))`"),
    (&["cumulate", "cumulate_window"], "write `.window(tumbling(1d)).trigger(|t| t.early(1h))`: the window so far, every hour"),
    (&["window_all"], "write `.window(tumbling(1h))`: without a key it is over the whole stream"),
    (&["allowed_lateness"], "write `.window(tumbling(1h), lateness = 5min)`"),
    (&["side_output_late_data"], "write `let (results, late) = ….window(tumbling(1h), late = side)` and what becomes of a window behind it"),
    (&["evictor"], "write `.evict(last(10))`"),

    // per key, and processes
    (&["reduce_by_key", "fold_by_key", "aggregate_by_key", "count_by_key", "count_by", "sum_by_key"], "say the key first: `.key_by(|record| …).reduce(|a, b| …)`, and `fold`, `count`, `sum`, `min`, `max`"),
    (&["accumulate"], "write `.fold(init, |acc, record| …)`"),
    (&["max_by", "max_by_key"], "the record with the largest value is `.reduce(|a, b| if b.x > a.x { b } else { a })`; the value alone is `.max(|record| …)`"),
    (&["min_by", "min_by_key"], "the record with the smallest value is `.reduce(|a, b| if b.x < a.x { b } else { a })`; the value alone is `.min(|record| …)`"),
    (&["sum_by"], "write `.sum(|record| …)`"),
    (&["dedup", "dedup_by", "deduplicate", "distinct_by", "distinct_by_key", "unique_by", "drop_duplicates"], "the first record of each key is `.key_by(|record| …).dedup_first()`; of equal records `.distinct()`"),
    (&["unique"], "write `.distinct()`"),
    (&["process_function", "keyed_process", "key_process", "process_with_state", "on_timer", "on_event", "process_keyed"], "write `.key_by(|record| …).process({ on_event(|event, ctx| …); })`"),
    (&["feedback", "loop", "cycle"], "a loop is `.iterate(rounds = n, |records| …)`; what a key remembers is state: `.key_by(|record| …).process({ … })`"),

    // sinks
    (&["print", "println", "print_to_err", "dump", "show"], "write `.for_each(|record| println!(\"{record:?}\"))`, or `.sink(stdout())` for what is `Display`"),
    (&["add_sink", "sink_to", "write_to", "to_file", "write_to_file", "drain_to", "into_sink", "sink_into", "write"], "write `.sink(csv_file(path))`, with `text_file`, `stdout`, `to_channel` or a sink of your own, or `.for_each(|record| …)`"),
    (&["csv_file", "write_csv", "write_as_csv", "to_csv"], "write `.sink(csv_file(path))`"),
    (&["text_file", "write_text", "write_as_text", "to_text"], "write `.sink(text_file(path))`"),
    (&["json_file", "write_json", "to_json", "write_as_json"], "write `.sink(json_file(path))`, with the feature `json`"),
    (&["stdout"], "write `.sink(stdout())`"),
    (&["to_channel", "send", "send_to"], "write `.sink(to_channel(sender))`"),
    (&["collect_vec", "to_vec", "execute_and_collect", "collect_into", "to_list"], "write `.collect(&collected)`, where `collected: Collected<T>` is made with `Collected::new()`"),
    (&["execute", "run", "start", "execute_async"], "a pipeline is a function that makes a job: end the stream in a sink here, and write `p().run()?` where it is called"),
];

/// What an aggregate is called elsewhere, its name here, and what it takes.
#[rustfmt::skip]
static AGGREGATES: &[(&[&str], &str, &str)] = &[
    (&["mean", "avg", "average"], "mean", "|record| …"),
    (&["variance", "var", "stddev", "std_dev", "stdev"], "variance", "|record| …"),
    (&["first", "first_value"], "first", ""),
    (&["last", "last_value"], "last", ""),
    (&["top_k", "top"], "top_k", "10, |record| …"),
    (&["count_distinct", "approx_count_distinct"], "count_distinct", "|record| …"),
];

/// What stands on streams here, and on windows elsewhere.
#[rustfmt::skip]
static OF_WINDOWS: &[Row] = &[
    (&["process", "apply"], "all records of a window at once are `.process_window((), |w, records| …)`; one value of them is `.aggregate(|a| a.count())`, or `reduce`, `fold`, `count`, `sum`, `min`, `max`"),
    (&["collect"], "write `.aggregate(|a| a.collect())`: a `Vec` of the records of each window"),
];

/// Windows: their names elsewhere, and what to write instead.
#[rustfmt::skip]
static WINDOWS: &[Row] = &[
    (&["tumble", "TumblingEventTimeWindows"], "write `.window(tumbling(1h))`"),
    (&["hop", "hopping", "SlidingEventTimeWindows"], "write `.window(sliding(1h, 5min))`: the size, then the slide"),
    (&["TumblingProcessingTimeWindows"], "write `.window(tumbling(1h, time = processing))`"),
    (&["SlidingProcessingTimeWindows"], "write `.window(sliding(1h, 5min, time = processing))`"),
    (&["session_with_gap", "EventTimeSessionWindows"], "write `.window(session(30min))`"),
    (&["ProcessingTimeSessionWindows"], "write `.window(session(30min, time = processing))`"),
    (&["GlobalWindows"], "write `.window(global())`"),
    (&["cumulate", "cumulative"], "write `.window(tumbling(1d)).trigger(|t| t.early(1h))`: the window so far, every hour"),
];

/// What contexts of processes and windows are asked for elsewhere. The context's name comes before it.
#[rustfmt::skip]
static OF_CONTEXTS: &[Row] = &[
    (&["collect", "send", "forward"], "emit(x)"),
    (&["register_event_time_timer", "register_timer", "add_timer", "set_event_timer"], "set_timer(t)"),
    (&["register_processing_time_timer", "set_clock_timer"], "set_processing_timer(t)"),
    (&["delete_event_time_timer", "cancel_timer", "remove_timer"], "delete_timer(t)"),
    (&["delete_processing_time_timer"], "delete_processing_timer(t)"),
    (&["get_current_key", "current_key", "get_key"], "key()"),
    (&["current_watermark", "get_watermark"], "watermark()"),
    (&["current_processing_time", "processing_time", "get_current_processing_time"], "now()"),
    (&["event_time", "get_timestamp"], "timestamp()"),
    (&["side_output"], "output(side, x)"),
    (&["get_state", "get_map_state", "get_list_state"], ""),
    (&["timer_service"], ""),
];

/// Lower case and without underscores: `keyBy` and `key_by` are one name.
fn plain(name: &str) -> String {
    name.chars().filter(|c| *c != '_').flat_map(char::to_lowercase).collect()
}

/// Whether two names differ in how words are put together only.
pub(crate) fn same(one: &str, other: &str) -> bool {
    plain(one) == plain(other)
}

fn find(table: &[Row], name: &str) -> Option<&'static str> {
    table.iter().find(|(names, _)| names.iter().any(|known| same(known, name))).map(|(_, help)| *help)
}

/// What to write instead of an operator that is called so elsewhere.
pub(crate) fn instead(name: &str) -> Option<&'static str> {
    find(NAMES, name)
}

/// What to write instead of a window that is called so elsewhere.
pub(crate) fn window(name: &str) -> Option<&'static str> {
    find(WINDOWS, name)
}

/// What to call on a context instead; nothing where there is no such call.
pub(crate) fn of_contexts(name: &str) -> Option<&'static str> {
    find(OF_CONTEXTS, name)
}

/// What to write instead of this operator behind a window.
pub(crate) fn of_windows(name: &str) -> Option<&'static str> {
    find(OF_WINDOWS, name)
}

/// The aggregate that is called so elsewhere.
pub(crate) fn aggregate_called(name: &str) -> Option<&'static str> {
    let is_called = |(names, _, _): &&(&[&str], &str, &str)| names.iter().any(|known| same(known, name));
    AGGREGATES.iter().find(is_called).map(|(_, known, _)| *known)
}

/// The aggregate that is called so, as it is written on such a stream. `first()` is one, `first(5)` is not.
pub(crate) fn aggregate(name: &str, args: usize, on: Shape) -> Option<(&'static str, String)> {
    let known = aggregate_called(name)?;
    let (_, _, takes) = AGGREGATES.iter().find(|(_, one, _)| *one == known)?;
    if args > 0 && takes.is_empty() {
        return None;
    }
    let call = format!(".aggregate(|a| a.{known}({takes}))");
    Some(match on {
        Shape::Keyed => (known, format!(".window(tumbling(1h)){call}`, or `.window(global()){call}")),
        _ => (known, call),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_stands_twice() {
        let all: Vec<String> = NAMES.iter().flat_map(|(names, _)| *names).map(|name| plain(name)).collect();
        for (index, name) in all.iter().enumerate() {
            assert!(!all[..index].contains(name), "{name}");
            assert!(crate::ops::OPERATORS.iter().all(|row| plain(row.name) != *name), "{name}");
        }
    }
}
