# shellcheck shell=bash
# What the scripts share; each of them sources this file first. Works from the root of the tree.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
me=scripts/$(basename "$0")
jobs=$(nproc)

die() {
  echo "$me: $*" >&2
  exit 1
}

# quietly NAME COMMAND…: runs it silently; when it fails, shows what it wrote and stops.
quietly() {
  local log=build/log/${1// /-}.log
  mkdir -p build/log
  if ! "${@:2}" >"$log" 2>&1; then
    cat "$log"
    die "$1 failed: ${*:2}"
  fi
}

# stage NAME COMMAND…: runs it with its output, says how long it took; stops when it fails.
stage() {
  local name=$1 start=$SECONDS
  shift
  echo "== $name"
  "$@" || die "$name failed: $*"
  echo "== $name: done in $((SECONDS - start)) s"
}

# follow LOG: copies the output of a build to LOG and shows how far it is: on a terminal in one line,
# else at every tenth.
follow() {
  local line percent shown=-1 start=$SECONDS
  while IFS= read -r line; do
    printf '%s\n' "$line" >>"$1"
    [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]] || continue
    percent=$((100 * BASH_REMATCH[1] / BASH_REMATCH[2]))
    if [[ -t 1 ]]; then
      printf '\r   %3d %% of the build, %d s ' "$percent" $((SECONDS - start))
    elif ((percent / 10 > shown)); then
      echo "   $percent % of the build, $((SECONDS - start)) s"
      shown=$((percent / 10))
    fi
  done
  [[ ! -t 1 ]] || echo
}

# build PRESET [TARGET…]: configures (with configure_options, if any) and builds, showing progress;
# when it fails, shows what was written.
configure_options=()
build() {
  local preset=$1
  shift
  quietly "configure $preset" cmake --preset "$preset" "${configure_options[@]}"
  local log=build/log/build-$preset.log
  : >"$log"
  if ! cmake --build --preset "$preset" --parallel "$jobs" ${1:+--target "$@"} 2>&1 | follow "$log"; then
    cat "$log"
    die "build $preset failed"
  fi
}

# python_environment KIND: the virtual environment build/venv with what python/requirements.txt asks
# for; "extension" installs only the lines without a mark. Does nothing when that was done already.
python_environment() {
  local venv=build/venv wanted=python/requirements.txt
  local interpreter
  interpreter=$(command -v /usr/bin/python3 || command -v python3) || {
    echo "$me: no python3, so no Python package"
    return 0
  }
  if cmp -s "$wanted" "$venv/installed-test.txt" || { [[ $1 == extension ]] &&
    cmp -s "$wanted" "$venv/installed-extension.txt"; }; then
    echo "$me: the packages of Python are installed"
    return 0
  fi
  [[ -x $venv/bin/python ]] || quietly "virtual environment" "$interpreter" -m venv "$venv"
  echo "$me: installing the packages of Python"
  local lines
  mapfile -t lines < <(if [[ $1 == extension ]]; then grep -v '#' "$wanted"; else
    sed 's/ *#.*//; /^$/d' "$wanted"; fi)
  quietly "packages of Python" "$venv/bin/python" -m pip install --upgrade "${lines[@]}"
  cp "$wanted" "$venv/installed-$1.txt"
}

# cpp_files [FOLDER…]: our C++ files, tracked or new but not ignored, each ended by a zero byte.
cpp_files() {
  local path
  {
    git ls-files -z --cached --others --exclude-standard -- "$@" 2>/dev/null ||
      find "${@:-.}" -path ./build -prune -o -type f -print0
  } | while IFS= read -r -d '' path; do
    case $path in
      *.cpp | *.hpp | *.h) [[ ! -e $path ]] || printf '%s\0' "$path" ;;
    esac
  done
}
