#!/bin/sh
# Build the program in this folder, offline, and leave it at ./executable. The log goes to ./build.log.
set -e
here=$PWD
mkdir -p .build/tools .build/home .build/tmp
exec 3>&2 >build.log 2>&1
trap 'status=$?; [ "$status" -eq 0 ] || tail -n 30 "$here/build.log" >&3' EXIT
# @layout@
find . -exec touch -h -d @315532800 {} +
# @environment@
PATH=$here/.build/tools:/usr/bin:/bin HOME=$here/.build/home TMPDIR=$here/.build/tmp
export PATH HOME TMPDIR
# @commands@
cd "$here"
for built in "installed/bin/$tool" "$target" "$tool"; do
    if [ -f "$built" ] && [ -x "$built" ]; then
        cp "$built" executable
        break
    fi
done
rm -rf .build
