#!/bin/sh
# Makes the executable of all Go files that lie beside this script.
set -eu
cd /app/submission
HOME=$(mktemp -d) GOFLAGS=-trimpath GO111MODULE=off GOTOOLCHAIN=local CGO_ENABLED=0 GODEBUG=installgoroot=all
export HOME GOFLAGS GO111MODULE GOTOOLCHAIN CGO_ENABLED GODEBUG
go build -o executable ./*.go
