#!/usr/bin/env -S /usr/bin/node --jitless --no-expose-wasm --max-old-space-size=384
"use strict";
// Start the command of the tree that this file lies in, by the link of its name, as the package client installs it.
const { dirname } = require("path");
const root = dirname(dirname(require("fs").realpathSync(__filename)));
process.argv[1] = `${root}/lib/.bin/tool_name`;
require("module").runMain(process.argv[1]);
