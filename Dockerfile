# Two stages: one builds the wheel and installs it, the other holds only that.
# The steps are those of `make check-image`, which runs them without a container engine.
FROM python:3.13-slim AS build
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends make > /dev/null
WORKDIR /src
COPY . .
RUN python -m pip --disable-pip-version-check wheel --quiet --no-deps --wheel-dir dist . \
 && make install-wheel PYTHON=python PREFIX=/opt/archiver

FROM python:3.13-slim
RUN useradd --system --create-home --uid 10001 archiver && mkdir /data && chown archiver /data
COPY --from=build /opt/archiver /opt/archiver
USER archiver
ENV PATH=/opt/archiver/bin:$PATH PYTHONUNBUFFERED=1 ARCHIVER_DATA=/data ARCHIVER_HOST=0.0.0.0
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8080/healthz', timeout=4)"]
# Listening beyond loopback needs a password: docker run -e ARCHIVER_PASSWORD=… -v archive:/data …
ENTRYPOINT ["archiver"]
CMD ["serve"]
