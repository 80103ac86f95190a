import { hash } from "node:crypto";

/**
 * The Merkle tree of RFC 6962, 2.1: SHA-256, a leaf hashed behind a byte 0, two nodes behind a byte 1, so that no node
 * can be passed off as a leaf. The left subtree holds the largest power of two of leaves that leaves some to the right.
 */
export const hashBytes = 32;

const leafMark = 0x00;
const nodeMark = 0x01;

/** Nodes are hashed most often: one buffer serves all of them, because hashing is synchronous. */
const pair = Buffer.alloc(1 + 2 * hashBytes);
pair[0] = nodeMark;

const sha256 = (bytes: Uint8Array): Buffer => hash("sha256", bytes, "buffer");

export const hashOfLeaf = (leaf: Uint8Array): Buffer => sha256(Buffer.concat([Buffer.of(leafMark), leaf]));

export function hashOfNode(left: Uint8Array, right: Uint8Array): Buffer {
  pair.set(left, 1);
  pair.set(right, 1 + hashBytes);
  return sha256(pair);
}

export const rootOfNothing: Buffer = sha256(Buffer.alloc(0));

/** A tree that grows leaf by leaf, and keeps only one hash for each of its complete subtrees. */
export type GrowingTree = {
  add(leafHash: Buffer): void;
  readonly size: () => number;
  readonly root: () => Buffer;
};

export function createGrowingTree(): GrowingTree {
  /** Roots of complete subtrees from left to right, each larger than the next: the binary digits of the size. */
  const subtrees: Buffer[] = [];
  let size = 0;
  return {
    add: (leafHash) => {
      let node = leafHash;
      for (let digits = size; digits % 2 === 1; digits = (digits - 1) / 2) {
        node = hashOfNode(subtrees.pop() as Buffer, node);
      }
      subtrees.push(node);
      size += 1;
    },
    size: () => size,
    root: () => {
      const last = subtrees.at(-1);
      if (last === undefined) return rootOfNothing;
      return subtrees.slice(0, -1).reduceRight((right, left) => hashOfNode(left, right), last);
    },
  };
}

/** The largest power of two below a size of at least 2. */
const leftOf = (size: number): number => 2 ** (31 - Math.clz32(size - 1));

/** All leaf hashes of one tree, with a cache of its subtrees, because many paths of one tree are needed. */
export class LeafHashes {
  readonly #leaves: readonly Buffer[];
  readonly #subtrees = new Map<string, Buffer>();

  constructor(leaves: readonly Buffer[]) {
    this.#leaves = leaves;
  }

  get size(): number {
    return this.#leaves.length;
  }

  root(): Buffer {
    return this.#rootOf(0, this.size);
  }

  /** The nodes that are needed besides the leaf to compute the root, from the leaf's neighbour upwards (2.1.1). */
  path(index: number): readonly Buffer[] {
    if (!Number.isInteger(index) || index < 0 || index >= this.size) {
      throw new RangeError(`There is no leaf ${index} in a tree of ${this.size}.`);
    }
    const path: Buffer[] = [];
    let [begin, end] = [0, this.size];
    while (end - begin > 1) {
      const middle = begin + leftOf(end - begin);
      if (index < middle) {
        path.unshift(this.#rootOf(middle, end));
        end = middle;
      } else {
        path.unshift(this.#rootOf(begin, middle));
        begin = middle;
      }
    }
    return path;
  }

  #rootOf(begin: number, end: number): Buffer {
    if (begin === end) return rootOfNothing;
    if (end - begin === 1) return this.#leaves[begin] as Buffer;
    const name = `${begin}-${end}`;
    const known = this.#subtrees.get(name);
    if (known !== undefined) return known;
    const middle = begin + leftOf(end - begin);
    const root = hashOfNode(this.#rootOf(begin, middle), this.#rootOf(middle, end));
    this.#subtrees.set(name, root);
    return root;
  }
}

/** The root that a leaf and its path lead to; null if the path cannot belong to this index in a tree of this size. */
export function rootOfPath(
  leafHash: Uint8Array,
  index: number,
  size: number,
  path: readonly Uint8Array[],
): Buffer | null {
  if (!Number.isSafeInteger(index) || !Number.isSafeInteger(size) || index < 0 || index >= size) return null;
  if (path.some(({ length }) => length !== hashBytes)) return null;
  // The algorithm of RFC 9162, 2.1.3.2: the same tree, computed iteratively. No bit operators, which end at 2^31.
  let place = index;
  let last = size - 1;
  let node: Buffer = Buffer.from(leafHash);
  for (const neighbour of path) {
    if (last === 0) return null;
    if (place % 2 === 1 || place === last) {
      node = hashOfNode(neighbour, node);
      while (place % 2 === 0 && place !== 0) {
        place /= 2;
        last = Math.floor(last / 2);
      }
    } else {
      node = hashOfNode(node, neighbour);
    }
    place = Math.floor(place / 2);
    last = Math.floor(last / 2);
  }
  return last === 0 ? node : null;
}
