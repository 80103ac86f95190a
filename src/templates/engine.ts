import { type Context, Liquid } from "liquidjs";
import { allowedFilters, allowedTags } from "./allowed.ts";

/** In characters; the content of a job holds a megabyte in all. */
const maxTemplateLength = 256_000;
/** How long one rendering may take, and what it may write and hold, in characters. */
const maxRenderMs = 40;
const maxHeld = 5_000_000;

const noFiles = "A template reads no files";
const refusingFiles = {
  exists: async () => false,
  existsSync: () => false,
  contains: async () => false,
  containsSync: () => false,
  readFile: () => Promise.reject(new Error(noFiles)),
  readFileSync: (): string => {
    throw new Error(noFiles);
  },
  resolve: (): string => {
    throw new Error(noFiles);
  },
};

/**
 * Liquid as far as a stranger's template may have it. An unknown variable is an error: a mail with a gap where a name
 * should be cannot be taken back, and `{{ name | default: "you" }}` says what to do without one.
 */
export function createEngine({ escapesHtml }: { readonly escapesHtml: boolean }): Liquid {
  const engine = new Liquid({
    outputEscape: escapesHtml ? (value: unknown) => escapeHtml(toText(value)) : toText,
    ownPropertyOnly: true,
    strictFilters: true,
    strictVariables: true,
    lenientIf: true,
    dynamicPartials: false,
    relativeReference: false,
    fs: refusingFiles,
    parseLimit: maxTemplateLength,
    renderLimit: maxRenderMs,
    memoryLimit: maxHeld,
  });
  for (const tag of Object.keys(engine.tags)) if (!allowedTags.has(tag)) delete engine.tags[tag];
  for (const filter of Object.keys(engine.filters)) if (!allowedFilters.has(filter)) delete engine.filters[filter];
  if (escapesHtml) escapeOnce(engine);
  boundOutput(engine);
  return engine;
}

/** What these filters give is safe already: escaped again, the reader would see `&lt;` and `<br>`. */
function escapeOnce(engine: Liquid): void {
  engine.registerFilter("escape", { raw: true, handler: (value: unknown) => escapeHtml(toText(value)) });
  engine.registerFilter("newline_to_br", {
    raw: true,
    handler: (value: unknown) => escapeHtml(toText(value)).replace(/\r?\n/g, "<br>\n"),
  });
}

/** Liquid counts what filters make, but not what a loop writes: half a gigabyte fits into its milliseconds. */
function boundOutput({ renderer }: Liquid): void {
  const render = renderer.renderTemplates;
  renderer.renderTemplates = (templates, context, emitter = createBoundedEmitter(context)) =>
    render.call(renderer, templates, context, emitter);
}

function createBoundedEmitter(context: Context) {
  let buffer = "";
  return {
    get buffer() {
      return buffer;
    },
    write: (part: unknown): void => {
      const text = toText(part);
      context.memoryLimit.use(text.length);
      buffer += text;
    },
  };
}

function toText(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (Array.isArray(value)) return value.map(toText).join("");
  if (typeof value === "object") throw new Error("an object cannot be written");
  return String(value);
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&#34;",
  "'": "&#39;",
};

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (sign) => entities[sign] ?? sign);
