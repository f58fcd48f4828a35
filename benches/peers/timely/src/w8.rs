//! W8: PageRank in a loop. Shares of rank circulate by exchange; the timestamp is the round.

use std::collections::BTreeMap;

use peer_common::graph::{Adjacency, FIRST_RANK, NODES, ROUNDS, damp, edge, rank_hash};
use peer_common::{Answer, Run};
use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::generic::operator::Operator;
use timely::dataflow::operators::{ConnectLoop, Feedback};

use crate::run::{Builder, paced, part, workers};

const EDGES_PER_ACTIVATION: usize = 1 << 13;

/// Vertex `v` lives on worker `v % workers`.
pub fn run(run: &Run) -> Answer {
    let n = run.n;
    workers(run, move |worker, out| {
        let (me, peers) = (worker.index() as u64, worker.peers() as u64);
        let edges = part(worker, n).map(edge);
        worker.dataflow::<u64, _, _>(|scope| {
            let (handle, cycle) = scope.feedback::<Vec<(u32, u64)>>(1);
            let by_source = Exchange::new(|e: &(u32, u32)| u64::from(e.0));
            let by_target = Exchange::new(|share: &(u32, u64)| u64::from(share.0));
            let shares = paced(scope, edges, EDGES_PER_ACTIVATION)
                .binary_frontier::<_, Builder<(u32, u64)>, _, _, _, _>(
                    cycle,
                    by_source,
                    by_target,
                    "rank",
                    |first, _| {
                        let mut edges: Vec<(u32, u32)> = Vec::new();
                        let mut adjacency = None;
                        let mut ranks = Ranks::new(me, peers);
                        let mut capability = Some(first);
                        move |(edges_in, edges_frontier), (shares_in, shares_frontier), output| {
                            edges_in.for_each_stamp(|_, containers| {
                                edges.extend(containers.flat_map(|c| c.drain(..)))
                            });
                            shares_in.for_each_stamp(|stamp, containers| {
                                let round = *stamp.retain_least(0).expect("it has a time").time();
                                ranks.take(round, containers.flat_map(|c| c.drain(..)));
                            });
                            if !edges_frontier.is_empty() {
                                return;
                            }
                            let adjacency = adjacency.get_or_insert_with(|| {
                                let edges = std::mem::take(&mut edges);
                                Adjacency::new(ranks.len(), || {
                                    edges.iter().map(|(from, to)| ((u64::from(*from) / peers) as usize, *to))
                                })
                            });
                            while let Some(held) = &mut capability {
                                let round = *held.time();
                                if round > 0 {
                                    // Have all shares of this round come?
                                    if shares_frontier.less_than(&(round + 1)) {
                                        return;
                                    }
                                    ranks.close(round);
                                }
                                if round == ROUNDS {
                                    *out.borrow_mut() = ranks.answer();
                                    capability = None;
                                    return;
                                }
                                let mut session = output.session(held);
                                for (v, rank) in ranks.ranks.iter().enumerate() {
                                    let targets = adjacency.of(v);
                                    if !targets.is_empty() {
                                        let share = rank / targets.len() as u64;
                                        session.give_iterator(targets.iter().map(|to| (*to, share)));
                                    }
                                }
                                drop(session);
                                held.downgrade(&(round + 1));
                            }
                        }
                    },
                );
            shares.connect_loop(handle);
        });
    })
}

/// The ranks of this worker's vertices, and the shares that came for rounds that are not yet complete.
struct Ranks {
    me: u64,
    peers: u64,
    ranks: Vec<u64>,
    sums: BTreeMap<u64, Vec<u64>>,
}

impl Ranks {
    fn new(me: u64, peers: u64) -> Self {
        let len = ((NODES + peers - 1 - me) / peers) as usize;
        Ranks { me, peers, ranks: vec![FIRST_RANK; len], sums: BTreeMap::new() }
    }

    fn len(&self) -> usize {
        self.ranks.len()
    }

    fn take(&mut self, round: u64, shares: impl Iterator<Item = (u32, u64)>) {
        let len = self.ranks.len();
        let sums = self.sums.entry(round).or_insert_with(|| vec![0; len]);
        for (to, share) in shares {
            sums[(u64::from(to) / self.peers) as usize] += share;
        }
    }

    fn close(&mut self, round: u64) {
        let sums = self.sums.remove(&round).unwrap_or_else(|| vec![0; self.ranks.len()]);
        for (rank, sum) in self.ranks.iter_mut().zip(sums) {
            *rank = damp(sum);
        }
    }

    fn answer(&self) -> Answer {
        let mut answer = Answer::default();
        for (at, rank) in self.ranks.iter().enumerate() {
            answer.add(rank_hash(at as u64 * self.peers + self.me, *rank));
        }
        answer
    }
}
