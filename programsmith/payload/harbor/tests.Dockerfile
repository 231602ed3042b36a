# The verifier's container: the same base and toolchain, the grader, the sealed cases. Nothing is fetched at grade time.
ARG BASE=$base
FROM $${BASE}
RUN apt-get update && apt-get install -y --no-install-recommends $packages && rm -rf /var/lib/apt/lists/*
COPY . /tests
WORKDIR /tests
CMD ["bash"]
