import { createHash } from "node:crypto";
import { access, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

type StaticFile = {
  readonly type: string;
  readonly bytes: Buffer;
  readonly gzipped: Buffer;
  /** SHA-256 in hex. */
  readonly digest: string;
};

/** The page that shows the OpenAPI document, and the files that it loads. */
export type ApiReference = {
  /** Null if there is no file of this name. The page itself is `page.html`. */
  findFile(name: string): Promise<StaticFile | null>;
};

const script = "text/javascript; charset=utf-8";
const style = "text/css; charset=utf-8";
const types = {
  "swagger-ui-bundle.js": script,
  "start.js": script,
  "swagger-ui.css": style,
  "page.css": style,
} as const;

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Waybill: the API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs/swagger-ui.css">
<link rel="stylesheet" href="docs/page.css">
<script defer src="docs/swagger-ui-bundle.js"></script>
<script defer src="docs/start.js"></script>
</head>
<body><div id="reference"></div><noscript>This page needs JavaScript. It shows <a href="openapi.json">openapi.json</a>.</noscript></body>
</html>
`;

/** Where the build puts the files, seen from this source file as from a file of the bundle in `dist/src`. */
const folder = fileURLToPath(new URL("../../dist/src/api-reference/app/", import.meta.url));

/** Null if the files were never built, because the service runs without them. Files are read on demand: the page is used rarely. */
export async function openApiReference(): Promise<ApiReference | null> {
  if (!(await isBuilt())) return null;
  const files = new Map<string, Promise<StaticFile>>();
  const load = async (name: keyof typeof types | "page.html"): Promise<StaticFile> =>
    name === "page.html"
      ? await toFile("text/html; charset=utf-8", Buffer.from(page))
      : await toFile(types[name], await readFile(folder + name));
  return {
    findFile: async (name) => {
      if (name !== "page.html" && !isFileName(name)) return null;
      const file = files.get(name) ?? load(name);
      files.set(name, file);
      // A failed read is not cached.
      file.catch(() => files.delete(name));
      return await file;
    },
  };
}

const isFileName = (name: string): name is keyof typeof types => Object.hasOwn(types, name);

const isBuilt = (): Promise<boolean> =>
  Promise.all(Object.keys(types).map((name) => access(folder + name))).then(
    () => true,
    () => false,
  );

const packed = promisify(gzip);

const toFile = async (type: string, bytes: Buffer): Promise<StaticFile> => ({
  type,
  bytes,
  gzipped: await packed(bytes, { level: 9 }),
  digest: createHash("sha256").update(bytes).digest("hex"),
});
