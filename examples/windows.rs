//! Count, sum, smallest and largest value per key and window, for each kind of window.

use flow_core::prelude::*;
use flow_examples::{Args, Stop};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::process::ExitCode;

const HELP: &str = "
windows [INPUT…] [--kind KIND] [options] [-o FILE] [--late FILE] [-p N]

Count, sum, smallest and largest value of each key and window, as CSV.

  INPUT…         CSV with the columns ts, key and value, each file a source of its own, `-` for standard input; a sample unless given
  --kind KIND    tumbling (unless given), sliding, session or count
  --size N       how long a window is: 1000 ms unless given; of count windows how many elements it has
  --slide N      sliding, count: from one window to the next, in ms or elements; of count windows the size unless given
  --gaps         sliding, count: the slide may be longer than the size; what lies in between is in no window
  --exact        count: windows that are not full at the end are left out
  --gap N        session: the longest distance of neighbours, in ms
  --offset N     tumbling, sliding: moves the boundaries, in ms; may be negative; 0 unless given
  --lateness N   all but count: for so long after its end a window takes elements and fires again; 0 unless given
  --disorder N   how far out of order elements may be, in ms; 0 unless given
  -o FILE        where the result goes, instead of standard output
  --late FILE    where elements go that came too late for their window, as CSV; they are counted in any case
  -p N           instances behind an exchange; 1 unless given

The report of the job goes to standard error.
";

const ROW: [&str; 7] = ["key", "start", "end", "count", "sum", "min", "max"];
const EVENT: [&str; 3] = ["ts", "key", "value"];

#[derive(Clone, Debug, Deserialize, Serialize)]
struct Event {
    ts: i64,
    key: ShortString,
    value: i64,
}

/// What to read, how far out of order it is, and where results and late elements go.
#[derive(Clone)]
struct Files {
    events: Vec<PathBuf>,
    disorder: Millis,
    rows: PathBuf,
    late: PathBuf,
}

dataflow! {
    /// Windows of `size`, one after the other.
    pub fn tumbling_windows(files: Files, size: Millis, offset: Millis, lateness: Millis) {
        let events = source(csv::<Event>(files.events)).event_time(|e| e.ts, disorder = files.disorder);
        let (rows, late) = events
            .key_by_ref(|e| &e.key)
            .window(tumbling(size, offset = offset), lateness = lateness, late = side)
            .aggregate(|a| (a.count(), a.sum(|e| e.value), a.min(|e| e.value), a.max(|e| e.value)));
        rows.sink(csv_file(files.rows).header(&ROW));
        late.map(|late| late.value).sink(csv_file(files.late).header(&EVENT));
    }

    /// Windows of `size`, one each `slide`.
    pub fn sliding_windows(files: Files, size: Millis, slide: Millis, offset: Millis, gaps: bool, lateness: Millis) {
        let events = source(csv::<Event>(files.events)).event_time(|e| e.ts, disorder = files.disorder);
        let (rows, late) = events
            .key_by_ref(|e| &e.key)
            .window(sliding(size, slide, offset = offset, gaps = gaps), lateness = lateness, late = side)
            .aggregate(|a| (a.count(), a.sum(|e| e.value), a.min(|e| e.value), a.max(|e| e.value)));
        rows.sink(csv_file(files.rows).header(&ROW));
        late.map(|late| late.value).sink(csv_file(files.late).header(&EVENT));
    }

    /// Sessions: elements of a key that are at most `gap` apart.
    pub fn sessions(files: Files, gap: Millis, lateness: Millis) {
        let events = source(csv::<Event>(files.events)).event_time(|e| e.ts, disorder = files.disorder);
        let (rows, late) = events
            .key_by_ref(|e| &e.key)
            .window(session(gap), lateness = lateness, late = side)
            .aggregate(|a| (a.count(), a.sum(|e| e.value), a.min(|e| e.value), a.max(|e| e.value)));
        rows.sink(csv_file(files.rows).header(&ROW));
        late.map(|late| late.value).sink(csv_file(files.late).header(&EVENT));
    }

    /// Windows of `size` elements of a key, in the order of arrival: none is late.
    pub fn count_windows(files: Files, size: u64, every: u64, exact: bool, gaps: bool) {
        let events = source(csv::<Event>(files.events)).event_time(|e| e.ts, disorder = files.disorder);
        let rows = events
            .key_by_ref(|e| &e.key)
            .window(count(size, every = every, exact = exact, gaps = gaps))
            .aggregate(|a| (a.count(), a.sum(|e| e.value), a.min(|e| e.value), a.max(|e| e.value)));
        rows.sink(csv_file(files.rows).header(&ROW));
        let late = source(from_vec(Vec::<Event>::new()));
        late.sink(csv_file(files.late).header(&EVENT));
    }
}

/// The job that the arguments ask for, once it is known what to read and to write.
fn job(args: &mut Args) -> Result<Box<dyn FnOnce(Files) -> Job>, Stop> {
    let kind = args.value("--kind")?.unwrap_or_else(|| "tumbling".to_owned());
    let size = args.value("--size")?.unwrap_or(1000);
    let (slide, gap) = (args.value("--slide")?, args.value("--gap")?);
    let offset = Millis(args.value("--offset")?.unwrap_or(0));
    let lateness = Millis(args.value("--lateness")?.unwrap_or(0));
    let (gaps, exact) = (args.flag("--gaps"), args.flag("--exact"));

    let given = |value: Option<i64>, name| {
        value.map(Millis).ok_or_else(|| Stop::Arguments(format!("--kind {kind} needs {name} N")))
    };
    let elements = |n| u64::try_from(n).map_err(|_| Stop::Arguments(format!("{n} is no number of elements")));
    Ok(match kind.as_str() {
        "tumbling" => Box::new(move |files| tumbling_windows(files, Millis(size), offset, lateness)),
        "sliding" => {
            let slide = given(slide, "--slide")?;
            Box::new(move |files| sliding_windows(files, Millis(size), slide, offset, gaps, lateness))
        }
        "session" => {
            let gap = given(gap, "--gap")?;
            Box::new(move |files| sessions(files, gap, lateness))
        }
        "count" => {
            let (size, every) = (elements(size)?, elements(slide.unwrap_or(size))?);
            Box::new(move |files| count_windows(files, size, every, exact, gaps))
        }
        _ => return Err(Stop::Arguments(format!("--kind {kind}: give tumbling, sliding, session or count"))),
    })
}

fn main() -> ExitCode {
    flow_examples::main(HELP, |mut args| {
        let parallelism = args.parallelism()?;
        let job = job(&mut args)?;
        let disorder = Millis(args.value("--disorder")?.unwrap_or(0));
        let (rows, late) = (args.output("-o", "-")?, args.output("--late", "/dev/null")?);
        let files = Files { events: args.inputs(usize::MAX, "delays.csv")?, disorder, rows, late };

        match job(files).parallelism(parallelism).run() {
            Ok(report) => flow_examples::tell(&report),
            // Windows that cannot be: found before anything is read.
            Err(error) if error.kind() == ErrorKind::Plan => return Err(Stop::Arguments(error.to_string())),
            Err(error) => return Err(error.into()),
        }
        Ok(())
    })
}
