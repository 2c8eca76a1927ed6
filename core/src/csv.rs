//! Delimited text, read strictly: every row that is not as its header says is found before anything is parsed.
//!
//! Readers of frames pad short rows, rename columns that repeat and quote cells in their errors. Here a table is
//! walked once, faults come as row numbers, and what was odd but harmless is written anew in the plainest form.

mod walk;

use walk::Walk;

/// What is wrong with a row. Rows count from 1 after the header, which is row 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It has another number of fields than the header.
    Ragged {
        /// How many it has.
        fields: usize,
    },
    /// A quoted field goes on after its closing quote.
    AfterQuote,
    /// A quote is opened and never closed: where the row ends is unknown.
    OpenQuote,
    /// It holds a NUL byte.
    Nul,
    /// It is not UTF-8.
    NotUtf8,
    /// A field is longer than [`LONGEST`].
    TooLong,
}

/// Bytes that a field may have.
pub const LONGEST: usize = 1 << 20;

/// How a text is written, so that another can be written like it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Whether every field of the header is quoted.
    pub is_header_quoted: bool,
    /// Of each column, how many fields are quoted without need, and how many are not quoted though they hold
    /// something. `NA` counts in neither: R quotes a column of text and leaves its `NA` bare.
    pub quotes: Vec<(usize, usize)>,
    /// How many rows end in LF, in CR LF and in CR alone.
    pub ends: [usize; 3],
}

/// What a walk over a text found.
#[derive(Debug, Default)]
pub struct Scan {
    /// The fields of the header, as they are.
    pub header: Vec<Vec<u8>>,
    /// How many rows follow it, bad ones included.
    pub rows: usize,
    /// Each bad row once, with its first fault.
    pub faults: Vec<(usize, Fault)>,
    /// Where the rows begin in what was given.
    pub from: usize,
    /// The good rows, only where they differ from what was given from there on.
    pub text: Option<Vec<u8>>,
    /// How it is written.
    pub style: Style,
}

/// Walks over `bytes`, whose fields `delimiter` parts.
pub fn scan(given: &[u8], delimiter: u8) -> Scan {
    let bytes = given.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(given);
    let mut walk = Walk::new(bytes, delimiter);
    let mut scan = Scan::default();
    if !walk.row() {
        return scan;
    }
    scan.header = walk.fields.iter().map(|field| walk.value(field)).collect();
    let width = scan.header.len();
    if let Some(fault) = walk.fault {
        scan.faults.push((0, fault));
    }
    scan.style.is_header_quoted = walk.fields.iter().all(|field| field.is_quoted);
    scan.style.quotes = vec![(0, 0); width];
    scan.style.count_end(walk.end);
    let body = walk.at;
    scan.from = given.len() - bytes.len() + body;
    let mut written: Option<Vec<u8>> = None;
    loop {
        let from = walk.at;
        if !walk.row() {
            break;
        }
        // A line without anything is no row, unless a row may be one empty field.
        let is_blank = width > 1 && walk.fields.len() == 1 && walk.fields[0].is_empty();
        if !is_blank {
            scan.rows += 1;
            if walk.fields.len() != width {
                walk.fault.get_or_insert(Fault::Ragged { fields: walk.fields.len() });
            }
            if let Some(fault) = walk.fault {
                scan.faults.push((scan.rows, fault));
            }
        }
        let is_kept = !is_blank && walk.fault.is_none();
        if is_kept {
            scan.style.count_end(walk.end);
            scan.style.count_quotes(&walk);
        }
        if written.is_none() && !(is_kept && walk.is_plain) {
            written = Some(bytes[body..from].to_vec());
        }
        if let (Some(text), true) = (&mut written, is_kept) {
            text.extend(walk.written());
        }
    }
    scan.text = written;
    scan
}

impl Style {
    fn count_end(&mut self, end: Option<usize>) {
        if let Some(count) = end.and_then(|end| self.ends.get_mut(end)) {
            *count += 1;
        }
    }

    fn count_quotes(&mut self, walk: &Walk<'_>) {
        for (field, (quoted, bare)) in walk.fields.iter().zip(&mut self.quotes) {
            if field.is_quoted {
                *quoted += usize::from(!walk.needs_quotes(field));
            } else if field.from < field.to && &walk.bytes[field.from..field.to] != b"NA" {
                *bare += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str) -> Vec<(usize, Fault)> {
        scan(text.as_bytes(), b',').faults
    }

    fn text(given: &str) -> String {
        let scan = scan(given.as_bytes(), b',');
        assert_eq!(scan.faults, vec![]);
        scan.text.map_or(given[scan.from..].to_string(), |text| String::from_utf8(text).unwrap())
    }

    #[test]
    fn a_sound_table_is_left_as_it_is() {
        for sound in ["a,b\n1,2\n", "a,b\r\n1,\"x,\"\"y\"\r\n", "a\n1", "a,b\n\"1\n2\",3\n"] {
            let scan = scan(sound.as_bytes(), b',');
            assert_eq!((scan.rows, scan.faults, scan.text), (1, vec![], None), "{sound}");
        }
    }

    #[test]
    fn each_fault_names_its_row() {
        assert_eq!(
            faults("a,b\n1,2\n1\n1,2,3\n"),
            [(2, Fault::Ragged { fields: 1 }), (3, Fault::Ragged { fields: 3 })]
        );
        assert_eq!(faults("a,b\n1,\"x\"y\n1,2\n"), [(1, Fault::AfterQuote)]);
        assert_eq!(faults("a,b\n1,2\n\"1,2\n3,4\n"), [(2, Fault::OpenQuote)]);
        assert_eq!(faults("a,b\n1,2\0\n"), [(1, Fault::Nul)]);
        assert_eq!(scan(b"a,b\n1,\xFF\n", b',').faults, [(1, Fault::NotUtf8)]);
        assert_eq!(scan(&[b"a\n".to_vec(), vec![b'x'; LONGEST + 1]].concat(), b',').faults, [(1, Fault::TooLong)]);
    }

    #[test]
    fn what_is_odd_but_clear_is_written_plainly() {
        assert_eq!(text("a,b\n5\" pipe,2\n"), "\"5\"\" pipe\",2\n");
        assert_eq!(text("a,b\r1,2\r"), "1,2\n");
        assert_eq!(text("a,b\n\n1,2\n\n"), "1,2\n");
    }

    #[test]
    fn an_empty_line_is_a_row_of_one_column() {
        let scan = scan(b"a\n1\n\n3\n", b',');
        assert_eq!((scan.rows, scan.text), (3, None));
    }

    #[test]
    fn bad_rows_are_left_out_of_the_text() {
        let scan = scan(b"a,b\n1,2\n3\n4,5\n", b',');
        assert_eq!(scan.text.as_deref(), Some(&b"1,2\n4,5\n"[..]));
    }

    #[test]
    fn the_header_is_read_without_its_quotes_and_its_byte_order_mark() {
        let scan = scan(b"\xEF\xBB\xBF\"a \"\"b\"\"\",c\n", b',');
        assert_eq!(scan.header, vec![b"a \"b\"".to_vec(), b"c".to_vec()]);
    }
    #[test]
    fn how_it_is_written_is_told() {
        // R's way: a header in quotes, text in quotes, numbers and NA bare.
        let scan = scan(b"\xEF\xBB\xBF\"a\",\"b\"\r\n\"x\",1\r\nNA,2\r\n", b',');
        let style = Style { is_header_quoted: true, quotes: vec![(1, 0), (0, 2)], ends: [0, 3, 0] };
        assert_eq!((scan.from, scan.text, scan.style), (12, None, style));
    }

    #[test]
    fn quotes_that_a_field_needs_tell_nothing_of_its_column() {
        assert_eq!(scan(b"a,b\n\"1,2\",\"3\"\nNA,\"\"\n", b',').style.quotes, [(0, 0), (2, 0)]);
        assert_eq!(scan(b"a\n\"1;2\"\n\"3\"\n", b',').style.quotes, [(1, 0)]);
    }
}
