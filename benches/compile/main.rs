//! What compiling costs: the budgets, measured in fresh crates that depend on `flow-core` alone, beside timely in the same
//! run.
//!
//! `cargo bench -p flow-benches --bench compile` takes about three minutes on two cores, and says on standard error how far it
//! is, figure by figure. With `--test`, or where it is not called as a bench, it only says what it would do.

mod fresh;
mod programs;

use std::io::Result;
use std::path::{Path, PathBuf};

use fresh::Fresh;
use programs::{FLOW, Program, TIMELY};

/// How often a clean build is repeated, and how often an edit.
const CLEAN_BUILDS: usize = 3;
const EDITS: usize = 5;
/// The lengths of the pipelines whose marginal cost is measured.
const OPERATORS: [usize; 3] = [25, 50, 100];
const CHAIN_CHECKS: usize = 21;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let measure = args.iter().any(|arg| arg == "--bench") && !args.iter().any(|arg| arg == "--test");
    if !measure || std::env::var_os("FLOW_BENCH_SMOKE").is_some() {
        println!(
            "would compile {} and {} ({CLEAN_BUILDS} clean builds, {EDITS} edits)",
            FLOW.name, TIMELY.name
        );
        println!("would check pipelines of {OPERATORS:?} operators, {CHAIN_CHECKS} times each");
        return Ok(());
    }
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(repository.join("target"), PathBuf::from);
    let root = target.join("compile-bench");
    marginal(&root, &repository)?;
    beside_timely(&root, &repository)
}

/// Clean build, rebuild and check of the two word counts.
fn beside_timely(root: &Path, repository: &Path) -> Result<()> {
    let flow = Figures::prepare(root, repository, &FLOW)?;
    let timely = Figures::prepare(root, repository, &TIMELY)?;
    let [mut flow, mut timely] = [flow, timely];
    for round in 0..CLEAN_BUILDS.max(EDITS) {
        flow.round(round)?;
        timely.round(round)?;
    }
    println!("\na word count in a fresh crate, medians in seconds");
    println!("{:<38} {:>7} {:>7} {:>7} {:>7}", "", "flow", "timely", "ratio", "budget");
    let timely_rebuild = median(timely.rebuild);
    row("clean release build", median(flow.clean), median(timely.clean), Some(0.5));
    row("release build after a closure's edit", median(flow.rebuild), timely_rebuild, Some(0.2));
    let check = median(flow.check);
    // A check of either is hardly more than cargo's own time, so the budget is a part of the time timely's user waits.
    row("check after an edit / timely's build", check, timely_rebuild, Some(0.1));
    row("check after an edit / timely's check", check, median(timely.check), None);
    Ok(())
}

/// The marginal cost of the operators 50 to 100 against that of 25 to 50, by `cargo check` of a text that is new.
fn marginal(root: &Path, repository: &Path) -> Result<()> {
    let chain = Fresh::new(root, "chain", &dependencies(&FLOW, repository))?;
    chain.write(&programs::chain(1, 0))?;
    chain.fetch()?;
    let mut checks = OPERATORS.map(|_| Vec::new());
    for edit in 0..=CHAIN_CHECKS as u32 {
        for (operators, times) in OPERATORS.iter().zip(&mut checks) {
            chain.write(&programs::chain(*operators, edit))?;
            let secs = chain.check()?;
            // The first check compiles the library too.
            if edit > 0 {
                times.push(secs);
                eprintln!("check of {operators} operators: {secs:.3} s");
            }
        }
    }
    let [short, middle, long] = checks.map(median);
    println!("cargo check of a pipeline of 25, 50 and 100 operators: {short:.3}, {middle:.3}, {long:.3} s");
    row("operators 50–100 against 25–50", long - middle, middle - short, Some(2.5));
    Ok(())
}

/// The times of one program.
struct Figures {
    program: &'static Program,
    fresh: Fresh,
    edit: u32,
    clean: Vec<f64>,
    rebuild: Vec<f64>,
    check: Vec<f64>,
}

impl Figures {
    fn prepare(root: &Path, repository: &Path, program: &'static Program) -> Result<Figures> {
        let fresh = Fresh::new(root, program.name, &dependencies(program, repository))?;
        fresh.write(&program.text(0))?;
        fresh.fetch()?;
        // Not measured: it checks the dependencies.
        fresh.check()?;
        Ok(Figures { program, fresh, edit: 0, clean: Vec::new(), rebuild: Vec::new(), check: Vec::new() })
    }

    fn round(&mut self, round: usize) -> Result<()> {
        if round < CLEAN_BUILDS {
            self.fresh.clean()?;
            self.clean.push(self.told("clean build", self.fresh.build()?));
        }
        if round < EDITS {
            self.edit()?;
            self.rebuild.push(self.told("build after an edit", self.fresh.build()?));
            self.edit()?;
            self.check.push(self.told("check after an edit", self.fresh.check()?));
        }
        Ok(())
    }

    /// A run that is broken off has shown what it had.
    fn told(&self, what: &str, secs: f64) -> f64 {
        eprintln!("{}: {what}: {secs:.3} s", self.program.name);
        secs
    }

    fn edit(&mut self) -> Result<()> {
        self.edit += 1;
        self.fresh.write(&self.program.text(self.edit))
    }
}

fn dependencies(program: &Program, repository: &Path) -> String {
    let flow_core = repository.join("flow-core");
    program.dependencies.replace("{flow_core}", &flow_core.display().to_string())
}

fn row(what: &str, flow: f64, other: f64, budget: Option<f64>) {
    let ratio = flow / other;
    let verdict = match budget {
        Some(budget) => format!("{budget:>7.2}  {}", if ratio <= budget { "met" } else { "missed" }),
        None => String::new(),
    };
    println!("{what:<38} {flow:>7.3} {other:>7.3} {ratio:>7.3} {verdict}");
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
