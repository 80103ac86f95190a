/** The parts of html-to-text in use; the package comes without types. */
declare module "html-to-text" {
  type Selector = {
    readonly selector: string;
    readonly format?: string;
    readonly options?: Readonly<Record<string, unknown>>;
  };
  type Options = {
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
