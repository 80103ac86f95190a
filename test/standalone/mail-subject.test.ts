import { expect } from "chai";
import { subjectOf } from "../../src/standalone/mail-subject.ts";

const subjects: readonly (readonly [string, header: string, subject: string])[] = [
  ["in plain letters", "Subject: Your invoice", "Your invoice"],
  ["whatever the case of its name", "SUBJECT:Your invoice", "Your invoice"],
  ["over several lines", "Subject: Your\r\n invoice\r\n\tof May", "Your invoice\tof May"],
  ["in UTF-8 as it is", "Subject: Grüße", "Grüße"],
  ["in Base64", "Subject: =?UTF-8?B?R3LDvMOfZQ==?=", "Grüße"],
  ["in quoted letters", "Subject: =?utf-8?Q?Gr=C3=BC=C3=9Fe_an_alle?=", "Grüße an alle"],
  ["in another charset", "Subject: =?iso-8859-1?Q?Gr=FC=DFe?=", "Grüße"],
  ["in an unknown charset", "Subject: =?x-none?Q?Hello?=", "Hello"],
  ["with a language", "Subject: =?utf-8*de?Q?Gr=C3=BC=C3=9Fe?=", "Grüße"],
  ["in part", "Subject: Re: =?utf-8?Q?Gr=C3=BC=C3=9Fe?= und Dank", "Re: Grüße und Dank"],
  ["in two words that belong together", "Subject: =?utf-8?Q?Gr=C3=BC?=\r\n =?utf-8?Q?=C3=9Fe?=", "Grüße"],
  ["in two words that cut a letter in two", "Subject: =?utf-8?Q?Gr=C3?= =?utf-8?Q?=BC=C3=9Fe?=", "Grüße"],
  ["in words of different charsets", "Subject: =?iso-8859-1?Q?Gr=FC?= =?utf-8?Q?=C3=9Fe?=", "Grüße"],
  ["that is empty", "Subject:", ""],
];

describe("the subject of a mail", () => {
  for (const [how, header, subject] of subjects) {
    it(`is read as people read it: ${how}`, () => {
      const raw = Buffer.from(`From: a@example.com\r\n${header}\r\nTo: b@example.com\r\n\r\nSubject: of the body\r\n`);
      expect(subjectOf(raw)).to.equal(subject);
    });
  }

  it("is empty where there is none, whatever the body says", () => {
    expect(subjectOf(Buffer.from("From: a@example.com\r\n\r\nSubject: of the body\r\n"))).to.equal("");
  });
});
