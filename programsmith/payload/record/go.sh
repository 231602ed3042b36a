#!/bin/sh
# Stands for `go` while a suite runs. What it builds or runs is the real thing, unless that is the tool's own main
# package: then the stand-in for the tool is left at the output, or started.
real=$(PATH=/build/tools:/usr/bin:/bin && command -v go) || exit 127
stand=/build/record/path/$PROGRAMSMITH_TOOL

is_tool() {
	[ -f "$1" ] && "$real" version -m "$1" 2>/dev/null | grep -q "^	path	$PROGRAMSMITH_MAIN\$"
}

# The output of `go build`: what -o names (a folder takes the package's name), else the package's name here.
output() {
	named=
	while [ $# -gt 0 ]; do
		case $1 in
		-o) named=$2 && shift ;;
		-o=*) named=${1#-o=} ;;
		esac
		shift
	done
	if [ -d "$named" ]; then
		printf '%s\n' "${named%/}/${PROGRAMSMITH_MAIN##*/}"
	else
		printf '%s\n' "${named:-${PROGRAMSMITH_MAIN##*/}}"
	fi
}

case $1 in
build)
	"$real" "$@" || exit
	made=$(shift; output "$@")
	if is_tool "$made"; then
		rm -f -- "$made" && cp -- "$stand" "$made"
	fi
	;;
install)
	"$real" "$@" || exit
	made=${GOBIN:-${GOPATH:-$HOME/go}/bin}/${PROGRAMSMITH_MAIN##*/}
	if is_tool "$made"; then
		rm -f -- "$made" && cp -- "$stand" "$made"
	fi
	;;
run)
	shift
	skipped=0
	for word; do
		case $word in
		-*) skipped=$((skipped + 1)) ;;
		*) break ;;
		esac
	done
	package=
	rest=0
	at=0
	for word; do
		at=$((at + 1))
		[ $at -gt $skipped ] || continue
		case $word in
		*.go) package="$package $word" && rest=$at ;;
		*) [ -n "$package" ] || { package=$word && rest=$at; } && break ;;
		esac
	done
	# shellcheck disable=SC2086 # several files are several words
	found=$("$real" list -f '{{.ImportPath}}' $package 2>/dev/null)
	case $found in
	"$PROGRAMSMITH_MAIN" | command-line-arguments)
		shift "$rest"
		exec "$stand" "$@"
		;;
	esac
	exec "$real" run "$@"
	;;
*)
	exec "$real" "$@"
	;;
esac
