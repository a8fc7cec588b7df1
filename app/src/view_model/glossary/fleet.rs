//! Terms of pools, of replicas that come and go, and of what a prefix cache may find.

use super::{Term, term};

pub(super) const FLEET: &[Term] = &[
    term(
        "pool",
        "Pool, route",
        "Like replicas of one model on one kind of GPU. A class is routed to one pool or, in shares, to \
         several; a session stays where it began. The fleet sustains what the pool with the least to \
         spare allows, and the verdict names that pool.",
        "",
        "llm-d: InferencePool. vLLM production-stack: a model deployment behind the router.",
    ),
    term(
        "routing",
        "Routing policy",
        "How a request finds its replica within its pool. It sees what a gateway knows: who asks, and \
         what was sent where; never how long an answer will be.",
        "",
        "vllm-router: --policy random, round_robin, power_of_two, consistent_hash (here affinity). \
         production-stack: --routing-logic roundrobin, session.",
    ),
    term(
        "scheduling-policy",
        "Scheduling policy, priority",
        "Whose turn it is in the queue of a replica: who came first, or by the priority of its class (a \
         lower number is more urgent), then who came first. It decides too who loses its KV blocks \
         when they run out: who was admitted last, or who is least urgent.",
        "",
        "vLLM: --scheduling-policy fcfs, priority; requests carry their priority.",
    ),
    term(
        "stream-event",
        "Stream event, stream_interval",
        "What a client receives at once: the first token alone, then so many at a time, and at the end \
         what is left. Gaps and stalls are between events; TTFT, TPOT and E2E do not depend on it.",
        "⌈(output tokens − 1) ÷ stream_interval⌉ gaps",
        "vLLM: --stream-interval. AIPerf: chunks.",
    ),
    term(
        "prefix-hits",
        "Prefix cache hits",
        "Prompt tokens that a replica found in its KV cache when it began with a request, over all \
         prompt tokens that it began with. They are not computed again; what is left after hits, and \
         what preemptions make it compute again, is the prefill that the fleet has to do.",
        "cached tokens ÷ prompt tokens",
        "vLLM: vllm:prefix_cache_hits ÷ vllm:prefix_cache_queries.",
    ),
    term(
        "session",
        "Session, turn",
        "Several requests of one user: each turn after the first is sent a think time after the one \
         before has ended, and its prompt is all that was said so far and new tokens. A turn that is \
         lost ends its session; turns that were never asked are counted by why.",
        "",
        "AIPerf and inference-perf: multi-turn conversations. vllm bench: multi_turn.",
    ),
    term(
        "start-up",
        "Start-up, cold start",
        "From a replica's order until it takes requests: a machine is found, weights are loaded, the \
         engine warms up. It is paid for and serves nobody. With a cold start the first replicas are \
         ordered when the run begins, and whoever asks before they are ready waits.",
        "",
        "Kubernetes: until the readiness probe succeeds.",
    ),
    term(
        "autoscaler",
        "Autoscaler",
        "At every interval so many replicas are wanted that each has its target of a signal. What is \
         wanted is ordered after a delay and takes its start-up; for fewer, replicas drain: they take \
         no more requests and finish what they have.",
        "⌈signal of all replicas ÷ target⌉, from min_replicas to max_replicas",
        "Kubernetes HorizontalPodAutoscaler with an average value; KEDA.",
    ),
];
