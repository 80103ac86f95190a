import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { CannotStart } from "../../src/process/lifecycle.ts";
import { findBinary } from "../../src/standalone/find-binary.ts";
import { aptGetWaits, canInstall } from "../../src/standalone/install-servers.ts";

const run = promisify(execFile);

/** The first of them has no window and none of what is around it: a test takes a quarter less CPU. */
const names = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
/** Packages: the second, where the distribution does not have the first. */
const [lean, whole] = ["chromium-headless-shell", "chromium"] as const;

/** In PATH, or named by TEST_CHROMIUM; as root on Debian it is installed where there is none. Throws CannotStart. */
export async function findChromium(): Promise<string> {
  const found = process.env["TEST_CHROMIUM"] ?? (await findBinary(names));
  if (found) return found;
  if (process.env["WAYBILL_INSTALL"] !== "no" && (await canInstall())) {
    process.stderr.write("Not on this machine: chromium; installing with apt-get (WAYBILL_INSTALL=no forbids it)\n");
    await installChromium();
    const installed = await findBinary(names);
    if (installed !== null) return installed;
  }
  throw new CannotStart(
    `The tests of the dashboard need a real browser, and found none of ${names.join(", ")} in PATH. Install one (Debian, Ubuntu: sudo apt-get install -y chromium), or name it: TEST_CHROMIUM=/path/to/chromium`,
  );
}

async function installChromium(): Promise<void> {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const options = { env, timeout: 600_000, maxBuffer: 64 * 1024 * 1024 };
  await run("apt-get", ["update"], options);
  const installing = (name: string) =>
    run("apt-get", [...aptGetWaits, "install", "-y", "--no-install-recommends", name], options);
  await installing(lean).catch(() => installing(whole));
}
