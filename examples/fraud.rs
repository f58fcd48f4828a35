//! Large payments right after a tiny one from the same account: state and timers of a key, in the order of event time.

use flow_core::prelude::*;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::process::ExitCode;

const HELP: &str = "
fraud [INPUT] [-o FILE] [--disorder DUR] [-p N]

Payments above 500.00 whose previous payment of the account was below 1.00 and at most a minute earlier, as CSV.

  INPUT           payments as CSV with the header ts,account,amount, ts in ms, `-` for standard input; a sample unless given
  -o FILE         where the result goes, instead of standard output
  --disorder DUR  how far out of order payments may be (500ms, 5s, 15min, 1h, 1d); 1d unless given
  -p N            instances behind an exchange; 1 unless given

Previous is meant in event time, and by place in the file where times are equal. A payment that is further out of
order ends the job. The report of the job goes to standard error.
";

#[derive(Clone, Debug, Deserialize)]
struct Payment {
    ts: i64,
    account: ShortString,
    amount: Amount,
}

/// An amount, and how it is written.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "ShortString")]
struct Amount {
    text: ShortString,
    value: f64,
}

impl TryFrom<ShortString> for Amount {
    type Error = String;
    fn try_from(text: ShortString) -> std::result::Result<Self, String> {
        let value = text.parse().ok().filter(|value: &f64| value.is_finite());
        let value = value.ok_or_else(|| format!("`{text}` is not an amount"))?;
        Ok(Amount { text, value })
    }
}

#[derive(Serialize)]
struct Alert {
    account: ShortString,
    ts: i64,
    amount: ShortString,
}

dataflow! {
    /// Large payments that follow a tiny one go to `report`.
    pub fn fraud(payments: PathBuf, disorder: Millis, report: PathBuf) {
        let payments = source(csv::<Payment>(payments)).event_time(|p| p.ts, disorder = disorder);

        let alerts = payments.key_by(|p| p.account.clone()).process({
            // Payments wait here until those before them have surely come.
            let mut waiting: MapState<i64, Vec<Payment>> = MapState::new();
            #[ttl(2min, on = watermark)]
            let mut tiny: Option<i64> = None;

            on_event(|payment, ctx| {
                if ctx.timestamp() <= ctx.watermark() {
                    return Err(format!("the payment of {} at {} comes too late", payment.account, payment.ts));
                }
                ctx.set_timer(ctx.timestamp());
                waiting.or_insert_with(payment.ts, Vec::new).push(payment);
                Ok(())
            });
            on_timer(|t, ctx| {
                for Payment { ts, account, amount } in waiting.remove(&t.millis()).unwrap_or_default() {
                    if amount.value > 500.0 && tiny.is_some_and(|before| ts - before <= 60_000) {
                        ctx.emit(Alert { account, ts, amount: amount.text });
                    }
                    *tiny = (amount.value < 1.0).then_some(ts);
                }
            });
        });

        alerts.sink(csv_file(report).header(&["account", "ts", "amount"]));
    }
}

fn main() -> ExitCode {
    flow_examples::main(HELP, |mut args| {
        let parallelism = args.parallelism()?;
        let disorder = args.duration("--disorder", "1d")?;
        let report = args.output("-o", "-")?;
        let payments = args.input("payments.csv")?;

        let job = fraud(payments, disorder.into(), report);
        flow_examples::tell(&job.parallelism(parallelism).run()?);
        Ok(())
    })
}
