#!/bin/sh
# Leaves an executable that no kernel can start.
cd /app/submission
printf '#!/nowhere/at/all\n' >executable
chmod 755 executable
