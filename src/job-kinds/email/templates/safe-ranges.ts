import { Expression, type FilterImplOptions, Tokenizer, TokenKind, TypeGuards, type ValueToken } from "liquidjs";

/** No template can name this filter: names of filters contain no blank. */
export const boundFilter = "range bound";

/** Past 2^53, adding one changes nothing: Liquid would count from there for ever, and keep every step. */
export const checkBound: FilterImplOptions = (value: unknown): unknown => {
  if (Array.isArray(value)) throw new Error("a range begins and ends with numbers");
  if (Math.abs(Number(value)) < Number.MAX_SAFE_INTEGER) return value;
  throw new Error("a range begins and ends with numbers of at most 15 digits");
};

const { readGroupOrRange } = Tokenizer.prototype;

/**
 * Liquid creates tokenizers where the engine cannot pass in another (also while it renders: `where` reads its path), so
 * this patches the class to check the bounds of ranges. Nothing else in this process uses Liquid.
 */
Tokenizer.prototype.readGroupOrRange = function readSafely() {
  const token = readGroupOrRange.call(this);
  if (token !== undefined && TypeGuards.isRangeToken(token)) {
    token.lhs = bounded(token.lhs);
    token.rhs = bounded(token.rhs);
  }
  return token;
};

/** `(a..b)` as `((a | bound)..(b | bound))`. */
function bounded(token: ValueToken): ValueToken {
  const { input, begin, end } = token;
  const filter = { kind: TokenKind.Filter, name: boundFilter, args: [], input, begin, end, getText: () => "" };
  const checked = {
    kind: TokenKind.FilteredValue,
    initial: new Expression([token]),
    filters: [filter],
    input,
    begin,
    end,
  };
  // The library reads a filtered value wherever it reads a value, but its types say so only where it parses.
  return checked as unknown as ValueToken;
}
