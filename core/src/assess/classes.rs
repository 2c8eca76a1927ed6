//! Classes of rows that are equal on some attributes, refined attribute by attribute, and the class each record
//! falls in: equality of whole tables in a handful of passes instead of one comparison a record.

/// The class of a record that no row equals.
pub const NONE: u32 = u32::MAX;

/// The class of each row, and of each record.
#[derive(Clone, Debug)]
pub struct Classes {
    /// One class a row.
    pub rows: Vec<u32>,
    /// One class a record, [`NONE`] where no row equals it.
    pub records: Vec<u32>,
    /// How many classes there are.
    pub count: usize,
}

impl Classes {
    /// One class of all.
    pub fn whole(rows: usize, records: usize) -> Self {
        Classes { rows: vec![0; rows], records: vec![0; records], count: 1 }
    }

    /// The classes of those that are also equal in one more code; codes are below `size`.
    pub fn refined(&self, size: usize, of_row: impl Fn(usize) -> i32, of_record: impl Fn(usize) -> i32) -> Self {
        let key = |class: u32, code: i32| u64::from(class) * size as u64 + code as u64;
        let mut ranks = Ranks::new(self.count.saturating_mul(size), self.rows.len());
        let rows = self.rows.iter().enumerate().map(|(row, class)| ranks.insert(key(*class, of_row(row)))).collect();
        let found = |(record, class): (usize, &u32)| {
            if *class == NONE { NONE } else { ranks.find(key(*class, of_record(record))) }
        };
        let records = self.records.iter().enumerate().map(found).collect();
        Classes { rows, records, count: ranks.count as usize }
    }

    /// How many rows each class has.
    pub fn counts(&self) -> Vec<u32> {
        let mut counts = vec![0; self.count];
        self.rows.iter().for_each(|class| counts[*class as usize] += 1);
        counts
    }
}

/// Numbers keys by first appearance. Few possible keys stand in a plain vector, many in an open hash table.
struct Ranks {
    keys: Vec<u64>,
    ranks: Vec<u32>,
    is_dense: bool,
    count: u32,
}

impl Ranks {
    fn new(possible: usize, rows: usize) -> Self {
        let is_dense = possible <= 4 * rows.max(16);
        let capacity = if is_dense { possible } else { (2 * rows).next_power_of_two().max(16) };
        let keys = if is_dense { Vec::new() } else { vec![0; capacity] };
        Ranks { keys, ranks: vec![NONE; capacity], is_dense, count: 0 }
    }

    /// The place of a key, or the free place where it belongs.
    #[inline]
    fn place(&self, key: u64) -> usize {
        if self.is_dense {
            return key as usize;
        }
        let mask = self.ranks.len() - 1;
        // Fibonacci hashing: the high bits of the product are spread, the low ones are not.
        let mut place = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20) as usize & mask;
        while self.ranks[place] != NONE && self.keys[place] != key {
            place = (place + 1) & mask;
        }
        place
    }

    fn insert(&mut self, key: u64) -> u32 {
        let place = self.place(key);
        if self.ranks[place] == NONE {
            self.ranks[place] = self.count;
            self.count += 1;
            if !self.is_dense {
                self.keys[place] = key;
            }
        }
        self.ranks[place]
    }

    fn find(&self, key: u64) -> u32 {
        self.ranks[self.place(key)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_fall_in_the_class_of_equal_rows() {
        // Few keys (a plain vector) and many (a hash table) give the same classes.
        let (rows, records) = ([3, 1, 3], [1, 2, 3]);
        for size in [4, 1 << 20] {
            let classes = Classes::whole(3, 3).refined(size, |row| rows[row], |record| records[record]);
            assert_eq!((classes.rows.clone(), classes.count), (vec![0, 1, 0], 2));
            assert_eq!((classes.records.clone(), classes.counts()), (vec![1, NONE, 0], vec![2, 1]));
        }
    }
}
