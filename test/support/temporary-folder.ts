import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** An empty folder of the test's own, which it removes itself. */
export const temporaryFolder = (): Promise<string> =>
  mkdtemp(join(process.env["TEST_FOLDER"] ?? tmpdir(), "waybill-test-"));
