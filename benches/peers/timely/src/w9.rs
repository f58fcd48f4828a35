//! W9: the components of a graph in a loop. Labels circulate by exchange; the timestamp is the round.

use peer_common::graph::{Adjacency, NODES, both_ways, label_hash};
use peer_common::{Answer, Run};
use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::generic::operator::Operator;
use timely::dataflow::operators::{ConnectLoop, Feedback};

use crate::run::{Builder, paced, part, workers};

const EDGES_PER_ACTIVATION: usize = 1 << 13;

/// Vertex `v` lives on worker `v % workers`. A worker sends in a round only what has changed in the one before, and holds
/// the right to send only while there is such: the loop ends when nobody has any.
pub fn run(run: &Run) -> Answer {
    let n = run.n;
    workers(run, move |worker, out| {
        let (me, peers) = (worker.index() as u32, worker.peers() as u32);
        let edges = part(worker, n).flat_map(both_ways);
        worker.dataflow::<u64, _, _>(|scope| {
            let (handle, cycle) = scope.feedback::<Vec<(u32, u32)>>(1);
            let by_source = Exchange::new(|e: &(u32, u32)| u64::from(e.0));
            let by_target = Exchange::new(|label: &(u32, u32)| u64::from(label.0));
            let spread = paced(scope, edges, EDGES_PER_ACTIVATION)
                .binary_frontier::<_, Builder<(u32, u32)>, _, _, _, _>(
                    cycle,
                    by_source,
                    by_target,
                    "label",
                    |first, _| {
                        let mut edges: Vec<(u32, u32)> = Vec::new();
                        let mut adjacency = None;
                        let mut labels = Labels::new(me, peers);
                        let mut held = Some(first);
                        move |(edges_in, edges_frontier), (labels_in, labels_frontier), output| {
                            edges_in.for_each_stamp(|_, containers| {
                                edges.extend(containers.flat_map(|c| c.drain(..)))
                            });
                            labels_in.for_each_stamp(|stamp, containers| {
                                labels.take(containers.flat_map(|c| c.drain(..)));
                                // What comes early, from a worker a round ahead, goes out with what is held already.
                                if held.is_none() && !labels.changed.is_empty() {
                                    held = Some(stamp.retain_least(0).expect("it has a time"));
                                }
                            });
                            if !edges_frontier.is_empty() {
                                return;
                            }
                            let adjacency = adjacency.get_or_insert_with(|| {
                                let edges = std::mem::take(&mut edges);
                                Adjacency::new(labels.of.len(), || {
                                    edges.iter().map(|(from, to)| ((*from / peers) as usize, *to))
                                })
                            });
                            if let Some(capability) = held.take_if(|held| {
                                // Have all labels of this round come?
                                *held.time() == 0 || !labels_frontier.less_than(&(*held.time() + 1))
                            }) {
                                let mut session = output.session(&capability);
                                for at in labels.changed.drain(..) {
                                    labels.is_changed[at] = false;
                                    let label = labels.of[at];
                                    session.give_iterator(adjacency.of(at).iter().map(|to| (*to, label)));
                                }
                            }
                            if labels_frontier.is_empty() {
                                *out.borrow_mut() = labels.answer();
                            }
                        }
                    },
                );
            spread.connect_loop(handle);
        });
    })
}

/// The labels of this worker's vertices, and which have changed since they were sent.
struct Labels {
    me: u32,
    peers: u32,
    of: Vec<u32>,
    is_changed: Vec<bool>,
    changed: Vec<usize>,
}

impl Labels {
    fn new(me: u32, peers: u32) -> Self {
        let of: Vec<u32> = (me..NODES as u32).step_by(peers as usize).collect();
        Labels { me, peers, is_changed: vec![true; of.len()], changed: (0..of.len()).collect(), of }
    }

    fn take(&mut self, came: impl Iterator<Item = (u32, u32)>) {
        for (vertex, label) in came {
            let at = (vertex / self.peers) as usize;
            if label < self.of[at] {
                self.of[at] = label;
                if !std::mem::replace(&mut self.is_changed[at], true) {
                    self.changed.push(at);
                }
            }
        }
    }

    fn answer(&self) -> Answer {
        let mut answer = Answer::default();
        for (at, label) in self.of.iter().enumerate() {
            answer.add(label_hash(at as u32 * self.peers + self.me, *label));
        }
        answer
    }
}
