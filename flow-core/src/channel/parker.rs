//! Puts a thread to sleep until another one hands it a token.
//!
//! Like the parker of crossbeam-utils with its fast paths left out, which [`Signal`](super::Signal) has itself: it unparks a sleeper
//! only, and looks before it sleeps. By hand because of the crate's share in each clean build.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Instant;

/// Sleeps. One token is kept until it is used.
pub struct Parker(Unparker);

/// Hands the token to its [`Parker`].
#[derive(Clone, Debug)]
pub struct Unparker(Arc<Spot>);

#[derive(Debug)]
struct Spot {
    state: Mutex<State>,
    token: Condvar,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nobody sleeps, and there is no token.
    Empty,
    Sleeping,
    Token,
}

impl Parker {
    /// Without a token.
    pub fn new() -> Self {
        Parker(Unparker(Arc::new(Spot { state: Mutex::new(State::Empty), token: Condvar::new() })))
    }

    /// What wakes it.
    pub fn unparker(&self) -> &Unparker {
        &self.0
    }

    /// Takes the token, waiting for it until `deadline` at most.
    pub fn park_deadline(&self, deadline: Instant) {
        let Spot { state, token } = &*self.0.0;
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        while *state != State::Token {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            *state = State::Sleeping;
            state = token.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        *state = State::Empty;
    }
}

impl Unparker {
    /// Leaves the token; wakes whoever waits for it.
    pub fn unpark(&self) {
        let Spot { state, token } = &*self.0;
        let before =
            std::mem::replace(&mut *state.lock().unwrap_or_else(PoisonError::into_inner), State::Token);
        // A sleeper that runs out of time meanwhile finds the token, and nobody is woken.
        if before == State::Sleeping {
            token.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn parked(parker: &Parker, limit: Duration) -> bool {
        let begin = Instant::now();
        parker.park_deadline(begin + limit);
        begin.elapsed() >= limit
    }

    #[test]
    fn one_token_is_kept() {
        let (parker, short) = (Parker::new(), Duration::from_millis(5));
        parker.unparker().unpark();
        parker.unparker().unpark();
        assert!(!parked(&parker, Duration::from_secs(60)), "the token was there");
        assert!(parked(&parker, short), "it was used");
        parker.unparker().unpark();
        parker.park_deadline(Instant::now());
        assert!(parked(&parker, short), "it was used, although there was no time left");
    }

    #[test]
    fn a_sleeper_is_woken() {
        let (here, there) = (Parker::new(), Parker::new());
        let (to_here, to_there) = (here.unparker().clone(), there.unparker().clone());
        let late = Instant::now() + Duration::from_secs(60);
        let thread = std::thread::spawn(move || {
            for _ in 0..1000 {
                there.park_deadline(late);
                to_here.unpark();
            }
        });
        for _ in 0..1000 {
            to_there.unpark();
            here.park_deadline(late);
        }
        thread.join().unwrap();
        assert!(Instant::now() < late);
    }
}
