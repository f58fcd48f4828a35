//! The names of the files, which say what they are.
//!
//! The epoch is in them, so that a process that another has taken over from cannot write into, replace or remove a file of its
//! successor's, whatever it still does.

use std::fmt;

/// A file of a checkpoint's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Name {
    pub kind: Kind,
    pub at: At,
}

/// When a file was written. The order is that in which checkpoints supersede one another: what a new opening of the folder writes
/// supersedes whatever older ones still may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct At {
    pub epoch: u64,
    pub id: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    State,
    Manifest,
    /// A manifest that has not been renamed: it is none.
    Temp,
}

/// The highest number in a name: there are as many above it, so that none that is given has no successor.
const NUMBER_MAX: u64 = u64::MAX >> 1;

impl Kind {
    fn ending(self) -> &'static str {
        match self {
            Self::State => "state",
            Self::Manifest => "manifest",
            Self::Temp => "manifest.tmp",
        }
    }
}

impl Name {
    pub fn new(kind: Kind, at: At) -> Self {
        Name { kind, at }
    }

    /// What a file of this name is; `None` for one that is none of ours: a number that nobody can count up to is not, either.
    pub fn parse(name: &str) -> Option<Name> {
        let (numbers, ending) = name.strip_prefix("chk-")?.split_once('.')?;
        let (id, epoch) = numbers.split_once('-')?;
        let kind = [Kind::State, Kind::Manifest, Kind::Temp].into_iter().find(|k| k.ending() == ending)?;
        let parsed = Name { kind, at: At { id: id.parse().ok()?, epoch: epoch.parse().ok()? } };
        // `+7` and `007` are numbers too, but no names.
        (parsed.to_string() == name && parsed.at.id.max(parsed.at.epoch) <= NUMBER_MAX).then_some(parsed)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "chk-{}-{}.{}", self.at.id, self.at.epoch, self.kind.ending())
    }
}

#[test]
fn names_say_what_they_are() {
    for kind in [Kind::State, Kind::Manifest, Kind::Temp] {
        let name = Name::new(kind, At { id: 7, epoch: NUMBER_MAX });
        assert_eq!(Name::parse(&name.to_string()), Some(name));
    }
    for other in
        ["lock", "chk-7-1", "chk-+7-1.state", "chk-07-1.state", "chk-7.state", "chk-7-1.state.tmp", ""]
    {
        assert_eq!(Name::parse(other), None, "{other}");
    }
    // As foreign as these.
    for number in [NUMBER_MAX + 1, u64::MAX] {
        assert_eq!(Name::parse(&format!("chk-{number}-1.state")), None);
        assert_eq!(Name::parse(&format!("chk-1-{number}.state")), None);
    }
    assert!(At { epoch: 2, id: 7 } > At { epoch: 1, id: 8 });
}
