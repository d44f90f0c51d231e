//! What the target counted is what the summary counted, exactly, also with resets and timeouts.

use crate::lab::Lab;

#[test]
fn no_request_is_lost_or_invented() {
    let lab = Lab::with(
        "import http from 'k6/http';
         export const options = { scenarios: { a: { executor: 'shared-iterations', vus: 8, iterations: 400 } } };
         const paths = ['/', '/get', '/fault/reset', '/status/404', '/redirect/2', '/delay/2s', '/fault/close-idle',
                        '/fault/partial', '/fault/no-response', '/bytes/100000', '/fault/bad-chunk'];
         export default function () {
           const path = paths[__ITER % paths.length];
           http.get(`${__ENV.TARGET}${path}`, { timeout: path.startsWith('/delay') ? 200 : 20000 });
           http.post(`${__ENV.TARGET_TLS}/upload`, 'x'.repeat(70000));
         }
         export function teardown() {
           const stats = http.get(`${__ENV.TARGET}/stats`).json();
           console.log(`target=${stats.requests}`);
         }
         export function handleSummary(data) { return { stdout: `summary=${data.metrics.http_reqs.values.count}` }; }",
    );
    let run = lab.run(&["--serve", "--insecure-skip-tls-verify", "--log-format", "raw"]).code(0);
    let number = |text: &str, mark: &str| -> u64 {
        let rest = text.split(mark).nth(1).unwrap_or_else(|| panic!("{mark} in {text}"));
        rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().expect("digits")
    };
    let target = number(&run.stderr, "target=");
    let summary = number(&run.stdout, "summary=");
    // The request for /stats is not counted by the target, but is one of the summary's.
    assert_eq!(summary, target + 1, "{}\n{}", run.stdout, run.stderr);
}
