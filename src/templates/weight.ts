import { type Template as Node, type Token, Value } from "liquidjs";

const weights = new WeakMap<readonly Node[], number>();

/** How many steps it takes to go through these once, beside what they read, filter and write. */
export function weightOf(nodes: readonly Node[]): number {
  const known = weights.get(nodes);
  if (known !== undefined) return known;
  const weight = nodes.reduce((sum, node) => sum + weightOfNode(node), 1);
  weights.set(nodes, weight);
  return weight;
}

/** Every branch counts, also those that are not tried. */
function weightOfNode(node: Node): number {
  let weight = 1;
  for (const argument of node.arguments?.() ?? []) {
    weight += argument instanceof Value ? weightOfValue(argument) : weightOfToken(argument);
  }
  return weight;
}

function weightOfValue({ initial, filters }: Value): number {
  let weight = initial.postfix.reduce((sum, token) => sum + weightOfToken(token), 0);
  for (const { args } of filters) {
    for (const arg of args) weight += weightOfToken(Array.isArray(arg) ? arg[1] : arg);
  }
  return weight;
}

const weightOfToken = (token: Token | undefined): number => 0.25 + (token ? (token.end - token.begin) / 128 : 0);
