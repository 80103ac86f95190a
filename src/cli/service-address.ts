import { type Profile, readProfiles, UnusableProfiles } from "./client/profile-file.ts";
import type { ServiceAddress } from "./client/service.ts";
import type { CommandContext } from "./command-context.ts";
import { CommandFailed, WrongUsage } from "./command-failed.ts";

/** The address and the key, and the profile that they come from, if any. */
export type ChosenService = ServiceAddress & { readonly profile: string | null };

/**
 * The service that a command talks to: `--url`, or `--profile`, or WAYBILL_URL, or WAYBILL_PROFILE, or the profile that
 * `waybill profiles use` chose, or else the one on this machine. A key of a profile goes to the URL of that profile only.
 */
export function serviceAddress(context: AddressContext): ChosenService {
  const chosen = chooseService(context);
  if (chosen.key !== null) expectKey(chosen.key);
  return chosen;
}

/** No header carries another text, and without its header a request is never sent, as if there were no service. */
export function expectKey(key: string): void {
  if (!/^[\x21-\x7e]*$/.test(key)) {
    throw new WrongUsage(
      "The API key is none: it has spaces or characters that are not ASCII; expected the whole text that keys create printed",
    );
  }
}

type AddressContext = Pick<CommandContext, "readConfig" | "serviceOptions" | "profileFile">;

function chooseService(context: AddressContext): ChosenService {
  const { url, key, profile } = context.serviceOptions();
  if (url !== undefined && profile !== undefined) throw new WrongUsage("--url and --profile both name a service");
  const overrides = {
    ...(url === undefined ? {} : { WAYBILL_URL: url }),
    ...(key === undefined ? {} : { WAYBILL_KEY: key }),
  };
  const { serviceUrl, serviceKey, isServiceNamed, serviceProfile } = context.readConfig(overrides);
  const plain = { url: serviceUrl, key: serviceKey, profile: null };
  if (profile === undefined && isServiceNamed) return plain;
  const named = profile ?? serviceProfile;
  const chosen = profileOf(context.profileFile, named);
  if (chosen === null) return plain;
  const [name, found] = chosen;
  return { url: found.url, key: key ?? found.key ?? serviceKey, profile: name };
}

/** The named profile, or the current one; null if none is named and none is current. */
function profileOf(file: string, named: string | null): readonly [string, Profile] | null {
  const { current, profiles } = explainedProfiles(() => readProfiles(file));
  const name = named ?? current;
  if (name === null) return null;
  const found = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (found !== undefined) return [name, found];
  throw new WrongUsage(`There is no profile ${JSON.stringify(name)} in ${file}: see waybill profiles list`);
}

/** Turns what is wrong with the file into a message for the user. */
export function explainedProfiles<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (failure) {
    throw failure instanceof UnusableProfiles ? new CommandFailed(failure.message) : failure;
  }
}
