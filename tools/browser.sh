#!/usr/bin/env bash
# What the tests of pages need beside Python packages: Chromium (Debian's package) and axe-core (npm). Where one cannot be
# had this says so, and goes on: those tests then skip, with the reason.
set -u
node_modules="${1:?the folder that axe-core goes to}"
if ! command -v chromium >/dev/null && ! command -v chromium-browser >/dev/null && ! command -v google-chrome >/dev/null; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "Installing Chromium for the tests of pages."
        { apt-get install -y --no-install-recommends chromium || { apt-get update && apt-get install -y --no-install-recommends chromium; }; } >/dev/null 2>&1 ||
            echo "Chromium cannot be installed here: the tests of pages will skip."
    else
        echo "There is no Chromium here, and installing it takes apt-get and root: the tests of pages will skip."
    fi
fi
if [ ! -e "$node_modules/axe-core/axe.min.js" ]; then
    { command -v npm >/dev/null && npm install --silent --no-save --no-audit --no-fund --prefix "$(dirname "$node_modules")" axe-core@4.14.0 >/dev/null 2>&1; } ||
        echo "axe-core cannot be had from npm here: the tests of accessibility will skip."
fi
