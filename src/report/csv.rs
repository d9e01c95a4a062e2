//! Rows as CSV, harmless to spreadsheets and terminals.

use crate::ui::terminal;

/// Writes a heading and rows.
pub fn lines(head: Vec<String>, rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for cells in std::iter::once(head).chain(rows) {
        // Memory takes every row, and all rows have as many cells as the heading.
        let _written = writer.write_record(cells.iter().map(|cell| harmless(cell)));
    }
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

/// What a spreadsheet takes for the beginning of a formula.
const FORMULA: [char; 4] = ['=', '+', '-', '@'];

/// Returns a cell that no spreadsheet takes for a formula, and that no terminal obeys.
fn harmless(cell: &str) -> String {
    let cell = terminal::plain(cell);
    let is_formula = cell.starts_with(FORMULA) && cell.parse::<f64>().is_err();
    if is_formula { format!("'{cell}") } else { cell }
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn a_cell_is_quoted_where_it_has_to_be() {
        for (cell, written) in [
            ("plain", "plain"),
            ("a,b", "\"a,b\""),
            ("a\"b", "\"a\"\"b\""),
            ("a\nb", "a\\u000ab"),
            ("=1+1", "'=1+1"),
            ("-1.5", "-1.5"),
            ("@a,b", "\"'@a,b\""),
        ] {
            let (head, cells) = (["a", "b"].map(str::to_owned), ["1", cell].map(str::to_owned));
            assert_eq!(lines(head.to_vec(), [cells.to_vec()].into_iter()), format!("a,b\n1,{written}\n"));
        }
    }
}
