#!/bin/sh
# Runs a load test in CI and, where there is something to compare with, gates by evidence. The Action of GitHub and the
# template of GitLab run this; any other CI can. It needs `onrush` and a POSIX shell, and calls no service.
#
# ONRUSH_SCRIPT     the script or URL to test
# ONRUSH_ARGS       flags of `onrush run`, one word a line
# ONRUSH_BASE_ARGS  the same for a baseline that runs by turns with it, on the same machine: the strongest evidence
# ONRUSH_BASELINE   or a directory of earlier results of this machine, as many as there are rounds
# ONRUSH_ROUNDS     runs of each; six are the least for evidence (1)
# ONRUSH_FAIL_ON    changes that must not happen, one a line: p(95) +5%
# ONRUSH_IN_DOUBT   fail, or warn: what to do when nobody can tell (fail)
# ONRUSH_RESULTS    where everything is written: results, junit.xml, comment.md, metrics.txt, code-quality.json
#                   (onrush-results)
#
# It ends with the code of `onrush compare` (1 worse, 2 cannot tell, 3 not comparable), or of a run that failed.
set -eu
: "${ONRUSH_SCRIPT:?name the script to run}"
results=${ONRUSH_RESULTS:-onrush-results}
rounds=${ONRUSH_ROUNDS:-1}
failed=0

# run NAME WORDS FLAG… : one run into $results/NAME; WORDS has a word a line.
run() {
  name=$1 words=$2
  shift 2
  IFS='
'
  set -f
  # shellcheck disable=SC2086 # words are split at line breaks, and nowhere else
  set -- "$@" $words
  set +f
  unset IFS
  onrush run --quiet --save "$results/$name" "$@" "$ONRUSH_SCRIPT" || failed=$?
}

mkdir -p "$results"
set -- --junit "$results/junit.xml" --comment "$results/comment.md" \
  --gitlab-metrics "$results/metrics.txt" --code-quality "$results/code-quality.json"

if [ -z "${ONRUSH_BASE_ARGS:-}${ONRUSH_BASELINE:-}" ]; then
  run single "${ONRUSH_ARGS:-}" "$@"
  exit "$failed"
fi

round=1
while [ "$round" -le "$rounds" ]; do
  turns=new
  if [ -n "${ONRUSH_BASE_ARGS:-}" ]; then
    # A B B A: what both runs of a pair share cancels.
    if [ $((round % 2)) -eq 1 ]; then turns="base new"; else turns="new base"; fi
  fi
  for turn in $turns; do
    if [ "$turn" = base ]; then words=$ONRUSH_BASE_ARGS; else words=${ONRUSH_ARGS:-}; fi
    run "$turn/$round" "$words" --job-summary none --annotations none --label round="$round" --label variant="$turn"
  done
  round=$((round + 1))
done

base=$results/base
if [ -z "${ONRUSH_BASE_ARGS:-}" ]; then base=$ONRUSH_BASELINE; fi
IFS='
'
set -f
for condition in ${ONRUSH_FAIL_ON:-}; do set -- "$@" --fail-on "$condition"; done
set +f
unset IFS
code=0
onrush compare "$base" "$results/new" "$@" || code=$?
if [ "$code" -eq 2 ] && [ "${ONRUSH_IN_DOUBT:-fail}" = warn ]; then
  echo "cannot tell, and ONRUSH_IN_DOUBT is warn: the build goes on"
  code=0
fi
if [ "$code" -eq 0 ]; then code=$failed; fi
exit "$code"
