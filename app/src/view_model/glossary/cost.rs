//! Terms of cost, and of how far to trust a number.

use super::{Term, term};

pub(super) const COST: &[Term] = &[
    term(
        "cost-per-good",
        "Cost per good request",
        "What the fleet costs while it is provisioned, over the requests that were good. \
         Undefined without a good request; absent without a price.",
        "price × GPU-hours ÷ good requests",
        "$ per million tokens pays for tokens that nobody could use.",
    ),
    term(
        "marginal-cost",
        "Marginal cost of attainment",
        "What a larger fleet costs over what it adds: per month for one per cent of the offered \
         requests more, and per good request more. Replicas come whole, so it is the mean over a \
         step; the step that ends at the answer is the price of the last per cent. Where nothing is \
         added there is no such price. A month is 730 hours, a twelfth of 8,760.",
        "(cost of N − cost of N − 1) ÷ (attainment of N − attainment of N − 1)",
        "Averages (cost ÷ all tokens, or ÷ all good requests) hide it: the last per cent may cost \
         many times the mean.",
    ),
    term(
        "price-sheet",
        "Price sheet",
        "Public quotes per GPU-hour with date and source, by plan (on demand, a reserved block, one \
         year, three years, ownership) and by region where the quote says one. Choosing one fills in \
         the middle of its range; the price stays yours to change. Nothing is converted: a price in \
         another currency needs a rate that you type, with its date.",
        "USD = price × USD per unit of its currency",
        "",
    ),
    term(
        "books",
        "Cost books",
        "The GPU-seconds of every step are shared out among the requests in it by what they add \
         to it. Every line is where money went; the lines sum to the total.",
        "",
        "",
    ),
    term("idle", "Idle", "Provisioned time without a step.", "", ""),
    term(
        "recomputed",
        "Recomputed",
        "Tokens computed a second time after a preemption: wasted, even if the request ends good.",
        "",
        "",
    ),
    term(
        "origin",
        "Origin of a number",
        "Measured: fitted from your files. Library: fitted from published kernel tables. Physics: \
         one law of the GPU shared by models. Datasheet: roofline only, wide range. Assumed: \
         somebody said so. Simplified: bare token rates.",
        "",
        "",
    ),
    term(
        "fitted",
        "Fitted step time",
        "One factor on the time of every engine step that makes simulated benchmarks agree with \
         measured ones.",
        "measured ÷ simulated",
        "",
    ),
];
