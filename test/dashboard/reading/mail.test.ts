import { expect } from "chai";
import { readMail } from "../../../src/dashboard/ui/reading/mail.ts";

const read = (...lines: readonly string[]) => readMail(Buffer.from(lines.join("\r\n"), "latin1"));

describe("A mail as the dashboard reads it", () => {
  it("has headers over several lines, with encoded words", () => {
    const { headers } = read("Subject: =?iso-8859-1?Q?Gr=FC=DFe?=", " =?utf-8?B?IPCfkYs=?= all", "X: y", "", "Hello");
    expect(headers).to.deep.equal([
      ["Subject", "Grüße 👋 all"],
      ["X", "y"],
    ]);
  });

  it("is plain text where it says nothing else", () => {
    expect(read("Subject: x", "", "Hello", "you")).to.include({ text: "Hello\r\nyou", html: null });
  });

  it("may be in any charset, or in an unknown one", () => {
    const text = (charset: string) => read(`Content-Type: text/plain; charset=${charset}`, "", "\xe9").text;
    expect(text("iso-8859-1")).to.equal("é");
    expect(text('"x-nobody-knows"')).to.equal("é");
  });

  it("has parts within parts, and files beside them", () => {
    const { html, text, attachments } = read(
      "Content-Type: multipart/mixed; boundary=outer",
      "",
      "preamble",
      "--outer",
      'Content-Type: multipart/alternative; boundary="in ner"',
      "",
      "--in ner",
      "",
      "the text",
      "--in ner",
      "Content-Type: text/html",
      "Content-Transfer-Encoding: quoted-printable",
      "",
      "<p>the =",
      "html=3D</p>",
      "--in ner--",
      "--outer",
      'Content-Type: text/plain; name="a.txt"',
      "Content-Transfer-Encoding: base64",
      'Content-Disposition: attachment; filename="a.txt"',
      "",
      "SGVsbG8=",
      "--outer--",
      "epilogue",
    );
    expect([text, html]).to.deep.equal(["the text", "<p>the html=</p>"]);
    expect(attachments).to.deep.equal([{ type: "text/plain", filename: "a.txt", text: "Hello", size: 5 }]);
  });

  it("may be broken in any way, and is read as far as it goes", () => {
    expect(read("").text).to.equal("");
    expect(
      read("Content-Type: multipart/mixed; boundary=b", "", "--b", "Content-Type: text/html", "", "<p>").html,
    ).to.equal("<p>");
    expect(read("Content-Transfer-Encoding: base64", "", "====").text).to.equal("");
    let nested = "x";
    for (let depth = 0; depth < 40; depth++) {
      nested = `Content-Type: multipart/mixed; boundary=b${depth}\r\n\r\n--b${depth}\r\n${nested}\r\n--b${depth}--`;
    }
    expect(read(nested).text).to.equal(null);
  });
});
