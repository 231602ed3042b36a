# The agent's container: the toolchain, the task below /app, a user without rights. Nothing of the verifier is here.
ARG BASE=$base
FROM $${BASE}
RUN apt-get update && apt-get install -y --no-install-recommends $packages && rm -rf /var/lib/apt/lists/*
RUN useradd --create-home --uid 1000 --shell /bin/bash agent
COPY app /app
RUN mkdir -p /app/submission && chown agent:agent /app/submission
WORKDIR /app
USER agent
CMD ["bash"]
