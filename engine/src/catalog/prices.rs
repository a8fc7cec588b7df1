//! The public price sheet.

use serde::Serialize;

use super::rows::{Citation, Sources, cite, filled};
use super::table::{Row, Table};

/// What kind of price a quote is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PricePlan {
    /// Rented by the hour.
    OnDemand,
    /// Rented for a reserved block of time.
    Reserved,
    /// Rented for a year.
    #[serde(rename = "reserved_1_year")]
    Reserved1Year,
    /// Rented for three years.
    #[serde(rename = "reserved_3_years")]
    Reserved3Years,
    /// Total cost of owning it, not a rental price.
    Ownership,
}

impl PricePlan {
    /// For people.
    pub fn words(self) -> &'static str {
        match self {
            Self::OnDemand => "on demand",
            Self::Reserved => "reserved block",
            Self::Reserved1Year => "reserved 1 year",
            Self::Reserved3Years => "reserved 3 years",
            Self::Ownership => "owned (not a rental)",
        }
    }
}

/// A row of the public price sheet, dated.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PriceQuote {
    /// Id of the GPU.
    pub gpu: &'static str,
    /// Lowest price quoted, per GPU and hour.
    pub low_per_gpu_hour: f64,
    /// Highest price quoted, per GPU and hour.
    pub high_per_gpu_hour: f64,
    /// In which currency (ISO 4217).
    pub currency: &'static str,
    /// Kind of price.
    pub plan: PricePlan,
    /// Where; empty where the quote does not say.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub region: &'static str,
    /// Who offers it.
    pub offer: &'static str,
    /// Where and when it was quoted.
    #[serde(flatten)]
    pub citation: Citation,
    /// What to know about it.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub note: &'static str,
}

pub(super) fn prices(text: &'static str, sources: &Sources) -> Result<Vec<PriceQuote>, String> {
    let table = Table::parse(text)?;
    let quote = |row: Row<'_, 'static>| {
        let citation = cite(filled(row, "source")?, sources)?;
        Ok(PriceQuote {
            gpu: filled(row, "gpu")?,
            low_per_gpu_hour: row.number("low_per_gpu_hour")?,
            high_per_gpu_hour: row.number("high_per_gpu_hour")?,
            currency: filled(row, "currency")?,
            region: row.text("region")?,
            plan: match row.text("plan")? {
                "on_demand" => PricePlan::OnDemand,
                "reserved" => PricePlan::Reserved,
                "reserved_1_year" => PricePlan::Reserved1Year,
                "reserved_3_years" => PricePlan::Reserved3Years,
                "ownership" => PricePlan::Ownership,
                other => return Err(format!("no price plan {other}")),
            },
            offer: filled(row, "offer")?,
            citation: Citation { as_of: filled(row, "quoted")?.to_owned(), ..citation },
            note: row.text("note")?,
        })
    };
    table.rows().map(quote).collect()
}
