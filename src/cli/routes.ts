import type { Command } from "commander";
import { addYes, askFirst, type YesOption } from "./ask-first.ts";
import { type Json, ServiceRefused } from "./client/service.ts";
import type { CommandContext } from "./command-context.ts";
import { WrongUsage } from "./command-failed.ts";
import { explain } from "./explain.ts";
import { onService } from "./on-service.ts";
import { readText } from "./read-letter.ts";
import { printTable } from "./table.ts";

type JsonOption = { readonly json?: boolean };
type SetOptions = JsonOption & {
  readonly url?: string;
  readonly passwordFile?: string;
  readonly connections?: string;
  readonly rate?: string;
  readonly senders?: string;
  readonly tenants?: string;
  readonly order?: string;
  readonly weight?: string;
};

/** `routes list|set|remove`. */
export function addRouteCommands(program: Command, context: CommandContext): void {
  const routes = program.command("routes").description("the mail routes: SMTP accounts by which mails leave");
  const list = routes
    .command("list")
    .description("list the mail routes, with their state in the workers")
    .option("--json", "as JSON")
    .action((options: JsonOption) => listRoutes(context, options));
  explain(list, { examples: ["waybill routes list"], asks: "service" });
  addSet(routes, context);
  const remove = routes
    .command("remove")
    .description("remove a mail route: mails in flight end, and jobs that asked for it fail")
    .argument("<name>", "name of the route")
    .option("--json", "as JSON")
    .action((name: string, options: YesOption & JsonOption) => removeRoute(context, name, options));
  addYes(remove);
  explain(remove, { examples: ["waybill routes remove ses"], asks: "service" });
}

function addSet(routes: Command, context: CommandContext): void {
  const set = routes
    .command("set")
    .description("create a mail route, or change what the options name; workers follow within seconds")
    .argument("<name>", "name of the route; of `default`, only senders, tenants, order and weight can be set")
    .option("--url <url>", "smtp://user@host:port or smtps://…; needed for a new route")
    .option("--password-file <file>", "a file with the password of the user in the URL")
    .option("--connections <number>", "connections of each worker process; 10 by default")
    .option("--rate <number>", "mails per second of all workers together, or none for no limit")
    .option("--senders <senders>", "addresses and domains that it serves, separated by commas, or all")
    .option("--tenants <tenants>", "tenants that it serves, separated by commas, or all")
    .option("--order <number>", "routes with a lower order carry the mails that they may; 100 by default")
    .option("--weight <number>", "its share among routes of the same order; 1 by default")
    .option("--json", "as JSON")
    .action((name: string, options: SetOptions) => setRoute(context, name, options));
  explain(set, {
    examples: [
      "waybill routes set ses --url smtp://key@email-smtp.eu-west-1.amazonaws.com:587 --password-file ses.txt --rate 14",
      "waybill routes set ses --senders news.example.org --order 10",
      "waybill routes set default --order 1",
    ],
    asks: "service",
    notes: "The password is not an option, as others on this machine could read it in the list of processes.",
  });
}

const pathOf = (name: string): string => `/api/admin/routes/${encodeURIComponent(name)}`;

const columns = [
  "name",
  "url",
  "rate",
  "connections",
  "senders",
  "tenants",
  "order",
  "weight",
  "state",
  "sent",
] as const;

const rowOf = (route: Json) => ({ ...route, sent: route.counts.sent });

async function listRoutes(context: CommandContext, { json }: JsonOption): Promise<void> {
  const { body } = await onService(context, (service) => service.ask("/api/admin/routes"));
  if (json) return context.print(JSON.stringify(body.data));
  printTable(context, columns, body.data.map(rowOf));
  for (const { name, reason } of body.unreadable) context.tell(`${name} is not used: ${reason}`);
}

async function setRoute(context: CommandContext, name: string, options: SetOptions): Promise<void> {
  const request = await requestOf(options);
  if (Object.keys(request).length === 0) throw new WrongUsage("Nothing to set; see --help for the options");
  const { body } = await onService(context, async (service) => {
    try {
      return await service.ask(pathOf(name), { method: "PATCH", body: request });
    } catch (failure) {
      if (!(failure instanceof ServiceRefused && failure.code === "mail-route-not-found")) throw failure;
      return await service.ask(pathOf(name), { method: "PUT", body: request });
    }
  });
  if (options.json) return context.print(JSON.stringify(body));
  printTable(context, columns, [rowOf(body)]);
}

async function removeRoute(
  context: CommandContext,
  name: string,
  { yes, json }: YesOption & JsonOption,
): Promise<void> {
  await askFirst(context, `Remove the mail route ${name}?`, { yes });
  await onService(context, (service) => service.ask(pathOf(name), { method: "DELETE" }));
  context.print(json ? JSON.stringify({ name, removed: true }) : `The mail route ${name} is removed.`);
}

/** Numbers go as they are: the service says what is wrong with them. */
async function requestOf({ url, passwordFile, senders, tenants, json: _, ...numbers }: SetOptions): Promise<Json> {
  if (passwordFile !== undefined && url === undefined) throw new WrongUsage("--password-file needs --url beside it");
  const listOf = (text: string): readonly string[] | null =>
    text === "all" ? null : text.split(",").map((one) => one.trim());
  return {
    ...(url === undefined ? {} : { url: passwordFile === undefined ? url : await withPassword(url, passwordFile) }),
    ...Object.fromEntries(Object.entries(numbers).map(([field, text]) => [field, toNumber(text)])),
    ...(senders === undefined ? {} : { senders: listOf(senders) }),
    ...(tenants === undefined ? {} : { tenants: listOf(tenants) }),
  };
}

const toNumber = (text: string): number | string | null => {
  if (text === "none") return null;
  return text.trim() === "" || Number.isNaN(Number(text)) ? text : Number(text);
};

async function withPassword(url: string, file: string): Promise<string> {
  if (!URL.canParse(url)) throw new WrongUsage("--url is no URL; expected smtp://user@host:port or smtps://…");
  const whole = new URL(url);
  if (whole.username === "")
    throw new WrongUsage("--url names no user for the password; expected smtp://user@host:port");
  whole.password = encodeURIComponent((await readText(file)).replace(/\r?\n$/, ""));
  return whole.href;
}
