//! How slots leave the memory, and come back.

use super::{Away, Form, MORE, Over, SLOTS};
use crate::error::Result;
use crate::state::backend::{Changes, Space};
use crate::state::flight::Flights;
use crate::state::key_slots::{KeySlot, KeySlots};
use crate::state::{Keep, Mode, Only};

impl<K, V, M: Mode> KeySlots<K, V, M> {
    /// Where the job has a state backend: slots that are too many for the memory go to `space`. To be called before anything else; then
    /// [`KeySlots::make_room`] lets slots go, and whoever asks for one gets it back.
    ///
    /// # Errors
    /// When the mode keeps no state.
    pub(crate) fn spill(&mut self, space: Option<Space>, form: Form<V>) -> Result<()>
    where
        K: Keep<M>,
    {
        let Some(space) = space else { return Ok(()) };
        K::kept(|| {
            if let Some(away) = self.away.get() {
                away.0 = Some(Box::new(Over {
                    space,
                    form,
                    write_key: |key, out| key.write(out),
                    read_key: |bytes| K::read(bytes),
                    places: Vec::new(),
                    free: Vec::new(),
                    numbers: Vec::new(),
                    count: 0,
                    used: false,
                    heap: 0,
                    hand: 0,
                    changes: Changes::default(),
                    flights: Flights::new(SLOTS),
                    found: Vec::new(),
                }));
            }
            Ok(())
        })
    }

    /// Before `n` slots are asked for or added: those that are too many for the memory go to the store. Nobody may look at a slot meanwhile, but all
    /// numbers remain.
    #[inline(always)]
    pub(crate) fn make_room(&mut self, n: usize) {
        if self.away.look().is_some_and(|away| away.look().is_some()) {
            self.let_go(n);
        }
    }

    #[cold]
    #[inline(never)]
    fn let_go(&mut self, n: usize) {
        let KeySlots { slots, free, tracked, away, .. } = self;
        let Some(over) = away.get().and_then(Away::on) else { return };
        over.weigh(slots);
        let mut too_many = over.too_many(slots, free.len(), n);
        if too_many == 0 {
            return;
        }
        too_many += MORE + (slots.len() - free.len()) / 64;
        while too_many > 0
            && let Some(place) = over.next_taken(slots)
            && let Some(mut slot) = slots[place].take()
        {
            let number = over.numbers[place];
            let changed = tracked.get().is_none_or(|tracked| tracked.settle(number, &mut slot));
            over.leave(number, &slot, changed);
            free.push(place as u32);
            too_many -= 1;
        }
        over.flush();
        let each = size_of::<Option<KeySlot<K, V>>>();
        if free.len() == slots.len() && slots.capacity() * each > over.space.share.max(2 * n * each) {
            (*slots, *free) = (Vec::with_capacity(n), Vec::new());
            over.numbers = Vec::new();
        }
    }

    /// Where the slot of a number is that may lie in the store: it is taken out.
    #[cold]
    #[inline(never)]
    pub(in crate::state) fn bring(&mut self, number: u32) -> Option<u32> {
        let over = self.away.get()?.on()?;
        if let Some(place) = over.place(number) {
            return Some(place);
        }
        let (key, value, hash, next) = over.take(number)?;
        let marks = self.tracked.get().map(|tracked| tracked.loaded()).unwrap_or_default();
        let place = self.lay(KeySlot { key, value, hash, next, marks });
        self.away.get()?.on()?.lies(number, place);
        Some(place)
    }
}
