/**
 * Who may import whom: a row for each folder, from the top of the service to its ground, with the folders and the packages
 * that it may import. A folder imports only what stands below it, so that no import leads upwards. Node's own modules are
 * open to all but the domain. What is not named is forbidden.
 */
const table = [
  ["main.ts", "cli settings process"],
  [
    "cli",
    "roles health/sending-domain health standalone projections settings webhooks archive seals suppressions mail/routes mail/throttles access secrets content event-log cli/client nats database process domain",
    "commander pino",
  ],
  // What a process is made of: here alone the adapters meet the ports.
  [
    "roles",
    "metrics http health/sending-domain health alerts outbox projections settings mailings/schedules mailings erasure job-kinds feedback history/live webhooks archive seals workers mail/routes suppressions mail/throttles access secrets content turns/scheduler turns event-log/following event-log signed-post mail nats database process dashboard api-reference domain",
    "knex pino",
  ],
  ["metrics", "http health outbox projections workers turns event-log/following event-log mail domain", "prom-client"],
  [
    "http",
    "health projections mailings/schedules mailings erasure intake job-kinds feedback history/live webhooks seals explain workers mail/routes history suppressions mail/throttles access commands content event-log/following event-log schemas process domain",
    "koa @koa/router koa__router koa-body pino typebox",
  ],
  // Whether DNS and servers are as receivers of mail ask.
  ["health/sending-domain", "health mail", "nodemailer"],
  ["health", "projections workers event-log mail nats process domain", "mysql2 knex pino nats"],
  ["alerts", "projections event-log/following event-log signed-post mail domain"],
  ["outbox", "erasure intake event-log schemas database domain process", "knex"],
  ["standalone", "settings secrets process", "mysql2 smtp-server"],
  [
    "projections",
    "erasure job-kinds webhooks seals content turns/scheduler turns event-log/following event-log database process migrations domain",
    "knex mysql2",
  ],
  [
    "mailings/schedules",
    "mailings intake job-kinds access commands content event-log/following event-log schemas process domain",
    "typebox croner",
  ],
  [
    "mailings",
    "erasure intake job-kinds commands content event-log/following event-log schemas process domain",
    "typebox",
  ],
  ["erasure", "job-kinds suppressions commands content event-log/following event-log nats domain process", "nats"],
  ["intake", "job-kinds access commands content event-log signed-post schemas domain", "typebox uuid"],
  ["settings", "seals access secrets signed-post mail schemas domain"],
  [
    "job-kinds",
    "workers mail/routes suppressions mail/throttles access commands content event-log signed-post mail schemas domain",
    "typebox nats liquidjs html-to-text",
  ],
  // What comes back about mails that were sent.
  [
    "feedback",
    "suppressions content event-log/following event-log mail nats schemas domain",
    "nats typebox postal-mime smtp-server",
  ],
  ["history/live", "history content event-log domain"],
  [
    "webhooks",
    "history secrets content event-log/following event-log signed-post nats schemas domain process",
    "nats typebox",
  ],
  // The part of the log that was cut off, and how it is.
  ["archive", "seals event-log/following event-log nats domain", "nats"],
  ["seals", "secrets content event-log signed-post mail nats schemas domain", "nats typebox"],
  ["explain", "workers content event-log domain"],
  ["workers", "commands turns event-log nats domain process", "nats"],
  // By which SMTP account a mail leaves, and how fast.
  ["mail/routes", "access secrets mail nats schemas domain", "nats typebox"],
  ["history", "content event-log domain"],
  ["mail/throttles", "event-log nats domain process", "nats"],
  ["suppressions", "event-log nats schemas domain", "nats typebox"],
  ["access", "event-log nats schemas process domain", "nats typebox"],
  // Encrypts what is stored and must not be read by whoever reads NATS.
  ["secrets", "nats"],
  ["commands", "event-log domain"],
  ["content", "event-log nats schemas domain", "nats typebox"],
  ["turns/scheduler", "turns event-log/following event-log domain process"],
  ["turns", "event-log nats schemas domain", "nats typebox"],
  // In order, once for all of a process, and from a checkpoint.
  ["event-log/following", "event-log nats domain", "nats"],
  ["event-log", "nats schemas domain", "nats uuid"],
  ["cli/client", "schemas domain", "csv-parse"],
  // For applications, in Node and in browsers.
  ["sdk", ""],
  ["signed-post", "domain", "cockatiel ipaddr\\.js uuid"],
  ["mail", "domain", "nodemailer cockatiel"],
  // NATS without Waybill. Of the domain it knows the error that ports throw when a server is away.
  ["nats", "domain", "nats"],
  ["schemas", "domain", "ajv ajv-formats typebox csv-parse"],
  ["database", "", "knex mysql2"],
  ["process", "", "pino"],
  ["migrations", "", "knex"],
  ["dashboard", ""],
  ["api-reference", ""],
  ["domain", ""],
];

const production = "^(src|projections|migrations)/";
const dashboardUi = "^src/dashboard/ui/";
/** What speaks to one technology stands beside the port that it serves, with the technology's name in front. */
const adapters = "^src/.+/((jetstream|mysql|smtp)-[^/]*|http-safe-post)\\.ts$";
const npm = (names) => `(^|/)node_modules/(@types/)?(${names.replaceAll(" ", "|")})/`;
const wordsOf = (text) => text.split(" ").filter(Boolean);
const pathOf = (name) => {
  if (name.endsWith(".ts")) return `^src/${name.replace(".", "\\.")}$`;
  return name === "projections" || name === "migrations" ? `^${name}/` : `^src/${name}/${butFoldersWithRows(name)}`;
};
/** A folder inside another may have a row of its own, and what is allowed to the outer one does not hold for it. */
const butFoldersWithRows = (name) => {
  const inner = table.map(([other]) => other).filter((other) => other.startsWith(`${name}/`));
  return inner.length === 0 ? "" : `(?!(${inner.map((other) => other.slice(name.length + 1)).join("|")})/)`;
};

const forbidden = (name, comment, from, to) => ({ name, comment, severity: "error", from, to });

const fences = table.map(([name, below, packages = ""], row) => {
  const lower = new Set(table.slice(row + 1).map(([folder]) => folder));
  const upwards = wordsOf(below).filter((folder) => !lower.has(folder));
  if (upwards.length > 0) throw new Error(`${name} may import ${upwards.join(", ")}, which must stand below it`);
  return forbidden(
    `fence-of-${name.replace(".ts", "")}`,
    `${name} imports something that its row in test/rules/import-fences.cjs does not name.`,
    { path: pathOf(name), pathNot: dashboardUi },
    {
      pathNot: [pathOf(name), ...wordsOf(below).map(pathOf), ...(packages === "" ? [] : [npm(packages)])],
      ...(name === "domain" ? {} : { dependencyTypesNot: ["core"] }),
    },
  );
});

module.exports = {
  forbidden: [
    ...fences,
    forbidden(
      "every-folder-has-a-row",
      "A new folder, or a new file at the top of src, gets a row in the table.",
      { path: "^src/" },
      { path: "^src/", pathNot: [...table.map(([name]) => pathOf(name)), "\\.d\\.ts$"] },
    ),
    forbidden(
      "adapters-meet-ports-in-roles",
      "A port and what uses it know no technology: only roles, and tools for operators, choose an adapter.",
      { path: production, pathNot: [adapters, "^src/(roles|cli|health|nats)/"] },
      { path: adapters },
    ),
    forbidden(
      "nats-in-adapters-only",
      "NATS is spoken in src/nats and in adapters, which are named jetstream-*.",
      { path: production, pathNot: ["^src/(nats|roles|cli|health)/", "/jetstream-[^/]*\\.ts$"] },
      // How names begin that several services share a NATS with is no more than a text.
      { path: [npm("nats"), "^src/nats/"], pathNot: "^src/nats/names\\.ts$" },
    ),
    forbidden(
      "sql-in-adapters-only",
      "Of src, SQL is spoken in src/database and in adapters, which are named mysql-*; standalone starts a server, health examines it.",
      {
        path: "^src/",
        pathNot: ["^src/(database|roles|standalone|health)/", "/mysql-[^/]*\\.ts$"],
      },
      { path: npm("knex mysql2") },
    ),
    forbidden(
      "questions-only",
      "What answers asks a read model: it never writes rows.",
      { path: "^src/(http|alerts|metrics)/" },
      {
        path: "^projections/",
        pathNot:
          "^projections/([^/]+/queries|jobs/[a-z]+/(log-)?queries|jobs/(cursor|list-options)|following/(read-position|read-failure|projection-lag)|read-models)\\.ts$",
      },
    ),
    forbidden(
      "read-models-are-apart",
      "One read model never looks into another: each can be dropped and rebuilt alone.",
      { path: "^projections/([^/]+)/", pathNot: "^projections/(following|rebuilding)/" },
      { path: "^projections/[^/]+/", pathNot: "^projections/($1|following|rebuilding)/" },
    ),
    forbidden(
      "migrations-are-run-in-one-place",
      "Only what brings the database up to date knows the migrations.",
      { path: production, pathNot: ["^projections/migrate\\.ts$", "^migrations/"] },
      { path: "^migrations/" },
    ),
    forbidden(
      "fence-of-dashboard-ui",
      "What runs in the browser knows the domain, which is pure, and of the server no more than types of its answers.",
      { path: dashboardUi },
      { pathNot: [dashboardUi, "^src/domain/", "^src/http/answers/", npm("preact @preact/signals uplot typebox")] },
    ),
    forbidden(
      "types-alone-from-the-server",
      "Code of the server would be built into what the browser loads.",
      { path: dashboardUi },
      { path: ["^src/http/", npm("typebox")], dependencyTypesNot: ["type-only"] },
    ),
    forbidden(
      "the-browser-only",
      "What is built for the browser does not run in the service.",
      { path: production, pathNot: dashboardUi },
      { path: dashboardUi },
    ),
    forbidden(
      "no-tests-in-production",
      "Production code never imports from test/.",
      { path: production },
      { path: "^test/" },
    ),
    forbidden(
      "no-development-packages-in-production",
      "A package that production needs stands under dependencies.",
      // What the dashboard is made of is built into its files.
      { path: production, pathNot: dashboardUi },
      { dependencyTypes: ["npm-dev", "npm-no-pkg", "npm-unknown"], dependencyTypesNot: ["type-only"] },
    ),
    forbidden(
      "no-cycles",
      "Files that import each other, types included, cannot be understood one at a time.",
      {},
      { circular: true },
    ),
    forbidden(
      "no-orphans",
      "A file that imports nothing and that no file imports is dead.",
      { orphan: true, pathNot: ["^test/rules/", "^src/api-reference/ui/", "\\.json$", "\\.d\\.ts$"] },
      {},
    ),
    forbidden("no-unresolved", "An import that leads nowhere.", {}, { couldNotResolve: true }),
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^test/golden/" },
    tsConfig: { fileName: "tsconfig.json" },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "require", "node", "default", "types"],
      extensions: [".ts", ".tsx", ".js", ".cjs", ".mjs", ".d.ts"],
    },
  },
};
