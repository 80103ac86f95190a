import { providersOf, receiverOf } from "../domain/throttles/providers.ts";
import { withBreaker } from "../mail/breaker.ts";
import type { ProbeOutcome } from "../mail/mailer.ts";
import { createReceiverPatience } from "../mail/receiver-patience.ts";
import { bucketOfRoutes, createJetStreamMailRouteStore } from "../mail/routes/jetstream-mail-route-store.ts";
import { createJetStreamRouteBook } from "../mail/routes/jetstream-route-book.ts";
import type { MailRouteStore } from "../mail/routes/mail-route-store.ts";
import { createMailRouting, type MailRouting } from "../mail/routes/mail-routing.ts";
import { createRoutesFor, fixedRoutes, type RouteBook, type RoutesFor } from "../mail/routes/route-book.ts";
import { shareRates } from "../mail/routes/share-rates.ts";
import { createSmtpMailer } from "../mail/smtp-mailer.ts";
import { createOutageReport } from "../process/logger.ts";
import type { CompleteConfig, Role } from "../settings/config.ts";
import type { Membership } from "../workers/membership.ts";
import type { Parts } from "./parts.ts";
import { sealingOf } from "./sealing.ts";

/** Roles that send mails, or accept requests that may name a route. */
const usesRoutes: readonly Role[] = ["api", "worker", "scheduler", "outbox"];

/** The mail routes of the service, once for all roles of this process. */
export async function followRoutes(parts: Parts): Promise<RouteBook> {
  const { config, logger, connection, lifecycle, patiently } = parts;
  if (!usesRoutes.some((role) => config.roles.has(role))) return fixedRoutes([]);
  if (config.secretsKeyFile === null) logger.warn("SECRETS_KEY is not set: webhook secrets are stored in clear");
  const { natsPrefix: prefix, streamReplicas: replicas } = config;
  const account = { url: config.smtpUrl, connections: config.smtpMaxConnections, rate: config.smtpRate };
  const report = createOutageReport(logger, { part: "mail routes" }).failed;
  const book = await patiently(() =>
    createJetStreamRouteBook(connection, { prefix, replicas }, sealingOf(config, bucketOfRoutes), account, report),
  );
  lifecycle.started("the mail routes", book.stop);
  return book;
}

export const openRouteStore = ({ config, connection, patiently }: Parts): Promise<MailRouteStore> => {
  const { natsPrefix: prefix, streamReplicas: replicas } = config;
  const sealing = sealingOf(config, bucketOfRoutes);
  return patiently(() => createJetStreamMailRouteStore(connection, { prefix, replicas }, sealing));
};

export const routesForOf = (book: RouteBook, { mailFrom }: CompleteConfig): RoutesFor =>
  createRoutesFor(book, mailFrom);

/** Opens the routes, to send by them. */
export function openRoutes({ config, logger, observer, lifecycle }: Parts, book: RouteBook): MailRouting {
  const { smtp, dkim, mailThrottling } = config;
  const providers = providersOf(config.mailProviders);
  const routing = createMailRouting(book, ({ name, url, connections }) => {
    const patience = createReceiverPatience(mailThrottling ? (address) => receiverOf(address, providers) : null);
    const bare = createSmtpMailer({ url, maxConnections: connections, ...smtp, dkim, patience });
    const outage = createOutageReport(logger, { route: name }, "mail route");
    const probe = async (): Promise<ProbeOutcome> => {
      const outcome = await bare.probe();
      // A wrong password or an expired certificate is seen here: the server is probed whenever it was found away.
      if (outcome.kind === "unavailable") outage.failed(new Error(outcome.error.message));
      else outage.recovered();
      return outcome;
    };
    const mailer = withBreaker(observer.metrics.mail.measure({ ...bare, probe }, name));
    mailer.onChange((state) => logger.warn({ route: name, state }, "breaker of a mail route changed state"));
    return mailer;
  });
  lifecycle.started("the mail routes' connections", routing.close);
  return routing;
}

/** Keeps the workers of all processes together to the rates of the routes. */
export function startSharingRates(
  { logger, lifecycle }: Parts,
  routing: MailRouting,
  book: RouteBook,
  membership: Membership,
): void {
  const countWorkers = async () => (await membership.call()).filter(({ routes }) => routes !== undefined).length;
  const rates = shareRates(routing, book, countWorkers, createOutageReport(logger, { part: "shares of rates" }).failed);
  rates.start();
  lifecycle.started("the shares of the rates", async () => rates.stop());
}
