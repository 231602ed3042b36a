#!/bin/sh
# Makes nothing: what was handed in is to count.
exit 0
