//! What is in the checkpoints of a job: a list, the state as lines of JSON, and lines of JSON as a savepoint.

use flow_core::checkpoint::{Snapshot, import, read};
use flow_examples::Stop;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const HELP: &str = "
state DIR [--at N] [--lines] [--import FILE]

What is in the checkpoints of a job, which lie in DIR. Nothing is changed, and the job may run meanwhile.

  DIR            the folder of checkpoints; without more it is told what is in the newest
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
            return Err(Stop::Arguments("the folder of checkpoints is missing".to_owned()));
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
