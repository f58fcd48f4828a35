//! Chains: what stands where, and what is in the parentheses.

use crate::diag::Message;
use crate::ops::Operator;
use proc_macro2::Ident;

pub(crate) fn goes_nowhere(last: Option<&str>) -> Message {
    let what = match last {
        Some(last) => format!("the stream behind `{last}` goes nowhere"),
        None => "this stream goes nowhere".to_owned(),
    };
    Message::new(what)
        .help("end it with a sink, as `.for_each(|record| …)`, or give it a name with `let name = …`")
}

pub(crate) fn let_of_terminal(operator: &str) -> Message {
    Message::new(format!("`{operator}` ends the stream: there is nothing to give a name to"))
        .help("write the statement without `let`")
}

pub(crate) fn after_terminal(operator: &str, terminal: &str) -> Message {
    Message::new(format!("`{operator}` stands behind `{terminal}`, which ends the stream"))
        .help(format!("put `{operator}` before `{terminal}`, or give the stream a name and use it twice"))
}

pub(crate) fn few_arguments(operator: &str, least: usize, usage: &str) -> Message {
    Message::new(format!("`{operator}` needs {}", count(least))).help(format!("write `{usage}`"))
}

pub(crate) fn many_arguments(operator: &str, most: usize, usage: &str) -> Message {
    Message::new(
        format!("`{operator}` takes {} only", count(most)).replace("no argument only", "no argument"),
    )
    .help(format!("write `{usage}`"))
}

pub(crate) fn nameless(operator: &str, found: &str, names: &[&str]) -> Message {
    let message =
        Message::new(format!("`{operator}` does not say what `{found}` is: this argument has a name"));
    match names {
        [name] => message.help(format!("write `{name} = {found}`")),
        names => {
            let list: Vec<String> = names.iter().map(|name| format!("`{name} = {found}`")).collect();
            message.help(format!("write one of {}", list.join(", ")))
        }
    }
}

pub(crate) fn not_a_closure(operator: &Operator, found: &str) -> Message {
    Message::new(format!("`{}` takes a closure here, and `{found}` is none", operator.name))
        .help(format!("write `{}`", operator.usage))
}

fn count(arguments: usize) -> String {
    match arguments {
        0 => "no argument".to_owned(),
        1 => "one argument".to_owned(),
        2 => "two arguments".to_owned(),
        more => format!("{more} arguments"),
    }
}

pub(crate) fn unknown_named(operator: &str, name: &Ident, has: &[&str], meant: Option<&str>) -> Message {
    let list = has.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let text = Message::new(format!("`{operator}` has no argument `{name}`"));
    match (meant, has.is_empty()) {
        (Some(meant), _) => text.help(format!("did you mean `{meant}`? it has: {list}")),
        (None, true) => text.help("it has no named arguments"),
        (None, false) => text.help(format!("it has: {list}")),
    }
}

pub(crate) fn duplicate_named(operator: &str, name: &Ident) -> Message {
    Message::new(format!("`{operator}` is given `{name}` twice")).help("remove one of them")
}

pub(crate) fn missing_named(operator: &Operator, name: &str, question: &str) -> Message {
    let others: Vec<String> =
        operator.one_of.iter().filter(|one| **one != name).map(|one| format!("`{one} = …`")).collect();
    let or =
        if others.is_empty() { String::new() } else { format!("; or say {} instead", others.join(", ")) };
    Message::new(format!("`{}` needs `{name} = …`: {question}", operator.name))
        .help(format!("write `{}`{or}", operator.usage))
}

pub(crate) fn stream_argument(operator: &str, name: &str) -> Message {
    Message::new(format!("`{operator}` takes no stream, but `{name}` is one"))
        .help("bring two streams together with `union` or, by key, with `join` or `connect`")
}

pub(crate) fn fan_in_of_values(operator: &Operator) -> Message {
    let what = if operator.max_args == 1 { "a stream" } else { "streams" };
    Message::new(format!("`{}` takes {what}, and this is none", operator.name))
        .help("make a stream of it: `let other = source(…);`")
}

pub(crate) fn named_in_function(function: &str, name: &Ident) -> Message {
    Message::new(format!("`{function}` is a function, and functions have no named arguments"))
        .help(format!("write `{function}(…).{name}(…)`, if it has such a method"))
}
