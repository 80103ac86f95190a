import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { CannotStart } from "../../src/lifecycle.ts";
import { findBinary } from "../../src/standalone/find-binary.ts";
import { aptGetWaits, canInstall } from "../../src/standalone/install-servers.ts";

const run = promisify(execFile);

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** In PATH, or named by TEST_CHROMIUM; as root on Debian it is installed where there is none. Throws CannotStart. */
export async function findChromium(): Promise<string> {
  const found = process.env["TEST_CHROMIUM"] ?? (await findBinary(names));
  if (found) return found;
  if (process.env["WAYBILL_INSTALL"] !== "no" && (await canInstall())) {
    process.stderr.write("Not on this machine: chromium; installing with apt-get (WAYBILL_INSTALL=no forbids it)\n");
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    const options = { env, timeout: 600_000, maxBuffer: 64 * 1024 * 1024 };
    await run("apt-get", ["update"], options);
    await run("apt-get", [...aptGetWaits, "install", "-y", "--no-install-recommends", "chromium"], options);
    const installed = await findBinary(names);
    if (installed !== null) return installed;
  }
  throw new CannotStart(
    `The tests of the dashboard need a real browser, and found none of ${names.join(", ")} in PATH. Install one (Debian, Ubuntu: sudo apt-get install -y chromium), or name it: TEST_CHROMIUM=/path/to/chromium`,
  );
}
