import { type Static, Type } from "typebox";
import { normalisedSender } from "../../access/caller-limits.ts";
import { expectedTenantName, isTenantName } from "../../domain/tenant.ts";
import { type Checked, type Fault, failed, faultAt, passed, shown } from "../../schemas/fault.ts";
import { checkRequest, closed } from "../../schemas/request-schema.ts";
import { defaultRoute } from "./mail-route.ts";

const orNull = <Schema extends Parameters<typeof Type.Array>[0]>(item: Schema, description: string) =>
  Type.Union([Type.Array(item, { minItems: 1, maxItems: 200, description }), Type.Null()], { description });

const fields = {
  url: Type.Optional(
    Type.String({ maxLength: 2048, description: "smtp://user:password@host:port, or smtps://…, as a string" }),
  ),
  connections: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: "a whole number from 1 to 1000" })),
  rate: Type.Optional(
    Type.Union([Type.Number({ minimum: 0.01, maximum: 100_000 }), Type.Null()], {
      description: "mails per second, from 0.01 to 100000, or null for no limit",
    }),
  ),
  senders: Type.Optional(
    orNull(Type.String({ description: "an address or a domain" }), "addresses and domains, or null for any"),
  ),
  tenants: Type.Optional(
    orNull(Type.String({ description: "the name of a tenant" }), "names of tenants, or null for all"),
  ),
  order: Type.Optional(Type.Integer({ minimum: 0, maximum: 100_000, description: "a whole number from 0 to 100000" })),
  weight: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: "a whole number from 1 to 1000" })),
};

/** The body of PUT and PATCH /api/admin/routes/:name. */
export const mailRouteRequest = Type.Object(fields, {
  ...closed,
  title: "MailRouteRequest",
  examples: [{ url: "smtp://mail.example.com:587", connections: 5, rate: 20, senders: ["example.com"], weight: 1 }],
});

export type MailRouteRequest = Static<typeof mailRouteRequest>;

const checkShape = checkRequest(mailRouteRequest);

/** All faults of the request at once; senders come back in the form in which they are compared. */
export function checkMailRoute(name: string, body: unknown): Checked<MailRouteRequest> {
  const checked = checkShape(body);
  if (!checked.valid) return checked;
  const { url, senders, tenants } = checked.value;
  const faults = [
    ...(name === defaultRoute ? faultsOfDefault(checked.value) : []),
    ...(url === undefined || isMailServer(url) ? [] : [faultAt("/url", urlFault)]),
    ...(senders ?? []).flatMap((sender, index) => faultOfSender(sender, index)),
    ...(tenants ?? []).flatMap((tenant, index) => faultOfTenant(tenant, index)),
  ];
  if (faults.length > 0) return failed(faults);
  return passed({ ...checked.value, ...(senders ? { senders: senders.map(normalisedSender) } : {}) });
}

/** What is faulty may be the password: the text leaves it out. */
const urlFault = "cannot be used; expected smtp://user:password@host:port, or smtps://…, with a % of a password as %25";

const settings = { url: "SMTP_URL", connections: "SMTP_MAX_CONNECTIONS", rate: "SMTP_RATE" } as const;

const faultsOfDefault = (request: MailRouteRequest): readonly Fault[] =>
  (Object.keys(settings) as (keyof typeof settings)[])
    .filter((field) => request[field] !== undefined)
    .map((field) => faultAt(`/${field}`, `of the route ${defaultRoute} is the setting ${settings[field]}`));

const faultOfSender = (sender: string, index: number): readonly Fault[] =>
  normalisedSender(sender) !== ""
    ? []
    : [faultAt(`/senders/${index}`, `is ${shown(sender)}; expected an address or a domain`)];

const faultOfTenant = (tenant: string, index: number): readonly Fault[] =>
  isTenantName(tenant) ? [] : [faultAt(`/tenants/${index}`, `is ${shown(tenant)}; expected ${expectedTenantName}`)];

export function isMailServer(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password, pathname, search, hash } = new URL(text);
  if (!["smtp:", "smtps:"].includes(protocol) || hostname === "") return false;
  return ["", "/"].includes(pathname) && search === "" && hash === "" && [username, password].every(isDecodable);
}

function isDecodable(text: string): boolean {
  try {
    return decodeURIComponent(text) !== null;
  } catch {
    return false;
  }
}
