#!/bin/sh
# Leaves an executable that no kernel can start.
printf '#!/nowhere/at/all\n' >executable
chmod 755 executable
