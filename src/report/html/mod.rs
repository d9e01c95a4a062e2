//! The page of `fusebox report --html`: one file with the report's rows, and the script that draws them.
//!
//! `page.html`, `page.css` and `page.js` are the page, `vendor/` has its library of charts; `page.lz4` is all of them in one, packed by
//! `tests/it/page.rs`. [`mod@page_data`] makes the columns that the script draws, [`distribution`] the histograms.

pub mod distribution;
pub mod page_data;
pub mod session_columns;
pub mod trip_columns;
pub mod words;

use serde::Serialize;

use crate::report::html::page_data::{PageSource, page_data};

/// The page without its data.
const PACKED: &[u8] = include_bytes!("page.lz4");

/// Writes the page of a report.
pub fn page(source: &PageSource) -> String {
    let frame = lz4_flex::decompress_size_prepended(PACKED).unwrap_or_default();
    let frame = String::from_utf8_lossy(&frame);
    let (data, runs) = page_data(source);
    let (before, rest) = frame.split_once("{{data}}").unwrap_or((&frame, ""));
    let (between, after) = rest.split_once("{{runs}}").unwrap_or((rest, ""));
    [before, &inline(&data), between, &inline(&runs), after].concat()
}

/// Writes JSON that can stand in a script element: none of its characters begins or ends anything in HTML.
fn inline(data: &impl Serialize) -> String {
    let json = serde_json::to_string(data).unwrap_or_default();
    // In JSON they stand in strings alone.
    json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_ends_no_element_and_begins_no_comment() {
        assert_eq!(inline(&"</script><!--&amp;"), r#""\u003c/script\u003e\u003c!--\u0026amp;""#);
    }
}
