# Sourced: installs a browser and its driver, once. Sets `repo` and `venv`, and adds this folder to Python's path.
#
# Chromium and fonts come from the system's packages, the driver goes into a private environment.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repo=$(cd "$here/../.." && pwd)
playwright=1.65.0
websockets=17.4
cache=${XDG_CACHE_HOME:-$HOME/.cache}/nightdesk
venv=$cache/browser-venv-$playwright

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

have_font() { [ -n "$(fc-list "$1" 2>/dev/null)" ]; }

packages=()
command -v chromium >/dev/null || packages+=(chromium)
have_font "DejaVu Sans" || packages+=(fonts-dejavu)
have_font "Noto Color Emoji" || packages+=(fonts-noto-color-emoji)
if [ "${#packages[@]}" -gt 0 ]; then
    as_root apt-get update -qq
    as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -qq -y --no-install-recommends "${packages[@]}"
fi

# An environment without the file `complete` is unfinished.
install_driver() {
    rm -rf "$venv"
    "${PYTHON:-python3}" -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check \
        "playwright==$playwright" "websockets==$websockets"
    touch "$venv/complete"
}

mkdir -p "$cache"
(
    flock 9
    [ -e "$venv/complete" ] || install_driver
) 9>"$venv.lock"

export PYTHONPATH=$here:$repo/testing/hermes PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
