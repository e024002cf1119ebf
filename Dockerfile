# What runs holds no compiler, no tests and no npm scripts: the second `npm ci` leaves only what
# the service loads. TypeScript is an optional peer of a dependency, hence `--omit=optional`.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY . .
RUN npm ci --ignore-scripts \
 && npm run prepare \
 && npx --no-install tsc -b packages/app \
 && npm ci --ignore-scripts --omit=dev --omit=optional \
 && rm -rf packages/*/src packages/*/dist/*.tsbuildinfo

FROM node:24-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/packages ./packages
# By number, so that Kubernetes can tell that it is not root.
USER 1000:1000
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=6s --start-period=10s --retries=3 \
  CMD ["node", "packages/app/bin/plant-store.js", "ready"]
# Without npm or a shell in between, so that signals reach the service.
ENTRYPOINT ["node", "packages/app/bin/plant-store.js"]
CMD ["serve"]
