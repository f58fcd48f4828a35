use flow_core::prelude::*;
use flow_core::source::ChannelSource;

dataflow! {
    #[strict]
    pub fn p(clicks: ChannelSource<u64>) {
        let news = source(clicks).key_by(|user| *user).process({
            let mut seen: bool = false;
            on_event(|user, ctx| {
                if !std::mem::replace(seen, true) {
                    ctx.emit(user);
                }
            });
        });
        news.for_each(|user| println!("{user}"));
    }
}

fn main() {}
