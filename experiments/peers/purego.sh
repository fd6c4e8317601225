#!/bin/sh
# Fights the duels against parquet-go with our code built by the tag purego, and
# parquet-go's as it is always built, assembly included: both listen to the tag, so
# a copy of parquet-go is made that listens to another one.
#
#	sh purego.sh DIR [flags of the command]
#
# writes DIR/peers/ratios-purego.csv.
set -eu
out=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go mod download github.com/parquet-go/parquet-go
cp -R "$(go list -m -f '{{.Dir}}' github.com/parquet-go/parquet-go)" "$work/parquet-go"
chmod -R u+w "$work"
for f in "$work"/parquet-go/bloom/*.go "$work"/parquet-go/bloom/*.s; do
	sed '/^\/\/go:build/s/purego/parquet_purego/' "$f" >"$work/file"
	cp "$work/file" "$f"
done
cp go.mod go.sum "$work"
go mod edit -replace "github.com/parquet-go/parquet-go=$work/parquet-go" "$work/go.mod"
go run -modfile "$work/go.mod" -tags purego . duels --only ', batched|blocked' --suffix=-purego --out "$out" "$@"
