//! What the macro writes for dead letters.

use super::{Part, expanded};
use expect_test::expect;

#[test]
fn dead_letters_are_the_second_of_two_streams() {
    let text = "
        pub fn p(v: Vec<String>) {
            let numbers = source(from_vec(v)).key_by(|s| s.len());
            let (good, dead) = numbers.try_map_or_dead(|s| s.parse::<u64>(), tries = 3);
            good.for_each(|n| println!(\"{n}\"));
            dead.for_each(|d| println!(\"{d:?}\"));
        }
    ";
    expect![[r#"
        pub fn p(v: Vec<String>) -> ::flow_core::Job {
            let mut __job = begin("p");
            scope("numbers");
            let numbers = source(from_vec(v)).key_by(move |s| s.len());
            scope("good");
            let __good_and_sides = numbers
                .unkeyed()
                .try_map_or_dead(move |s| s.parse::<u64>())
                .tries(3);
            let (good, dead) = __good_and_sides.roots();
            scope("good");
            let __end_1 = good.for_each(move |n| println!("{n}"));
            scope("dead");
            let __end_2 = dead.for_each(move |d| println!("{d:?}"));
            let __end_3 = __good_and_sides.fork((__end_1, __end_2));
            __job.add(__end_3);
            __job
        }
    "#]]
    .assert_eq(&expanded(text, Part::Pipeline));
}
