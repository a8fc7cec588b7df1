//! Screenshots of the built page: see `cargo xtask shot`.
use goodput_tests::{Journey, Page, Result, page::SETTLED, view};
use std::path::PathBuf;

const VIEWS: [view::View; 5] =
    [view::DESKTOP_LIGHT, view::DESKTOP_DARK, view::LAPTOP, view::PHONE_LIGHT, view::PHONE_DARK];

struct Options {
    folder: PathBuf,
    fragment: String,
    clicks: Vec<String>,
    wait: String,
}

fn main() -> Result {
    let options = options(std::env::args().skip(1))?;
    Journey::default().may_complain().run(|page| shoot(page, options));
    Ok(())
}

fn options(mut args: impl Iterator<Item = String>) -> Result<Options> {
    let mut folder = None;
    let mut options = Options {
        folder: PathBuf::new(),
        fragment: String::new(),
        clicks: Vec::new(),
        wait: SETTLED.to_owned(),
    };
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value"));
        match arg.as_str() {
            "--fragment" => value()?.trim_start_matches('#').clone_into(&mut options.fragment),
            "--click" => options.clicks.push(value()?),
            "--wait" => options.wait = value()?,
            other if other.starts_with('-') => return Err(format!("unknown `{other}`").into()),
            _ => folder = Some(PathBuf::from(&arg)),
        }
    }
    options.folder = folder.ok_or("name the folder for the screenshots")?;
    Ok(options)
}

async fn shoot(page: Page, options: Options) -> Result {
    for view in VIEWS {
        page.view(view).await?;
        page.load(&options.fragment).await?;
        page.find(&options.wait).await?;
        for css in &options.clicks {
            page.click(css).await?;
            page.find(&options.wait).await?;
        }
        let file = options.folder.join(format!("{}.png", view.name));
        page.screenshot(&file).await?;
        println!("{}", file.display());
        for complaint in page.complaints().await? {
            eprintln!("{complaint}");
        }
    }
    Ok(())
}
