//! Time stamps of traces, to the nanosecond.

/// Nanoseconds since 1970 of `YYYY-MM-DD HH:MM:SS[.fraction][offset]`.
///
/// Also with `T` for the blank, and `Z`, `+HH:MM` or `-HH:MM` at the end; without an offset the
/// stamp is taken as it stands. `None` for anything else, for years outside 1970 to 2199 and for
/// more than nine fractional digits.
pub(super) fn parse_ns(stamp: &[u8]) -> Option<i64> {
    let (date, rest) = stamp.split_at_checked(10)?;
    let (clock, rest) = rest.split_at_checked(9)?;
    if date[4] != b'-' || date[7] != b'-' || clock[3] != b':' || clock[6] != b':' {
        return None;
    }
    if !matches!(clock[0], b' ' | b'T') {
        return None;
    }
    let days = days_since_1970(digits(&date[..4])?, digits(&date[5..7])?, digits(&date[8..])?)?;
    let (hour, minute, second) =
        (digits(&clock[1..3])?, digits(&clock[4..6])?, digits(&clock[7..])?);
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let (fraction_ns, zone) = fraction(rest)?;
    let seconds = days * 86_400 + hour * 3_600 + minute * 60 + second - offset_s(zone)?;
    Some(seconds * 1_000_000_000 + fraction_ns)
}

/// The fraction in nanoseconds and what follows it.
fn fraction(rest: &[u8]) -> Option<(i64, &[u8])> {
    let Some(rest) = rest.strip_prefix(b".") else { return Some((0, rest)) };
    let length = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if length == 0 || length > 9 {
        return None;
    }
    let scale = 10_i64.pow(9 - u32::try_from(length).ok()?);
    Some((digits(&rest[..length])? * scale, &rest[length..]))
}

/// Seconds the stamp's zone is ahead of UTC.
fn offset_s(zone: &[u8]) -> Option<i64> {
    let (sign, clock) = match zone {
        [] | b"Z" => return Some(0),
        [b'+', clock @ ..] => (1, clock),
        [b'-', clock @ ..] => (-1, clock),
        _ => return None,
    };
    let [h1, h2, b':', m1, m2] = *clock else { return None };
    let (hours, minutes) = (digits(&[h1, h2])?, digits(&[m1, m2])?);
    (hours <= 18 && minutes <= 59).then_some(sign * (hours * 3_600 + minutes * 60))
}

fn digits(text: &[u8]) -> Option<i64> {
    text.iter().try_fold(0_i64, |value, byte| {
        byte.is_ascii_digit().then(|| value * 10 + i64::from(byte - b'0'))
    })
}

/// Days from 1970-01-01 to a date of the Gregorian calendar.
fn days_since_1970(year: i64, month: i64, day: i64) -> Option<i64> {
    const LENGTHS: [i64; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    if !(1970..2200).contains(&year) || !(1..=12).contains(&month) {
        return None;
    }
    let month_index = usize::try_from(month - 1).ok()?;
    let length = LENGTHS[month_index] + i64::from(month == 2 && leap(year));
    if day < 1 || day > length {
        return None;
    }
    let before_year = |year: i64| year * 365 + (year - 1) / 4 - (year - 1) / 100 + (year - 1) / 400;
    let before_month: i64 = LENGTHS[..month_index].iter().sum();
    let leap_day = i64::from(month > 2 && leap(year));
    Some(before_year(year) - before_year(1970) + before_month + leap_day + day - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_count_from_1970() {
        for (stamp, ns) in [
            ("1970-01-01 00:00:00", 0),
            ("1970-01-02 00:00:00.5", 86_400_500_000_000),
            ("2000-03-01 00:00:00", 951_868_800_000_000_000),
            ("2023-11-16 18:15:46.6805900", 1_700_158_546_680_590_000),
            ("2024-05-10T00:00:00.009930+00:00", 1_715_299_200_009_930_000),
            ("2024-05-10 02:00:00+02:00", 1_715_299_200_000_000_000),
            ("2024-05-09 22:30:00-01:30", 1_715_299_200_000_000_000),
            ("2024-02-29 00:00:00.123456789Z", 1_709_164_800_123_456_789),
        ] {
            assert_eq!(parse_ns(stamp.as_bytes()), Some(ns), "{stamp}");
        }
    }

    #[test]
    fn what_is_no_stamp_is_none() {
        for stamp in [
            "",
            "2023-11-16",
            "2023-02-29 00:00:00",
            "2023-13-01 00:00:00",
            "2023-11-16 24:00:00",
            "2023-11-16 18:15:46.",
            "2023-11-16 18:15:46.1234567890",
            "2023-11-16 18:15:46 UTC",
            "2023/11/16 18:15:46",
            "0001-01-01 00:00:00",
            "1700158546.68",
        ] {
            assert_eq!(parse_ns(stamp.as_bytes()), None, "{stamp}");
        }
    }
}
