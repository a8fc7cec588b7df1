//! `goodput calibrate`.

use goodput_engine::accounts::words::{percent, three_digits};
use goodput_engine::calibration::report::ExcludedPoint;
use goodput_engine::calibration::{
    BenchmarkFile, CalibrationReport, calibrate_pool, same_gpu, same_model,
};
use goodput_engine::catalog;
use goodput_engine::ingest::Parsed;
use goodput_engine::problem::Problem;
use goodput_engine::scenario::doc::{
    ArrivalsDoc, ClassDoc, FleetDoc, LengthsDoc, PoolDoc, ScenarioDoc, SloDoc, TargetsDoc, VERSION,
    WorkloadDoc,
};
use goodput_engine::scenario::{GpuRef, ModelRef};

use super::args::CalibrateArgs;
use super::calibrate_law;
use super::input;
use super::input::Checked;
use super::output::{Answer, Failure};
use super::text::Page;

pub fn run(args: &CalibrateArgs) -> Result<Answer, Failure> {
    let tables = args.tables.reading()?;
    let files = args.files.iter().map(|path| input::benchmark_files(path, &tables));
    let files = files.collect::<Result<Vec<_>, _>>()?.concat();
    refuse_unusable(&files)?;
    let (checked, document) = match &args.scenario {
        Some(source) => {
            let (checked, document) = input::scenario_and_doc(source)?;
            (checked, Some(document))
        }
        None => (pool_of(args, &files)?, None),
    };
    if args.law {
        let answer =
            calibrate_law::run(&files, &checked.scenario.pool, document.zip(args.into.as_deref()))?;
        return Ok(answer.and_findings(checked.severities()));
    }
    let report = calibrate_pool(&files, &checked.scenario.pool).map_err(|why| why.problem())?;
    if let Some(why) = &report.undetermined {
        let why = format!("no factor is determined: {why}");
        return Err(nothing_to_fit(&why, &report.excluded).into());
    }
    Ok(Answer::new(&report, in_words(&report))?.with_findings(checked.severities()))
}

fn refuse_unusable(files: &[BenchmarkFile]) -> Result<(), Failure> {
    let problem = |file: &BenchmarkFile| {
        let name = file.file.file.clone();
        match (&file.file.refused, &file.file.parsed) {
            (Some(refused), _) => {
                Some(Problem::error(name, refused.message.clone(), refused.hint.clone()))
            }
            (None, Some(parsed)) if parsed.points().is_empty() => Some(Problem::error(
                name,
                format!("{} holds no benchmark point", parsed.format),
                "a benchmark result: `goodput review` says what a file holds",
            )),
            _ => None,
        }
    };
    let problems: Vec<Problem> = files.iter().filter_map(problem).collect();
    if problems.is_empty() { Ok(()) } else { Err(problems.into()) }
}

/// A pool by what was typed, and by what the files say where nothing was; settings at their
/// defaults. What neither says is asked for.
fn pool_of(args: &CalibrateArgs, files: &[BenchmarkFile]) -> Result<Checked, Failure> {
    let points = || files.iter().flat_map(|f| f.file.parsed.iter().flat_map(Parsed::points));
    let stated_model = points().find_map(|point| point.context.model.clone());
    let stated_gpu = points().find_map(|point| point.context.gpu.clone());
    let stated_tp = points().find_map(|point| point.context.tensor_parallel);
    let stated_tp = stated_tp.and_then(|size| u32::try_from(size).ok());
    let models = catalog::models().iter().map(|entry| entry.id.as_str());
    let gpus = catalog::gpus().iter().map(|entry| entry.id);
    let model =
        which("model", "model was served", args.model.as_ref(), stated_model, (models, same_model));
    let gpu = which("gpu", "GPU it ran on", args.gpu.as_ref(), stated_gpu, (gpus, same_gpu));
    let tensor_parallel = args.tensor_parallel.or(stated_tp).ok_or_else(|| {
        ask("tensor-parallel", "the files do not say over how many GPUs each layer was split")
    });
    let (model, gpu, tensor_parallel) = match (model, gpu, tensor_parallel) {
        (Ok(model), Ok(gpu), Ok(tensor_parallel)) => (model, gpu, tensor_parallel),
        (model, gpu, size) => {
            let problems = [model.err(), gpu.err(), size.err()];
            return Err(problems.into_iter().flatten().collect::<Vec<_>>().into());
        }
    };
    let mut pool = PoolDoc::new(GpuRef::id(&gpu), ModelRef::id(&model), 1);
    pool.tensor_parallel = tensor_parallel;
    input::checked(&document_around(pool))
}

/// The catalogue id that was typed, or the only one that the files can mean; else a question.
fn which<'a>(
    flag: &str,
    what: &str,
    typed: Option<&String>,
    stated: Option<String>,
    (ids, same): (impl Iterator<Item = &'a str>, fn(&str, &str) -> bool),
) -> Result<String, Problem> {
    if let Some(id) = typed {
        return Ok(id.clone());
    }
    let Some(stated) = stated else {
        return Err(ask(flag, &format!("the files do not say which {what}")));
    };
    let mut alike: Vec<&str> = ids.filter(|id| same(&stated, id)).collect();
    // "Llama-3.1-8B" is the better match for itself than "Llama-3.1-8B-Instruct" would be.
    if let Some(exact) = alike.iter().find(|id| id.eq_ignore_ascii_case(&stated)) {
        alike = vec![exact];
    }
    match alike.as_slice() {
        [id] => Ok((*id).to_owned()),
        [] => Err(ask(flag, &format!("the files say {stated}, which the catalogue does not know"))),
        several => {
            let which = several.join(", ");
            Err(ask(flag, &format!("the files say {stated}, which may be any of {which}")))
        }
    }
}

fn ask(flag: &str, message: &str) -> Problem {
    let hint = format!("give --{flag}, or --scenario for the pool the benchmark ran on");
    Problem::error(flag, message, hint)
}

/// The smallest document that holds `pool`; its workload is never looked at.
fn document_around(pool: PoolDoc) -> ScenarioDoc {
    ScenarioDoc {
        version: VERSION,
        name: String::new(),
        workload: WorkloadDoc {
            seed: 1,
            horizon_s: 60.0,
            warmup_s: 0.0,
            classes: vec![ClassDoc {
                slo: SloDoc { e2e_ms: Some(60_000.0), ..SloDoc::default() },
                ..ClassDoc::new(
                    "benchmark",
                    ArrivalsDoc::Constant { rate_rps: 1.0 },
                    LengthsDoc::Fixed { tokens: 1 },
                    LengthsDoc::Fixed { tokens: 1 },
                )
            }],
        },
        fleet: FleetDoc::of(pool),
        targets: TargetsDoc::default(),
    }
}

/// Why nothing was fitted, and why each point that cannot be used cannot.
pub fn nothing_to_fit(why: &str, excluded: &[ExcludedPoint]) -> Vec<Problem> {
    let hint = "`goodput calibrate --help` says what a fit needs";
    let first = Problem::error("", why, hint);
    let problem = |excluded: &ExcludedPoint| {
        let row = excluded.row.map_or(String::new(), |row| format!(":{row}"));
        Problem::error(
            format!("{}{row}", excluded.file),
            format!("this point cannot be used: {}", excluded.reason),
            "mend it, or give points that state their load, lengths and latencies",
        )
    };
    [first].into_iter().chain(excluded.iter().map(problem)).collect()
}

fn in_words(report: &CalibrationReport) -> String {
    let mut page = Page::default();
    let scale = report.step_time_scale.unwrap_or(1.0);
    page.line(&format!("Steps take {scale:.3} × the time of the source"));
    let after = report.residual.unwrap_or(0.0);
    let before = report.residual_before.unwrap_or(0.0);
    page.row("median error", &format!("{}, {} before", percent(after), percent(before)));
    page.row("points used", &report.points.len().to_string());
    for point in &report.points {
        page.heading(&format!("{}: {}", point.file, point.load));
        for statistic in &point.statistics {
            let alone = statistic.alone.map_or("none".to_owned(), |scale| format!("{scale:.3} ×"));
            page.row(
                &statistic.name,
                &format!(
                    "measured {}, predicted {} ({:+.1} %), alone {alone}, weight {:.2}",
                    three_digits(statistic.measured),
                    three_digits(statistic.predicted),
                    100.0 * statistic.error,
                    statistic.weight
                ),
            );
        }
    }
    for excluded in &report.excluded {
        page.row("left out", &format!("{}: {}", excluded.file, excluded.reason));
    }
    page.heading("Supposed");
    for assumption in &report.assumptions {
        page.line(&format!("  {assumption}"));
    }
    page.into_text()
}
