# The container that answers queries, beside the agent's: the original, sealed, and what starts it as a case is started.
# Nothing of it is in the agent's container, and no case. Its launch server is compiled elsewhere.
ARG BASE=$base
ARG COMPILER=$base
FROM $${COMPILER} AS launcher
RUN command -v cc >/dev/null || { apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev; }
COPY launcher /sources
RUN cc -O2 -s -static -o /launch /sources/launch/launch.c
FROM $${BASE}
ARG PACKAGES="$packages"
RUN dpkg -s $$PACKAGES >/dev/null 2>&1 || { apt-get update && apt-get install -y --no-install-recommends $$PACKAGES; }
RUN rm -rf $absent
COPY . /reference
COPY --from=launcher /launch $server
RUN chmod 0700 /reference $server_folder && mkdir -p $places
WORKDIR /
USER root
CMD ["python3", "-I", "/reference/answer.pyz"]
