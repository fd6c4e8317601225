#!/bin/sh
# Executes every notebook here, in place or into the folder that is named. What depends
# on the moment is left out, so that the same results give the same notebooks.
set -eu
export PYDEVD_DISABLE_FILE_VALIDATION=1 # its warnings say nothing of the notebooks
to=${1:+--output-dir=$(cd "$1" && pwd)}
cd "$(dirname "$0")"
want="jupyter-nbconvert python3-ipykernel python3-pandas python3-matplotlib"
missing() {
	echo "notebooks: $1 is missing; on Debian: apt-get install $want" >&2
	exit 1
}
command -v go >/dev/null || { echo "notebooks: go is missing" >&2; exit 1; }
nbconvert=$(command -v jupyter-nbconvert) || missing jupyter-nbconvert
# The Python that nbconvert runs under need not be the first one in PATH.
python=$(sed -n '1s/^#! *//p' "$nbconvert")
for module in ipykernel pandas matplotlib; do
	$python -c "import $module" 2>/dev/null || missing "$module"
done
for notebook in *.ipynb; do
	echo "$notebook" >&2
	jupyter-nbconvert --log-level=WARN --to notebook --execute ${to:---inplace} \
		--ExecutePreprocessor.record_timing=False --ExecutePreprocessor.timeout=300 "$notebook"
done
