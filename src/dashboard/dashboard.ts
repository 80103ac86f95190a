import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { type StaticFile, toStaticFile } from "./static-file.ts";

/** The files that a browser loads of the dashboard, held in memory: they are small, and few people load them. */
export type Dashboard = {
  readonly page: StaticFile;
  /** An empty page for mails to be shown in. */
  readonly mailFrame: StaticFile;
  /**
   * `main-<digest>.js`, `main-<digest>.css`; null for any other name. While releases are mixed, a page of the other release
   * asks for its own digest and gets this release's file, which must not be cached under that name.
   */
  findAsset(name: string): { readonly file: StaticFile; readonly isNamedByDigest: boolean } | null;
};

export type DashboardSettings = {
  /** Whether the service catches its mail itself, and shows it. */
  readonly hasMailbox: boolean;
  /** Types of events to choose from. */
  readonly eventTypes: readonly string[];
  readonly folder?: string;
};

/** Where the build puts the files, seen from this source file as from a file of the bundle in `dist/src`. */
const built = fileURLToPath(new URL("../../dist/src/dashboard/app/", import.meta.url));

/** Null where the dashboard was not built: nothing else of the service needs it. */
export async function readDashboard({ folder = built, ...settings }: DashboardSettings): Promise<Dashboard | null> {
  const files = await readBuilt(folder);
  if (files === null) return null;
  const script = toStaticFile("text/javascript; charset=utf-8", files.script);
  const style = toStaticFile("text/css; charset=utf-8", files.style);
  const assets = new Map([
    ["js", script],
    ["css", style],
  ]);
  const html = (text: string): StaticFile => toStaticFile("text/html; charset=utf-8", Buffer.from(text));
  return {
    page: html(pageOf(nameOf(script, "js"), nameOf(style, "css"), settings)),
    mailFrame: html(mailFrame),
    findAsset: (name) => {
      const extension = /^main-[0-9a-f]{16}\.(js|css)$/.exec(name)?.[1] ?? "";
      const file = assets.get(extension);
      return file === undefined ? null : { file, isNamedByDigest: name === nameOf(file, extension) };
    },
  };
}

async function readBuilt(folder: string): Promise<{ readonly script: Buffer; readonly style: Buffer } | null> {
  const names = ["main.js", "main.css"];
  const [script, style] = await Promise.all(names.map((name) => readFile(folder + name).catch(() => null)));
  return script && style ? { script, style } : null;
}

const nameOf = ({ digest }: StaticFile, extension: string): string => `main-${digest.slice(0, 16)}.${extension}`;

const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath fill='%231f5fbf' d='M1 3h14v10H1z'/%3E%3Cpath stroke='%23fff' stroke-width='1.5' fill='none' d='M1.5 4 8 9l6.5-5'/%3E%3C/svg%3E";

/** The page's URLs are relative, so that it works under any path that a proxy puts before it. */
const pageOf = (
  script: string,
  style: string,
  { hasMailbox, eventTypes }: Omit<DashboardSettings, "folder">,
): string => `<!doctype html>
<html lang="en" data-mailbox="${hasMailbox}" data-event-types="${eventTypes.join(" ")}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Waybill</title>
<link rel="icon" href="${icon}">
<link rel="stylesheet" href="assets/${style}">
<script type="module" src="assets/${script}"></script>
</head>
<body><div id="app"></div><noscript>The dashboard needs JavaScript. The HTTP API offers everything that it does.</noscript></body>
</html>
`;

const mailFrame = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>A mail</title></head><body></body></html>
`;
