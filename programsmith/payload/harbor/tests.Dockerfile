# The verifier's container: the same base and toolchain, the grader, the sealed cases. Nothing is fetched at grade time.
# Its launch server is compiled elsewhere: no compiler comes with it. The grader's modules lie there compiled by its Python
# too, under the digest of the program that they are of.
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
COPY verify.pyz $server_folder/
RUN cd $server_folder && kept=$$(sha256sum <verify.pyz | cut -c1-64) && python3 -I -m zipfile -e verify.pyz $$kept
RUN python3 -I -m compileall -q --invalidation-mode unchecked-hash $server_folder
COPY . /tests
COPY --from=launcher /launch $server
RUN chmod 0700 /tests $server_folder && mkdir -p $places
WORKDIR /tests
USER root
CMD ["bash"]
