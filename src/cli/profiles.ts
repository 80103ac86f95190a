import type { Command } from "commander";
import { type Profiles, readProfiles, writeProfiles } from "./client/profile-file.ts";
import type { CommandContext } from "./command-context.ts";
import { WrongUsage } from "./command-failed.ts";
import { explain } from "./explain.ts";
import { readText } from "./read-letter.ts";
import { expectKey, explainedProfiles } from "./service-address.ts";
import { printTable } from "./table.ts";

type JsonOption = { readonly json?: boolean };
type SetOptions = JsonOption & { readonly url?: string; readonly key?: string; readonly keyFile?: string };

const notes = "The file is $XDG_CONFIG_HOME/waybill/config.json (default: ~/.config/waybill/config.json).";

/** `profiles list|set|use|remove`. */
export function addProfileCommands(program: Command, context: CommandContext): void {
  const profiles = program.command("profiles").description("names for services and their keys, for --profile");
  const named = (name: string, description: string, argument = "<name>"): Command =>
    profiles
      .command(name)
      .description(description)
      .argument(argument, "name of the profile")
      .option("--json", "as JSON");
  const list = profiles
    .command("list")
    .description("list the profiles, without their keys")
    .option("--json", "as JSON")
    .action((options: JsonOption) => listProfiles(context, options));
  explain(list, { examples: ["waybill profiles list"], notes });
  const set = named("set", "store the URL of a service, and a key, under a name")
    .option("--url <url>", "the URL of the service; needed for a new profile")
    .option("--key-file <file>", "a file with its API key")
    .option("--key <key>", "the API key itself")
    .action((name: string, options: SetOptions) => setProfile(context, name, options));
  explain(set, {
    examples: [
      "waybill profiles set staging --url https://waybill.example.org --key-file key.txt",
      "waybill profiles set staging --url https://waybill.example.org",
    ],
    notes: `${notes}
Only you can read it. Others on this machine may read --key in the list of processes, but not the file of --key-file.`,
  });
  const use = named("use", "use a profile where nothing else names a service; without a name: none", "[name]").action(
    (name: string | undefined, options: JsonOption) => useProfile(context, name ?? null, options),
  );
  explain(use, { examples: ["waybill profiles use staging", "waybill profiles use"], notes });
  const remove = named("remove", "forget a profile and its key").action((name: string, options: JsonOption) =>
    removeProfile(context, name, options),
  );
  explain(remove, { examples: ["waybill profiles remove staging"], notes });
}

const read = ({ profileFile }: CommandContext): Profiles => explainedProfiles(() => readProfiles(profileFile));

const write = ({ profileFile }: CommandContext, profiles: Profiles): void =>
  explainedProfiles(() => writeProfiles(profileFile, profiles));

function listProfiles(context: CommandContext, { json }: JsonOption): void {
  const { current, profiles } = read(context);
  const rows = Object.entries(profiles).map(([name, { url, key }]) => ({
    name,
    url,
    key: key === null ? null : "stored",
    current: name === current ? "yes" : null,
  }));
  if (json) context.print(JSON.stringify(rows));
  else if (rows.length > 0) printTable(context, ["name", "url", "key", "current"], rows);
  else context.tell("There are no profiles. Store one with: waybill profiles set <name> --url <url>");
}

async function setProfile(
  context: CommandContext,
  name: string,
  { url, key, keyFile, json }: SetOptions,
): Promise<void> {
  if (!/^[\w.-]{1,64}$/.test(name)) {
    throw new WrongUsage(`The name is ${JSON.stringify(name)}; expected 1 to 64 letters, digits, dots and dashes`);
  }
  const { current, profiles } = read(context);
  const before = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (url === undefined && before === undefined)
    throw new WrongUsage("A new profile needs the URL of a service: --url");
  // The settings say whether it is one.
  const { serviceUrl } = context.readConfig(url === undefined ? {} : { WAYBILL_URL: url });
  const stored = keyFile === undefined ? key : (await readText(keyFile)).trim();
  if (stored !== undefined) expectKey(stored);
  // A key goes with its URL: it is not sent to another one.
  const isSameUrl = url === undefined || serviceUrl === before?.url;
  const profile = {
    url: url === undefined && before !== undefined ? before.url : serviceUrl,
    key: stored ?? (isSameUrl ? (before?.key ?? null) : null),
  };
  write(context, { current, profiles: { ...profiles, [name]: profile } });
  const words = `Profile ${name}: ${profile.url}${profile.key === null ? ", without a key" : ""}.`;
  context.print(json ? JSON.stringify({ name, url: profile.url, key: profile.key === null ? null : "stored" }) : words);
  if (current !== name) context.tell(`Use it with --profile ${name}, or from now on: waybill profiles use ${name}`);
}

function useProfile(context: CommandContext, name: string | null, { json }: JsonOption): void {
  const { profiles } = read(context);
  if (name !== null) expectKnown(profiles, name);
  write(context, { current: name, profiles });
  const words = name === null ? "No profile is in use." : `Commands talk to ${profiles[name]?.url}.`;
  context.print(json ? JSON.stringify({ current: name }) : words);
}

function removeProfile(context: CommandContext, name: string, { json }: JsonOption): void {
  const { current, profiles } = read(context);
  expectKnown(profiles, name);
  const { [name]: _, ...others } = profiles;
  write(context, { current: current === name ? null : current, profiles: others });
  context.print(json ? JSON.stringify({ name, removed: true }) : `Profile ${name} is forgotten.`);
}

function expectKnown(profiles: Profiles["profiles"], name: string): void {
  if (!Object.hasOwn(profiles, name))
    throw new WrongUsage(`There is no profile ${JSON.stringify(name)}: see profiles list`);
}
