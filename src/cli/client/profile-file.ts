import { chmodSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { whyNoFile } from "./file-failure.ts";

/** A service by the name that a person gave it. */
export type Profile = { readonly url: string; readonly key: string | null };

export type Profiles = {
  /** The profile that commands use if nothing else names a service. */
  readonly current: string | null;
  readonly profiles: Readonly<Record<string, Profile>>;
};

/** The file cannot be used; the message says why and what to do. */
export class UnusableProfiles extends Error {
  override readonly name = "UnusableProfiles";
}

const none: Profiles = { current: null, profiles: {} };
/** The bits that let the group and others read or write a file. */
const othersMode = 0o077;

/** Reads the file; without one there are no profiles. Refuses a file with keys that other users can read. */
export function readProfiles(file: string): Profiles {
  let content: string;
  try {
    content = readFileSync(file, "utf8");
  } catch (failure) {
    if ((failure as NodeJS.ErrnoException).code === "ENOENT") return none;
    throw new UnusableProfiles(`${file} cannot be read: ${whyNoFile(failure)}`);
  }
  const read = parsed(content);
  if (read === null) {
    throw new UnusableProfiles(`${file} is not as "waybill profiles set" writes it; correct it, or remove it`);
  }
  const hasKeys = Object.values(read.profiles).some(({ key }) => key !== null);
  if (hasKeys && process.platform !== "win32" && (statSync(file).mode & othersMode) !== 0) {
    throw new UnusableProfiles(`Other users can read the keys in ${file}. Correct it with: chmod 600 ${file}`);
  }
  return read;
}

/** Replaces the file. Other users cannot read it. */
export function writeProfiles(file: string, { current, profiles }: Profiles): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const written = `${file}.${process.pid}`;
    writeFileSync(written, `${JSON.stringify({ current, profiles }, null, 2)}\n`, { mode: 0o600 });
    // The mode counts only for a new file.
    chmodSync(written, 0o600);
    renameSync(written, file);
  } catch (failure) {
    throw new UnusableProfiles(`${file} cannot be written: ${whyNoFile(failure)}`);
  }
}

function parsed(content: string): Profiles | null {
  try {
    const { current = null, profiles = {} } = JSON.parse(content);
    const all = Object.entries(profiles as Record<string, { url?: unknown; key?: unknown }>);
    const isNamed = current === null || (typeof current === "string" && Object.hasOwn(profiles, current));
    if (!isNamed || !all.every(([, { url, key = null }]) => typeof url === "string" && isKey(key))) return null;
    const read = all.map(([name, { url, key = null }]) => [name, { url, key }]);
    return { current, profiles: Object.fromEntries(read) };
  } catch {
    return null;
  }
}

const isKey = (key: unknown): boolean => key === null || typeof key === "string";
