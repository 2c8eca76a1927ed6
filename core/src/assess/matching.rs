//! Matchings of a group's records to its rows, each as likely as the product of its pairs: who is whose, and how surely.

use crate::stream::Stream;

/// The largest group whose posterior is exact: subsets of its rows are enumerated, in 10 ms for 18.
pub const MOST_EXACT: usize = 18;
/// Rounds of the chain above; in each, every record takes part in about three moves.
pub const ROUNDS: usize = 4000;

/// The share of matchings that give row j to record i, weighted; `None` if no matching is possible.
///
/// Forward over subsets of rows, taking records in order, and backward: every marginal comes from the same pass.
pub fn exact_posterior(weights: &[f64], size: usize) -> Option<Vec<f64>> {
    let weights = scaled(weights, size)?;
    let full = (1_usize << size) - 1;
    let row = |record: usize| &weights[record * size..(record + 1) * size];
    let mut forward = vec![0.0; full + 1];
    forward[0] = 1.0;
    for taken in 0..full {
        let record = taken.count_ones() as usize;
        if forward[taken] > 0.0 {
            for j in free(taken, full) {
                forward[taken | 1 << j] += forward[taken] * row(record)[j];
            }
        }
    }
    let total = forward[full];
    if total <= 0.0 || !total.is_finite() {
        return None;
    }
    let mut backward = vec![0.0; full + 1];
    backward[full] = 1.0;
    let mut posterior = vec![0.0; size * size];
    for taken in (0..full).rev() {
        // What no matching reaches needs no way on: in a raw table almost everything.
        if forward[taken] <= 0.0 {
            continue;
        }
        let record = taken.count_ones() as usize;
        let mut sum = 0.0;
        for j in free(taken, full) {
            let rest = row(record)[j] * backward[taken | 1 << j];
            sum += rest;
            posterior[record * size + j] += forward[taken] * rest / total;
        }
        backward[taken] = sum;
    }
    Some(posterior)
}

/// The rows that are not taken.
fn free(taken: usize, full: usize) -> impl Iterator<Item = usize> {
    let mut left = full & !taken;
    std::iter::from_fn(move || {
        let next = (left != 0).then(|| left.trailing_zeros() as usize);
        left &= left.wrapping_sub(1);
        next
    })
}

/// Each record's weights over its largest, which no posterior sees; `None` if a record has no row.
fn scaled(weights: &[f64], size: usize) -> Option<Vec<f64>> {
    let mut scaled = weights.to_vec();
    for row in scaled.chunks_exact_mut(size) {
        let largest = row.iter().copied().fold(0.0, f64::max);
        if largest <= 0.0 {
            return None;
        }
        row.iter_mut().for_each(|weight| *weight /= largest);
    }
    Some(scaled)
}

/// The same by a Markov chain over matchings that starts at `start`: three records at a time deal their rows anew,
/// each of the six ways as likely as it weighs. What is averaged are those shares, not only the way taken. The first
/// fifth of the `rounds` warms up.
pub fn sampled_posterior(weights: &[f64], start: &[usize], rounds: usize, stream: &mut Stream) -> Option<Vec<f64>> {
    const WAYS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let size = start.len();
    let weights = scaled(weights, size)?;
    let mut row_of = start.to_vec();
    let mut sums = vec![0.0; size * size];
    let mut moves = vec![0.0_f64; size];
    for round in 0..rounds * size {
        let three = three_of(size, stream);
        let rows = three.map(|record| row_of[record]);
        let shares = WAYS.map(|way| (0..3).map(|i| weights[three[i] * size + rows[way[i]]]).product::<f64>());
        let total: f64 = shares.iter().sum();
        // A start that nothing explains, until the chain has left it: any way is as good.
        let (shares, total) = if total > 0.0 { (shares, total) } else { ([1.0; 6], 6.0) };
        if round >= rounds * size / 5 {
            for (i, record) in three.iter().enumerate() {
                moves[*record] += 1.0;
                for (way, share) in WAYS.iter().zip(&shares) {
                    sums[record * size + rows[way[i]]] += share / total;
                }
            }
        }
        let mut left = stream.unit() * total;
        let drawn = shares.iter().position(|share| {
            left -= share;
            left < 0.0
        });
        let way = WAYS[drawn.unwrap_or(0)];
        (0..3).for_each(|i| row_of[three[i]] = rows[way[i]]);
    }
    sums.chunks_exact_mut(size).zip(&moves).for_each(|(row, moves)| row.iter_mut().for_each(|p| *p /= moves.max(1.0)));
    Some(sums)
}

fn three_of(size: usize, stream: &mut Stream) -> [usize; 3] {
    let mut draw = |bound: usize| stream.below(bound as u64) as usize;
    let first = draw(size);
    let mut second = draw(size - 1);
    second += usize::from(second >= first);
    let (low, high) = (first.min(second), first.max(second));
    let mut third = draw(size - 2);
    third += usize::from(third >= low);
    third += usize::from(third >= high);
    [first, second, third]
}

/// The row of each record in a one-to-one assignment of the smallest summed cost (the Hungarian method).
pub fn cheapest_assignment(costs: &[f64], size: usize) -> Vec<usize> {
    // Potentials of records and rows; row 0 and record 0 are the method's own, so that all others count from 1.
    let (mut of_record, mut of_row) = (vec![0.0; size + 1], vec![0.0; size + 1]);
    let mut record_of = vec![0; size + 1];
    for record in 1..=size {
        record_of[0] = record;
        let (mut slack, mut before, mut is_used) =
            (vec![f64::INFINITY; size + 1], vec![0; size + 1], vec![false; size + 1]);
        let mut row = 0;
        loop {
            is_used[row] = true;
            let at = record_of[row];
            let (mut least, mut next) = (f64::INFINITY, 0);
            for other in (1..=size).filter(|other| !is_used[*other]) {
                let reduced = costs[(at - 1) * size + other - 1] - of_record[at] - of_row[other];
                if reduced < slack[other] {
                    (slack[other], before[other]) = (reduced, row);
                }
                if slack[other] < least || next == 0 {
                    (least, next) = (slack[other], other);
                }
            }
            for other in 0..=size {
                if is_used[other] {
                    of_record[record_of[other]] += least;
                    of_row[other] -= least;
                } else {
                    slack[other] -= least;
                }
            }
            row = next;
            if record_of[row] == 0 {
                break;
            }
        }
        while row != 0 {
            record_of[row] = record_of[before[row]];
            row = before[row];
        }
    }
    let mut assigned = vec![0; size];
    (1..=size).for_each(|row| assigned[record_of[row] - 1] = row - 1);
    assigned
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::{Key, Step};

    fn permutations(size: usize) -> Vec<Vec<usize>> {
        if size == 0 {
            return vec![vec![]];
        }
        let longer = |shorter: &Vec<usize>| -> Vec<Vec<usize>> {
            (0..size)
                .map(|at| {
                    let mut order = shorter.clone();
                    order.insert(at, size - 1);
                    order
                })
                .collect()
        };
        permutations(size - 1).iter().flat_map(longer).collect()
    }

    fn weights(size: usize, seed: u64) -> Vec<f64> {
        let mut stream = Stream::new(&Key::new([9; 32]), seed, 0, Step::Generate);
        // A third of the pairs are impossible, but never a record's own row.
        let pair =
            |i: usize| if i % (size + 1) != 0 && stream.below(3) == 0 { 0.0 } else { stream.unit().powi(3) + 1e-3 };
        (0..size * size).map(pair).collect()
    }

    #[test]
    fn the_posterior_is_that_of_all_permutations() {
        for (size, seed) in (1..=6).flat_map(|size| (0..20).map(move |seed| (size, seed))) {
            let weights = weights(size, seed);
            let mut by_hand = vec![0.0; size * size];
            for order in permutations(size) {
                let weight: f64 = order.iter().enumerate().map(|(i, j)| weights[i * size + j]).product();
                order.iter().enumerate().for_each(|(i, j)| by_hand[i * size + j] += weight);
            }
            let total: f64 = by_hand[..size].iter().sum();
            let posterior = exact_posterior(&weights, size).unwrap();
            assert!(posterior.iter().zip(&by_hand).all(|(p, sum)| (p - sum / total).abs() < 1e-12));
        }
    }

    #[test]
    fn the_chain_comes_near_the_exact_posterior() {
        let size = 9;
        for seed in 0..5 {
            let weights = weights(size, seed);
            let exact = exact_posterior(&weights, size).unwrap();
            let mut stream = Stream::new(&Key::new([2; 32]), seed, 0, Step::Generate);
            let start: Vec<usize> = (0..size).collect();
            let chain = sampled_posterior(&weights, &start, 100_000, &mut stream).unwrap();
            let worst = exact.iter().zip(&chain).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(worst < 0.04, "{worst}");
        }
    }

    #[test]
    fn the_assignment_is_the_cheapest_of_all() {
        for (size, seed) in (1..=6).flat_map(|size| (0..20).map(move |seed| (size, seed))) {
            let costs = weights(size, seed);
            let cost = |order: &[usize]| order.iter().enumerate().map(|(i, j)| costs[i * size + j]).sum::<f64>();
            let least = permutations(size).iter().map(|order| cost(order)).fold(f64::INFINITY, f64::min);
            assert!((cost(&cheapest_assignment(&costs, size)) - least).abs() < 1e-12);
        }
    }

    #[test]
    fn impossible_weights_have_no_posterior() {
        assert_eq!(exact_posterior(&[0.0, 0.0, 1.0, 1.0], 2), None);
        // Both records can only have the first row.
        assert_eq!(exact_posterior(&[1.0, 0.0, 1.0, 0.0], 2), None);
    }
}
