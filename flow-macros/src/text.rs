//! Tokens → one line of text with the spaces a person would put, for the pictures of the graph.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

/// Input: the tokens of `|f| f.origin`
/// Output: `|f| f.origin`
pub(crate) fn text(tokens: TokenStream) -> String {
    let mut line = Line::default();
    line.write(tokens);
    line.text
}

/// What stands before the next token.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Last {
    /// Nothing, or what wants the next token close by.
    #[default]
    Open,
    /// A name, a literal or a closed group.
    Operand,
    /// What wants a space behind it, unless the next token sticks to it.
    Spaced,
}

#[derive(Default)]
struct Line {
    text: String,
    last: Last,
    /// Between the two `|` of a closure.
    in_params: bool,
}

impl Line {
    fn write(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Ident(word) if crate::ast::holes::is_hole(&word) => {}
                TokenTree::Ident(word) => self.operand(&word.to_string()),
                TokenTree::Literal(literal) => self.operand(&literal.to_string()),
                TokenTree::Punct(punct) => self.punct(punct.as_char(), punct.spacing() == Spacing::Joint),
                TokenTree::Group(group) => self.group(group.delimiter(), group.stream()),
            }
        }
    }

    fn operand(&mut self, word: &str) {
        if self.last != Last::Open {
            self.text.push(' ');
        }
        self.text.push_str(word);
        self.last = Last::Operand;
    }

    fn group(&mut self, delimiter: Delimiter, inner: TokenStream) {
        let (open, close) = match delimiter {
            Delimiter::Parenthesis => ("(", ")"),
            Delimiter::Bracket => ("[", "]"),
            Delimiter::Brace => ("{ ", " }"),
            Delimiter::None => ("", ""),
        };
        if self.last == Last::Spaced || (self.last == Last::Operand && delimiter == Delimiter::Brace) {
            self.text.push(' ');
        }
        self.text.push_str(open);
        self.last = Last::Open;
        self.write(inner);
        self.text.push_str(close);
        self.last = Last::Operand;
    }

    fn punct(&mut self, punct: char, joint: bool) {
        let binary = self.last == Last::Operand;
        match punct {
            '|' if self.in_params || !binary => {
                self.space_before(self.last == Last::Spaced);
                self.text.push('|');
                self.last = if self.in_params { Last::Spaced } else { Last::Open };
                self.in_params = !self.in_params;
            }
            ',' | ';' | ':' => {
                self.text.push(punct);
                let path = punct == ':' && (joint || self.text.ends_with("::"));
                self.last = if path { Last::Open } else { Last::Spaced };
            }
            '.' | '?' | '<' | '>' | '\'' | '#' | '$' => {
                self.space_before(self.last == Last::Spaced);
                self.text.push(punct);
                self.last = if punct == '?' || punct == '>' { Last::Operand } else { Last::Open };
            }
            '!' | '&' | '*' | '-' if !binary => {
                self.space_before(self.last == Last::Spaced && !self.text.ends_with(['&', '*']));
                self.text.push(punct);
                self.last = Last::Open;
            }
            '!' if !joint => {
                self.text.push('!');
                self.last = Last::Open;
            }
            _ => {
                self.space_before(binary);
                self.text.push(punct);
                self.last = if joint { Last::Open } else { Last::Spaced };
            }
        }
    }

    fn space_before(&mut self, wanted: bool) {
        if wanted {
            self.text.push(' ');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::text;

    fn check(source: &str) {
        assert_eq!(text(source.parse().expect("rust tokens")), source);
    }

    #[test]
    fn closures_and_calls() {
        check("|f| f.origin");
        check("|f| (f.a, f.b.clone())");
        check("|(a, b)| a + b * 2");
        check("|w: &Word| w.text.len()");
        check("|&x| x % 8");
    }

    #[test]
    fn references_paths_and_blocks() {
        check("|f| &f.origin");
        check("|_| { let x = std::mem::size_of(); !x }");
        check("|f| format!(\"{f}\")");
        check("|e| e.a == e.b");
    }
}
