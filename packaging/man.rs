//! Writes the manual pages into a folder: `cargo run --example man -- FOLDER`. An example, so that the program that is
//! shipped doesn't carry what writes them.

use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(folder) = std::env::args_os().nth(1) else {
        eprintln!("man: name the folder for the pages");
        return ExitCode::FAILURE;
    };
    let Some(command) = taskie::command() else {
        eprintln!("man: the default chart cannot be loaded");
        return ExitCode::FAILURE;
    };
    match std::fs::create_dir_all(&folder).and_then(|()| clap_mangen::generate_to(command, &folder))
    {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("man: {}: {error}", folder.display());
            ExitCode::FAILURE
        }
    }
}
