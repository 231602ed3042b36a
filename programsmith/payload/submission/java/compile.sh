#!/bin/sh
# Makes the executable of all Java files that lie beside this script: a jar behind the line that says how it is started.
set -eu
cd /app/submission
small='-Xshare:auto -XX:+UseSerialGC -XX:TieredStopAtLevel=1'
javac $(printf ' -J%s' $small) -encoding UTF-8 -proc:none -d classes ./*.java
jar $(printf ' -J%s' $small) -c -f classes.jar -e Main -C classes .
quiet='-XX:+SuppressFatalErrorMessage -XX:+CrashOnOutOfMemoryError -XX:+DisplayVMOutputToStderr'
room='-XX:-UsePerfData -XX:CompressedClassSpaceSize=32m -XX:ReservedCodeCacheSize=24m'
echo "$small $quiet $room" >options.txt
{ printf '#!/usr/bin/env -S %s @/app/submission/options.txt -Xmx192m -jar\n' "$(command -v java)"; cat classes.jar; } >executable
rm -r classes classes.jar
chmod 755 executable
