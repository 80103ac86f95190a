import { expect } from "chai";
import { type Manifest, readManifests } from "./manifests.ts";

type Model = { readonly prototype: { validate(this: Manifest): void } };

/** The model of a kind, with the schema of Kubernetes: `networking.k8s.io/v1`, `Ingress`. */
async function modelOf({ apiVersion, kind }: Manifest): Promise<Model> {
  return ((await import(`kubernetes-models/${apiVersion}/${kind}`)) as Readonly<Record<string, Model>>)[kind] as Model;
}

/** Notes what is read of a document: the compiled schemas read every field that they know, and no other. */
function watched(value: Manifest, path: string, unread: Set<string>): Manifest {
  if (typeof value !== "object" || value === null) return value;
  const inner = Array.isArray(value) ? [] : {};
  for (const [name, field] of Object.entries(value)) {
    unread.add(`${path}/${name}`);
    Object.assign(inner, { [name]: watched(field, `${path}/${name}`, unread) });
  }
  return new Proxy(inner, {
    get: (target, name) => {
      unread.delete(`${path}/${String(name)}`);
      return Reflect.get(target, name);
    },
  });
}

/** What Kubernetes would refuse, or leave out without a word. */
async function faultsOf(manifest: Manifest): Promise<readonly string[]> {
  const unread = new Set<string>();
  const { prototype } = await modelOf(manifest);
  try {
    prototype.validate.call(watched(manifest, "", unread));
  } catch (failure) {
    return [(failure as Error).message];
  }
  return [...unread].map((path) => `${path} is unknown`);
}

describe("the manifests for Kubernetes, by its own schemas", () => {
  let all: readonly { readonly file: string; readonly manifest: Manifest }[];
  before(async () => {
    all = (await readManifests("ops/kubernetes/")).filter(({ manifest }) => manifest.kind !== "Kustomization");
  });

  it("have no field that is unknown, missing or of another type", async () => {
    const faults: string[] = [];
    for (const { file, manifest } of all) {
      for (const fault of await faultsOf(manifest)) faults.push(`${file} ${manifest.kind}: ${fault}`);
    }
    expect(faults).to.deep.equal([]);
    expect(new Set(all.map(({ manifest }) => manifest.kind))).to.include.keys("Deployment", "Ingress", "NetworkPolicy");
  });

  it("would be refused with a misspelt, missing or mistaken field", async () => {
    const deployment = (): Manifest =>
      structuredClone(all.find(({ manifest }) => manifest.kind === "Deployment")?.manifest);
    const misspelt = deployment();
    misspelt.spec.template.spec.containers[0].readynessProbe = {};
    expect((await faultsOf(misspelt)).join()).to.include("readynessProbe is unknown");
    const mistaken = deployment();
    mistaken.spec.replicas = "two";
    expect(await faultsOf(mistaken)).to.have.length(1);
    const incomplete = deployment();
    delete incomplete.spec.selector;
    expect(await faultsOf(incomplete)).to.have.length(1);
  });
});
