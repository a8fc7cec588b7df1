//! The plan as commands.

use goodput_engine::accounts::words::plural;
use goodput_engine::planner::serve::ServePlan;

use super::Page;

/// A command a pool, ready to paste: what is no command is a comment of the shell.
pub fn serve(plan: &ServePlan) -> String {
    let mut page = Page::default();
    page.heading("To run it");
    for pool in &plan.pools {
        let servers = plural(u64::from(pool.replicas), "server", "servers");
        let gpus = plural(u64::from(pool.gpus_per_replica), "GPU", "GPUs");
        let name = if pool.pool.is_empty() { "" } else { &format!(" of pool {}", pool.pool) };
        let which = if pool.is_answer { "the answer" } else { "the present fleet" };
        page.line(&format!("# {servers}{name}, {which}, each on {gpus}:"));
        page.line(&pool.command);
        for note in &pool.notes {
            page.line(&format!("# but: {note}"));
        }
    }
    page.line("# No flag sets:");
    for what in &plan.not_expressed {
        page.line(&format!("# - {what}"));
    }
    page.into_text()
}
