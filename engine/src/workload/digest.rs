//! A workload in one number.

use super::{Carries, Lineage, OfferedRequest};

/// A fingerprint of a workload: equal for equal lists, on every machine (FNV-1a, 64 bits).
pub fn digest(requests: &[OfferedRequest]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |word: u64| {
        for byte in word.to_le_bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    };
    for request in requests {
        add(u64::from(request.pool) << 32 | u64::from(request.class));
        add(request.due.0.cast_unsigned());
        add(u64::from(request.input_tokens));
        add(u64::from(request.hidden_tokens) << 32 | u64::from(request.output_tokens));
        add(request.patience.map_or(u64::MAX, |patience| patience.picos().0.cast_unsigned()));
        add(u64::from(request.fails) << 1 | u64::from(request.acceptable));
        let Lineage { prefix, prefix_tokens, session, history_tokens, carries, .. } =
            request.lineage;
        if prefix.or(session).is_some() {
            add(prefix.map_or(0, |prefix| u64::from(prefix.get())) << 32 | u64::from(prefix_tokens));
            add(session.map_or(0, |id| u64::from(id.get())) << 32 | u64::from(history_tokens));
            add(u64::from(carries != Carries::Nothing));
        }
    }
    hash
}
