#!/bin/sh
# Tries what no build may be able to do and says what it could; ends with a failure. The shell's own words suffice.
for path in /tests /solution /root /app/cases /app/docs; do
  set -- "$path"/*
  if [ -e "$1" ]; then echo "possible: reads $path"; fi
done
for path in /proc/1/environ /proc/1/mem /etc/shadow /app/check; do
  if { true <"$path"; } 2>/dev/null; then echo "possible: reads $path"; fi
done
for path in /*; do
  case $path in
    /app | /bin | /boot | /dev | /etc | /home | /lib* | /logs | /media | /mnt | /opt | /proc | /root | /run) ;;
    /sbin | /slots | /srv | /sys | /tests | /solution | /tmp | /usr | /var | /work) ;;
    *)
      set -- "$path"/*
      if [ -e "$1" ]; then echo "possible: reads $path"; fi
      ;;
  esac
done
for path in / /app /bin /etc /home /lib /opt /run /srv /usr /usr/bin /var /var/tmp /tests /shared; do
  if { true >"$path/left"; } 2>/dev/null; then echo "possible: writes $path"; fi
done
for path in /proc/[0-9]*; do
  case ${path#/proc/} in
    1 | $$) ;;
    *) if { true <"$path/environ"; } 2>/dev/null; then echo "possible: sees other processes"; fi ;;
  esac
done
echo "tried all"
exit 1
