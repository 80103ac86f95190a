FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY tsconfig.json ./
COPY src src
COPY projections projections
COPY migrations migrations
RUN npm run build

FROM node:24-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts

FROM node:24-slim
WORKDIR /app
# Inside a container the loopback address is the container's own; which port is published, and where, compose.yaml says.
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 WAYBILL_INSTALL=no
# The program carries its packages in its bundle. These are the same ones, for what scans an image for known flaws.
COPY --from=packages /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json LICENSE ./
USER node
EXPOSE 3000
ENTRYPOINT ["node", "--min-semi-space-size=16", "--max-semi-space-size=16", "dist/src/main.js"]
CMD ["start"]
