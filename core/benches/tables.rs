//! `cargo bench`: random output tables like those of a census (ages on a line, eleven records a group), on one core.

use std::time::Instant;

use muco_core::cover::{Cover, Problem};
use muco_core::stream::{Key, Step, Stream};
use muco_core::table::Delta;

/// A group of `records` people whose ages span at most `width` years; columns are those years, or the ages there are.
fn problem(stream: &mut Stream, records: usize, width: u64, cover: Cover, in_domain: bool) -> Problem {
    let mut ages: Vec<u64> = (0..records).map(|_| stream.below(width)).collect();
    ages.sort_unstable();
    let rows: Vec<(u64, u64)> = ages.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u64)).collect();
    let (first, last) = (rows[0].0, rows[rows.len() - 1].0);
    let columns: Vec<u64> = if in_domain { (first..=last).collect() } else { rows.iter().map(|row| row.0).collect() };
    let range = (last - first).max(1) as f64;
    Problem {
        multiplicities: rows.iter().map(|row| row.1).collect(),
        distances: rows
            .iter()
            .flat_map(|row| columns.iter().map(move |column| row.0.abs_diff(*column) as f64 / range))
            .collect(),
        own: rows.iter().map(|row| columns.partition_point(|column| *column < row.0)).collect(),
        cover,
    }
}

fn main() {
    let Ok(delta) = Delta::new(1, 6) else { return };
    // Ages within 6 years make tables as large as most of a census, within 14 years twice as large.
    for width in [6, 14] {
        for (name, cover, in_domain) in [
            ("cheapest, observed", Cover::Cheapest, false),
            ("cheapest, domain", Cover::Cheapest, true),
            ("balanced, observed", Cover::Balanced, false),
        ] {
            let mut stream = Stream::new(&Key::new([1; 32]), 0, 0, Step::Generate);
            let problems: Vec<Problem> =
                (0..20_000).map(|_| problem(&mut stream, 11, width, cover, in_domain)).collect();
            let cells: usize = problems.iter().map(|problem| problem.distances.len()).sum();
            let started = Instant::now();
            let solved = problems.iter().filter(|problem| problem.solve(Some(delta)).is_ok()).count();
            let seconds = started.elapsed().as_secs_f64();
            println!("{name}: {solved} tables of {} cells in {seconds:.3} s", cells / problems.len());
        }
    }
}
