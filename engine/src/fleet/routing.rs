//! How a request finds its replica among those of its pool.

/// Routing policies. All of them see only what a gateway knows: who asks, and what it has sent where.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Routing {
    /// To the replica with the fewest requests queued or running; ties rotate.
    #[default]
    LeastOutstanding,
    /// To each replica in turn.
    RoundRobin,
    /// To any replica, all alike.
    Random,
    /// To the less loaded of two that chance picks (Mitzenmacher 2001).
    PowerOfTwo,
    /// To the replica with the fewest KV blocks held now.
    LeastKv,
    /// Requests of one session, or with one shared prefix, to one replica, unless it has more than
    /// `most_over_mean` times its fair part of what is outstanding (consistent hashing with bounded
    /// loads: Mirrokni, Thorup, Zadimoghaddam 2018; Envoy's `hash_balance_factor`). Those, and
    /// requests of no session, go where the fewest are outstanding.
    Affinity {
        /// Above 1.
        most_over_mean: f64,
    },
}
