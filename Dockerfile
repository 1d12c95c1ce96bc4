# The commands on stored pages, and Scrapy with the add-on:
#
#   docker run --rm -v "$PWD:/data" ghcr.io/scrapy-neardup/scrapy-neardup scrapy neardup pairs /data/pages.jsonl -o -
#
# `make image` builds it from the wheel that `make release` has put into dist/.
ARG PYTHON=3.13

FROM python:${PYTHON}-slim AS build
COPY dist/*.whl /tmp/
# The wheel's name has the version, so it is installed by its file with the extras behind it.
RUN python -m venv /opt/neardup \
    && for wheel in /tmp/*.whl; do \
        /opt/neardup/bin/pip install --no-cache-dir "${wheel}[lazy,redis,rjieba,warc,zstd]"; \
    done

FROM python:${PYTHON}-slim
COPY --from=build /opt/neardup /opt/neardup
# HOME is a folder that any user may write, for `docker run --user`.
ENV PATH="/opt/neardup/bin:$PATH" HOME=/tmp PYTHONUTF8=1 PYTHONDONTWRITEBYTECODE=1
WORKDIR /data
USER 10001:10001
CMD ["scrapy", "neardup", "--help"]
