# The verifier's container: the same base and toolchain, the grader, the sealed cases. Nothing is fetched at grade time.
ARG BASE=$base
FROM $${BASE}
ARG PACKAGES="$packages"
RUN dpkg -s $$PACKAGES >/dev/null 2>&1 || { apt-get update && apt-get install -y --no-install-recommends $$PACKAGES; }
RUN rm -rf /var/lib/apt/lists/*
COPY . /tests
RUN chmod 0700 /tests && mkdir -p $places
WORKDIR /tests
CMD ["bash"]
