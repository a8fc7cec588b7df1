//! Gzip (RFC 1952): all members of a file, with a bound on what they unpack to.

use std::io::{self, Read};

use flate2::bufread::GzDecoder;

use super::{MAX_FILE_BYTES, Refusal};

/// The two bytes every gzip member starts with.
pub(super) const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Unpacks all members of a gzip file, at most [`MAX_FILE_BYTES`] of text.
pub(super) fn unpack(bytes: &[u8]) -> Result<Vec<u8>, Refusal> {
    unpack_bounded(bytes, MAX_FILE_BYTES)
}

fn unpack_bounded(bytes: &[u8], limit: usize) -> Result<Vec<u8>, Refusal> {
    let mut rest = bytes;
    let mut text = Vec::new();
    loop {
        let mut member = GzDecoder::new(rest);
        let one_too_many = (limit - text.len()) as u64 + 1;
        member.by_ref().take(one_too_many).read_to_end(&mut text).map_err(|why| refusal(&why))?;
        if text.len() > limit {
            return Err(Refusal::too_many_bytes(None, limit));
        }
        rest = member.into_inner();
        // Anything but another member is padding, which RFC 1952 lets a reader ignore.
        if !rest.starts_with(&MAGIC) {
            return Ok(text);
        }
    }
}

fn refusal(why: &io::Error) -> Refusal {
    if why.kind() == io::ErrorKind::UnexpectedEof {
        Refusal::truncated("the gzip data stops in the middle")
    } else {
        Refusal::broken(format!("the gzip data is damaged: {why}"), "download or compress it again")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::RefusalKind;

    fn crc32(bytes: &[u8]) -> u32 {
        let mut crc = flate2::Crc::new();
        crc.update(bytes);
        crc.sum()
    }

    /// A member with the optional header fields named by `flags`.
    fn member(text: &[u8], flags: u8) -> Vec<u8> {
        let mut bytes = vec![0x1f, 0x8b, 8, flags, 0, 0, 0, 0, 0, 255];
        if flags & 4 != 0 {
            bytes.extend([3, 0, b'a', b'b', b'c']);
        }
        if flags & 8 != 0 {
            bytes.extend(b"run.json\0");
        }
        if flags & 16 != 0 {
            bytes.extend(b"a comment\0");
        }
        if flags & 2 != 0 {
            // The lower half of the header's checksum.
            bytes.extend(&crc32(&bytes).to_le_bytes()[..2]);
        }
        bytes.extend(miniz_oxide::deflate::compress_to_vec(text, 6));
        bytes.extend(crc32(text).to_le_bytes());
        bytes.extend(u32::try_from(text.len()).unwrap().to_le_bytes());
        bytes
    }

    #[test]
    fn every_optional_header_field_is_skipped() {
        for flags in [0, 2, 4, 8, 16, 8 | 16, 2 | 4 | 8 | 16] {
            assert_eq!(
                unpack(&member(b"hello, hello", flags)).unwrap(),
                b"hello, hello",
                "{flags}"
            );
        }
    }

    #[test]
    fn members_are_joined_and_padding_ignored() {
        let mut bytes = member(b"one ", 0);
        bytes.extend(member(b"two", 8));
        bytes.extend([0, 0, 0]);
        assert_eq!(unpack(&bytes).unwrap(), b"one two");
    }

    #[test]
    fn every_truncation_is_called_truncated() {
        let bytes = member(&b"0123456789".repeat(50), 8);
        for end in 2..bytes.len() {
            assert_eq!(unpack(&bytes[..end]).unwrap_err().kind, RefusalKind::Truncated, "{end}");
        }
    }

    #[test]
    fn a_flipped_bit_is_noticed() {
        let good = member(&b"abcdefgh".repeat(40), 0);
        for at in 10..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 1;
            let kind = unpack(&bad).map(|_| ()).unwrap_err().kind;
            assert!(matches!(kind, RefusalKind::Broken | RefusalKind::Truncated), "{at}");
        }
    }

    #[test]
    fn a_bomb_stops_at_the_limit() {
        let bytes = member(&vec![b'x'; 1_000_000], 0);
        assert_eq!(unpack_bounded(&bytes, 100_000).unwrap_err().kind, RefusalKind::TooLarge);
        assert_eq!(unpack_bounded(&bytes, 1_000_000).unwrap().len(), 1_000_000);
    }
}
