//! The cases of "Text and bytes", as rows: bytes in, lines or records or the error out.

#![allow(clippy::unwrap_used, reason = "a test that unwraps fails where it should")]

use flow_core::source::text::{CsvOptions, CsvReader, LineOptions, LineReader, ReadError};
use std::io::Read;

fn lines_of(bytes: &[u8], options: &LineOptions) -> Vec<Result<String, String>> {
    let mut reader = LineReader::new("f", bytes, options);
    let mut out = Vec::new();
    loop {
        match reader.next_line() {
            Ok(None) => return out,
            Ok(Some(line)) => out.push(Ok(line.into_owned())),
            Err(error) => out.push(Err(error.to_string())),
        }
    }
}

type Row = Vec<String>;

fn records_of(bytes: &[u8], options: &CsvOptions) -> Vec<Result<Row, String>> {
    let mut reader: CsvReader<_, Row> = CsvReader::new("f", bytes, options);
    let mut out = Vec::new();
    loop {
        match reader.next_record() {
            Ok(None) => return out,
            Ok(Some(row)) => out.push(Ok(row)),
            Err(error) => out.push(Err(error.to_string())),
        }
    }
}

#[test]
fn lines() {
    let rows: &[(&str, &[u8], &[&str])] = &[
        ("F1", b"a\nb", &["a", "b"]),
        ("F2", b"a\nb\n", &["a", "b"]),
        ("F2", b"", &[]),
        ("F2", b"\n", &[""]),
        ("F2", b"a\n\nb", &["a", "", "b"]),
        ("F3", b"a\r\nb\r\n", &["a", "b"]),
        ("F3", b"a\rb", &["a\rb"]),
        ("F3 one \\r only", b"a\r\r\n", &["a\r"]),
        ("F3 no \\n, so data", b"a\r", &["a\r"]),
        ("F7 in lines", b"\xEF\xBB\xBFa\n\xEF\xBB\xBFb", &["a", "\u{feff}b"]),
        ("F7 nothing else", b"\xEF\xBB\xBF", &[]),
        ("F7 once", b"\xEF\xBB\xBF\xEF\xBB\xBF\n", &["\u{feff}"]),
        ("F7 cut short", b"\xEF\xBB", &["\u{fffd}"]),
    ];
    for (id, bytes, expected) in rows {
        let lossy = LineOptions { lossy: true, ..LineOptions::default() };
        let found: Vec<_> = lines_of(bytes, &lossy).into_iter().map(Result::unwrap).collect();
        assert_eq!(&found, expected, "{id} {bytes:?}");
    }
}

#[test]
fn f11_invalid_utf8() {
    let bytes = b"ok\n\xff\xfe\nafter\n";
    let strict = lines_of(bytes, &LineOptions::default());
    assert_eq!(strict[0].as_deref(), Ok("ok"));
    let error = strict[1].as_ref().unwrap_err();
    assert!(error.starts_with("f: record 2 at byte 3: not valid UTF-8"), "{error}");
    assert_eq!(strict[2].as_deref(), Ok("after"), "reading may go on");
    let lossy = lines_of(bytes, &LineOptions { lossy: true, ..LineOptions::default() });
    assert_eq!(lossy, [Ok("ok".into()), Ok("\u{fffd}\u{fffd}".into()), Ok("after".into())]);
}

/// Gives `ok\n`, then a line of 64 MiB, then `after\n`, without holding it.
fn long_line() -> impl Read {
    (&b"ok\n"[..]).chain(std::io::repeat(b'x').take(64 << 20)).chain(&b"\nafter\n"[..])
}

/// Notes the largest piece asked for: what a reader may have grown its buffer to.
struct Asked<R>(R, usize);
impl<R: Read> Read for Asked<R> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        self.1 = self.1.max(out.len());
        self.0.read(out)
    }
}

#[test]
fn f12_long_line() {
    let mut input = Asked(long_line(), 0);
    let mut reader = LineReader::new("f", &mut input, &LineOptions::default());
    assert_eq!(reader.next_line().unwrap().unwrap(), "ok");
    let error = reader.next_line().unwrap_err().to_string();
    assert_eq!(
        error,
        "f: record 2 at byte 3: longer than the limit of 1048576 bytes; raise the limit with `.line_limit(bytes)`"
    );
    assert_eq!(reader.next_line().unwrap().unwrap(), "after");
    drop(reader);
    assert!(input.1 <= (1 << 20) + 2, "a read of {} bytes", input.1);
}

#[test]
fn limit_is_exact() {
    let options = LineOptions { limit_bytes: 3, ..LineOptions::default() };
    let rows: &[(&[u8], bool)] = &[
        (b"abc\n", true),
        (b"abc\r\n", true),
        (b"abc", true),
        (b"abcd\n", false),
        (b"abc\r", false),
        (b"abcd\r\n", false),
        (b"abc\rd\n", false),
        (b"abcdefghijklmnopqrstuvwxyz\n", false),
    ];
    for (bytes, fits) in rows {
        let found = lines_of(bytes, &options);
        assert_eq!((found.len(), found[0].is_ok()), (1, *fits), "{bytes:?}");
        if bytes.ends_with(b"\n") {
            let found = lines_of(&[bytes, &b"z\n"[..]].concat(), &options);
            assert_eq!((found.len(), found[1].as_deref()), (2, Ok("z")), "{bytes:?}");
        }
    }
}

fn row(fields: &[&str]) -> Result<Row, String> {
    Ok(fields.iter().map(ToString::to_string).collect())
}

#[test]
fn f7_byte_order_mark_before_the_header() {
    #[derive(serde::Deserialize)]
    struct Person {
        id: u32,
        name: String,
    }
    let mut reader = CsvReader::new("f", &b"\xEF\xBB\xBFid,name\n1,Alice\n"[..], &CsvOptions::default());
    let alice: Person = reader.next_record().unwrap().unwrap();
    assert_eq!((alice.id, alice.name.as_str()), (1, "Alice"));
    assert_eq!(reader.offset_bytes(), 11);
    assert!(reader.next_record().unwrap().is_none());
}

#[test]
fn records() {
    let bare = CsvOptions { header: false, ..CsvOptions::default() };
    let rows: &[(&str, &[u8], &[&[&str]])] = &[
        ("F9", b"\"a,b\",\"c\"\"d\",\"e\nf\"\n", &[&["a,b", "c\"d", "e\nf"]]),
        ("F10", b"aaa,bbb,", &[&["aaa", "bbb", ""]]),
        ("CRLF", b"a,b\r\n\"c\",d\r\n", &[&["a", "b"], &["c", "d"]]),
        ("CRLF inside quotes stays", b"\"c\r\nd\",e\r\n", &[&["c\r\nd", "e"]]),
        ("lone \\r is data", b"a\rb,\"c\"\n", &[&["a\rb", "c"]]),
        ("blank lines", b"\n\na,b\n\r\nc,d\n\n", &[&["a", "b"], &["c", "d"]]),
        ("one empty quoted field", b"\"\"\na\n", &[&[""], &["a"]]),
        ("byte order mark, quoted", b"\xEF\xBB\xBF\"a\",b\n", &[&["a", "b"]]),
        ("byte order mark once", b"x,y\n\xEF\xBB\xBF\"a\",\"b\"\n", &[&["x", "y"], &["\u{feff}\"a\"", "b"]]),
        ("quote inside a field", b"a\"b,c\nd,e\n", &[&["a\"b", "c"], &["d", "e"]]),
        ("text behind a closing quote", b"\"a\"b\",c\nd,e\n", &[&["ab\"", "c"], &["d", "e"]]),
    ];
    for (id, bytes, expected) in rows {
        let expected: Vec<_> = expected.iter().map(|fields| row(fields)).collect();
        assert_eq!(records_of(bytes, &bare), expected, "{id}");
    }
}

#[test]
fn broken_records_are_named_and_passed() {
    let rows: &[(&[u8], usize, &str)] = &[
        (b"a,b\n1,2\n3\n4,5\n", 1, "f: record 2 at byte 8: 1 fields where the header has 2"),
        (b"a,b\n1,2\n\n3,4,5\n4,5\n", 1, "f: record 2 at byte 9: 3 fields where the header has 2"),
        (b"a,b\n1,\xff\n4,5\n", 0, "f: record 1 at byte 4: not valid UTF-8"),
        (b"a,b\n1,\"2\n4,5\n", 0, "f: record 1 at byte 4: a quoted field is still open"),
        (b"a,\xff\n4,5\n", 0, "f: header at byte 0: not valid UTF-8"),
    ];
    for (bytes, at, start) in rows {
        let found = records_of(bytes, &CsvOptions::default());
        let error = found[*at].as_ref().unwrap_err();
        assert!(error.starts_with(start), "{error}");
        if !bytes.contains(&b'"') {
            assert_eq!(found.last(), Some(&row(&["4", "5"])), "reading may go on");
        }
    }
}

#[test]
fn fields_that_do_not_fit_the_type() {
    #[derive(serde::Deserialize, Debug)]
    #[expect(dead_code, reason = "only whether it can be made is asked")]
    struct Flight {
        origin: String,
        delay: Option<i32>,
    }
    let next = |bytes: &[u8], options: &CsvOptions| {
        CsvReader::<_, Flight>::new("f", bytes, options).next_record().map_err(|error| error.to_string())
    };
    let strict = CsvOptions::default();
    assert_eq!(
        next(b"origin,delay\nJFK,NA\n", &strict).unwrap_err(),
        "f: record 1 at byte 13: column `delay`: `NA`: invalid digit found in string"
    );
    assert_eq!(
        next(b"from,delay\nJFK,1\n", &strict).unwrap_err(),
        "f: record 1 at byte 11: missing field `origin`; the header is `from,delay`"
    );
    let null = CsvOptions { null: Some("NA".into()), ..strict };
    assert!(matches!(next(b"origin,delay\nJFK,NA\n", &null), Ok(Some(Flight { delay: None, .. }))));
}

#[test]
fn long_record_says_that_a_quote_may_be_missing() {
    let options = CsvOptions { limit_bytes: 10, ..CsvOptions::default() };
    let found = records_of(b"a\n\"xxxxxxxxxxxxxxxx\ny\n", &options);
    let error = found[0].as_ref().unwrap_err();
    assert!(error.starts_with("f: record 1 at byte 2: longer than the limit of 10 bytes and still inside"));
    assert_eq!(found.len(), 1);
}

#[test]
fn input_that_fails_ends() {
    struct Fails;
    impl Read for Fails {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("the disk is gone"))
        }
    }
    let mut reader = LineReader::new("f", (&b"a\nb"[..]).chain(Fails), &LineOptions::default());
    assert_eq!(reader.next_line().unwrap().unwrap(), "a");
    let error = reader.next_line().unwrap_err();
    assert!(matches!(error, ReadError::Io { .. }));
    assert_eq!(error.to_string(), "f: cannot be read: the disk is gone");
    assert!(reader.next_line().unwrap().is_none());
}

#[test]
fn columns_that_are_not_taken_change_nothing() {
    #[derive(serde::Deserialize, Debug, PartialEq)]
    struct Some3 {
        d: String,
        #[serde(rename = "a")]
        first: u32,
        #[serde(default, alias = "c")]
        third: Option<u32>,
    }
    let bytes = b"a,b,c,d,e\n1,x,2,\"p,q\",y\n3,x,,r,\"y\n\"\n4,x,z,r,y\n5,x\n6,x,7,\"s\",y\n";
    let mut reader: CsvReader<_, Some3> = CsvReader::new("f", &bytes[..], &CsvOptions::default());
    let mut next = || reader.next_record().map_err(|error| error.to_string());
    let made = |d: &str, first, third| Ok(Some(Some3 { d: d.into(), first, third }));
    assert_eq!(next(), made("p,q", 1, Some(2)));
    assert_eq!(next(), made("r", 3, None));
    let error = next().unwrap_err();
    assert_eq!(error, "f: record 3 at byte 36: column `c`: `z`: invalid digit found in string");
    assert_eq!(next().unwrap_err(), "f: record 4 at byte 46: 2 fields where the header has 5");
    assert_eq!(next(), made("s", 6, Some(7)));
    assert_eq!(next(), Ok(None));

    #[derive(serde::Deserialize, Debug)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only whether it can be made is asked")]
    struct OnlyA {
        a: u32,
    }
    let mut reader: CsvReader<_, OnlyA> = CsvReader::new("f", &b"a,b\n1,2\n"[..], &CsvOptions::default());
    assert!(reader.next_record().unwrap_err().to_string().contains("unknown field `b`"));
}
