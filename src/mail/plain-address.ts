/**
 * Letters and digits around the dots of a name that ends in letters. Not where two hyphens stand third and fourth: such
 * a label is an encoding, and to be checked as one.
 */
const plain =
  /^[A-Za-z0-9_+-]+(?:\.[A-Za-z0-9_+-]+)*@(?:(?!..--)[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,63}$/;
const longest = 254;

/**
 * An address as nodemailer writes it, which looks at each for a dozen oddities: most have none. Null for one that may
 * have, which is nodemailer's to write.
 */
export function writePlainAddress(address: string): string | null {
  if (address.length > longest || !plain.test(address)) return null;
  const at = address.indexOf("@");
  return address.slice(0, at) + address.slice(at).toLowerCase();
}
