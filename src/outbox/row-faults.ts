import { expectedTenantName, isTenantName } from "../domain/tenant.ts";
import { type Fault, shown } from "../schemas/fault.ts";
import type { TakenRow } from "./outbox.ts";

/** Of any version: nothing is read out of it. */
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** What is wrong with a row besides its request. The table takes it, as applications write into it as they like. */
export function rowFaults({ id, tenant }: Pick<TakenRow, "id" | "tenant">): readonly Fault[] {
  const faults: Fault[] = [];
  if (!uuid.test(id)) faults.push({ pointer: "/id", message: `id is ${shown(id)}; expected a UUID` });
  if (!isTenantName(tenant)) {
    faults.push({ pointer: "/tenant", message: `tenant is ${shown(tenant)}; expected ${expectedTenantName}` });
  }
  return faults;
}
