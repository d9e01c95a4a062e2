//! What Windows answers about its clock, read from the bytes of `SYSTEM_TIMEOFDAY_INFORMATION`.

/// How long the answer is.
pub const TIME_OF_DAY: usize = 48;

/// Where its fields are: the boot time, and what that was changed by since, each in units of 100 ns.
const BOOT_TIME: usize = 0;
const BOOT_TIME_BIAS: usize = 32;

/// Returns the moment of the boot as it was then told: a clock that was set since has not moved it.
pub fn booted_at(bytes: &[u8; TIME_OF_DAY]) -> Option<i64> {
    let number = |at: usize| bytes.get(at..at + 8)?.try_into().ok().map(i64::from_le_bytes);
    let booted = number(BOOT_TIME)?.checked_sub(number(BOOT_TIME_BIAS)?)?;
    (booted > 0).then_some(booted)
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::*;

    /// `SYSTEM_TIMEOFDAY_INFORMATION`.
    #[repr(C)]
    struct TimeOfDay {
        boot_time: i64,
        current_time: i64,
        time_zone_bias: i64,
        time_zone_id: u32,
        reserved: u32,
        boot_time_bias: u64,
        sleep_time_bias: u64,
    }

    fn built(boot_time: i64, bias: i64) -> [u8; TIME_OF_DAY] {
        let mut bytes = [0xA5; TIME_OF_DAY];
        let mut put = |at: usize, value: i64| bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        put(offset_of!(TimeOfDay, boot_time), boot_time);
        put(offset_of!(TimeOfDay, boot_time_bias), bias);
        bytes
    }

    #[test]
    fn a_clock_that_is_set_makes_no_other_boot() {
        assert_eq!(size_of::<TimeOfDay>(), TIME_OF_DAY);
        let before = booted_at(&built(133_000_000_000_000_000, 0));
        assert_eq!(before, Some(133_000_000_000_000_000));
        assert_eq!(booted_at(&built(133_000_000_000_000_777, 777)), before);
        assert_eq!(booted_at(&built(132_999_999_999_999_000, -1000)), before);
        assert_eq!(booted_at(&built(0, 0)), None);
    }
}
