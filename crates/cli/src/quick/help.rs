//! What `onrush run --help` and `onrush curl --help` say about URLs. Lines are shorter than those that help is folded
//! to.

/// Behind the flags of `onrush run --help`.
pub const HELP: &str = "\
The script may be - for standard input.

A URL instead of a script is requested again and again, by ten users for ten seconds unless you
say otherwise. The word run may be left out.
  onrush http://localhost:8080/
  onrush run -c 64 -d 30s http://localhost:8080/get
  onrush run --rate 100 -d 1m -H 'Accept: text/html' https://test.example/
  onrush run -n 500 -X PUT --json @item.json localhost:8080/anything/items/1

Long flags are those above and curl's: --header, --data, --form, --user, --unix-socket, …
Letters are curl's (-X -H -F -G -I -L -k …), except for these:
  -c, --vus N           users, each with its own connection; with --rate the most at a time
  -d, --duration TIME   how long; -d with anything but a time is curl's --data
  -n, --requests N      requests in all; also -i N
  --rate N[/s|/m|/h]    start requests on this schedule, whatever the server does; also -R N
  -s, --stage TIME:N    ramp to this many users over this time
  -u N, -z TIME         users as in k6, how long as in oha
  --streams N           users on each of -c connections of HTTP/2 (h2load's -m)
  --http1.1, --http2, --http2-prior-knowledge
                        as in curl; h2c://host is http://host over HTTP/2
  --show-script         print the script that Onrush makes of the URL
Some letters mean something else in wrk, oha, hey or bombardier (-t, -r, -D, -o, -b, -q …). Onrush
accepts them when the value leaves only one meaning, and otherwise says what to write. It ignores
curl's flags about output and names them. Whole curl commands: onrush curl

Exit codes: 99 when a --threshold or --fail-on does not hold, 113 when no request of a URL
succeeded. docs/reference/exit-codes.md has all of them.";

/// Behind the flags of `onrush curl --help`.
const CURL_HELP: &str = "\
Examples:
  onrush curl --vus 20 --duration 30s 'curl https://test.example/ -H \"accept: text/html\"'
  onrush curl -X POST -d a=b localhost:8080/post --rate 100

Give the command as one quoted argument, as browsers copy it (\"copy as cURL (bash)\"), or word by
word. Letters are curl's. Set the load by long flags, anywhere in the line:
  --vus N               users, each with its own connection; with --rate the most at a time
  --duration TIME       how long
  --requests N          requests in all
  --rate N[/s|/m|/h]    start requests on this schedule, whatever the server does
  --stage TIME:N        ramp to this many users over this time
  --streams N           users on each of --vus connections of HTTP/2
  --show-script         print the script that Onrush makes of the request
Without them ten users run for ten seconds. Every long flag of onrush run works too.";

/// `onrush curl`, for its help alone: its command lines are read here.
pub fn curl_command() -> clap::Command {
    clap::Command::new("curl")
        .about("Run a load test with the request of a curl command")
        .override_usage("onrush curl [LOAD] <'curl …' | FLAGS… URL>")
        .after_help(CURL_HELP)
        .arg(clap::Arg::new("command").value_name("COMMAND").num_args(0..).help("A curl command"))
}
