/** The parts of html-to-text in use; the package comes without types. */
declare module "html-to-text" {
  type Selector = {
    readonly selector: string;
    readonly format?: string;
    readonly options?: Readonly<Record<string, unknown>>;
  };
  export type Element = { readonly name: string; readonly parent: Element | null };
  export type Format<Builder = { readonly options: Options }> = (
    element: Element,
    walk: unknown,
    builder: Builder,
    options: Readonly<Record<string, unknown>>,
  ) => void;
  type Options = {
    readonly formatters: Readonly<Record<string, Format>>;
    readonly wordwrap?: number;
    readonly selectors?: readonly Selector[];
    readonly limits?: {
      readonly maxInputLength?: number;
      readonly maxDepth?: number;
      readonly maxChildNodes?: number;
      readonly ellipsis?: string;
    };
  };
  export function compile(options: Options): (html: string) => string;
}
