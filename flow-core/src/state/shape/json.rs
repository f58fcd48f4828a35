//! JSON: as much of it as state needs. Numbers stay texts until it is known of which type they are, so none loses digits.

use super::{DEPTH_MAX, Fault};
use std::fmt::Write;

/// A value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    /// As it is written.
    Number(String),
    Text(String),
    List(Vec<Json>),
    /// In the order in which it is written.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// The value of a field.
    pub(crate) fn get(&self, name: &str) -> Option<&Json> {
        let Json::Object(fields) = self else { return None };
        fields.iter().find(|field| field.0 == name).map(|field| &field.1)
    }

    /// What it is, for messages.
    pub(crate) fn what(&self) -> String {
        match self {
            Json::Null => "null".into(),
            Json::Bool(flag) => flag.to_string(),
            Json::Number(number) => number.clone(),
            Json::Text(text) => {
                let mut out = String::new();
                let short: String = text.chars().take(20).collect();
                quoted(&short, &mut out);
                out
            }
            Json::List(_) => "a list".into(),
            Json::Object(_) => "an object".into(),
        }
    }
}

/// Appends a text in quotes.
pub(crate) fn quoted(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Reads one value.
///
/// # Errors
/// When the text is none: what is wrong, and at which character.
pub(crate) fn parse(text: &str) -> Result<Json, Fault> {
    let mut parser = Parser { text, at: 0, depth: 0 };
    let value = parser.value().and_then(|value| {
        parser.space();
        if parser.at == text.len() { Ok(value) } else { Err("something follows") }
    });
    value.map_err(|what| {
        let column = text.get(..parser.at).map_or(0, |before| before.chars().count()) + 1;
        format!("it is no JSON: {what} at character {column}")
    })
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

type Parsed<T> = Result<T, &'static str>;

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn next_is(&mut self, byte: u8) -> bool {
        let is = self.peek() == Some(byte);
        self.at += usize::from(is);
        is
    }

    fn value(&mut self) -> Parsed<Json> {
        if self.depth == 2 * DEPTH_MAX {
            return Err("values are nested too deeply");
        }
        self.space();
        self.depth += 1;
        let value = match self.peek() {
            Some(b'{') => self.object(),
            Some(b'[') => self.list(),
            Some(b'"') => self.text().map(Json::Text),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => self.word(),
        };
        self.depth -= 1;
        value
    }

    fn word(&mut self) -> Parsed<Json> {
        for (word, value) in [("null", Json::Null), ("true", Json::Bool(true)), ("false", Json::Bool(false))]
        {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err("a value is missing")
    }

    fn digits(&mut self) -> Parsed<usize> {
        let begin = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at > begin { Ok(self.at - begin) } else { Err("a digit is missing") }
    }

    fn number(&mut self) -> Parsed<Json> {
        let begin = self.at;
        self.next_is(b'-');
        let leading = self.peek() == Some(b'0');
        if self.digits()? > 1 && leading {
            return Err("a number begins with 0");
        }
        if self.next_is(b'.') {
            self.digits()?;
        }
        if self.next_is(b'e') || self.next_is(b'E') {
            let _ = self.next_is(b'+') || self.next_is(b'-');
            self.digits()?;
        }
        Ok(Json::Number(self.text[begin..self.at].to_owned()))
    }

    fn list(&mut self) -> Parsed<Json> {
        self.at += 1;
        let mut all = Vec::new();
        self.space();
        if self.next_is(b']') {
            return Ok(Json::List(all));
        }
        loop {
            all.push(self.value()?);
            self.space();
            if self.next_is(b']') {
                return Ok(Json::List(all));
            }
            if !self.next_is(b',') {
                return Err("`,` or `]` is missing");
            }
        }
    }

    fn object(&mut self) -> Parsed<Json> {
        self.at += 1;
        let mut fields: Vec<(String, Json)> = Vec::new();
        self.space();
        if self.next_is(b'}') {
            return Ok(Json::Object(fields));
        }
        loop {
            self.space();
            if self.peek() != Some(b'"') {
                return Err("a name is missing");
            }
            let name = self.text()?;
            self.space();
            if !self.next_is(b':') {
                return Err("`:` is missing");
            }
            fields.push((name, self.value()?));
            self.space();
            if self.next_is(b'}') {
                return Ok(Json::Object(fields));
            }
            if !self.next_is(b',') {
                return Err("`,` or `}` is missing");
            }
        }
    }

    fn text(&mut self) -> Parsed<String> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let Some(c) = self.text[self.at..].chars().next() else { return Err("a text is not closed") };
            self.at += c.len_utf8();
            match c {
                '"' => return Ok(out),
                '\\' => out.push(self.escaped()?),
                c if c < ' ' => return Err("a text has a control character"),
                c => out.push(c),
            }
        }
    }

    fn escaped(&mut self) -> Parsed<char> {
        let c = self.peek().ok_or("a text is not closed")?;
        self.at += 1;
        Ok(match c {
            b'"' | b'\\' | b'/' => char::from(c),
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'u' => {
                let mut code = self.hex()?;
                // Two of them are one character beyond the first plane.
                if (0xd800..0xdc00).contains(&code) && self.next_is(b'\\') && self.next_is(b'u') {
                    let low = self.hex()?.checked_sub(0xdc00).filter(|low| *low < 0x400);
                    code = 0x10000 + ((code - 0xd800) << 10) + low.ok_or("a character is none")?;
                }
                char::from_u32(code).ok_or("a character is none")?
            }
            _ => {
                self.at -= 1;
                return Err("an escape is none");
            }
        })
    }

    fn hex(&mut self) -> Parsed<u32> {
        let hex =
            self.text.get(self.at..self.at + 4).filter(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()));
        let code = u32::from_str_radix(hex.ok_or("four digits are missing")?, 16);
        self.at += 4;
        code.map_err(|_| "a character is none")
    }
}
