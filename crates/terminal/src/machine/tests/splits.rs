//! However output is cut into reads, the same things come of it.

use proptest::prelude::*;

use super::*;

fn piece() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => "[a-z ]{0,30}".prop_map(String::into_bytes),
        1 => Just("你好 é 👩‍👩‍👧‍👦".as_bytes().to_vec()),
        1 => Just(b"\r\n".to_vec()),
        1 => Just(b"\x1b[1;31m".to_vec()),
        1 => Just(b"\x1b[6n\x1b[c".to_vec()),
        1 => Just(b"\x1b]0;title\x07".to_vec()),
        1 => Just(b"\x1b[?1h\x1b[?2004h".to_vec()),
        1 => Just(b"\x1b[?2026hframe\x1b[?2026l".to_vec()),
        1 => Just(b"\x1b[?2026h".to_vec()),
        1 => (1..20_u8, 1..60_u8).prop_map(|(row, col)| format!("\x1b[{row};{col}H").into_bytes()),
    ]
}

/// What came of the output: how waits ended, the screen, what the program got, what viewers got.
fn run(output: &[u8], cuts: &[usize]) -> impl PartialEq + std::fmt::Debug + use<> {
    let mut sim = Sim::new();
    sim.machine.watch(WatcherId(1), Some(0));
    let calls = [
        sim.types("x", &[], quiet()),
        sim.waits(present("MARKER")),
        sim.waits(within(600, quiet())),
        sim.waits(within(300, for_exit())),
    ];
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (output.len() + 1)).collect();
    cuts.extend([0, output.len()]);
    cuts.sort_unstable();
    for pair in cuts.windows(2) {
        sim.machine.output(sim.now, &output[pair[0]..pair[1]]);
        sim.settle();
    }
    sim.pass(ms(20_000));
    let screen = sim.machine.screen();
    sim.exits(0);
    let waits = calls.map(|call| {
        let details = sim.answer(call).unwrap();
        (details.wait.unwrap(), details.input)
    });
    let viewed: Vec<u8> = sim
        .feeds
        .iter()
        .flat_map(|(_, feed)| match feed {
            Feed::Chunk { bytes, .. } => bytes.to_vec(),
            _ => Vec::new(),
        })
        .collect();
    (waits, screen, sim.writes.concat(), viewed)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn b25_any_split_of_the_output_gives_the_same_screens_and_outcomes(
        pieces in prop::collection::vec(piece(), 0..20),
        has_marker in any::<bool>(),
        cuts in prop::collection::vec(any::<usize>(), 0..30),
    ) {
        let mut output = pieces.concat();
        if has_marker {
            output.extend_from_slice(b"\x1b[?2026l\x1b[24;1HMARKER");
        }
        prop_assert_eq!(run(&output, &[]), run(&output, &cuts));
    }
}
