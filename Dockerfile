# The log, the metrics and the labels show both: see "Which build runs" in docs/observing.md.
ARG BUILD_VERSION=1.0.0-dev
ARG BUILD_COMMIT

# No file depends on the image's platform, so nothing is built in an emulator.
FROM --platform=$BUILDPLATFORM node:24-bookworm-slim AS build
WORKDIR /app
COPY . .
RUN npm ci --ignore-scripts \
 && npx --no-install tsc -b packages/production/service
ARG BUILD_VERSION BUILD_COMMIT
RUN node scripts/write-version.js
# Leaves only what the service loads: no compiler, no tests, no npm scripts. Source maps and types of
# dependencies go, licences stay. deploy/test/image.test.ts runs this instruction.
RUN npm ci --ignore-scripts --omit=dev --omit=optional \
 && rm -rf packages/*/*/src packages/*/*/dist/*.tsbuildinfo \
 && find node_modules packages -type f '(' -name '*.map' -o -name '*.ts' -o -name '*.[cm]ts' ')' -delete

FROM node:24-bookworm-slim
ARG BUILD_VERSION BUILD_COMMIT
LABEL org.opencontainers.image.title="Plant Store" \
  org.opencontainers.image.description="A service that creates plants over HTTP" \
  org.opencontainers.image.licenses="MIT" \
  org.opencontainers.image.version="$BUILD_VERSION" \
  org.opencontainers.image.revision="$BUILD_COMMIT"
ENV NODE_ENV=production HOST=0.0.0.0
# For `docker exec` and `kubectl exec`: plant-store check
ENV PATH=/app/node_modules/.bin:$PATH
WORKDIR /app
COPY --from=build /app/LICENSE /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/packages ./packages
# A number, so that Kubernetes can verify that the user is not root.
USER 1000:1000
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=6s --start-period=10s --retries=3 \
  CMD ["node", "packages/production/service/bin/plant-store.js", "ready"]
# Neither npm nor a shell, so that signals reach the service. By default, Node.js 24 has a larger young generation, and Node.js 20
# one that costs more CPU time with many clients: see docs/deploying.md, "Sizing".
ENTRYPOINT ["node", "--max-semi-space-size=32", "packages/production/service/bin/plant-store.js"]
CMD ["serve"]
