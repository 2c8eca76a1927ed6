//! One row of delimited text after the other: its fields, its first fault, and how it is written.

use super::{Fault, LONGEST};

/// A field: where its content lies, and whether it was quoted.
pub(super) struct Field {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) is_quoted: bool,
}

impl Field {
    pub(super) fn is_empty(&self) -> bool {
        self.from == self.to && !self.is_quoted
    }
}

/// A walk over a text, row by row.
pub(super) struct Walk<'a> {
    pub(super) bytes: &'a [u8],
    delimiter: u8,
    pub(super) at: usize,
    pub(super) fields: Vec<Field>,
    pub(super) fault: Option<Fault>,
    /// Whether any reader would take the row as we do.
    pub(super) is_plain: bool,
    /// What the row ends in, as a place in [`Style::ends`]; nothing at the end of the text.
    pub(super) end: Option<usize>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(bytes: &'a [u8], delimiter: u8) -> Self {
        Walk { bytes, delimiter, at: 0, fields: Vec::new(), fault: None, is_plain: true, end: None }
    }

    /// Reads the next row into `fields`; false at the end.
    pub(super) fn row(&mut self) -> bool {
        self.fields.clear();
        (self.fault, self.is_plain) = (None, true);
        if self.at >= self.bytes.len() {
            return false;
        }
        let from = self.at;
        loop {
            self.field();
            match self.bytes.get(self.at) {
                Some(byte) if *byte == self.delimiter => self.at += 1,
                _ => break,
            }
        }
        let to = self.at;
        (self.at, self.end) = match self.bytes.get(self.at) {
            Some(b'\r') if self.bytes.get(self.at + 1) == Some(&b'\n') => (self.at + 2, Some(1)),
            Some(b'\r') => (self.at + 1, Some(2)),
            Some(_) => (self.at + 1, Some(0)),
            None => (self.at, None),
        };
        self.is_plain &= self.end != Some(2);
        let row = &self.bytes[from..to];
        if self.fields.iter().any(|field| field.to - field.from > LONGEST) {
            self.fault.get_or_insert(Fault::TooLong);
        } else if row.contains(&0) {
            self.fault.get_or_insert(Fault::Nul);
        } else if !row.is_ascii() && std::str::from_utf8(row).is_err() {
            self.fault.get_or_insert(Fault::NotUtf8);
        }
        true
    }

    /// Reads one field and stops at what ends it.
    fn field(&mut self) {
        if self.bytes.get(self.at) != Some(&b'"') {
            let from = self.at;
            self.skip();
            self.is_plain &= !self.bytes[from..self.at].contains(&b'"');
            self.fields.push(Field { from, to: self.at, is_quoted: false });
            return;
        }
        let from = self.at + 1;
        self.at = from;
        loop {
            match self.bytes[self.at..].iter().position(|byte| *byte == b'"') {
                None => {
                    self.at = self.bytes.len();
                    self.fault = Some(Fault::OpenQuote);
                    self.fields.push(Field { from, to: self.at, is_quoted: true });
                    return;
                }
                Some(inside) if self.bytes.get(self.at + inside + 1) == Some(&b'"') => self.at += inside + 2,
                Some(inside) => {
                    self.at += inside + 1;
                    break;
                }
            }
        }
        self.fields.push(Field { from, to: self.at - 1, is_quoted: true });
        let after = self.at;
        self.skip();
        if self.at > after {
            self.fault.get_or_insert(Fault::AfterQuote);
        }
    }

    /// Goes to the next delimiter or end of line.
    fn skip(&mut self) {
        let ends = |byte: &u8| *byte == self.delimiter || *byte == b'\n' || *byte == b'\r';
        self.at += self.bytes[self.at..].iter().position(ends).unwrap_or(self.bytes.len() - self.at);
    }

    /// Whether a field cannot do without quotes; that of a lone column not if any mark could part it.
    pub(super) fn needs_quotes(&self, field: &Field) -> bool {
        let is_lone = self.fields.len() == 1;
        self.bytes[field.from..field.to]
            .iter()
            .any(|byte| *byte == self.delimiter || b"\"\r\n".contains(byte) || (is_lone && b",;\t|".contains(byte)))
    }

    pub(super) fn value(&self, field: &Field) -> Vec<u8> {
        let content = &self.bytes[field.from..field.to];
        if !field.is_quoted {
            return content.to_vec();
        }
        let mut value = Vec::with_capacity(content.len());
        let mut is_second = false;
        for byte in content {
            is_second = *byte == b'"' && !is_second;
            if !is_second {
                value.push(*byte);
            }
        }
        value
    }

    /// The row in the plainest form: quotes only where they are needed.
    pub(super) fn written(&self) -> Vec<u8> {
        let mut row = Vec::new();
        for (place, field) in self.fields.iter().enumerate() {
            if place > 0 {
                row.push(self.delimiter);
            }
            let content = &self.bytes[field.from..field.to];
            if field.is_quoted || content.contains(&b'"') {
                row.push(b'"');
                for byte in self.value(field) {
                    row.push(byte);
                    if byte == b'"' {
                        row.push(byte);
                    }
                }
                row.push(b'"');
            } else {
                row.extend(content);
            }
        }
        row.push(b'\n');
        row
    }
}
