FROM node:24-bookworm-slim
# bubblewrap holds the agents. Inside a container it works only with the options of docker-compose.yml.
RUN apt-get update \
  && apt-get install -y --no-install-recommends bubblewrap ca-certificates \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /srv/svc
COPY package.json package-lock.json ./
# Bun's binary is put in place by a script of its package, which npm may have skipped.
RUN npm ci --omit=dev --no-audit --no-fund \
  && (node_modules/.bin/bun --version || node node_modules/bun/install.js)
COPY . .
# The console is built here: a node whose disk is read-only serves it as it stands.
RUN node_modules/.bin/bun src/console/build.ts dist/console
# The configuration file has its place in /etc/svc; SVC_CONFIG_FILE names it.
RUN mkdir -p /var/lib/svc /etc/svc && chown node:node /var/lib/svc && chmod 0700 /var/lib/svc
USER node
ENV SVC_DATA_DIR=/var/lib/svc
VOLUME /var/lib/svc
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node_modules/.bin/bun", "src/programs/health/main.ts"]
CMD ["node_modules/.bin/bun", "src/main.ts"]
