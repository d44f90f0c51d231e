//! k6's libraries by the binary: names of checks as the summary has them, versions that are built in and others.

use crate::lab::Lab;

/// Names of all checks of `handleSummary`'s data, each with its counts.
const NAMES: &str = "export function handleSummary(data) {
    const names = [];
    const walk = (group) => {
      for (const { name, passes, fails } of group.checks) names.push(`${group.path} ${name} ${passes}/${fails}`);
      group.groups.forEach(walk);
    };
    walk(data.root_group);
    return { stdout: names.join('\\n') + '\\n' };
  }";

#[test]
fn checks_of_k6chaijs_have_k6s_names() {
    let lab = Lab::with(&format!(
        "import {{ describe, expect }} from 'https://jslib.k6.io/k6chaijs/4.3.4.3/index.js';
        export default function () {{
          describe('d', () => {{
            expect({{ json: () => ({{}}) }}).to.have.validJsonBody();
            expect([1, 2], 'list').to.have.lengthOf(2);
            expect({{ a: 1 }}).to.include({{ a: 1 }});
            expect(500, 'status').to.equal(200);
            expect(1).to.equal(1);
          }});
          describe('thrown', () => {{ throw new Error('of the case'); }});
          describe('symbol', () => expect({{}}, Symbol('no text')).to.include({{}}));
        }}
        {NAMES}"
    ));
    let expected = "::d has valid json body 1/0
::d expected list to have property 'length' 1/0
::d expected list to have a length of 2 got ${actual} 1/0
::d expected ${this} to have property 'a' 1/0
::d expected ${this} to have property 'a' of 1, got ${actual} 1/0
::d expected status to equal 200 0/1
::thrown Exception raised \"Error: of the case\" 0/1
::symbol Exception raised \"TypeError: Cannot convert a Symbol value to a string\" 0/1";
    lab.run(&["-q", "--offline"]).prints(expected).says("Exception raised in test \\\"thrown\\\"");
}

#[test]
fn check_of_k6_utils_feeds_the_metric() {
    let lab = Lab::with(&format!(
        "import {{ check }} from 'https://jslib.k6.io/k6-utils/1.6.0/index.js';
        export const options = {{ thresholds: {{ 'checks{{check:two}}': ['rate==0'], checks: ['rate==0.5'] }} }};
        export default function () {{ check(1, {{ one: (n) => n === 1, two: false }}); }}
        {NAMES}"
    ));
    let run = lab.run(&["-q", "--offline"]).code(0);
    assert_eq!(run.stdout.trim(), "one 1/0\n two 0/1");
}

#[test]
fn another_version_is_never_answered_by_a_near_one() {
    let refused = |address: &str, known: &str| {
        let lab = Lab::with(&format!("import * as library from '{address}'; export default function () {{}}"));
        lab.run(&["-q", "--offline"]).code(107).says(known);
    };
    refused(
        "https://jslib.k6.io/k6-utils/1.7.0/index.js",
        "; this version or file of k6-utils is not built in; those that are: 1.0.0, 1.1.0, \
         1.2.0, 1.3.0, 1.4.0, 1.5.0, 1.6.0",
    );
    refused("https://jslib.k6.io/papaparse/latest/index.js", "of papaparse is not built in; those that are: 5.1.1");
    refused("https://jslib.k6.io/aws/0.14.0/s3.js", "those that are: 0.13.0/signature.js, 0.14.0/signature.js");
    refused("https://jslib.k6.io/formdata/1.0.0/index.js", "those that are: 0.0.1, 0.0.2");
    refused("https://jslib.k6.io/url/2.0.0/index.js", "those that are: 1.0.0");
    let other = Lab::with("import 'https://jslib.k6.io/ajv/6.12.5/index.js'; export default function () {}");
    let run = other.run(&["-q", "--offline"]).code(107);
    assert!(!run.stderr.contains("built in"), "{}", run.stderr);
}
