//! Keyed ChaCha20 streams, addressed by (group, attribute, step) and never by thread, batch or place in a file.

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A 256-bit key from the operating system. Its content is never shown.
#[derive(Clone)]
pub struct Key([u8; 32]);

impl Key {
    /// Wraps 32 bytes.
    pub fn new(bytes: [u8; 32]) -> Self {
        Key(bytes)
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key")
    }
}

/// What a stream is for; two steps never share numbers.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// Algorithm 1, line 6.
    Draw = 1,
    /// Algorithm 2.
    Repair = 2,
    /// The canonical order's last resort.
    Tag = 3,
    /// The order of the released rows.
    Shuffle = 4,
    /// Generated tables.
    Generate = 5,
    /// What a measure draws.
    Assess = 6,
    /// Values that change places for edit rules. 7 and 15 end the streams of tags.
    Rules = 8,
    /// Exchanges of the grouping `sampled`.
    Exchange = 10,
}

/// A stream of random numbers.
#[derive(Debug)]
pub struct Stream(ChaCha20Rng);

impl Stream {
    /// The stream of one step for one group and attribute. Groups below 2^40 and attributes below 2^20 have streams
    /// of their own: the three numbers fill the 64 bits side by side.
    pub fn new(key: &Key, group: u64, attribute: u32, step: Step) -> Self {
        let mut generator = ChaCha20Rng::from_seed(key.0);
        generator.set_stream(group << 24 | u64::from(attribute) << 4 | step as u64);
        Stream(generator)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `bound`, each exactly as likely: draws above the last whole multiple are thrown away.
    pub fn below(&mut self, bound: u64) -> u64 {
        debug_assert!(bound > 0);
        let mask = u64::MAX >> (bound - 1).leading_zeros().min(63);
        loop {
            let drawn = self.bits() & mask;
            if drawn < bound {
                return drawn;
            }
        }
    }

    /// A number in [0, 1) with 53 random bits.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Puts `items` in an order, each as likely as any other.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

/// The Mersenne prime 2^61 - 1, the field of [`fingerprint`].
const PRIME: u128 = (1 << 61) - 1;

/// A keyed tag of each row of `values`, `columns` numbers a row: random bits of the row's content and of how many equal
/// rows stand before it. No order of the input is in them, but for rows that are equal, and rows of equal content are
/// not brought together: groups that records enter by tag alone do not depend on what else the records hold.
pub fn tag_records(key: &Key, values: &[u64], columns: usize) -> Vec<u64> {
    let fingerprints = fingerprint(key, values, columns);
    let mut order: Vec<u32> = (0..fingerprints.len() as u32).collect();
    order.sort_unstable_by_key(|row| (fingerprints[*row as usize], *row));
    let mut tags = vec![0; fingerprints.len()];
    for equal in order.chunk_by(|a, b| fingerprints[*a as usize] == fingerprints[*b as usize]) {
        let mut stream = Stream::new(key, 0, 0, Step::Tag);
        stream.0.set_stream(fingerprints[equal[0] as usize] << 3 | 7);
        equal.iter().for_each(|row| tags[*row as usize] = stream.bits());
    }
    tags
}

/// A keyed fingerprint below 2^61 of each row: a random linear form over the field of 2^61 - 1 elements, under which two
/// different rows meet with probability 2^-60 at most, whoever chose them.
fn fingerprint(key: &Key, values: &[u64], columns: usize) -> Vec<u64> {
    let mut stream = Stream::new(key, 0, 0, Step::Tag);
    let forms: Vec<[u128; 2]> =
        (0..columns).map(|_| [u128::from(stream.bits()) % PRIME, u128::from(stream.bits()) % PRIME]).collect();
    let tag = |row: &[u64]| {
        row.iter().zip(&forms).fold(0_u128, |sum, (value, form)| {
            (sum + form[0] * u128::from(value >> 32) + form[1] * u128::from(value & 0xFFFF_FFFF)) % PRIME
        })
    };
    values.chunks_exact(columns.max(1)).map(|row| tag(row) as u64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: Key = Key([7; 32]);

    #[test]
    fn streams_of_different_address_differ() {
        let first = |group, attribute, step| Stream::new(&KEY, group, attribute, step).bits();
        let mut all =
            vec![first(0, 0, Step::Draw), first(1, 0, Step::Draw), first(0, 1, Step::Draw), first(0, 0, Step::Repair)];
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 4);
    }

    #[test]
    fn a_number_below_a_bound_is_even() {
        // 60,000 throws of a die: each face 10,000 +- 6 standard deviations (91 each).
        let mut stream = Stream::new(&KEY, 0, 0, Step::Draw);
        let mut faces = [0_i32; 6];
        (0..60_000).for_each(|_| faces[stream.below(6) as usize] += 1);
        assert!(faces.iter().all(|face| (face - 10_000).abs() < 550), "{faces:?}");
        assert_eq!((0..100).map(|_| stream.below(1)).max(), Some(0));
    }

    #[test]
    fn equal_rows_share_a_fingerprint_and_no_tag() {
        let rows = [1, 2, 1, 2, 2, 1];
        let prints = fingerprint(&KEY, &rows, 2);
        assert!(prints[0] == prints[1] && prints[1] != prints[2]);
        let mut tags = tag_records(&KEY, &rows, 2);
        tags.dedup();
        assert_eq!(tags.len(), 3);
    }

    #[test]
    fn tags_follow_the_content_and_not_its_place() {
        let sorted = |rows: &[u64]| {
            let mut tags = tag_records(&KEY, rows, 1);
            tags.sort_unstable();
            tags
        };
        assert_eq!(sorted(&[5, 6, 5, 7]), sorted(&[7, 5, 6, 5]));
        assert_eq!(tag_records(&KEY, &[5, 6], 1)[1], tag_records(&KEY, &[6, 5], 1)[0]);
    }

    #[test]
    fn tags_put_equal_contents_in_any_order() {
        // Contents 1 1 2 2: over 4,000 keys the two lowest tags are those of equal contents with 1/3: 1,333 +- 6 * 30.
        let mut together = 0_i32;
        for key in 0..4_000_u32 {
            let mut bytes = [0; 32];
            bytes[..4].copy_from_slice(&key.to_le_bytes());
            let tags = tag_records(&Key::new(bytes), &[1, 1, 2, 2], 1);
            let mut order = [0, 1, 2, 3];
            order.sort_unstable_by_key(|row| tags[*row]);
            together += i32::from(order[0] / 2 == order[1] / 2);
        }
        assert!((together - 1_333).abs() < 180, "{together}");
    }

    #[test]
    fn a_key_never_shows() {
        assert_eq!(format!("{KEY:?}"), "Key");
    }
}
