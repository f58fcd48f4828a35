//! Half-typed pipelines keep their types: rust-analyzer is asked what it would complete. Skipped where it is not
//! installed; `flow-macros` tests the expansion of such text in any case.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// Loading the crate, with the build of the macro, takes the most of it.
const SECONDS_MAX: u64 = 300;

/// `¦1` is a cursor.
const TEXT: &str = r#"use flow_core::prelude::*;

#[derive(Clone, Debug)]
pub struct Ride { pub driver: u64, pub began: i64, pub fare: f64 }

dataflow! {
    pub fn half_typed(rides: Vec<Ride>) {
        let timed = source(from_vec(rides)).filter(|ride| ride.¦1).event_time(|ride| ride.began, disorder = 5s);
        let hourly = timed.key_by(|ride| ride.¦2).window(tumbling(1h), late = drop).aggregate(|a| a.mean(|ride| ride.¦3));
        hourly.for_each(|row| println!("{}", row.¦4));
    }
    pub fn unfinished(rides: Vec<Ride>) {
        let rides = source(from_vec(rides)).¦5
        let fares = source(from_vec(vec![1.5])).map(|fare| fare);
        fares.for_each(|fare| println!("{fare}"));
    }
}

pub fn expression(rides: Vec<Ride>, least: f64) {
    let _ = dataflow! {
        let long = source(from_vec(rides)).filter(|ride| ride.fare > least);
        long.for_each(|ride| drop(ride.¦6));
    };
}
"#;

#[test]
fn rust_analyzer_completes_in_half_typed_pipelines() {
    let version = Command::new("rust-analyzer").arg("--version").output();
    if !version.is_ok_and(|output| output.status.success()) {
        eprintln!("rust-analyzer is not installed: skipped");
        return;
    }
    let (send, receive) = mpsc::sync_channel(1);
    std::thread::spawn(move || send.send(completions()));
    let found =
        receive.recv_timeout(Duration::from_secs(SECONDS_MAX)).expect("rust-analyzer answers in time");
    let fields = ["driver", "began", "fare"];
    let expected: [&[&str]; 6] =
        [&fields, &fields, &fields, &["key", "start", "end", "value"], &["map", "key_by", "sink"], &fields];
    for (cursor, (labels, expected)) in found.iter().zip(expected).enumerate() {
        for label in expected {
            assert!(labels.iter().any(|one| one == label), "`{label}` at cursor {}: {labels:?}", cursor + 1);
        }
    }
    assert_eq!(found.len(), 6);
}

/// What is offered at each cursor.
fn completions() -> Vec<Vec<String>> {
    let (text, cursors) = without_cursors(TEXT);
    let file = project(&text);
    let mut server = Server::start(&file, &text);
    let labels = cursors.iter().map(|(line, column)| server.complete(*line, *column)).collect();
    server.process.kill().expect("it runs");
    server.process.wait().expect("it was started");
    labels
}

/// The text, and line and column of each cursor in it.
fn without_cursors(text: &str) -> (String, Vec<(usize, usize)>) {
    let mut cursors = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let mut parts = line.split('¦');
        let mut column = parts.next().unwrap_or_default().chars().count();
        for part in parts {
            cursors.push((number, column));
            column += part.chars().count() - 1;
        }
    }
    let mut out = text.to_owned();
    (1..=cursors.len()).for_each(|number| out = out.replace(&format!("¦{number}"), ""));
    (out, cursors)
}

/// A crate of its own around the text.
fn project(text: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("completion");
    let core = Path::new(env!("CARGO_MANIFEST_DIR")).join("../flow-core");
    std::fs::create_dir_all(folder.join("src")).expect("the target folder is writable");
    let manifest = format!(
        "[package]\nname = \"half\"\nedition = \"2024\"\n[workspace]\n[dependencies]\nflow-core = {{ path = {core:?} }}\n"
    );
    std::fs::write(folder.join("Cargo.toml"), manifest).expect("the folder is writable");
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.lock");
    std::fs::copy(lock, folder.join("Cargo.lock")).expect("the workspace has a lock file");
    let file = folder.join("src/lib.rs");
    std::fs::write(&file, text).expect("the folder is writable");
    file
}

/// The language server, spoken to in as little of its protocol as the test needs.
struct Server {
    process: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    uri: String,
    asked: usize,
}

impl Server {
    fn start(file: &Path, text: &str) -> Self {
        let folder = file.ancestors().nth(2).expect("src/lib.rs in a folder");
        let mut process = Command::new("rust-analyzer")
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it answered before");
        let to = process.stdin.take().expect("piped");
        let from = BufReader::new(process.stdout.take().expect("piped"));
        let uri = format!("file://{}", file.display());
        let mut server = Server { process, to, from, uri: uri.clone(), asked: 0 };
        server.ask(
            "initialize",
            &format!(
                r#"{{"processId":null,"rootUri":"file://{}","capabilities":{{"experimental":{{"serverStatusNotification":true}}}},"initializationOptions":{{"checkOnSave":false,"cachePriming":{{"enable":false}}}}}}"#,
                folder.display()
            ),
        );
        server.tell("initialized", "{}");
        let document =
            format!(r#"{{"uri":"{uri}","languageId":"rust","version":1,"text":"{}"}}"#, escaped(text));
        server.tell("textDocument/didOpen", &format!(r#"{{"textDocument":{document}}}"#));
        while !server.receive().contains(r#""quiescent":true"#) {}
        server
    }

    /// The labels offered at a place.
    fn complete(&mut self, line: usize, column: usize) -> Vec<String> {
        let place = format!(r#"{{"line":{line},"character":{column}}}"#);
        let answer = self.ask(
            "textDocument/completion",
            &format!(r#"{{"textDocument":{{"uri":"{}"}},"position":{place}}}"#, self.uri),
        );
        let labels = answer.split(r#""label":""#).skip(1);
        labels.filter_map(|rest| rest.split('"').next()).map(|label| label.replace("(…)", "")).collect()
    }

    fn ask(&mut self, method: &str, params: &str) -> String {
        self.asked += 1;
        let id = self.asked;
        self.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#));
        loop {
            let message = self.receive();
            if message.contains(&format!(r#""id":{id},"#)) && !message.contains(r#""method":"#) {
                return message;
            }
        }
    }

    fn tell(&mut self, method: &str, params: &str) {
        self.send(&format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#));
    }

    fn send(&mut self, message: &str) {
        write!(self.to, "Content-Length: {}\r\n\r\n{message}", message.len()).expect("it listens");
        self.to.flush().expect("it listens");
    }

    /// The next message; what the server asks gets an empty answer.
    fn receive(&mut self) -> String {
        let mut length = 0;
        loop {
            let mut line = String::new();
            self.from.read_line(&mut line).expect("it speaks");
            match line.trim().strip_prefix("Content-Length: ") {
                Some(number) => length = number.parse().expect("a length"),
                None if line.trim().is_empty() => break,
                None => {}
            }
        }
        assert!(length > 0, "the server has ended");
        let mut body = vec![0; length];
        self.from.read_exact(&mut body).expect("it speaks");
        let message = String::from_utf8(body).expect("it speaks UTF-8");
        if let (true, Some((_, rest))) = (message.contains(r#""method":"#), message.split_once(r#""id":"#)) {
            let id: String = rest.chars().take_while(|c| !matches!(c, ',' | '}')).collect();
            self.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":null}}"#));
        }
        message
    }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
