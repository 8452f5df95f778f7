#!/bin/bash
# Kill every command very often, in portions that add up: stopped and started again, it goes on where it was.
#
#     test/kill/campaign.sh <directory> [<kills>]
#
# The directory, which need not exist, gets a file for each portion, with what go test printed. 10,000 kills by
# default, half of them of the process group.
set -euo pipefail
[[ $# -ge 1 && $# -le 2 ]] || {
	echo "usage: $0 <directory> [<kills>]" >&2
	exit 2
}
mkdir -p -- "$1"
dir=$(cd -- "$1" && pwd)
kills=${2:-10000}
portion=500 # from here on the long scenarios take part
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

sums() { # of all portions that have ended: killed alone, killed with their group, kinds of findings
	find "$dir" -name 'portion-*.txt' -exec cat {} + |
		awk '/: killed [0-9]+ alone, / {
				for (i = 1; i < NF; i++) if ($i == "killed") { alone += $(i + 1); group += $(i + 3) }
			}
			/^ +FOUND / { found++ }
			END { print alone + 0, group + 0, found + 0 }'
}

for ((n = 1; ; n++)); do
	read -r alone group found < <(sums)
	echo "$alone killed alone, $group with their group, $found findings"
	((alone + group < kills)) || break
	file=$dir/portion-$(printf %03d "$n").txt
	[[ -e $file ]] && continue
	# A portion that fails has findings, and counts; one that was stopped leaves no file.
	GIT_AGENT_TESTS=nightly go test -count=1 -timeout 0 -v ./test/kill -run '^TestKills$' -kills "$portion" -seed "$n" >"$file.part" 2>&1 || true
	grep -q '^\(ok\|FAIL\)' "$file.part" || {
		tail -n 20 -- "$file.part" >&2
		exit 1
	}
	mv -- "$file.part" "$file"
done
((found == 0))
