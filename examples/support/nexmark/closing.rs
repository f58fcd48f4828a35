//! Auctions until they close: q4, q6 and q9 are about the bids that won.

use super::records::{Auction, Bid};
use flow_core::op::operator::OpError;
use flow_core::prelude::*;

/// Emits each auction with the bid that won it, once no more bids for it can come.
#[derive(Clone)]
pub struct Closing;

/// An auction that has not closed, or not come yet, and the bids for it.
#[derive(Default)]
pub struct Open {
    auction: Option<Auction>,
    bids: Vec<Bid>,
}

type Context<'a> = ProcessContext<'a, i64, (Auction, Bid)>;

impl Process<i64, Either<Auction, Bid>> for Closing {
    type State = Open;
    type Out = (Auction, Bid);
    type Timers = EventTimers;

    fn state(&self) -> Open {
        Open::default()
    }

    fn event(
        &mut self,
        event: Either<Auction, Bid>,
        open: &mut Open,
        ctx: &mut Context<'_>,
    ) -> std::result::Result<(), OpError> {
        match event {
            Either::A(auction) => {
                ctx.set_timer(Timestamp(auction.expires));
                open.auction = Some(auction);
            }
            Either::B(bid) => {
                if open.auction.is_none() {
                    ctx.set_timer(Timestamp(bid.date_time));
                }
                open.bids.push(bid);
            }
        }
        Ok(())
    }

    fn timer(
        &mut self,
        at: Timestamp,
        open: &mut Open,
        ctx: &mut Context<'_>,
    ) -> std::result::Result<(), OpError> {
        match &open.auction {
            // From now on an auction can only begin after these bids were made, which do not count then.
            None => open.bids.retain(|bid| bid.date_time > at.0),
            Some(auction) if auction.expires == at.0 => {
                let open = std::mem::take(open);
                if let Some(won) = open.won() {
                    ctx.emit(won);
                }
            }
            Some(_) => {}
        }
        if open.auction.is_none() && open.bids.is_empty() {
            ctx.clear();
        }
        Ok(())
    }
}

impl Open {
    /// The highest bid; of equal ones the earliest.
    fn won(self) -> Option<(Auction, Bid)> {
        let auction = self.auction?;
        let counts = |bid: &Bid| (auction.date_time..=auction.expires).contains(&bid.date_time);
        let valid = self.bids.into_iter().filter(counts);
        let best = valid.min_by_key(|bid| (-bid.price, bid.date_time, bid.bidder))?;
        Some((auction, best))
    }
}
