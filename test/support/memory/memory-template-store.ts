import {
  type Template,
  type TemplateRef,
  type TemplateStore,
  withLetter,
} from "../../../src/content/template-store.ts";

/** Keeps templates as long as the process lives. */
export function createMemoryTemplateStore(): TemplateStore {
  const names = new Map<string, { readonly tenant: string; readonly place: number; readonly template: Template }>();
  const letters = new Map<string, string>();
  let places = 0;
  const keyOf = ({ tenant, name }: TemplateRef): string => `${tenant} ${name}`;
  const find = (ref: TemplateRef): Template | null => names.get(keyOf(ref))?.template ?? null;
  const store = (ref: TemplateRef, template: Template): void => {
    places += 1;
    names.set(keyOf(ref), { tenant: ref.tenant, place: places, template });
  };
  return {
    find: async (ref) => find(ref),
    put: async (ref, { text, sha256 }, at) => {
      const next = withLetter(find(ref), ref.name, sha256, at);
      if (next === null) return null;
      const { isChanged, ...stored } = next;
      letters.set(`${keyOf(ref)} ${sha256}`, text);
      if (isChanged) store(ref, stored.template);
      return stored;
    },
    letter: async (ref, sha256) => letters.get(`${keyOf(ref)} ${sha256}`) ?? null,
    archive: async (ref, at) => {
      const template = find(ref);
      if (template === null || template.archivedAt !== null) return null;
      const archived = { ...template, archivedAt: at };
      store(ref, archived);
      return archived;
    },
    page: async (tenant, { after, limit }) => {
      const found = [...names.values()]
        .filter((one) => one.tenant === tenant && one.template.archivedAt === null && one.place > after)
        .sort((one, other) => one.place - other.place);
      const next = found.length > limit ? (found[limit - 1]?.place ?? null) : null;
      return { templates: found.slice(0, limit).map(({ template }) => template), next };
    },
  };
}
