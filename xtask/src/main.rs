//! `cargo xtask TASK`: reads the command line and runs the task.
use std::process::ExitCode;
use xtask::{Result, bench, bench_page, page::Build, serve, shot, suite, validate};

const HELP: &str = "\
Usage: cargo xtask TASK

  serve [--port N] [--open] [--release]
      Install what is missing, build the page and serve it on 127.0.0.1 (port 8080).
      --release also shrinks it with wasm-opt (needs npm), as `test` does before it tests the page.
  test [--no-browser]
      Install what is missing, then check formatting, lints and features, and run every test.
  shot DIR [--fragment TEXT] [--click CSS]... [--wait CSS] [--no-build]
      Write screenshots of the whole page (desktop light and dark, phone light) into DIR, after
      opening it with #TEXT, clicking what the selectors name, and waiting for the last one
      (by default for data-state=\"done\" on body or main).
  bench [--repeats N]
      Measure how fast the simulator is, natively and in WebAssembly (in Node), and write the table
      to docs/bench.md.
  bench-page [--no-build]
      Build the smallest page, print its sizes, and measure in Chromium how fast it answers edits.
  validate
      Predict published measurements (`../shared/calibration`) and write how near the predictions
      come to docs/accuracy.md.

";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[String]) -> Result {
    let mut args = args.iter().map(String::as_str);
    match args.next() {
        Some("serve") => serve::run(&serve_options(args)?),
        Some("test") => suite::run(&suite_options(args)?),
        Some("bench") => bench::run(&bench_options(args)?),
        Some("bench-page") => bench_page::run(&bench_page_options(args)?),
        Some("validate") => match args.next() {
            None => validate::run(),
            Some(other) => Err(unknown("validate", other)),
        },
        Some("shot") => shot::run(&args.map(str::to_owned).collect::<Vec<_>>()),
        Some("help" | "--help" | "-h") | None => {
            print!("{HELP}");
            Ok(())
        }
        Some(other) => Err(format!("there is no task `{other}`\n\n{HELP}")),
    }
}

fn serve_options<'a>(mut args: impl Iterator<Item = &'a str>) -> Result<serve::Options> {
    let mut options = serve::Options { port: 8080, open: false, build: Build::Plain };
    while let Some(arg) = args.next() {
        match arg {
            "--port" => {
                let port = args.next().ok_or("--port needs a number")?;
                options.port = port
                    .parse()
                    .map_err(|error| format!("--port {port}: {error}; ports are 0 to 65535"))?;
            }
            "--open" => options.open = true,
            "--release" if Build::smallest() == Build::Plain => {
                return Err("--release shrinks the page with wasm-opt, which needs npm".to_owned());
            }
            "--release" => options.build = Build::Optimized,
            other => return Err(unknown("serve", other)),
        }
    }
    Ok(options)
}

fn suite_options<'a>(args: impl Iterator<Item = &'a str>) -> Result<suite::Options> {
    let mut options = suite::Options { browser: true };
    for arg in args {
        match arg {
            "--no-browser" => options.browser = false,
            other => return Err(unknown("test", other)),
        }
    }
    Ok(options)
}

fn bench_options<'a>(mut args: impl Iterator<Item = &'a str>) -> Result<bench::Options> {
    let mut options = bench::Options { repeats: 5 };
    while let Some(arg) = args.next() {
        match arg {
            "--repeats" => {
                let repeats = args.next().ok_or("--repeats needs a number")?;
                options.repeats =
                    repeats.parse().map_err(|error| format!("--repeats {repeats}: {error}"))?;
            }
            other => return Err(unknown("bench", other)),
        }
    }
    Ok(options)
}

fn bench_page_options<'a>(args: impl Iterator<Item = &'a str>) -> Result<bench_page::Options> {
    let mut options = bench_page::Options { build: true };
    for arg in args {
        match arg {
            "--no-build" => options.build = false,
            other => return Err(unknown("bench-page", other)),
        }
    }
    Ok(options)
}

fn unknown(task: &str, arg: &str) -> String {
    format!("`{task}` does not know `{arg}`\n\n{HELP}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serve_takes_a_port_and_refuses_what_it_does_not_know() {
        let options = serve_options(["--port", "0", "--open"].into_iter()).unwrap();
        assert_eq!((options.port, options.open), (0, true));
        for (wrong, said) in [
            (&["--port"][..], "needs a number"),
            (&["--port", "99999"], "0 to 65535"),
            (&["--prot", "1"], "does not know `--prot`"),
        ] {
            let message = serve_options(wrong.iter().copied()).err().unwrap();
            assert!(message.contains(said), "{wrong:?}: {message}");
        }
    }

    #[test]
    fn an_unknown_task_is_an_error() {
        assert!(run(&["tset".to_owned()]).unwrap_err().contains("no task `tset`"));
    }
}
