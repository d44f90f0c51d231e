//! What `onrush run --help` and `onrush curl --help` say about URLs. Lines are shorter than those that help is folded
//! to.

/// Behind the flags of `onrush run --help`.
pub const HELP: &str = "\
The script may be - for standard input.

With a URL instead of a script, Onrush requests that URL again and again: ten users for ten
seconds, unless told otherwise. The word run may be left out.
  onrush http://localhost:8080/
  onrush run -c 64 -d 30s http://localhost:8080/get
  onrush run --rate 100 -d 1m -H 'Accept: text/html' https://test.example/
  onrush run -n 500 -X PUT --json @item.json localhost:8080/anything/items/1

Long flags are those above and curl's: --header, --data, --form, --user, --unix-socket, …
Letters are curl's (-X -H -F -G -I -L -k …), except for these:
  -c, --vus N           users, each with its own connection; with --rate the most at a time
  -d, --duration TIME   how long; -d with anything but a time is curl's --data
  -n, --requests N      so many requests in all; also -i N
  --rate N[/s|/m|/h]    start requests on this schedule, whatever the server does; also -R N
  -s, --stage TIME:N    ramp to so many users over this time
  -u N, -z TIME         users as in k6, how long as in oha
  --show-script         print the script that the run stands for, to go on from there
A letter that means something else in wrk, oha, hey or bombardier is refused with what to write,
unless its value settles it (-t, -r, -D, -o, -b, -q …). curl's flags about its output are ignored
and named. Onrush takes a whole curl command as it is by: onrush curl

Exit codes: 99 when a --threshold or --fail-on does not hold, 113 when no request of a URL
succeeded; all of them are in README.md.";

/// Behind the flags of `onrush curl --help`.
const CURL_HELP: &str = "\
Examples:
  onrush curl --vus 20 --duration 30s 'curl https://test.example/ -H \"accept: text/html\"'
  onrush curl -X POST -d a=b localhost:8080/post --rate 100

The command is taken as one quoted argument, as browsers copy it (\"copy as cURL (bash)\"), or word
by word. Letters are curl's; the load is said by long flags, anywhere in the line:
  --vus N               users, each with its own connection; with --rate the most at a time
  --duration TIME       how long
  --requests N          so many requests in all
  --rate N[/s|/m|/h]    start requests on this schedule, whatever the server does
  --stage TIME:N        ramp to so many users over this time
  --show-script         print the script that the run stands for
Without them it is ten users for ten seconds. Every long flag of onrush run works too.";

/// `onrush curl`, for its help alone: its command lines are read here.
pub fn curl_command() -> clap::Command {
    clap::Command::new("curl")
        .about("Run a load test with the request of a curl command")
        .override_usage("onrush curl [LOAD] <'curl …' | FLAGS… URL>")
        .after_help(CURL_HELP)
        .arg(clap::Arg::new("command").value_name("COMMAND").num_args(0..).help("A curl command"))
}
