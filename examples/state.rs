//! What is in the checkpoints of a job: a list, the state as lines of JSON, and lines of JSON as a savepoint.

use flow_core::checkpoint::{Snapshot, import, read};
use flow_core::prelude::*;
use flow_examples::Stop;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const HELP: &str = "
state DIR [--at N] [--lines] [--import FILE]

What is in the checkpoints of a job, which lie in DIR. Nothing is changed, and the job may run meanwhile.

  DIR            the folder of checkpoints; without more it is told what is in the newest, and without a folder
                 what is in one of a small job, in two ways
  --at N         checkpoint N instead
  --lines        its state as lines of JSON, on standard output: one for each operator, and one for each of its entries
  --import FILE  the other way: a savepoint of such lines, in the folder DIR, which has no checkpoints yet; `-` is standard input

A job of the same name goes on from there, so state can be looked at, searched and corrected:

  ledger --state state --out out                   # until Ctrl-C
  state state --lines | grep '\"key\":\"rent\"'
  state state --lines | sed 's/…/…/' | state corrected --import -
  ledger --state corrected --out out
";

fn main() -> ExitCode {
    flow_examples::main(HELP, |mut args| {
        args.help()?;
        let at = args.value::<u64>("--at")?;
        let (lines, from) = (args.flag("--lines"), args.value::<PathBuf>("--import")?);
        let folder = args.inputs(1, "no")?.swap_remove(0);
        if folder == flow_examples::sample("no") {
            return if from.is_some() {
                Err(Stop::Arguments("the folder of checkpoints is missing".to_owned()))
            } else {
                of_a_sample()
            };
        }
        match from {
            Some(_) if lines || at.is_some() => {
                Err(Stop::Arguments("--import stands alone: it makes a checkpoint".to_owned()))
            }
            Some(file) => take_over(&folder, &file),
            None => {
                let reader = read(&folder)?;
                let snapshot = at.map_or_else(|| reader.newest(), |id| reader.at(id))?;
                let all = reader.checkpoints()?.iter().map(|it| it.id.to_string()).collect::<Vec<_>>();
                show(&snapshot, &all.join(", "), lines)
            }
        }
    })
}

/// The checkpoint of a job that is stopped on its way.
fn of_a_sample() -> Result<(), Stop> {
    let folder = std::env::temp_dir().join(format!("flow-state-{}", std::process::id()));
    let job = Job::build("sample", |job| {
        let numbers = source(generate(u64::MAX, |n| n).rate(10_000)).durable().named("numbers");
        job.add(
            numbers
                .key_by(|n| ["zero", "one", "two"][(n % 3) as usize].to_owned())
                .count()
                .named("counts")
                .collect(&Collected::new()),
        );
    });
    let handle = job.checkpoints(Checkpoints::to(&folder)).start()?;
    while handle.metrics().iter().all(|stage| stage.records_in < 100) {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let id = handle.stop_with_savepoint()?;
    handle.join()?;
    let snapshot = read(&folder)?.at(id)?;
    let shown = show(&snapshot, &id.to_string(), false).and_then(|()| show(&snapshot, "", true));
    let removed = std::fs::remove_dir_all(&folder);
    shown?;
    removed.map_err(|error| Stop::Failed(format!("{}: {error}", folder.display())))
}

fn take_over(folder: &Path, file: &Path) -> Result<(), Stop> {
    let lines: Box<dyn Read> =
        if file == Path::new("-") { Box::new(io::stdin()) } else { Box::new(open(file)?) };
    let id = import(folder, BufReader::new(lines))?;
    Ok(writeln!(io::stdout(), "checkpoint {id} in {}", folder.display())?)
}

fn open(file: &Path) -> Result<File, Stop> {
    File::open(file).map_err(|error| Stop::Failed(format!("{}: {error}", file.display())))
}

fn show(snapshot: &Snapshot, all: &str, lines: bool) -> Result<(), Stop> {
    let mut out = BufWriter::new(io::stdout().lock());
    if lines {
        snapshot.export(&mut out)?;
        return Ok(out.flush()?);
    }
    let manifest = snapshot.manifest();
    let what = if manifest.savepoint { "savepoint" } else { "checkpoint" };
    writeln!(out, "{what} {} of the job `{}`; there are {all}", manifest.id, manifest.job)?;
    for operator in &manifest.operators {
        let (id, instances, schema) = (&operator.id, operator.instances, &operator.schema);
        writeln!(out, "{id}: {} bytes of {instances} instances  {schema}", snapshot.bytes(id)?)?;
    }
    Ok(out.flush()?)
}
