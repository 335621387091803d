# One image for everything of ours: the control plane that Airflow runs in, and the engine with Spark, each an
# environment of its own from uv.lock (docs/decisions/environments.md). docker-compose.yml says what runs in it.
FROM python:3.11.15-slim-bookworm AS build
RUN pip install --no-cache-dir uv==0.13.8
WORKDIR /opt/streamhouse/source
COPY pyproject.toml uv.lock README.md LICENSE NOTICE ./
COPY plugins plugins
ENV UV_LINK_MODE=copy UV_PYTHON_DOWNLOADS=never
RUN UV_PROJECT_ENVIRONMENT=/opt/streamhouse/engine \
    uv sync --frozen --no-dev --no-editable --extra engine --extra demo --extra kafka --extra ui --extra postgres --extra mysql
RUN UV_PROJECT_ENVIRONMENT=/opt/streamhouse/control \
    uv sync --frozen --no-dev --no-editable --extra airflow --extra postgres

FROM python:3.11.15-slim-bookworm
RUN apt-get update \
    && apt-get install -y --no-install-recommends openjdk-17-jre-headless curl tini \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 50000 --create-home streamhouse \
    && install -d -o streamhouse /project /lake /opt/airflow
COPY --from=build /opt/streamhouse /opt/streamhouse
ENV STREAMHOUSE_CACHE=/opt/streamhouse/cache \
    STREAMHOUSE_COMMAND=/opt/streamhouse/engine/bin/streamhouse \
    SPARK_HOME=/opt/streamhouse/engine/lib/python3.11/site-packages/pyspark \
    SPARK_SCALA_VERSION=2.13 \
    PYSPARK_PYTHON=/opt/streamhouse/engine/bin/python \
    AIRFLOW_HOME=/opt/airflow
# The connectors and the archives of Spark's and Fluss' classes are in the image: nothing is fetched or made when it starts.
RUN /opt/streamhouse/engine/bin/python -c \
    "from streamhouse.install.jars import SERVER_JARS, fetch, spark_jars; fetch((*spark_jars(warm_in_store=True, cold_in_store=True, catalog='jdbc:postgresql:'), *SERVER_JARS))" \
    && cd /tmp && /opt/streamhouse/engine/bin/python -c \
    "from pathlib import Path; from streamhouse.project.project import Project; from streamhouse.project.settings import Settings; from streamhouse.runtime.session import local_session; local_session(Project(Path('/tmp'), Settings())).stop()" \
    && /opt/streamhouse/engine/bin/python -c "from pathlib import Path; from streamhouse.services.services import Services; services = Services(Path('/tmp')); services.up(); services.down()" \
    && rm -rf /tmp/.streamhouse \
    && chmod -R a+rX /opt/streamhouse
COPY --chmod=755 scripts/image_entrypoint.sh /opt/streamhouse/entrypoint
USER streamhouse
WORKDIR /project
ENTRYPOINT ["tini", "--", "/opt/streamhouse/entrypoint"]
