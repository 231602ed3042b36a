#!/bin/sh
# Compile the main sources of a Java project against its jars, offline: classes go to .programsmith/classes.
set -e
here=$PWD
tools=$(dirname "$0")
rm -rf .programsmith
mkdir -p .programsmith/classes
if [ -d src/main/java ]; then roots=src/main/java; else roots=.; fi
find "$roots" -name '*.java' -type f ! -name module-info.java ! -name package-info.java | LC_ALL=C sort |
    grep -Ev "^($roots/)?(.*/)?(tests?|testing|it|integration-?tests?|docs?|examples?|samples?|benchmarks?|jmh|\.[^/]+)/|/[A-Za-z0-9_]*Tests?\.java$" |
    sed 's/["\\]/\\&/g; s/.*/"&"/' >.programsmith/sources || true
javac -J-XX:+UseSerialGC -J-XX:TieredStopAtLevel=1 -encoding UTF-8 -g -nowarn -proc:none -d .programsmith/classes "$tools/ProgramSmithStart.java"
javac -J-XX:+UseSerialGC -encoding UTF-8 -g -nowarn -cp ".programsmith/classes:$tools/../jars/*" \
    -d .programsmith/classes @.programsmith/sources
cd "$here"
