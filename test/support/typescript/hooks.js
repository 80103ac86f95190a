import { createHash } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { transform, version } from "esbuild";

/** `npm ci` empties it. */
const cache = fileURLToPath(new URL("../../../node_modules/.cache/test-modules/", import.meta.url));

const options = { loader: "ts", format: "esm", target: "node20.19", sourcemap: "inline", sourcesContent: false };

/** Node's hook: what a TypeScript file is as JavaScript. It keeps its address, and its lines in stack traces. */
export async function load(url, context, nextLoad) {
  if (!url.startsWith("file:") || !url.endsWith(".ts")) return nextLoad(url, context);
  const sourcefile = fileURLToPath(url);
  const source = await toJavaScript(await readFile(sourcefile, "utf8"), { ...options, sourcefile });
  return { format: "module", source, shortCircuit: true };
}

async function toJavaScript(typeScript, how) {
  const key = createHash("sha256")
    .update(JSON.stringify([version, how, typeScript]))
    .digest("hex");
  const cached = join(cache, key.slice(0, 2), `${key.slice(2)}.js`);
  try {
    return await readFile(cached, "utf8");
  } catch {
    const { code } = await transform(typeScript, how);
    // Other processes make the same file at the same moment.
    const own = `${cached}.${process.pid}`;
    await mkdir(dirname(cached), { recursive: true });
    await writeFile(own, code);
    await rename(own, cached);
    return code;
  }
}
