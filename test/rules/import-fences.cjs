/**
 * Who may import whom. Every folder names what it may use of the others and of npm; Node's own modules are open to all
 * but the domain. What is not named is forbidden.
 */

const npm = (...names) => `(^|/)node_modules/(@types/)?(${names.join("|")})/`;
const file = (folder, ...names) => `^src/${folder}/(${names.join("|")})\\.ts$`;

const domain = "^src/domain/";
const dashboardUi = "^src/dashboard/ui/";
const schemas = "^src/schemas/";
const commands = "^src/commands/";
const history = "^src/history/";

// The ports, each with the words that belong to it; adapters are left out.
const logPort = file(
  "event-log",
  "event-log",
  "log-message",
  "log-room",
  "log-gauge",
  "announcements",
  "delivery",
  "persistently",
  "traceparent",
  "observe-appends",
);
const contentPort = file("content", "content-store", "encode-content", "load-attachments");
const queuePort = file("work-queue", "work-queue");
const feedPort = file("scheduler", "decision-feed", "act-on-decisions");
const rollCallPort = file("workers", "roll-call");
const waitingPort = file("scheduler", "waiting-list");
const templates = "^src/templates/";
const mailPort = "^src/mail/(?!smtp-)[^/]*\\.ts$";

/** Who may call: what others ask of it, without what speaks to NATS. */
const accessPort = "^src/access/(?!jetstream-)[^/]*\\.ts$";

/** What makes jobs of requests, whoever brings them, and how it says that one is refused. */
const acceptance = "^src/acceptance/";
const problems = "^src/problems/";
/** A kind of job is one file, which brings together what is asked for with what is done. */
const jobKinds = "^src/job-kinds/";
const pollLoop = "^src/poll-loop\\.ts$";

const sealWitnessPort = file("seals", "seal-witness");
const sealsPort = "^src/seals/(?!jetstream-)[^/]*\\.ts$";

/** All of webhooks but what speaks to NATS and over the network. */
const webhooksPort = "^src/webhooks/(?!(jetstream|http)-)[^/]*\\.ts$";
const dueDeliveriesPort = file("webhooks", "due-deliveries");

/** Who is never mailed: all of it but what speaks to NATS. */
const suppressionsPort = "^src/suppressions/(?!jetstream-)[^/]*\\.ts$";
const suppressionStorePort = file("suppressions", "suppression-store");

/** What reports are made of, and where their files are kept. */
const reportSourcePort = file("reports", "report-source");
const resultStorePort = file("reports", "result-store");
/** What stands in rows that were dealt with. */
const outboxRequestsPort = file("outbox", "outbox-requests");
const outboxGaugePort = file("outbox", "outbox-gauge");

/** What erases, and what it asks a read model. */
const erasure = "^src/erasure/";
const endedJobsPort = file("erasure", "ended-jobs");

const portFiles = [
  endedJobsPort,
  file("event-log", "event-log", "log-room", "log-gauge", "announcements", "delivery"),
  file("content", "content-store"),
  queuePort,
  feedPort,
  waitingPort,
  dueDeliveriesPort,
  suppressionStorePort,
  reportSourcePort,
  resultStorePort,
  outboxRequestsPort,
  outboxGaugePort,
  file("webhooks", "safe-post"),
  file("mail", "mailer"),
  file("workers", "lease-probe"),
];

const anAdapterOfNats = "^src/[^/]+/jetstream-[^/]*\\.ts$";
const readSideForHttp =
  "^projections/([^/]+/queries|jobs/(cursor|list-options)|read-position|read-models|projection-lag|database-failure)\\.ts$";

/** Files under `src/<folder>/` import each other, Node's modules, and what is named. */
const fence = (folder, ...mayImport) => ({
  name: `fence-of-${folder}`,
  comment: `src/${folder} imports something that the table in this file does not give it.`,
  severity: "error",
  from: { path: `^src/${folder}/`, pathNot: anAdapterOfNats },
  to: { pathNot: [`^src/${folder}/`, ...mayImport], dependencyTypesNot: ["core"] },
});

const forbidden = (name, comment, from, to) => ({ name, comment, severity: "error", from, to });

module.exports = {
  forbidden: [
    forbidden(
      "fence-of-domain",
      "The domain is pure: it imports nothing but itself, not even from Node.",
      { path: domain },
      { pathNot: domain },
    ),
    fence("schemas", domain, npm("ajv", "ajv-formats", "typebox")),
    fence("event-log", domain, schemas),
    fence("content", domain, logPort),
    fence("access", domain, schemas, logPort, file("mail", "address-of"), npm("typebox")),
    fence("commands", domain, logPort),
    fence("client", file("schemas", "email-address"), npm("csv-parse")),
    fence("suppressions", domain, schemas, logPort, file("access", "auth-mode"), npm("typebox", "csv-parse")),
    fence("doctor", file("mail", "mailer"), file("event-log", "server-version"), npm("mysql2")),
    fence("history", domain, logPort, contentPort),
    fence(
      "erasure",
      domain,
      logPort,
      file("suppressions", "suppression-list"),
      contentPort,
      file("content", "erase-content"),
      commands,
      pollLoop,
      feedPort,
      resultStorePort,
      outboxRequestsPort,
      file("reports", "erase-result"),
    ),
    fence(
      "seals",
      domain,
      schemas,
      logPort,
      contentPort,
      file("mail", "mailer"),
      file("webhooks", "safe-post", "secret", "signed-post"),
      npm("typebox"),
    ),
    fence("work-queue", domain, logPort),
    fence("scheduler", domain, logPort, file("event-log", "subjects"), commands, pollLoop),
    fence(
      "webhooks",
      pollLoop,
      domain,
      schemas,
      logPort,
      contentPort,
      feedPort,
      history,
      file("access", "tenant"),
      npm("cockatiel", "ipaddr\\.js", "typebox", "uuid"),
    ),
    fence("mail", domain, npm("nodemailer"), npm("cockatiel")),
    fence("templates", contentPort, file("mail", "mailer"), npm("liquidjs", "html-to-text")),
    fence(
      "workers",
      domain,
      logPort,
      contentPort,
      queuePort,
      mailPort,
      templates,
      commands,
      suppressionsPort,
      file("webhooks", "breakers", "delivery-id", "safe-post", "secret", "signed-post", "verdict"),
    ),
    fence(
      "job-kinds",
      domain,
      schemas,
      logPort,
      contentPort,
      accessPort,
      mailPort,
      templates,
      suppressionsPort,
      file("webhooks", "addresses", "breakers", "safe-post", "target-url", "tenant-secrets"),
      file("workers", "job-work", "mail-work", "delivery-work"),
      file("reports", "report", "report-work"),
      npm("typebox"),
    ),
    fence(
      "reports",
      domain,
      logPort,
      contentPort,
      commands,
      history,
      file("workers", "job-work", "lease", "load-content", "turn"),
    ),
    fence(
      "acceptance",
      domain,
      schemas,
      logPort,
      contentPort,
      file("content", "erase-content"),
      accessPort,
      commands,
      jobKinds,
      file("webhooks", "addresses", "check-webhook-url"),
      npm("uuid"),
    ),
    fence("problems", domain, schemas, logPort, file("acceptance", "refusal")),
    fence(
      "outbox",
      domain,
      schemas,
      logPort,
      contentPort,
      accessPort,
      acceptance,
      problems,
      pollLoop,
      file("webhooks", "addresses"),
      "^projections/database\\.ts$",
      npm("knex"),
    ),
    fence("asyncapi", domain, schemas, file("event-log", "event-log", "encode-envelope", "subjects"), npm("typebox")),
    fence("live", domain, logPort, contentPort, history),
    fence(
      "http",
      domain,
      schemas,
      jobKinds,
      acceptance,
      problems,
      accessPort,
      webhooksPort,
      suppressionsPort,
      commands,
      erasure,
      history,
      "^src/live/",
      rollCallPort,
      resultStorePort,
      outboxRequestsPort,
      file("reports", "csv", "report", "read-result"),
      sealsPort,
      logPort,
      contentPort,
      mailPort,
      templates,
      readSideForHttp,
      npm("koa", "@koa/router", "koa__router", "koa-body", "pino", "typebox", "uuid"),
    ),
    // It names what others do, and is told of it: nothing imports it but what wires the service together.
    fence(
      "metrics",
      domain,
      logPort,
      queuePort,
      mailPort,
      readSideForHttp,
      outboxGaugePort,
      file("http", "measure-requests", "routes/(health|metrics)"),
      "^src/release\\.ts$",
      npm("prom-client"),
    ),
    fence("standalone", "^src/config\\.ts$", npm("mysql2", "smtp-server")),

    forbidden(
      "fence-of-dashboard",
      "What hands out the dashboard's files reads them from the disk, and knows nothing else.",
      { path: "^src/dashboard/[^/]+\\.ts$" },
      { pathNot: "^src/dashboard/[^/]+\\.ts$", dependencyTypesNot: ["core"] },
    ),
    forbidden(
      "fence-of-api-reference",
      "What hands out the page about the API reads it from the disk, and knows nothing else.",
      { path: "^src/api-reference/" },
      { pathNot: "^src/api-reference/", dependencyTypesNot: ["core"] },
    ),
    forbidden(
      "fence-of-dashboard-ui",
      "What runs in the browser knows the domain, which is pure, and of the server no more than types of its answers.",
      { path: dashboardUi },
      { pathNot: [dashboardUi, domain, file("http", "job-answer"), npm("preact", "@preact/signals", "uplot")] },
    ),
    forbidden(
      "types-alone-from-the-server",
      "Code of the server would be built into what the browser loads.",
      { path: dashboardUi },
      { path: "^src/http/", dependencyTypesNot: ["type-only"] },
    ),
    forbidden(
      "the-browser-only",
      "What is built for the browser does not run in the service.",
      { path: "^(src|projections|migrations)/", pathNot: dashboardUi },
      { path: dashboardUi },
    ),

    fence(
      "alerts",
      domain,
      schemas,
      logPort,
      mailPort,
      webhooksPort,
      "^projections/(stats/queries|projection-lag)\\.ts$",
    ),

    forbidden(
      "fence-of-ports",
      "A port knows the domain and other ports, and no technology.",
      { path: portFiles },
      { pathNot: [domain, ...portFiles] },
    ),
    forbidden(
      "fence-of-jetstream",
      "What speaks to NATS knows its own folder, the log's, the domain's types, schemas, and nothing else.",
      { path: anAdapterOfNats.replace("[^/]+", "([^/]+)") },
      {
        pathNot: ["^src/$1/", "^src/event-log/", file("access", "jetstream-bucket"), domain, schemas, npm("nats")],
        dependencyTypesNot: ["core"],
      },
    ),
    forbidden(
      "nats-in-jetstream-files-only",
      "NATS is spoken in files named jetstream-* and nowhere else.",
      { path: "^(src|projections|migrations)/", pathNot: anAdapterOfNats },
      { path: npm("nats") },
    ),
    forbidden(
      "sql-on-the-read-side-only",
      "The database is a read model's: only projections and migrations use it, wiring opens it, standalone starts it. The outbox is there for applications, and the doctor asks who it is.",
      {
        path: "^src/",
        pathNot: [
          "^src/(wiring|parts|watch|health-probes|webhooks-role)\\.ts$",
          file("standalone", "own-database-server"),
          file("outbox", "mysql-ended-rows", "mysql-outbox", "mysql-outbox-gauge", "mysql-outbox-requests"),
          file("doctor", "examine-database"),
        ],
      },
      { path: npm("knex", "mysql2") },
    ),

    forbidden(
      "fence-of-projections",
      "Projections know the domain's types, the ports of log and content, SQL, and the port of the scheduler's own table.",
      { path: "^projections/", pathNot: "^projections/migrate\\.ts$" },
      {
        pathNot: [
          "^projections/",
          domain,
          logPort,
          contentPort,
          waitingPort,
          dueDeliveriesPort,
          reportSourcePort,
          endedJobsPort,
          sealWitnessPort,
          npm("knex", "mysql2"),
        ],
        dependencyTypesNot: ["core"],
      },
    ),
    forbidden(
      "read-models-are-apart",
      "One read model never looks into another: each can be dropped and rebuilt alone.",
      { path: "^projections/([^/]+)/" },
      { path: "^projections/[^/]+/", pathNot: "^projections/$1/" },
    ),
    forbidden(
      "migrations-are-run-in-one-place",
      "Only what brings the database up to date knows the migrations.",
      { path: "^(src|projections)/", pathNot: "^projections/migrate\\.ts$" },
      { path: "^migrations/" },
    ),
    forbidden(
      "fence-of-migrations",
      "A migration is frozen once merged: it may not depend on code that goes on changing.",
      { path: "^migrations/" },
      { pathNot: ["^migrations/", npm("knex")] },
    ),

    forbidden(
      "wiring-is-the-top",
      "Only main, the commands of the command line and tests know the composition root.",
      { path: "^(src|projections|migrations)/", pathNot: "^src/(main|wiring)\\.ts$|^src/cli/" },
      { path: "^src/(main|wiring)\\.ts$" },
    ),
    forbidden(
      "no-tests-in-production",
      "Production code never imports from test/.",
      { path: "^(src|projections|migrations)/" },
      { path: "^test/" },
    ),
    forbidden(
      "no-development-packages-in-production",
      "A package that production needs stands under dependencies.",
      // What the dashboard is made of is built into its files.
      { path: "^(src|projections|migrations)/", pathNot: dashboardUi },
      { dependencyTypes: ["npm-dev", "npm-no-pkg", "npm-unknown"], dependencyTypesNot: ["type-only"] },
    ),
    forbidden(
      "no-cycles",
      "Files that import each other cannot be understood one at a time, also where they import types alone.",
      {},
      { circular: true },
    ),
    forbidden(
      "no-orphans",
      "A file that imports nothing and that nobody imports is dead.",
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
