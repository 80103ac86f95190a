import { createHash } from "node:crypto";
import { expect } from "chai";
import fc from "fast-check";
import { createGrowingTree, hashOfLeaf, hashOfNode, LeafHashes, rootOfPath } from "../../src/seals/merkle.ts";

/** The inputs, roots and paths with which the implementations of Certificate Transparency are tested. */
const published = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"];
const roots = [
  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
  "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
  "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
  "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
  "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
  "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
  "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
  "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
];
/** Leaf (from 0), size of the tree, path. */
const paths: readonly [index: number, size: number, path: readonly string[]][] = [
  [0, 1, []],
  [
    0,
    8,
    [
      "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
      "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
      "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
    ],
  ],
  [
    5,
    8,
    [
      "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
      "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
      "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ],
  ],
  [2, 3, ["fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"]],
  [
    1,
    5,
    [
      "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
      "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
      "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
    ],
  ],
];

const hashesOf = (count: number): readonly Buffer[] =>
  published.slice(0, count).map((leaf) => hashOfLeaf(Buffer.from(leaf, "hex")));
const hex = (bytes: Uint8Array | null): string | undefined =>
  bytes === null ? undefined : Buffer.from(bytes).toString("hex");

/** RFC 6962, 2.1, as it stands there. */
function recursiveRoot(leaves: readonly Buffer[]): Buffer {
  const [first] = leaves;
  if (first === undefined) return createHash("sha256").digest();
  if (leaves.length === 1) return first;
  let middle = 1;
  while (middle * 2 < leaves.length) middle *= 2;
  return hashOfNode(recursiveRoot(leaves.slice(0, middle)), recursiveRoot(leaves.slice(middle)));
}

/** No two alike, as in a log, where each says its own place: two alike next to each other have the same path. */
const anyLeaves = fc
  .uniqueArray(fc.uint8Array({ maxLength: 8 }), { minLength: 1, maxLength: 150, selector: String })
  .map((leaves) => leaves.map(hashOfLeaf));
const leavesAndIndex = anyLeaves.chain((leaves) => fc.tuple(fc.constant(leaves), fc.nat(leaves.length - 1)));

describe("A Merkle tree", () => {
  for (const [size, root] of roots.entries()) {
    it(`of the first ${size} published leaves has the published root`, () => {
      const tree = createGrowingTree();
      for (const leaf of hashesOf(size)) tree.add(leaf);
      expect(hex(tree.root())).to.equal(root);
      expect(hex(new LeafHashes(hashesOf(size)).root())).to.equal(root);
    });
  }

  for (const [index, size, path] of paths) {
    it(`gives leaf ${index} of ${size} the published path, which leads back to the root`, () => {
      expect(new LeafHashes(hashesOf(size)).path(index).map(hex)).to.deep.equal(path);
      const nodes = path.map((node) => Buffer.from(node, "hex"));
      expect(hex(rootOfPath(hashesOf(size)[index] as Buffer, index, size, nodes))).to.equal(roots[size]);
    });
  }

  it("has the same root whether it grew, was built, or is computed as the RFC says", () => {
    fc.assert(
      fc.property(anyLeaves, (leaves) => {
        const tree = createGrowingTree();
        for (const leaf of leaves) tree.add(leaf);
        expect(tree.size()).to.equal(leaves.length);
        expect([hex(tree.root()), hex(new LeafHashes(leaves).root())]).to.deep.equal(
          Array(2).fill(hex(recursiveRoot(leaves))),
        );
      }),
    );
  });

  it("proves every leaf, at its own place and no other", () => {
    fc.assert(
      fc.property(leavesAndIndex, fc.nat(200), ([leaves, index], other) => {
        const tree = new LeafHashes(leaves);
        const leaf = leaves[index] as Buffer;
        expect(hex(rootOfPath(leaf, index, leaves.length, tree.path(index)))).to.equal(hex(tree.root()));
        if (other === index) return;
        expect(hex(rootOfPath(leaf, other, leaves.length, tree.path(index)))).not.to.equal(hex(tree.root()));
      }),
    );
  });

  it("proves no altered leaf, and by no altered path", () => {
    fc.assert(
      fc.property(leavesAndIndex, fc.nat(31), fc.nat(20), ([leaves, index], byte, node) => {
        const tree = new LeafHashes(leaves);
        const flip = (bytes: Buffer): Buffer => {
          const flipped = Buffer.from(bytes);
          flipped[byte] = (flipped[byte] ?? 0) ^ 1;
          return flipped;
        };
        const [leaf, path] = [leaves[index] as Buffer, tree.path(index)];
        expect(hex(rootOfPath(flip(leaf), index, leaves.length, path))).not.to.equal(hex(tree.root()));
        const altered = path.map((one, at) => (at === node % path.length ? flip(one) : one));
        if (path.length > 0)
          expect(hex(rootOfPath(leaf, index, leaves.length, altered))).not.to.equal(hex(tree.root()));
        expect(rootOfPath(leaf, index, leaves.length, [...path, leaf])).to.equal(null);
        if (path.length > 0) expect(rootOfPath(leaf, index, leaves.length, path.slice(1))).to.equal(null);
      }),
    );
  });

  it("tells a leaf from a node: two hashes one after the other are no leaf of their own parent", () => {
    const [left, right] = hashesOf(2) as [Buffer, Buffer];
    expect(hex(hashOfLeaf(Buffer.concat([left, right])))).not.to.equal(hex(hashOfNode(left, right)));
  });

  it("refuses places that are none", () => {
    const tree = new LeafHashes(hashesOf(3));
    for (const index of [-1, 3, 0.5]) expect(() => tree.path(index)).to.throw("There is no leaf");
    expect(rootOfPath(hashesOf(1)[0] as Buffer, 3, 3, [])).to.equal(null);
    expect(rootOfPath(hashesOf(1)[0] as Buffer, 0, 2, [Buffer.alloc(31)])).to.equal(null);
  });
});
