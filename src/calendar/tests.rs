//! Days, weeks and months, where clocks change, too.

use crate::calendar::*;

fn shown(span: Span, at: &str, name: &str) -> String {
    let at: Timestamp = at.parse().unwrap();
    let period = Zone::named(Some(name)).period(span, at.as_millisecond());
    let utc = |ms| Timestamp::from_millisecond(ms).unwrap().to_string();
    assert!(period.covers(at.as_millisecond()));
    format!("{} to {}, {}", utc(period.from_ms), utc(period.to_ms), period.resets)
}

#[test]
fn periods_begin_at_midnight_on_monday_and_on_the_first() {
    for (span, at, name, expected) in [
        (
            Span::Day,
            "2026-11-20T10:00:00Z",
            "UTC",
            "2026-11-20T00:00:00Z to 2026-11-21T00:00:00Z, 2026-11-21 00:00 +00:00",
        ),
        (
            Span::Day,
            "2026-11-20T23:30:00Z",
            "Europe/Berlin",
            "2026-11-20T23:00:00Z to 2026-11-21T23:00:00Z, 2026-11-22 00:00 +01:00",
        ),
        (
            Span::Week,
            "2026-11-20T10:00:00Z",
            "UTC",
            "2026-11-16T00:00:00Z to 2026-11-23T00:00:00Z, 2026-11-23 00:00 +00:00",
        ),
        (
            Span::Day,
            "2026-11-20T20:00:00Z",
            "<HERE>-05:30",
            "2026-11-20T18:30:00Z to 2026-11-21T18:30:00Z, 2026-11-22 00:00 +05:30",
        ),
        (
            Span::Month,
            "2026-12-31T23:59:59Z",
            "America/New_York",
            "2026-12-01T05:00:00Z to 2027-01-01T05:00:00Z, 2027-01-01 00:00 -05:00",
        ),
    ] {
        assert_eq!(shown(span, at, name), expected);
    }
}

#[test]
fn daylight_saving_makes_days_of_23_and_25_hours_and_skips_midnights() {
    for (span, at, name, expected) in [
        (
            Span::Day,
            "2026-03-29T12:00:00Z",
            "Europe/Berlin",
            "2026-03-28T23:00:00Z to 2026-03-29T22:00:00Z, 2026-03-30 00:00 +02:00",
        ),
        (
            Span::Day,
            "2026-10-25T12:00:00Z",
            "Europe/Berlin",
            "2026-10-24T22:00:00Z to 2026-10-25T23:00:00Z, 2026-10-26 00:00 +01:00",
        ),
        (
            Span::Month,
            "2026-03-29T12:00:00Z",
            "Europe/Berlin",
            "2026-02-28T23:00:00Z to 2026-03-31T22:00:00Z, 2026-04-01 00:00 +02:00",
        ),
        // The clocks went from 00:00 to 01:00.
        (
            Span::Day,
            "2018-11-04T12:00:00Z",
            "America/Sao_Paulo",
            "2018-11-04T03:00:00Z to 2018-11-05T02:00:00Z, 2018-11-05 00:00 -02:00",
        ),
    ] {
        assert_eq!(shown(span, at, name), expected);
    }
}
