#!/bin/sh
# Builds nothing, and says so.
exit 3
