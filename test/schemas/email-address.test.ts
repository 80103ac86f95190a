import { expect } from "chai";
import { isEmailAddress, isMailbox } from "../../src/schemas/email-address.ts";

describe("An e-mail address", () => {
  for (const address of [
    "ada@example.com",
    "Ada.Lovelace+news@mail.example.co.uk",
    "o'hara@example.com",
    "!#$%&'*+-/=?^_`{|}~@example.com",
    "ada@localhost",
    "ada@münchen.de",
    "ada@xn--mnchen-3ya.de",
    "ада@пример.рф",
    "用户@例え.jp",
    `${"x".repeat(64)}@example.com`,
    "1@2.example",
  ]) {
    it(`can be ${address}`, () => expect(isEmailAddress(address)).to.equal(true));
  }

  for (const address of [
    "",
    "ada",
    "@",
    "@example.com",
    "ada@",
    "ada@example.com ",
    "a b@example.com",
    "ada@@example.com",
    "ada@eve@example.com",
    ".ada@example.com",
    "ada.@example.com",
    "a..b@example.com",
    '"ada"@example.com',
    '"ada@eve.org"@example.com',
    "ada,bob@example.com",
    "ada@example.com,bob@example.com",
    "Ada <ada@example.com>",
    "<ada@example.com>",
    "ada;@example.com",
    "(ada)@example.com",
    "ada\r\nBcc: eve@example.com",
    "ada\0@example.com",
    "ada@exa mple.com",
    "ada@example..com",
    "ada@.example.com",
    "ada@example.com.",
    "ada@-example.com",
    "ada@example-.com",
    "ada@exam_ple.com",
    "ada@ex%61mple.com",
    "ada@[127.0.0.1]",
    "ada@127.0.0.1",
    "ada@0x7f.1",
    "ada@2130706433",
    "ada@１２７.０.０.１",
    "ada@xn--zzzzzz.com",
    "ada@mail.xn--.com",
    "ada@example.com#eve.org",
    "ada@example.com/eve.org",
    "ada＠eve.org@example.com",
    "ada\u200b@example.com",
    "ada@exam\u00adple.com",
    "\ud800@example.com",
    `${"x".repeat(65)}@example.com`,
    `${"ä".repeat(33)}@example.com`,
    `ada@${"x".repeat(64)}.com`,
    `ada@${"x.".repeat(126)}com`,
  ]) {
    it(`cannot be ${JSON.stringify(address.slice(0, 40))}`, () => expect(isEmailAddress(address)).to.equal(false));
  }

  it("is judged at once, however long it is", () => {
    const began = performance.now();
    for (const hostile of ["a@".repeat(1_000_000), `${"a.".repeat(1_000_000)}@b`, `a@${"-".repeat(1_000_000)}`]) {
      expect(isEmailAddress(hostile)).to.equal(false);
      expect(isMailbox(`${hostile}<`)).to.equal(false);
    }
    expect(performance.now() - began).to.be.lessThan(2000);
  });
});

describe("A sender", () => {
  for (const mailbox of [
    "ada@example.com",
    "<ada@example.com>",
    "Ada Lovelace <ada@example.com>",
    "Ada B. Lovelace<ada@example.com>",
    '"Lovelace, Ada" <ada@example.com>',
    "Грета <ada@example.com>",
  ]) {
    it(`can be ${mailbox}`, () => expect(isMailbox(mailbox)).to.equal(true));
  }

  for (const mailbox of [
    "",
    "Ada",
    "Ada <ada>",
    "Lovelace, Ada <ada@example.com>",
    "Ada <ada@example.com>, Bob <bob@example.com>",
    "Ada <ada@example.com> (work)",
    "Ada: ada@example.com;",
    '"Ada <ada@example.com>',
    '"Ada" "Lovelace" <ada@example.com>',
    '"Ada \\" Lovelace" <ada@example.com>',
    "Ada <<ada@example.com>>",
    "Ada\r\nBcc: eve@example.com <ada@example.com>",
    "Ada\u2028 <ada@example.com>",
    `${"x".repeat(500)} <ada@example.com>`,
  ]) {
    it(`cannot be ${JSON.stringify(mailbox.slice(0, 60))}`, () => expect(isMailbox(mailbox)).to.equal(false));
  }
});
