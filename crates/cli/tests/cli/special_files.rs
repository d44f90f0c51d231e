//! What is no regular file is refused at once, wherever a file is expected: nothing waits for a pipe or reads a device
//! for ever.

use std::os::unix::fs::symlink;

use crate::lab::Lab;

fn with_pipe(script: &str) -> Lab {
    let lab = Lab::with(script);
    let pipe = lab.path().join("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0).expect("a pipe");
    symlink(&pipe, lab.path().join("link")).expect("a link");
    lab
}

#[test]
fn open_refuses_them_by_name() {
    let special = "open() can't be used with pipes, sockets and devices, path:";
    for (path, says) in [
        ("/dev/zero", special),
        ("/dev/stdin", special),
        ("./pipe", special),
        ("./link", special),
        ("/", "open() can't be used with directories, path:"),
    ] {
        for mode in ["", "b"] {
            let lab = with_pipe(&format!("open('{path}', '{mode}'); export default function () {{}}"));
            lab.run(&[]).code(107).says(says);
        }
    }
    let lab = with_pipe("import './pipe.js'; export default function () {}");
    symlink("/dev/zero", lab.path().join("pipe.js")).expect("a link");
    lab.run(&[]).code(107).says("it is a device, expected a file");
}

#[test]
fn a_script_from_a_pipe_and_a_file_of_proc_are_still_read() {
    let lab = Lab::with(
        "const text = open('/proc/self/status'); if (!text.includes('Name:')) throw new Error('empty');
        export default function () {}",
    );
    lab.run(&[]).code(0);
    let mut command = lab.command(&["run", "-q", "/dev/stdin"]);
    command.stdin(std::fs::File::open(lab.path().join("script.js")).expect("the script"));
    crate::lab::finish(command).code(0);
}

#[test]
fn results_have_to_be_files_of_a_size() {
    let lab = with_pipe("");
    let special = "it is a pipe, a socket or a device, expected a regular file";
    let large = std::fs::File::create(lab.path().join("large.json")).expect("a file");
    large.set_len((1 << 30) + 1).expect("a file with holes");
    let size = "it has 1073741825 bytes, expected a result, which has 1073741824 at most";
    for command in [&["report"][..], &["table"], &["compare", "large.json"]] {
        for (path, says) in [("/dev/zero", special), ("pipe", special), ("large.json", size)] {
            // The first of two sides is read first.
            let says = if command.len() > 1 { size } else { says };
            let run = lab.onrush(&[command, &[path]].concat());
            assert_ne!(run.code, 0);
            run.says(says);
        }
    }
    lab.onrush(&["compare", "pipe", "large.json"]).says(special);
    lab.onrush(&["table", "."]).says("it is a directory, expected a file");
}
