# Two stages: the first builds and installs the wheel, the second contains only the installation.
# `make check-image` runs the same steps without a container engine and tests the result.
FROM python:3.13-slim AS build
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends make > /dev/null
WORKDIR /src
COPY . .
RUN make wheel install-wheel PREFIX=/opt/archiver EXTRAS=cluster

FROM python:3.13-slim AS plain
RUN useradd --create-home --uid 10001 archiver && mkdir /data && chown archiver /data
COPY --from=build /opt/archiver /opt/archiver
USER archiver
ENV PATH=/opt/archiver/bin:$PATH PYTHONUNBUFFERED=1 ARCHIVER_DATA=/data ARCHIVER_HOST=0.0.0.0
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s CMD ["python", "-c", "import os, urllib.request as r; r.urlopen(f\"http://127.0.0.1:{os.environ.get('ARCHIVER_PORT', 8080)}/healthz\", timeout=4)"]
# Listening on other addresses than loopback requires a password: docker run -e ARCHIVER_PASSWORD=… -v archive:/data …
ENTRYPOINT ["archiver"]
CMD ["serve"]

# Image with Chromium, for pages that need JavaScript: docker build --target browser. It needs user namespaces
# and an init: docker run --init --security-opt seccomp=chromium.json … (see docs/administration.md).
FROM plain AS browser
USER root
RUN apt-get update -qq \
 && apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core fonts-noto-cjk > /dev/null \
 && rm -rf /var/lib/apt/lists/*
USER archiver

FROM plain
