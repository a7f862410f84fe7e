FROM node:24-bookworm-slim
RUN apt-get update \
  && apt-get install -y --no-install-recommends bubblewrap ca-certificates \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /srv/svc
COPY package.json package-lock.json ./
# Bun's binary is put in place by a script of its package, which npm may have skipped.
RUN npm ci --omit=dev --no-audit --no-fund \
  && (node_modules/.bin/bun --version || node node_modules/bun/install.js)
COPY . .
RUN mkdir -p /var/lib/svc && chown node:node /var/lib/svc
USER node
ENV SVC_DATA_DIR=/var/lib/svc
VOLUME /var/lib/svc
EXPOSE 8080
CMD ["node_modules/.bin/bun", "run", "deploy"]
