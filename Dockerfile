# syntax=docker/dockerfile:1

# The base has Node 24 already, so the copy that the repository pins for older machines is not fetched: no package's
# install script runs.
FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages/wire/package.json packages/wire/
COPY packages/client/package.json packages/client/
COPY packages/console/package.json packages/console/
COPY packages/patchboard/package.json packages/patchboard/
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.base.json tsconfig.build.json ./
COPY scripts/build.mjs scripts/build-code.mjs scripts/build-console.mjs scripts/fingerprint.mjs scripts/
COPY packages packages
RUN node scripts/build.mjs \
  && npm prune --omit=dev --ignore-scripts --no-audit --no-fund \
  && rm -rf packages/console packages/*/src packages/*/test packages/*/tsconfig*.json

FROM node:24-slim
ENV NODE_ENV=production \
    PATCHBOARD_DATA=/data
WORKDIR /app
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/packages packages
COPY LICENSE ./
# Encloses the commands and files of agents, where the container is allowed to make namespaces (docs/guides/operations.md);
# everywhere else the server says so, and commands and writes are off.
RUN apt-get update \
  && apt-get install -y --no-install-recommends bubblewrap \
  && rm -rf /var/lib/apt/lists/*
RUN mkdir -m 0700 /data && chown node:node /data
USER node
VOLUME /data
# The server listens on the container's loopback until HOST=0.0.0.0 is set, and that needs a credential: a key (patchboard
# keys create), or auth.jwt in a config file. See docs/guides/operations.md.
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=15s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 8080}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "packages/patchboard/bin/patchboard.mjs", "serve"]
