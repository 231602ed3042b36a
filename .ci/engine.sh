# A Docker engine with a root, a state, a socket and control groups of its own, without a network; read by the scripts
# that run tests on one. In: `clone`, whose .venv is there, and `folder`, which does not exist yet. Out: DOCKER_HOST, and
# an engine that answers; whatever ends the script, nothing of it stays.

tools=(dockerd debootstrap setpriv)
packages=(docker.io debootstrap util-linux)
name=programsmith-ci-$$ engine=
PATH="$PATH:/usr/sbin:/sbin"

lacks() { # the tools that are not here
  for tool in "${tools[@]}"; do
    command -v "$tool" >/dev/null || echo "$tool"
  done
}

reason() { # why this machine cannot run an engine at all, and nothing where it can
  if [ "$(id -u)" != 0 ]; then
    echo "an engine is started and bases are made by root; this is user $(id -u)"
  elif [ -n "$(lacks)" ] && ! command -v apt-get >/dev/null; then
    echo "no $(lacks | paste -sd' ') here, and no apt-get that would install ${packages[*]}"
  fi
}

stop() { # end the engine and what it started, by their ids
  [ -n "$engine" ] || return 0
  kill -TERM "$engine" 2>/dev/null || true
  timeout 60 tail --pid="$engine" -f /dev/null || kill -KILL "$engine"
  wait "$engine" 2>/dev/null || true
  engine=
  local left=$folder/exec/containerd/containerd.pid
  if [ -e "$left" ]; then
    kill -KILL "$(cat "$left")" 2>/dev/null || true
  fi
}

clear_all() { # whatever ends this run: nothing of it stays
  stop
  awk -v top="$folder/" 'index($5, top) == 1 { print $5 }' /proc/self/mountinfo | sort -r | xargs -r -n1 umount -l
  find /sys/fs/cgroup -depth -type d -path "*/$name*" -exec rmdir {} + 2>/dev/null || true
  rm -rf "$folder"
}

start() { # DRIVER: start the engine and wait until it answers; 1 where it does not
  setpriv --pdeathsig TERM setsid dockerd --host "$DOCKER_HOST" --pidfile "$folder/pid" --data-root "$folder/data" \
    --exec-root "$folder/exec" --storage-driver "$1" --exec-opt native.cgroupdriver=cgroupfs --cgroup-parent "/$name" \
    --containerd-namespace "$name" --containerd-plugins-namespace "$name-plugins" --config-file "$folder/daemon.json" \
    --bridge=none --iptables=false --ip6tables=false --ip-forward=false --ip-masq=false >"$folder/$1.log" 2>&1 &
  engine=$!
  for _ in $(seq 300); do
    [ ! -S "$folder/socket" ] || break
    kill -0 "$engine" 2>/dev/null || break
    sleep 0.1
  done
  if timeout 60 python -c 'from programsmith.sandboxes.engine import engine; engine()' 2>/dev/null; then return 0; fi
  stop
  return 1
}

open_engine() { # install what it lacks, start it; activates the clone's .venv
  trap clear_all EXIT
  trap 'exit 130' INT TERM
  mkdir -m 0700 "$folder"
  export DOCKER_HOST="unix://$folder/socket"
  echo "{}" >"$folder/daemon.json" # whatever this machine says of its own engine
  if [ -n "$(lacks)" ]; then
    apt-get -qq update
    DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "${packages[@]}" >/dev/null
  fi
  cd "$clone"
  . .venv/bin/activate
  if ! start overlay2 && ! start vfs; then
    echo "docker: this machine's engine does not start; the last that dockerd said:" >&2
    tail -n 15 "$folder/vfs.log" >&2
    exit 1
  fi
}

bases() { # of Python and C, in the engine; BASES, where it is set, is a file that the engines of one run hand on
  local made
  if [ -n "${BASES:-}" ] && [ -e "$BASES" ]; then
    docker load -q -i "$BASES" >/dev/null || true # what did not come is made
  fi
  made=$(python -m programsmith.toolchains.bases python c)
  if [ -n "${BASES:-}" ] && [ ! -e "$BASES" ] && command -v docker >/dev/null; then
    # shellcheck disable=SC2086 # one word per tag
    docker save -o "$BASES.part" $made && mv "$BASES.part" "$BASES" || rm -f "$BASES.part"
  fi
}

marked() { # MARKER, LACKS, WORDS…: run the tests of a marker; 1 where one is left out for want of what this run provides
  local marker=$1 lacks=$2
  shift 2
  pytest -q -m "$marker and not soak" "$@" | tee "$folder/said"
  if grep -E "^SKIPPED.*($lacks)" "$folder/said" >&2; then
    echo "$marker: these tests want what this run provides, and did not find it" >&2
    return 1
  fi
}
