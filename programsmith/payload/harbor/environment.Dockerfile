# The agent's container: the toolchain, the task below /app, a user without rights. Nothing of the verifier is here.
ARG BASE=$base
FROM $${BASE}
ARG PACKAGES="$packages"
RUN dpkg -s $$PACKAGES >/dev/null 2>&1 || { apt-get update && apt-get install -y --no-install-recommends $$PACKAGES; }
RUN rm -rf $absent
RUN SOURCE_DATE_EPOCH=315532800 useradd --create-home --uid 1000 --shell /bin/bash agent
COPY app /app
RUN mkdir -p /app/submission && chown agent:agent /app/submission
WORKDIR /app
USER agent
CMD ["bash"]
