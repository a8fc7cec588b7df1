//! Gzip (RFC 1952) around `miniz_oxide`'s raw inflate: header, members, checksum, bounded output.

use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress, inflate_flags};

use super::{MAX_FILE_BYTES, Refusal};

/// The two bytes every gzip member starts with.
pub(super) const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Bytes of the checksum and length that end a member.
const TRAILER_BYTES: usize = 8;

/// Room made for the first text of a member, doubled as it fills: block-wise compressors write
/// many small members, and room in proportion to the rest of the file would grow as its square.
const FIRST_ROOM_BYTES: usize = 65_536;

/// Unpacks all members of a gzip file, at most [`MAX_FILE_BYTES`] of text.
pub(super) fn unpack(bytes: &[u8]) -> Result<Vec<u8>, Refusal> {
    unpack_bounded(bytes, MAX_FILE_BYTES)
}

fn unpack_bounded(bytes: &[u8], limit: usize) -> Result<Vec<u8>, Refusal> {
    let mut rest = bytes;
    let mut text = Vec::new();
    loop {
        let body = skip_header(rest)?;
        let begin = text.len();
        let consumed = inflate(body, &mut text, limit)?;
        let trailer = body.get(consumed..consumed + TRAILER_BYTES).ok_or_else(cut_short)?;
        check_trailer(trailer, &text[begin..])?;
        rest = &body[consumed + TRAILER_BYTES..];
        // Anything but another member is padding, which RFC 1952 lets a reader ignore.
        if !rest.starts_with(&MAGIC) {
            return Ok(text);
        }
    }
}

/// What follows the member header: 10 fixed bytes, then the optional fields its flags announce.
fn skip_header(bytes: &[u8]) -> Result<&[u8], Refusal> {
    const EXTRA: u8 = 4;
    const NAME: u8 = 8;
    const COMMENT: u8 = 16;
    const HEADER_CRC: u8 = 2;
    const DEFLATE: u8 = 8;
    let (fixed, mut rest) = bytes.split_at_checked(10).ok_or_else(cut_short)?;
    if fixed[2] != DEFLATE {
        return Err(damaged("its compression method is not deflate"));
    }
    let flags = fixed[3];
    if flags & EXTRA != 0 {
        let (length, after) = rest.split_at_checked(2).ok_or_else(cut_short)?;
        let length = usize::from(u16::from_le_bytes([length[0], length[1]]));
        rest = after.get(length..).ok_or_else(cut_short)?;
    }
    for present in [flags & NAME != 0, flags & COMMENT != 0] {
        if present {
            let end = rest.iter().position(|&byte| byte == 0).ok_or_else(cut_short)?;
            rest = &rest[end + 1..];
        }
    }
    if flags & HEADER_CRC != 0 {
        rest = rest.get(2..).ok_or_else(cut_short)?;
    }
    Ok(rest)
}

/// Appends one deflate stream to `text` and says how many bytes of `body` it took.
fn inflate(body: &[u8], text: &mut Vec<u8>, limit: usize) -> Result<usize, Refusal> {
    let mut state = Box::<DecompressorOxide>::default();
    let begin = text.len();
    let (mut read, mut written) = (0, 0);
    loop {
        let room = (text.len() - begin).max(FIRST_ROOM_BYTES);
        text.resize((text.len() + room).min(limit), 0);
        let (status, consumed, produced) = decompress(
            &mut state,
            &body[read..],
            &mut text[begin..],
            written,
            inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF,
        );
        read += consumed;
        written += produced;
        match status {
            TINFLStatus::Done => {
                text.truncate(begin + written);
                return Ok(read);
            }
            TINFLStatus::HasMoreOutput if begin + written < limit => {}
            TINFLStatus::HasMoreOutput => {
                return Err(Refusal::too_large(limit + 1, "bytes or more unpacked", limit));
            }
            TINFLStatus::FailedCannotMakeProgress | TINFLStatus::NeedsMoreInput => {
                return Err(cut_short());
            }
            _ => return Err(damaged("its compressed data is not valid deflate")),
        }
    }
}

fn check_trailer(trailer: &[u8], text: &[u8]) -> Result<(), Refusal> {
    let word = |at: usize| {
        u32::from_le_bytes([trailer[at], trailer[at + 1], trailer[at + 2], trailer[at + 3]])
    };
    if word(0) != crc32(text) {
        return Err(damaged("its checksum does not match its content"));
    }
    if word(4) as usize != text.len() & 0xffff_ffff {
        return Err(damaged("its stated length does not match its content"));
    }
    Ok(())
}

/// CRC-32 of RFC 1952, section 8.
fn crc32(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = crc_table();
    !bytes
        .iter()
        .fold(u32::MAX, |crc, &byte| TABLE[usize::from(crc.to_le_bytes()[0] ^ byte)] ^ (crc >> 8))
}

const fn crc_table() -> [u32; 256] {
    let mut table = [0_u32; 256];
    let mut index = 0_u32;
    while index < 256 {
        let mut crc = index;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { 0xedb8_8320 ^ (crc >> 1) } else { crc >> 1 };
            bit += 1;
        }
        table[index as usize] = crc;
        index += 1;
    }
    table
}

fn cut_short() -> Refusal {
    Refusal::truncated("the gzip data stops in the middle")
}

fn damaged(why: &str) -> Refusal {
    Refusal::broken(format!("the gzip data is damaged: {why}"), "download or compress it again")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::RefusalKind;

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
            bytes.extend([1, 2]);
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
    fn the_checksum_is_the_standard_one() {
        // The check value published with the polynomial.
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
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
