import { isSenderAllowed } from "../../access/caller-limits.ts";

/** A way by which mails leave: an SMTP account, what it may carry, and how much. */
export type MailRoute = {
  readonly name: string;
  /** `smtp://user:password@host:port` or `smtps://…` */
  readonly url: string;
  /** Connections of each process that sends. */
  readonly connections: number;
  /** Mails per second of all workers together; null for no limit. */
  readonly rate: number | null;
  /** Addresses and domains that its mails may come from, in their normal form; null for any. */
  readonly senders: readonly string[] | null;
  /** The tenants whose mails it carries; null for all. */
  readonly tenants: readonly string[] | null;
  /** Of the routes that may carry a mail, those with the lowest order carry it; the next take over while they are away. */
  readonly order: number;
  /** Routes of the same order share the mails in the proportion of their weights. */
  readonly weight: number;
};

/** The route that SMTP_URL is. It always exists. */
export const defaultRoute = "default";

/** What can be set for the default route; the rest of it are settings of the service. */
export type DefaultRouteRules = Pick<MailRoute, "senders" | "tenants" | "order" | "weight">;

/** Others come before it unless they say so: who adds a route wants it to be used. */
export const usualOrder = 100;
const orderOfDefault = 1000;

export const usualRules: DefaultRouteRules = { senders: null, tenants: null, order: orderOfDefault, weight: 1 };

const name = /^[a-z0-9][a-z0-9_-]{0,31}$/;

export const isRouteName = (text: string): boolean => name.test(text);

export const expectedRouteName = "1 to 32 lower-case letters, digits, _ and -, a letter or digit first";

/** What decides which routes may carry a mail: all mails of a job have it in common. */
export type Sending = {
  readonly tenant: string;
  /** The address that its mails come from. */
  readonly sender: string;
  /** The route that the job asks for; null for any. */
  readonly route: string | null;
};

export function serves({ name, senders, tenants }: MailRoute, { tenant, sender, route }: Sending): boolean {
  if (route !== null && route !== name) return false;
  if (tenants !== null && !tenants.includes(tenant)) return false;
  return senders === null || isSenderAllowed(sender, senders);
}

/** The routes that may carry these mails: first those of the lowest order. */
export const routesFor = (routes: readonly MailRoute[], sending: Sending): readonly MailRoute[] =>
  routes
    .filter((route) => serves(route, sending))
    .sort((one, other) => one.order - other.order || one.name.localeCompare(other.name));
